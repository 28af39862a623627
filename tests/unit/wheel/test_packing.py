"""Writing packs: static chunks, names that follow from the chunk, and a cursor that keeps the chunk."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.shards import crowded, sent
from tests.fakes.timers import first_timer, periodic_jobs
from tests.fakes.world import NOON, job_of

from sweephand.base.instants import MINUTE_MS
from sweephand.model.job import Job, JobKey, Revision
from sweephand.model.timer import (
    Chunk,
    Cursor,
    Lease,
    OccurrenceTimer,
    Place,
    TimerPack,
    bucket_of,
    placed_timers,
)
from sweephand.model.trigger import TriggerMessage
from sweephand.wheel import span
from sweephand.wheel.expand import Expansion, expand
from sweephand.wheel.packing import PACK_TIMERS_MAX, Successor, packed
from sweephand.wheel.span import PUT_OFF_MS


def page_of(jobs: dict[JobKey, Job]) -> list[OccurrenceTimer]:
    """The timers of the jobs that are due in the minute after noon."""
    timers = (first_timer(job) for job in jobs.values())
    return sorted((each for each in timers if each.due_at < NOON + MINUTE_MS), key=lambda each: each.sort_key)


def expanded(
    page: Sequence[OccurrenceTimer],
    jobs: dict[JobKey, Job],
    cursor: Cursor = Cursor(),  # noqa: B008 - a constant
    *,
    triggers_max: int = 1_000,
    judged_at: int = NOON,
) -> Expansion:
    left = [
        each
        for each in page
        if each.sort_key > cursor.key or (each.sort_key == cursor.key and cursor.is_within_item)
    ]
    lease = Lease(0, cursor, judged_at=judged_at)
    placed = placed_timers(left, cursor)
    return expand(placed, jobs, lease, triggers_max=triggers_max)


def written(expansion: Expansion) -> list[OccurrenceTimer]:
    """All successors of an expansion, alone or packed."""
    in_packs = (timer for pack in expansion.packs for timer in pack.timers)
    return sorted([*expansion.successors, *in_packs], key=lambda each: each.sort_key)


def test_successors_of_one_bucket_share_a_pack_and_one_that_is_alone_is_single() -> None:
    jobs = periodic_jobs(25, 40, 50, 130)
    jobs |= {JobKey("ns", "far"): job_of("far", schedule="@every 59s", dueTime="30s")}
    page = page_of(jobs)
    expansion = expanded(page, jobs)
    [pack] = expansion.packs
    assert (pack.due_at, pack.shard) == (NOON + MINUTE_MS, 0)
    assert [each.key.name for each in pack.timers] == ["job-0", "job-1", "far", "job-2"]
    assert {bucket_of(each.due_at) for each in pack.timers} == {NOON + MINUTE_MS}
    assert not expansion.successors
    alone = expanded(page[:1], jobs)
    assert (len(alone.successors), alone.packs) == (1, [])


@given(
    periods_s=st.lists(st.integers(1, 70), min_size=1, max_size=6),
    cuts=st.lists(st.integers(1, 9), min_size=1, max_size=10),
)
def test_a_chunk_writes_all_its_successors_at_its_first_touch_however_its_turns_are_cut(
    periods_s: list[int], cuts: list[int]
) -> None:
    jobs = periodic_jobs(*periods_s)
    page = page_of(jobs)
    if not page:
        return
    whole = expanded(page, jobs)
    first = part = expanded(page, jobs, triggers_max=cuts[0])
    assert (first.packs, first.successors) == (whole.packs, whole.successors)
    messages = list(first.messages)
    while part.cursor != whole.cursor:
        cuts = [*cuts[1:], cuts[0]]
        before = part.cursor
        assert before.chunk == Chunk(Place(page[-1].sort_key), NOON)
        # Later turns are judged by the chunk's instant, not by their own.
        part = expanded(page, jobs, before, triggers_max=cuts[0], judged_at=NOON + 10**9)
        assert part.cursor != before
        assert not [*part.packs, *part.successors]
        messages += part.messages
    assert messages == whole.messages


def test_a_repetition_writes_the_same_packs_or_the_same_without_dead_timers() -> None:
    jobs = periodic_jobs(25, 40, 50)
    page = page_of(jobs)
    [before] = expanded(page, jobs, triggers_max=1).packs
    del jobs[page[1].key]
    [after] = expanded(page, jobs, triggers_max=3).packs
    assert after.sort_key == before.sort_key
    assert set(after.timers) == {each for each in before.timers if each.key in jobs}


def test_packs_of_other_chunks_have_other_names() -> None:
    jobs = periodic_jobs(25, 40, 50, 55)
    page = page_of(jobs)
    expansions = [expanded(page[start:end], jobs) for start, end in ((0, 4), (0, 3), (1, 4), (0, 2), (2, 4))]
    names = [pack.sort_key for each in expansions for pack in each.packs]
    assert len(set(names)) == len(names) == 5


def test_a_timer_that_cannot_be_expanded_is_put_off_at_the_first_touch_and_sends_nothing() -> None:
    jobs = periodic_jobs(10, 25, 40, 50)
    page = page_of(jobs)
    broken = page[1]._replace(series=page[1].series._replace(schedule="no schedule"))
    expansion = expanded([page[0], broken, *page[2:]], jobs, triggers_max=1)
    assert expansion.copies == [broken._replace(put_off_to=broken.due_at + PUT_OFF_MS, judged_at=NOON)]
    assert broken.key not in {each.key for each in written(expansion)}
    assert len(expansion.faults) == 1
    whole = expanded([page[0], broken, *page[2:]], jobs)
    assert len(whole.copies) == len(whole.faults) == 1
    assert broken.key not in {each.trigger.key for each in whole.messages}


def test_a_job_that_cannot_be_read_is_put_off_at_the_first_touch() -> None:
    """A later turn may be able to read it, and writes no successor."""
    jobs = periodic_jobs(10, 40)
    page = page_of(jobs)
    expansion = expand(
        placed_timers(page, Cursor()),
        jobs,
        Lease(0, Cursor(), judged_at=NOON),
        unreadable={page[1].key: KeyError("series")},
        triggers_max=1,
    )
    assert [each.due_at for each in expansion.copies] == [page[1].due_at + PUT_OFF_MS]


def test_the_successor_of_an_ended_revision_is_not_written() -> None:
    jobs = periodic_jobs(25, 40)
    first, second = jobs.values()
    page = page_of(jobs)
    retired = first.current._replace(until=NOON + 70_000)
    jobs[first.key] = replace(first, current=Revision("2-x", NOON + 70_000), earlier=(retired,))
    assert [each.key for each in written(expanded(page, jobs))] == [second.key]


@pytest.mark.parametrize("mode", ["latest", "all", "none"])
def test_the_successor_of_a_late_timer_begins_where_its_triggers_and_misfires_end(mode: str) -> None:
    jobs = {}
    for number, period_s in enumerate((7, 20, 47)):
        schedule = f"@every {period_s}s"
        job = job_of(f"job-{number}", schedule=schedule, catchup={"mode": mode, "window": "2m"})
        jobs[job.key] = job
    for late_ms in range(0, 10 * MINUTE_MS, 13_000):
        found = expanded(page_of(jobs), jobs, judged_at=NOON + late_ms)
        reached = {each.key: each.through for each, _ in found.skipped}
        for message in found.messages:
            assert isinstance(message, TriggerMessage)
            due_at = message.trigger.due_at
            reached[message.trigger.key] = max(due_at, reached.get(message.trigger.key, due_at))
        firsts = {each.key: each.first for each in written(found)}
        assert firsts == {key: jobs[key].series.next_after(due_at) for key, due_at in reached.items()}
        assert len(firsts) == len(jobs)


def successors_of(count: int, buckets: int = 1) -> list[Successor]:
    timer = first_timer(job_of(schedule="@every 61s"))
    return [
        Successor(
            number,
            timer._replace(
                key=JobKey("ns", f"job-{number:04d}"),
                first=timer.first._replace(due_at=NOON + number % buckets * MINUTE_MS),
            ),
        )
        for number in range(count)
    ]


def places_of(count: int) -> list[Place]:
    return [Place(f"timer-{number:04d}") for number in range(count)]


@pytest.mark.parametrize(
    ("count", "sizes"), [(0, []), (1, [1]), (2, [2]), (100, [100]), (101, [100, 1]), (250, [100, 100, 50])]
)
def test_a_pack_holds_at_most_a_hundred_timers(count: int, sizes: list[int]) -> None:
    assert PACK_TIMERS_MAX == 100
    singles, packs = packed(places_of(count), successors_of(count))
    assert [len(each.timers) for each in packs] + [1] * len(singles) == sizes
    assert len({each.sort_key for each in packs}) == len(packs)


def test_two_timers_that_lead_to_one_successor_continue_as_one() -> None:
    both = [*successors_of(2), *successors_of(2)]
    _, (pack,) = packed(places_of(4), both)
    assert pack.timers == tuple(each.timer for each in successors_of(2))


def test_a_pack_of_a_large_group_never_replaces_one_with_other_timers() -> None:
    """A timer that dies moves the cuts. No pack may then replace another one that has other timers."""
    _, whole = packed(places_of(300), successors_of(300))
    _, fewer = packed(places_of(300), [each for each in successors_of(300) if each.number != 7])
    stored = {pack.sort_key: pack for pack in [*fewer, *whole[:1]]}
    left = {timer.key for pack in stored.values() for timer in pack.timers}
    assert {each.timer.key for each in successors_of(300)} - left <= {JobKey("ns", "job-0007")}
    stored = {pack.sort_key: pack for pack in [*whole, *fewer[:1]]}
    left = {timer.key for pack in stored.values() for timer in pack.timers}
    assert {each.timer.key for each in successors_of(300)} - left <= {JobKey("ns", "job-0007")}


def test_a_crowd_of_one_offs_leaves_no_pack() -> None:
    world = crowded(30)
    world.sweep()
    assert len(sent(world)) == 30
    assert not [each for each in world.timers.everything() if isinstance(each, TimerPack)]


@pytest.mark.parametrize("walk_max", [1, 2, 6, 7, 8])
def test_successors_and_triggers_do_not_depend_on_how_far_a_timer_is_walked(
    monkeypatch: pytest.MonkeyPatch, walk_max: int
) -> None:
    jobs = periodic_jobs(7, 10, 25, 59)
    jobs |= {JobKey("ns", "ends"): job_of("ends", schedule="@every 10s", repeats=4)}
    page = page_of(jobs)
    expected = expanded(page, jobs)
    monkeypatch.setattr(span, "WALK_MAX", walk_max)
    assert expanded(page, jobs) == expected
    assert [each.key.name for each in written(expected)] == ["job-1", "job-0", "job-2", "job-3"]
    assert len(expected.messages) == 8 + 5 + 2 + 1 + 4
