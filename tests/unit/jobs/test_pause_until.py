"""A pause with an `until` ends by itself: then, with its catch-up, and whatever happens meanwhile."""

from dataclasses import dataclass, replace

import pytest
from tests.fakes.deliveries import fired
from tests.fakes.doubles import SkewedClock
from tests.fakes.faults import calls_of, failing, killed_at, working
from tests.fakes.ledger import Ledger
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import StoreError
from sweephand.base.instants import DAY_MS
from sweephand.jobs.read import Filter
from sweephand.model.change import SWEEPHAND
from sweephand.model.definition import CatchUpMode
from sweephand.model.job import JobKey, PauseEnd
from sweephand.model.orders import ResumeMessage
from sweephand.model.timer import ResumeTimer
from sweephand.runs.received import Received

MINUTE = 60_000
HOUR = 60 * MINUTE


def paused_at_25(*, until: int, mode: CatchUpMode | None = None, schedule: str = "@every 10s") -> World:
    """A world whose job is paused 25 s after noon, until so many ms after noon."""
    world = World()
    Ledger(world)
    world.put(schedule=schedule)
    world.run_until(NOON + 25_000)
    world.consumers.attempts.clear()
    world.pause(until=NOON + until, mode=mode)
    return world


def ends_in_the_wheel(world: World) -> list[int]:
    """The instants of the orders to resume a job that lie in the wheel."""
    return [each.due_at for each in world.timers.everything() if isinstance(each, ResumeTimer)]


@pytest.mark.parametrize(
    ("mode", "due_s"),
    [
        (None, [50, 60, 70]),
        ("latest", [50, 60, 70]),
        ("all", [30, 40, 50, 60, 70]),
        ("none", [60, 70]),
    ],
)
def test_the_job_resumes_then_with_the_mode_of_the_pause_and_fires_at_that_very_instant(
    mode: CatchUpMode | None, due_s: list[int]
) -> None:
    world = paused_at_25(until=60_000, mode=mode)
    assert fired(world, 59_999) == []
    assert fired(world, 75_000) == due_s


@pytest.mark.parametrize(
    "until", [31_000, 10 * MINUTE, 14 * MINUTE + 59_000, 40 * MINUTE + 30_500, 3 * DAY_MS]
)
def test_it_is_resumed_within_a_second_and_never_early_by_sweephand_itself(until: int) -> None:
    world = paused_at_25(until=until, schedule="@every 1h")
    world.run_until(NOON + until - 1_000)
    assert world.stored().paused_at == NOON + 25_000
    world.run_until(NOON + until + 1_000)
    job = world.stored()
    assert (job.paused_at, job.pause_reason, job.pause_end) == (None, None, None)
    assert job.change is not None
    assert (job.change.who, job.change.what, job.change.until) == (SWEEPHAND, "resumed", NOON + until)
    assert NOON + until <= job.change.at < NOON + until + 1_000


def test_one_message_or_one_timer_carries_the_order_and_a_pause_without_an_end_has_none(world: World) -> None:
    world.put(schedule="@every 10m")
    before = len(world.queue.waiting)
    world.pause()
    assert len(world.queue.waiting) == before
    assert ends_in_the_wheel(world) == []
    world.pause(until=NOON + MINUTE)
    assert [type(each) for _, each in world.queue.waiting[before:]] == [ResumeMessage]
    world.pause(until=NOON + DAY_MS)
    assert ends_in_the_wheel(world) == [NOON + DAY_MS]


def test_the_order_is_there_before_the_pause(world: World) -> None:
    world.put(schedule="@every 10s")
    calls = calls_of(world, lambda: world.pause(until=NOON + DAY_MS))
    asked = [call for call in calls if call.startswith("before")]
    assert asked == ["before jobs.get", "before changes.put", "before timers.put", "before jobs.put"]


def test_a_pause_that_was_not_committed_leaves_the_job_as_it_is(world: World) -> None:
    world.put(schedule="@every 10s")
    failing(world, "jobs.put")
    with pytest.raises(StoreError):
        world.pause(until=NOON + 5_000)
    working(world)
    assert fired(world, 25_000) == [10, 20]
    world.run_until(NOON + 5 * MINUTE)
    assert not [each for _, each in world.queue.waiting if isinstance(each, ResumeMessage)]


def test_a_commit_that_comes_after_the_order_is_not_missed(world: World) -> None:
    world.put(schedule="@every 1h")
    early = ResumeMessage(key_of(), world.stored().uid, NOON + 1_000, NOON)
    world.queue.send([(early, 1_000)])
    world.run_until(NOON + 3_000)
    job = world.stored()
    assert world.jobs.put(
        replace(job, version="x", paused_at=NOON, pause_end=PauseEnd(NOON + 1_000)), job.version
    )
    world.run_until(NOON + 10_000)
    assert world.stored().paused_at is None


def test_a_resume_by_hand_before_then_makes_the_planned_one_do_nothing() -> None:
    world = paused_at_25(until=60_000, mode="none")
    world.run_until(NOON + 41_000)
    world.resume(mode="all")
    rev = world.stored().rev
    assert fired(world, 75_000) == [30, 40, 50, 60, 70]
    assert world.stored().rev == rev


def test_a_job_that_was_resumed_and_paused_again_by_hand_stays_paused() -> None:
    world = paused_at_25(until=60_000)
    world.run_until(NOON + 41_000)
    world.resume(mode="none")
    world.pause()
    assert fired(world, 5 * MINUTE) == []
    assert world.stored().paused_at == NOON + 41_000


def test_a_pause_of_a_paused_job_sets_another_end_and_keeps_its_instant_and_its_reason() -> None:
    world = paused_at_25(until=60_000, mode="none")
    first = world.stored()
    world.run_until(NOON + 41_000)
    second = world.pause(reason="later", until=NOON + 90_000, mode="all")
    assert (second.paused_at, second.pause_reason, second.rev) == (first.paused_at, None, first.rev)
    assert second.pause_end == PauseEnd(NOON + 90_000, "all")
    assert [each.until for each in world.changed().items[:2]] == [NOON + 90_000, NOON + 60_000]
    assert world.pause(until=NOON + 90_000, mode="all") == second
    assert fired(world, 89_000) == []
    assert fired(world, 95_000) == [30, 40, 50, 60, 70, 80, 90]


def test_an_end_can_be_moved_nearer() -> None:
    world = paused_at_25(until=2 * HOUR)
    world.pause(until=NOON + 40_000)
    assert fired(world, 45_000) == [30, 40]
    world.pause()
    world.run_until(NOON + 2 * HOUR + MINUTE)
    assert world.stored().paused_at is not None


def test_a_pause_without_an_end_takes_the_end_away() -> None:
    world = paused_at_25(until=60_000)
    assert world.pause().pause_end is None
    assert fired(world, 5 * MINUTE) == []


def test_a_pause_by_sweephand_leaves_the_end_of_a_callers_pause() -> None:
    world = paused_at_25(until=60_000)
    pauser, job = world.api().pauser, world.stored()
    assert pauser.pause(key_of(), reason="410", who=SWEEPHAND, requested_at=world.clock.time) == job


def test_an_update_of_the_paused_job_keeps_the_end() -> None:
    world = paused_at_25(until=60_000, mode="all")
    world.put(schedule="@every 10s", data="1")
    world.patch(labels={"team": "ops"})
    assert world.stored().pause_end == PauseEnd(NOON + 60_000, "all")
    assert fired(world, 65_000) == [30, 40, 50, 60]


def test_a_job_that_is_created_again_is_not_touched() -> None:
    world = paused_at_25(until=60_000)
    world.delete()
    world.put(schedule="@every 10s")
    world.pause()
    assert fired(world, 5 * MINUTE) == []


def test_an_order_that_comes_twice_resumes_once() -> None:
    world = paused_at_25(until=60_000, mode="none")
    [order] = [each for _, each in world.queue.waiting if isinstance(each, ResumeMessage)]
    world.queue.send([(order, 35_000), (order, 36_000), (order, 50_000)])
    assert fired(world, 85_000) == [60, 70, 80]
    assert [each.what for each in world.changed().items] == ["resumed", "paused", "created"]


def test_a_function_that_dies_at_any_call_of_the_resume_loses_nothing() -> None:
    def ready() -> tuple[World, list[Received]]:
        world = paused_at_25(until=60_000, mode="all")
        world.run_until(NOON + 59_000)
        world.clock.time = NOON + 60_000
        return world, world.queue.take()

    trial, order = ready()
    for number in range(len(calls_of(trial, lambda: trial.deliver(order)))):
        world, batch = ready()
        killed_at(world, number, lambda: world.deliver(batch))  # noqa: B023 - called within this turn
        world.deliver(batch)
        world.run_until(NOON + 6 * MINUTE)
        due = {(each.trigger.due_at - NOON) // 1_000 for each in world.consumers.attempts}
        assert due == set(range(30, 370, 10)), number
        assert [each.what for each in world.changed().items].count("resumed") == 1


def test_after_a_long_time_off_the_window_of_catch_up_decides_on_what_is_older() -> None:
    world = paused_at_25(until=10 * MINUTE, mode="latest", schedule="@every 10m")
    world.run_until(NOON + 5 * MINUTE)
    world.clock.time = NOON + 3 * HOUR + MINUTE
    world.run_until(world.clock.time + 3 * MINUTE)
    assert [each // 60 for each in fired(world, 3 * HOUR + 5 * MINUTE)] == [120, 130, 140, 150, 160, 170, 180]


def test_a_bulk_pause_sets_the_end_of_all_its_jobs_and_counts_those_that_it_changed(world: World) -> None:
    for name in ("a-1", "a-2", "a-3", "b-1"):
        world.put(name, schedule="@every 10s")
    end = PauseEnd(NOON + 60_000, "none")
    world.pause("a-1", until=end.at, mode="none")
    world.pause("a-2")
    bulk, chosen = world.api().bulk, Filter("ns", "a-", {}, "")
    assert bulk.pause(chosen, reason=None, who="test", end=end).count == 2
    assert bulk.pause(chosen, reason=None, who="test", end=end).count == 0
    assert [world.stored(each).pause_end for each in ("a-1", "a-2", "a-3", "b-1")] == [end, end, end, None]
    world.run_until(NOON + 61_000)
    assert [world.stored(each).paused_at for each in ("a-1", "a-2", "a-3")] == [None] * 3


@pytest.mark.parametrize("until", [3 * DAY_MS, 10 * MINUTE])
def test_a_rebuild_arms_the_ends_of_pauses_again(until: int) -> None:
    world = paused_at_25(until=until)
    world.run_until(NOON + 5 * MINUTE)
    world.lose_timers()
    world.queue.waiting.clear()
    done = world.api().rebuilder.rebuild(world.clock.time - MINUTE, namespace="ns")
    assert (done.timers, done.failed) == (1, [])
    world.run_until(NOON + until + 1_000)
    assert world.stored().paused_at is None


def test_a_rebuild_ends_a_pause_that_should_be_over() -> None:
    world = paused_at_25(until=10 * MINUTE)
    world.queue.waiting.clear()
    world.run_until(NOON + HOUR)
    assert world.stored().paused_at is not None
    world.api().rebuilder.rebuild(world.clock.time - MINUTE, namespace="ns")
    world.run_until(NOON + HOUR + 1_000)
    assert world.stored().paused_at is None


@pytest.mark.parametrize(("until", "lost_at"), [(3 * DAY_MS, HOUR), (10 * MINUTE, 71 * MINUTE)])
def test_an_audit_finds_the_lost_end_of_a_pause_and_mends_it(until: int, lost_at: int) -> None:
    world = paused_at_25(until=until)
    assert world.audit_jobs().timers == []
    world.queue.waiting.clear()
    world.timers.lose(key_of(), NOON + HOUR)
    world.run_until(NOON + lost_at)
    assert [(each.key, each.due_at) for each in world.audit_jobs(mends=False).timers] == [
        (JobKey("ns", "job"), NOON + until)
    ]
    assert world.audit_jobs().written == 1
    world.run_until(max(NOON + until, world.clock.time) + 1_000)
    assert world.stored().paused_at is None
    assert world.audit_jobs().timers == []


@dataclass
class SteppingClock(SkewedClock):
    """It steps back by 5 s once it has been read so many times from `steps_at` on."""

    steps_at: int = 0
    reads: int = 0

    def now(self) -> int:
        if super().now() >= self.steps_at:
            self.reads -= 1
            self.ahead_ms = 0 if self.reads > 0 else -5_000
        return super().now()


@pytest.mark.parametrize("reads", range(1, 12))
def test_it_is_resumed_though_the_clock_steps_back_at_that_moment(reads: int) -> None:
    world = paused_at_25(until=10 * MINUTE, schedule="@every 1m")
    world.delivery_clock = SteppingClock(world.clock, steps_at=NOON + 10 * MINUTE, reads=reads)
    world.run_until(NOON + HOUR)
    assert world.stored().paused_at is None
