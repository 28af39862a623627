"""Reading packs: their timers are expanded one by one, wherever a commit cuts them."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.shards import lease_of, sent, written
from tests.fakes.timers import first_timer, periodic_jobs
from tests.fakes.world import NOON, World, job_of

from sweephand.base.instants import MINUTE_MS
from sweephand.model.job import Job, JobKey, Revision
from sweephand.model.timer import (
    Chunk,
    Cursor,
    Lease,
    OccurrenceTimer,
    Place,
    StoredTimer,
    TimerPack,
    UnreadTimer,
    pack_key,
    placed_timers,
)
from sweephand.wheel.expand import Expansion, expand
from sweephand.wheel.span import PUT_OFF_MS, Seen


def pack_of(timers: Sequence[OccurrenceTimer], name: str = "a") -> TimerPack:
    """The timers of the bucket that begins at noon as a pack."""
    return TimerPack(0, pack_key(NOON, name), tuple(sorted(timers, key=lambda each: each.sort_key)))


def expanded(
    page: Sequence[StoredTimer],
    jobs: dict[JobKey, Job],
    cursor: Cursor = Cursor(),  # noqa: B008 - a constant
    *,
    triggers_max: int = 1_000,
    seen: Seen | None = None,
) -> Expansion:
    lease = Lease(0, cursor, judged_at=NOON)
    is_left = bisect_left if cursor.is_within_item else bisect_right
    left = page[is_left([each.sort_key for each in page], cursor.key) :]
    return expand(placed_timers(left, cursor), jobs, lease, triggers_max=triggers_max, seen=seen)


def names(expansion: Expansion) -> list[tuple[str, int]]:
    return [(each.trigger.key.name, (each.trigger.due_at - NOON) // 1_000) for each in expansion.messages]


def test_the_timers_of_a_pack_are_expanded_one_by_one() -> None:
    jobs = periodic_jobs(25, 40)
    pack = pack_of([first_timer(job) for job in jobs.values()])
    expansion = expanded([pack], jobs)
    assert names(expansion) == [("job-0", 25), ("job-0", 50), ("job-1", 40)]
    [following] = expansion.packs
    assert [(each.key.name, each.first.due_at - NOON) for each in following.timers] == [
        ("job-0", 75_000),
        ("job-1", 80_000),
    ]
    assert expansion.cursor == Cursor(pack.sort_key)
    assert expansion.timers == 2


@given(
    periods_s=st.lists(st.integers(1, 59), min_size=1, max_size=6),
    cuts=st.lists(st.integers(1, 9), min_size=1, max_size=20),
)
def test_every_cut_of_a_turn_gives_the_same_union(periods_s: list[int], cuts: list[int]) -> None:
    jobs = periodic_jobs(*periods_s)
    timers = [first_timer(job) for job in jobs.values()]
    page: list[StoredTimer] = [pack_of(timers[::2], "a")]
    if timers[1::2]:
        page += [pack_of(timers[1::2], "b")]
    whole = expanded(page, jobs)
    cursor, messages, successors = Cursor(), [], []
    while cursor != whole.cursor:
        cuts = [*cuts[1:], cuts[0]]
        part = expanded(page, jobs, cursor, triggers_max=cuts[0])
        assert part.cursor != cursor
        assert 1 <= len(part.messages) <= cuts[0]
        messages += part.messages
        successors += part.successors
        cursor = part.cursor
    assert (messages, successors) == (whole.messages, whole.successors)


def test_a_cursor_names_a_timer_and_not_how_many_of_the_pack_are_done() -> None:
    jobs = periodic_jobs(10, 20, 30)
    dead, first, second = (first_timer(job) for job in jobs.values())
    begun = expanded([pack_of([first, second])], jobs, triggers_max=2)
    assert names(begun) == [("job-1", 20), ("job-1", 40)]
    # A sweeper that was stopped writes its version of the pack late, with a timer that is dead by now.
    del jobs[dead.key]
    rest = expanded([pack_of([dead, first, second])], jobs, begun.cursor)
    assert names(rest) == [("job-2", 30)]


def test_each_timer_of_a_pack_runs_to_the_end_of_its_own_revision() -> None:
    jobs = periodic_jobs(10, 20)
    first, second = jobs.values()
    retired = first.current._replace(until=NOON + 30_000)
    jobs[first.key] = replace(first, current=Revision("2-x", NOON + 30_000), earlier=(retired,))
    expansion = expanded([pack_of([first_timer(first), first_timer(second)])], jobs)
    assert names(expansion) == [("job-0", 10), ("job-0", 20), ("job-0", 30), ("job-1", 20), ("job-1", 40)]
    assert [each.key for each in expansion.successors] == [second.key]


def test_a_timer_that_cannot_be_expanded_is_put_off_alone() -> None:
    jobs = periodic_jobs(40, 50)
    broken, sound = (first_timer(job) for job in jobs.values())
    broken = broken._replace(series=broken.series._replace(schedule="no schedule"))
    expansion = expanded([pack_of([broken, sound])], jobs)
    assert expansion.copies == [broken._replace(put_off_to=broken.due_at + PUT_OFF_MS, judged_at=NOON)]
    assert names(expansion) == [("job-1", 50)]
    assert [each.key for each in expansion.successors] == [sound.key]
    assert len(expansion.faults) == 1


def test_a_timer_of_a_job_that_cannot_be_read_is_put_off_alone() -> None:
    jobs = periodic_jobs(40, 50)
    unread, sound = (first_timer(job) for job in jobs.values())
    page = placed_timers([pack_of([unread, sound])], Cursor())
    lease = Lease(0, Cursor(), judged_at=NOON)
    expansion = expand(page, jobs, lease, unreadable={unread.key: KeyError("series")})
    assert expansion.copies == [unread._replace(put_off_to=unread.due_at + PUT_OFF_MS, judged_at=NOON)]
    assert names(expansion) == [("job-1", 50)]


def test_a_second_timer_of_one_revision_and_due_time_is_passed_over() -> None:
    jobs = periodic_jobs(40, 50)
    timers = [first_timer(job) for job in jobs.values()]
    page: list[StoredTimer] = [pack_of(timers, "a"), pack_of(timers, "b"), timers[0]]
    expansion = expanded(page, jobs)
    assert (expansion.messages, expansion.successors) == (
        expanded(page[:1], jobs).messages,
        expanded(page[:1], jobs).successors,
    )
    assert expansion.cursor == Cursor(timers[0].sort_key)


def test_a_double_of_a_timer_is_skipped_in_a_later_turn_and_the_timer_itself_is_not() -> None:
    jobs = periodic_jobs(20, 50)
    timers = [first_timer(job) for job in jobs.values()]
    page = [pack_of(timers, "a"), pack_of(timers, "b")]
    seen, cursor, sent_of = Seen(), Cursor(), []
    while cursor != Cursor(page[1].sort_key):
        part = expanded(page, jobs, cursor, triggers_max=1, seen=seen)
        cursor = part.cursor
        sent_of += names(part)
    assert sent_of == [("job-0", 20), ("job-0", 40), ("job-1", 50)]


def test_a_second_timer_is_passed_over_though_another_sweeper_began_the_first() -> None:
    jobs = periodic_jobs(20)
    [timer] = [first_timer(job) for job in jobs.values()]
    page = [pack_of([timer], "a"), pack_of([timer], "b")]
    begun = expanded(page, jobs, triggers_max=1)
    assert names(begun) == [("job-0", 20)]
    assert names(expanded(page, jobs, begun.cursor)) == [("job-0", 40)]


def test_a_timer_whose_successor_is_written_gets_no_other_and_keeps_its_judgement() -> None:
    jobs = {
        key: job_of(key.name, schedule="@every 20s", catchup={"mode": "none", "window": "2m"})
        for key in periodic_jobs(1, 1)
    }
    timers = [first_timer(job) for job in jobs.values()]
    pack = pack_of(timers)
    chunk = Chunk(Place(pack.sort_key, timers[0].sort_key), judged_at=NOON)
    lease = Lease(0, Cursor(chunk=chunk), judged_at=NOON + 10 * MINUTE_MS)
    expansion = expand(placed_timers([pack], lease.cursor), jobs, lease)
    # The first is judged as punctual, and the second as ten minutes late.
    assert [each for each in names(expansion) if each[0] == "job-0"] == [("job-0", 20), ("job-0", 40)]
    assert [each.key.name for each, _ in expansion.skipped] == ["job-1"]
    assert [each.key.name for each in expansion.successors] == ["job-1"]
    assert expansion.cursor == Cursor(pack.sort_key)


def test_a_cursor_keeps_its_chunk_until_the_chunk_is_done() -> None:
    jobs = periodic_jobs(20, 30)
    timers = [first_timer(job) for job in jobs.values()]
    pack = pack_of(timers)
    chunk = Chunk(Place(pack.sort_key, timers[1].sort_key), judged_at=NOON)
    first = expanded([pack], jobs, Cursor(chunk=chunk), triggers_max=2)
    assert first.cursor == Cursor(pack.sort_key, None, timers[0].sort_key, chunk)
    rest = expanded([pack], jobs, first.cursor)
    assert rest.cursor == Cursor(pack.sort_key)
    assert not [*first.successors, *rest.successors]


def one_off(world: World, name: str, at: int) -> OccurrenceTimer:
    written(world, name, at)
    found = [each for each in world.timers.everything() if isinstance(each, OccurrenceTimer)]
    return next(each for each in found if each.key.name == name)


def test_a_shard_goes_on_behind_a_pack_that_has_nothing_after_the_cursor() -> None:
    world = World(shards=1)
    first, last = one_off(world, "first", NOON + 1), one_off(world, "last", NOON + 2)
    world.timers = type(world.timers)()
    pack = pack_of([first, last])
    world.timers.put([pack_of([first])])
    written(world, "following", NOON + MINUTE_MS)
    claimed = world.leases.claim(lease_of(world), "before", NOON, NOON)
    assert claimed is not None
    cursor = Cursor(pack.sort_key, entry=last.sort_key)
    committed = world.leases.commit(claimed, cursor, NOON)
    assert committed is not None
    world.leases.release(committed, 0, NOON)
    world.sweep()
    assert sent(world) == ["following"]


def test_a_pack_that_cannot_be_read_is_copied_whole_though_the_cursor_stands_in_it() -> None:
    unread = UnreadTimer(0, pack_key(NOON, "a"), {"v": {"N": "4"}})
    cursor = Cursor(unread.sort_key, entry="some timer")
    expansion = expanded([unread], {}, cursor)
    assert expansion.copies == [unread.put_off(PUT_OFF_MS)]
    assert expansion.cursor == Cursor(unread.sort_key)
