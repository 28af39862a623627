"""Sweeping: its requests, the place where it stops, and other shards that a failure does not delay."""

import pytest
from tests.fakes.faults import calls_of, failing, meanwhile, slow, working
from tests.fakes.shards import crowded, lease_of, sent, written
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.base.timing import LEASE_MS, LEASE_RENEWAL_MS, SWEEP_RESERVE_MS
from sweephand.model.job import JobKey
from sweephand.model.timer import Cursor, Lease, OccurrenceTimer, RetryTimer, TimerPack
from sweephand.model.trigger import Trigger, TriggerMessage
from sweephand.schedules import Series
from sweephand.wheel import shard_visit
from sweephand.wheel import sweep as sweeping

MINUTE = 60_000


def test_an_idle_shard_costs_one_read_and_no_write() -> None:
    world = World(shards=3)
    world.put(dueTime="1h")
    calls = calls_of(world, world.sweep)
    assert [call for call in calls if call.startswith("before")] == ["before timers.page"] * 3


def test_a_busy_shard_costs_two_pages_a_claim_and_one_write_that_commits_and_releases() -> None:
    world = crowded(5)
    calls = [call for call in calls_of(world, world.sweep) if call.startswith("before")]
    assert calls == [
        "before timers.page",
        "before leases.claim",
        "before jobs.briefs",
        "before queue.send",
        "before timers.page",
        "before leases.release",
    ]
    assert "/job-04#" in lease_of(world).cursor.key
    assert lease_of(world).owner is None


def test_successors_are_written_before_triggers_are_sent_and_both_before_the_cursor_moves() -> None:
    world = World(shards=1)
    world.put(schedule="@every 50s")
    world.clock.time += 4 * MINUTE
    calls = calls_of(world, world.sweep)
    steps = ["after timers.put", "after queue.send", "before timers.page"]
    order = [call for call in calls if call in (*steps, "before leases.commit", "before leases.release")]
    assert order[0] == "before timers.page"  # is there anything to do?
    assert order[1:5] == [*steps, "before leases.commit"]
    assert order[-4:] == [*steps, "before leases.release"]


def test_triggers_within_the_horizon_are_sent_with_the_rest_of_their_delay() -> None:
    world = World(shards=1)
    for second in (0, 59, 60, 179):
        written(world, f"due-{second}", NOON + second * 1_000)
    written(world, "later", NOON + 180_000)
    world.clock.time += 30_500
    world.sweep()
    times = {
        message.trigger.key.name: at
        for at, message in world.queue.waiting
        if isinstance(message, TriggerMessage)
    }
    now = world.clock.time
    assert times == {"due-0": now, "due-59": now + 28_000, "due-60": now + 29_000, "due-179": now + 148_000}


def test_timers_of_past_buckets_are_found_however_long_no_sweep_came() -> None:
    world = World(shards=1)
    world.put(schedule="@every 77s", repeats=40, catchup={"mode": "all"})
    world.run_until(NOON + 3 * 60 * MINUTE, ticking=False)
    world.sweep()
    world.run_until(world.clock.time + MINUTE, ticking=False)
    assert world.consumers.dues == {NOON + number * 77_000 for number in range(1, 41)}
    assert len(world.consumers.ids) == 40


def test_a_shard_that_another_sweeper_holds_is_skipped() -> None:
    world = crowded(3)
    now = world.clock.time
    held = world.leases.claim(lease_of(world), "another", now, now + LEASE_MS)
    assert held is not None
    swept = world.sweep()
    assert (swept.shards, swept.triggers, swept.is_finished) == (0, 0, True)
    assert not sent(world)
    world.clock.time += LEASE_MS + 1
    assert world.sweep().triggers == 3


def test_a_sweep_that_finds_the_cursor_moved_since_it_looked_goes_on_from_there() -> None:
    world = crowded(3)
    seen = world.leases.state().leases
    world.sweep()
    world.queue.waiting.clear()
    swept = world.wheel().sweeper.sweep(
        seen, owner="late", first_shard=0, deadline=world.clock.time + 120_000
    )
    assert swept.triggers == 0
    assert not sent(world)


@pytest.mark.parametrize("call", ["timers.put", "queue.send", "leases.commit"])
def test_a_sweeper_that_was_taken_over_stops_and_moves_no_cursor(call: str) -> None:
    world = World(shards=1)
    world.put(schedule="@every 50s")
    world.clock.time += 4 * MINUTE

    def take_over() -> None:
        world.announce = lambda _: None
        world.clock.time += LEASE_MS + 1
        lease = lease_of(world)
        now = world.clock.time
        assert world.leases.claim(lease, "another", now, now + LEASE_MS) is not None

    meanwhile(world, f"after {call}" if call != "leases.commit" else f"before {call}", take_over)
    swept = world.sweep()
    assert swept.triggers == 0
    assert lease_of(world).cursor == Cursor()
    assert lease_of(world).owner == "another"


def test_a_sweeper_that_was_taken_over_releases_nothing_and_moves_no_cursor() -> None:
    world = crowded(3)

    def take_over() -> None:
        world.announce = lambda _: None
        world.clock.time += LEASE_MS + 1
        now = world.clock.time
        assert world.leases.claim(lease_of(world), "another", now, now + LEASE_MS) is not None

    meanwhile(world, "before leases.release", take_over)
    swept = world.sweep()
    assert (swept.triggers, swept.left) == (0, ())
    assert (lease_of(world).cursor, lease_of(world).owner) == (Cursor(), "another")


def test_a_next_page_that_cannot_be_read_does_not_send_the_last_one_again() -> None:
    world = crowded(3)
    calls = iter(range(9))

    def announce(call: str) -> None:
        if call == "before timers.page" and next(calls) == 1:
            raise StoreError("throttled")

    world.announce = announce
    with pytest.raises(ExceptionGroup):
        world.sweep()
    world.clock.time += LEASE_MS + 1
    world.sweep()
    assert sent(world) == ["job-00", "job-01", "job-02"]


def test_a_successor_that_is_due_before_the_horizon_is_swept_by_the_sweep_that_wrote_it() -> None:
    world = World(shards=1)
    world.put(schedule="@every 40s", catchup={"mode": "all"})
    world.run_until(NOON + 30 * MINUTE, ticking=False)
    swept = world.sweep()
    assert swept.triggers == len(range(320_000, 33 * MINUTE, 40_000))
    assert not world.sweep().shards


def test_a_sweeper_that_leaves_a_shard_says_so_with_its_last_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "PAGE_TIMERS_MAX", 2)
    world = crowded(5)
    calls: list[str] = []

    def noted(call: str) -> None:
        calls.append(call)
        if call == "after queue.send":
            world.clock.time += 20_000

    world.announce = noted
    assert world.sweep(seconds=30).left == (0,)
    assert "before leases.commit" not in calls
    lease = lease_of(world)
    assert (lease.owner, lease.left_at) == (None, NOON + 302_000)
    assert "job-01" in lease.cursor.key


def test_a_sweeper_that_leaves_a_shard_within_a_chunk_keeps_the_chunk_in_the_cursor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shard_visit, "TRIGGERS_MAX", 3)
    world = crowded(5)
    slow(world, 20_000, "after queue.send")
    assert world.sweep(seconds=30).triggers == 3
    lease = lease_of(world)
    assert lease.owner is None
    assert lease.cursor.chunk is not None
    assert "job-04" in lease.cursor.chunk.last.key
    assert lease.cursor.chunk.judged_at == NOON + 240_000


def test_a_sweeper_that_was_taken_over_goes_on_with_the_other_shards() -> None:
    world = World(shards=2)
    for shard in range(2):
        written(world, f"in-{shard}", NOON + 300_000, shard)
    world.clock.time = NOON + 240_000

    def take_over() -> None:
        world.announce = lambda _: None
        world.clock.time += LEASE_MS + 1
        assert world.leases.claim(lease_of(world), "another", world.clock.time, world.clock.time + LEASE_MS)

    meanwhile(world, "before leases.release", take_over)
    world.sweep()
    assert "in-1" in sent(world)
    assert lease_of(world, 1).cursor != Cursor()


def test_the_lease_is_renewed_with_every_page_and_within_a_long_one(monkeypatch: pytest.MonkeyPatch) -> None:
    world = crowded(3)
    meanwhile(
        world,
        "after jobs.briefs",
        lambda: setattr(world.clock, "time", world.clock.time + LEASE_RENEWAL_MS),
    )
    monkeypatch.setattr(sweeping, "PAGE_TIMERS_MAX", 2)
    renewed: list[tuple[Instant, Cursor]] = []
    commit = world.leases.commit

    def watched(
        lease: Lease, cursor: Cursor, until: Instant, judged_at: Instant | None = None
    ) -> Lease | None:
        renewed.append((until, cursor))
        return commit(lease, cursor, until, judged_at)

    world.leases.commit = watched  # type: ignore[method-assign]
    world.sweep()
    until = NOON + 240_000 + LEASE_RENEWAL_MS + LEASE_MS
    within, with_page = renewed
    assert within == (until, Cursor())
    assert with_page[0] == until
    assert with_page[1] != Cursor()


def test_a_sweep_begins_at_the_given_shard_and_visits_all() -> None:
    world = World(shards=4)
    for shard in range(4):
        written(world, f"in-{shard}", NOON + 60_000, shard)
    world.sweep(first_shard=2)
    assert sent(world) == ["in-2", "in-3", "in-0", "in-1"]


def test_a_sweep_stops_well_before_its_time_is_up_and_the_next_finds_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sweeping, "PAGE_TIMERS_MAX", 4)
    world = crowded(10)
    meanwhile(
        world, "after queue.send", lambda: setattr(world.clock, "time", world.clock.time + 20_000), number=1
    )
    swept = world.sweep(seconds=30)
    assert (swept.triggers, swept.is_finished) == (8, False)
    assert lease_of(world).owner is None
    working(world)
    swept = world.sweep()
    assert (swept.triggers, swept.is_finished) == (2, True)
    assert len(set(sent(world))) == 10


def test_a_sweep_without_time_does_nothing() -> None:
    world = crowded(3)
    calls = calls_of(world, lambda: world.sweep(seconds=SWEEP_RESERVE_MS // 1_000))
    assert not calls


@pytest.mark.parametrize("triggers_max", [1, 2, 3, 7])
def test_a_long_expansion_commits_how_far_it_came(triggers_max: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard_visit, "TRIGGERS_MAX", triggers_max)
    world = World(shards=1)
    world.put(schedule="@every 9s")
    world.run_until(NOON + 10 * MINUTE)
    assert world.consumers.ids == [
        f"{world.consumers.attempts[0].trigger.uid}-{NOON + number * 9_000}-0" for number in range(1, 67)
    ]


def test_a_page_that_is_done_again_yields_the_same_ids_at_the_same_places() -> None:
    world = World(shards=1)
    world.put(schedule="@every 13s")
    world.clock.time += 4 * MINUTE
    world.queue.waiting.clear()
    failing(world, "leases.commit", times=1)
    with pytest.raises(ExceptionGroup):
        world.sweep()
    once, timers = list(world.queue.waiting), world.timers.everything()
    world.clock.time += LEASE_MS + 1
    world.sweep()
    again = [message for _, message in world.queue.waiting][len(once) :]
    assert again[: len(once)] == [message for _, message in once]
    assert world.timers.everything()[: len(timers)] == timers


def test_a_shard_that_fails_keeps_no_other_waiting_and_the_failure_is_raised_in_the_end() -> None:
    world = World(shards=3)
    for shard in range(3):
        written(world, f"in-{shard}", NOON + 60_000, shard)
    page = world.timers.page

    def broken(shard: int, *rest: object) -> object:
        if shard == 0:
            raise StoreError("this partition is throttled")
        return page(shard, *rest)  # type: ignore[arg-type]

    world.timers.page = broken  # type: ignore[method-assign, assignment]
    with pytest.raises(ExceptionGroup) as caught:
        world.sweep()
    assert [type(error) for error in caught.value.exceptions] == [StoreError]
    assert sent(world) == ["in-1", "in-2"]


@pytest.mark.parametrize(
    "call", ["leases.claim", "jobs.briefs", "queue.send", "leases.commit", "leases.release"]
)
@pytest.mark.parametrize("after", [False, True], ids=["refused", "answer lost"])
def test_if_any_call_fails_once_the_next_sweeps_find_everything(call: str, *, after: bool) -> None:
    world = World(shards=1)
    world.put(schedule="@every 31s")
    world.run_until(NOON + 4 * MINUTE, ticking=False)
    failing(world, call, times=1, after=after)
    with pytest.raises(ExceptionGroup):
        world.sweep()
    working(world)
    world.run_until(NOON + 10 * MINUTE)
    assert world.consumers.dues == set(range(NOON + 31_000, NOON + 10 * MINUTE + 1, 31_000))


def follow(world: World, key: JobKey, series: Series) -> None:
    """Give the stored timers of a job, alone or in packs, that series."""
    for place, stored in world.timers._timers.items():
        if isinstance(stored, OccurrenceTimer) and stored.key == key:
            world.timers._timers[place] = stored._replace(series=series)
        elif isinstance(stored, TimerPack):
            timers = [each._replace(series=series) if each.key == key else each for each in stored.timers]
            world.timers._timers[place] = stored._replace(timers=tuple(timers))


def test_a_job_that_could_not_be_expanded_fires_all_that_it_owes_once_it_can() -> None:
    world = World(shards=1)
    job = world.put("broken", schedule="@every 50s").job
    world.put("sound", schedule="@every 50s")
    world.run_until(NOON + 3 * MINUTE)
    follow(world, job.key, job.series._replace(schedule="no schedule"))
    with pytest.raises(ExceptionGroup) as caught:
        world.run_until(NOON + 5 * MINUTE)
    assert "put off" in caught.value.exceptions[0].__notes__[0]
    follow(world, job.key, job.series)
    world.run_until(NOON + 15 * MINUTE)
    for name in ("broken", "sound"):
        attempts = [each for each in world.consumers.attempts if each.trigger.key == key_of(name)]
        assert {each.trigger.due_at for each in attempts} == set(
            range(NOON + 50_000, NOON + 15 * MINUTE + 1, 50_000)
        )
        assert len({each.trigger.id for each in attempts}) == len(attempts)


def test_the_count_of_one_minute_adds_up_over_its_sweeps_and_starts_over_in_the_next() -> None:
    world = crowded(3)
    world.sweep()
    assert lease_of(world).found == 3
    stale = [lease_of(world)._replace(cursor=Cursor())]
    for _ in range(2):
        world.wheel().sweeper.sweep(
            stale, owner=world.ids.token(), first_shard=0, deadline=world.clock.time + 60_000
        )
    assert lease_of(world).found == 3
    world.clock.time += MINUTE
    written(world, "next", NOON + 400_000)
    world.sweep()
    assert lease_of(world).found == 1
    assert lease_of(world).swept_at == world.clock.time


def test_a_retry_timer_is_sent_when_it_is_due_with_its_attempt() -> None:
    world = World(shards=1)
    job = world.put(dueTime="0s").job
    trigger = Trigger(job.key, job.uid, job.rev, NOON, 1, NOON)
    message = TriggerMessage(trigger, NOON + 20 * MINUTE, attempt=4, first_attempt_at=NOON + 5)
    world.timers.put([RetryTimer(0, message)])
    world.clock.time += 19 * MINUTE
    world.queue.waiting.clear()
    world.sweep()
    assert world.queue.waiting == [(NOON + 20 * MINUTE, message)]
