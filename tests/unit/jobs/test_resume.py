"""A resume delivers the held triggers, and catch-up decides on those that fell due during the pause."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.deliveries import fired
from tests.fakes.faults import calls_of, failing, killed_at, slow, working
from tests.fakes.ledger import Ledger
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import NotFoundError, PreconditionError, StoreError, UnavailableError
from sweephand.base.instants import DAY_MS
from sweephand.base.timing import REQUEST_TIME_LIMIT_MS
from sweephand.jobs.read import view
from sweephand.model.definition import CatchUpMode
from sweephand.model.trigger import RangeMessage

MINUTE = 60_000


def paused(*, at: int = 25_000, until: int = 65_000, within: World | None = None, **written: Any) -> World:
    """A world whose job was paused so many ms after noon, at the moment of its resume."""
    world = within or World()
    Ledger(world)
    world.put(**{"schedule": "@every 10s", **written})
    world.run_until(NOON + at)
    world.pause()
    world.run_until(NOON + until)
    world.consumers.attempts.clear()
    return world


@pytest.mark.parametrize(
    ("mode", "due_s"),
    [
        (None, [60, 70, 80]),
        ("latest", [60, 70, 80]),
        ("all", [30, 40, 50, 60, 70, 80]),
        ("none", [70, 80]),
    ],
)
def test_a_resume_fires_the_misfires_of_the_pause_that_its_mode_names(
    mode: CatchUpMode | None, due_s: list[int]
) -> None:
    world = paused()
    world.resume(mode=mode)
    assert fired(world, 85_000) == due_s


def test_the_misfires_that_a_resume_skips_are_one_record_among_the_runs() -> None:
    world = paused()
    world.resume(mode="latest")
    (skipped,) = world.runs.page(key_of(), "skipped", "", 50).items
    assert (skipped.due_at, skipped.last_due_at, skipped.count) == (NOON + 30_000, NOON + 50_000, 3)
    assert skipped.reason == "misfire"
    assert fired(world, 66_000) == [60]


@pytest.mark.parametrize(
    ("mode", "delivered", "skipped"),
    [("latest", 1, (40_000, 50_000, 2)), ("none", 1, (40_000, 60_000, 3)), ("none", 3, (60_000, 60_000, 1))],
)
def test_a_trigger_that_left_at_the_instant_of_the_pause_is_not_recorded_as_skipped(
    mode: CatchUpMode, delivered: int, skipped: tuple[int, int, int]
) -> None:
    world = paused()
    one = world.runs.page(key_of(), None, "", 1).items[0]
    for number in range(delivered):
        assert world.runs.record(replace(one, due_at=NOON + 30_000 + number * 10_000))
    world.resume(mode=mode)
    first, last, count = skipped
    for until in (65_000, 75_000):  # as the resume writes it, and when the message has come that would have
        world.run_until(NOON + until)
        (found,) = world.runs.page(key_of(), "skipped", "", 50).items
        assert (found.due_at, found.last_due_at, found.count) == (NOON + first, NOON + last, count)


def test_a_trigger_that_left_at_the_instant_of_the_pause_is_not_in_a_later_record() -> None:
    world = paused()
    one = world.runs.page(key_of(), None, "", 1).items[0]
    assert world.runs.record(replace(one, due_at=NOON + 30_000))
    failing(world, "runs.record", times=1)
    world.resume(mode="none")
    fired(world, 75_000)
    (found,) = world.runs.page(key_of(), "skipped", "", 50).items
    assert (found.due_at, found.last_due_at, found.count) == (NOON + 40_000, NOON + 60_000, 3)


def test_a_resume_records_nothing_if_all_misfires_were_delivered() -> None:
    world = paused(until=35_000)
    one = world.runs.page(key_of(), None, "", 1).items[0]
    assert world.runs.record(replace(one, due_at=NOON + 30_000))
    world.resume(mode="none")
    assert not world.runs.page(key_of(), "skipped", "", 50).items


def test_a_resume_that_was_not_committed_records_nothing_as_skipped() -> None:
    trial = paused()
    calls = calls_of(trial, lambda: trial.resume(mode="none"))
    committed = calls.index("after jobs.put")
    for number in range(committed):
        world = paused()
        killed_at(world, number, lambda: world.resume(mode="none"))  # noqa: B023 - called within this turn
        assert not world.runs.page(key_of(), "skipped", "", 50).items


def test_a_resume_succeeds_without_its_record_of_misfires_and_the_record_is_written_later() -> None:
    world = paused()
    failing(world, "runs.record", times=1)
    assert world.resume(mode="none").paused_at is None
    assert not world.runs.page(key_of(), "skipped", "", 50).items
    fired(world, 75_000)
    (skipped,) = world.runs.page(key_of(), "skipped", "", 50).items
    assert (skipped.due_at, skipped.last_due_at, skipped.count) == (NOON + 30_000, NOON + 60_000, 4)


def test_the_skipped_range_of_an_uncommitted_resume_is_dropped_after_its_grace() -> None:
    world = paused()
    failing(world, "jobs.put")
    with suppress(StoreError):
        world.resume(mode="none")
    working(world)
    world.run_until(NOON + 10 * MINUTE)
    assert not any(isinstance(message, RangeMessage) for _, message in world.queue.waiting)
    assert not world.runs.page(key_of(), "skipped", "", 50).items


def test_a_resume_uses_the_mode_of_the_job_unless_it_names_one() -> None:
    world = paused(catchup={"mode": "none"})
    world.resume()
    assert fired(world, 75_000) == [70]
    world = paused(catchup={"mode": "none"})
    world.resume(mode="all")
    assert fired(world, 75_000) == [30, 40, 50, 60, 70]


@pytest.mark.parametrize("mode", ["latest", "all", "none"])
def test_a_trigger_held_from_before_the_pause_is_delivered_whatever_the_mode(
    world: World,
    mode: CatchUpMode,
) -> None:
    world.put(schedule="@every 10s")
    world.clock.time += 25_000  # nobody delivers in the meantime
    world.pause()
    world.run_until(NOON + 28_000)
    assert not world.consumers.ids
    world.resume(mode=mode)
    assert fired(world, 35_000) == [10, 20, 30]


def test_the_old_revision_ends_with_the_pause_and_the_new_one_begins_after_the_skipped_misfires() -> None:
    world = paused()
    before = world.stored()
    job = world.resume(mode="none")
    former = job.revision(before.rev)
    assert former is not None
    assert former.until == NOON + 25_000
    assert job.current.since == NOON + 60_000
    assert not job.current.owns(NOON + 60_000)
    assert (job.paused_at, job.pause_reason) == (None, None)
    assert job.series == before.series


def test_a_resume_arms_before_it_commits() -> None:
    world = paused()
    calls = calls_of(world, lambda: world.resume(mode="all"))
    writes = [call for call in calls if call.startswith("before") and call != "before jobs.get"]
    assert writes == ["before timers.put", "before queue.send", "before changes.put", "before jobs.put"]


def test_a_job_that_is_not_paused_stays_as_it_is(world: World) -> None:
    job = world.put(schedule="@every 10s").job
    assert world.resume() == job


def test_a_second_resume_changes_nothing() -> None:
    world = paused()
    job = world.resume()
    assert world.resume() == job
    assert fired(world, 75_000) == [60, 70]


def test_a_pause_of_a_decade_is_resumed_without_enumerating_its_misfires(world: World) -> None:
    world.put(schedule="@every 1s")
    world.clock.time += 500
    world.pause()
    world.clock.time += 3_650 * DAY_MS
    world.queue.waiting.clear()
    world.resume(mode="all")
    ((_, message),) = world.queue.waiting
    assert isinstance(message, RangeMessage)
    assert message.first.due_at == NOON + 1_000
    # Each function that divides it sends ten messages at most, until they are single.
    for _ in range(9):
        world.deliver(world.queue.take(1))
    assert len(world.queue.waiting) < 90


def test_a_resume_by_a_clock_that_is_behind_cuts_no_earlier_than_the_pause(world: World) -> None:
    world.put(schedule="@every 10s")
    world.api_clock.ahead_ms = 45_000
    world.clock.time += 12_000
    moment = world.pause().paused_at
    assert moment == NOON + 57_000
    world.api_clock.ahead_ms = -45_000
    job = world.resume(mode="none")
    assert job.cut == job.current.since == moment
    assert world.put(schedule="@every 10s", data="1").job.current.since == moment
    world.api_clock.ahead_ms = 0
    assert fired(world, 145_000)[:9] == [10, 20, 30, 40, 50, 60, 70, 80, 90]


def test_a_one_off_that_fell_due_during_its_pause_fires_at_the_resume() -> None:
    world = paused(schedule=None, dueTime="40s")
    job = world.resume()
    assert fired(world, 70_000) == [40]
    assert view(job, world.clock.time).state == "completed"


@pytest.mark.parametrize(("mode", "due_s"), [("latest", [40]), ("all", [30, 40]), ("none", [])])
def test_a_series_that_ended_during_its_pause_is_completed_by_the_resume(
    mode: CatchUpMode, due_s: list[int]
) -> None:
    world = paused(repeats=4)
    job = world.resume(mode=mode)
    assert view(job, world.clock.time).state == "completed"
    assert fired(world, 200_000) == due_s


def test_a_series_that_was_over_before_the_pause_stays_over() -> None:
    world = paused(repeats=2)
    job = world.resume()
    assert view(job, world.clock.time).state == "completed"
    assert fired(world, 100_000) == []


UPDATES: dict[str, tuple[Callable[[World], object], list[int]]] = {
    "the target put anew": (lambda world: world.put(schedule="@every 10s", data="1"), [60, 70]),
    "the target patched": (lambda world: world.patch(labels={"a": "b"}), [60, 70]),
    "another schedule": (lambda world: world.put(schedule="@every 3s"), [65, 68, 71, 74]),
    "another schedule patched": (lambda world: world.patch(schedule="@every 3s"), [65, 68, 71, 74]),
}


@pytest.mark.parametrize(("update", "due_s"), UPDATES.values(), ids=UPDATES)
def test_an_update_of_a_paused_job_keeps_it_paused_and_the_resume_decides_on_its_misfires(
    update: Callable[[World], object], due_s: list[int]
) -> None:
    world = paused(until=56_000)
    update(world)
    world.run_until(NOON + 66_000)
    assert not world.consumers.ids
    world.resume()
    assert [each for each in fired(world, 76_000) if each < 75] == due_s


def test_a_paused_job_is_not_armed_by_an_update() -> None:
    world = paused()
    calls = calls_of(world, lambda: world.put(schedule="@every 10s", data="1"))
    asked = [call for call in calls if call.startswith("before")]
    assert asked == ["before jobs.get", "before changes.put", "before jobs.put"]


def test_a_paused_one_off_whose_time_has_passed_can_be_updated_and_fires_at_the_resume() -> None:
    world = paused(schedule=None, dueTime="40s", data="0")
    world.put(dueTime="40s", data="1")
    world.patch(labels={"a": "b"})
    world.resume()
    assert fired(world, 70_000) == [40]
    assert [each.body for each in world.consumers.attempts] == [b"1"]


def test_a_paused_job_that_was_over_before_begins_again_by_a_put_once_it_is_resumed() -> None:
    world = paused(schedule=None, dueTime="20s")
    assert world.put(dueTime="20s").outcome == "replaced"
    world.resume()
    assert fired(world, 90_000) == [85]


def test_a_resume_that_takes_too_long_is_given_up_and_the_job_stays_paused() -> None:
    world = paused()
    slow(world, REQUEST_TIME_LIMIT_MS + 1, "before queue.send")
    with pytest.raises(UnavailableError):
        world.resume()
    job = world.stored()
    assert job.paused_at == NOON + 25_000


def test_there_must_be_a_job_to_resume_in_that_revision(world: World) -> None:
    with pytest.raises(NotFoundError):
        world.resume()
    world.put(schedule="@every 10s")
    world.pause()
    with pytest.raises(PreconditionError):
        world.api().resumer.resume(key_of(), who="test", requested_at=world.clock.time, if_match=("9-z",))


def test_pausing_and_resuming_again_and_again_delivers_each_held_trigger_once(world: World) -> None:
    ledger = Ledger(world)
    world.put(schedule="@every 7s")
    for _ in range(12):
        world.run_until(world.clock.time + 50_000)
        world.pause()
        world.run_until(world.clock.time + 30_000)
        world.resume(mode="all")
    world.run_until(world.clock.time + 20 * MINUTE)
    ledger.check(world.clock.time)
    assert len(set(world.consumers.ids)) == len(world.consumers.ids)
    assert len(world.consumers.ids) == (world.clock.time - NOON) // 7_000
