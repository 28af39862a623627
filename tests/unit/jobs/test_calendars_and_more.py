"""What else a job may be while its calendar changes: paused, watched, a batch, rebuilt or audited."""

from typing import Any

import pytest
from tests.fakes.world import World
from tests.unit.jobs.test_calendars import DAILY, KEY, MONDAY, TUESDAY, deliver, next_due, nine, put

from sweephand.base.instants import HOUR_MS, MINUTE_MS, SECOND_MS, Instant
from sweephand.base.timing import API_LIMIT_MS
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.calendar import Calendar
from sweephand.model.definition import CatchUpMode

WEDNESDAY = "2026-11-25"
ALERTED = {"type": "http", "url": "https://ops.example/alert"}


def weekly(otherwise: str, **written: Any) -> dict[str, Any]:
    return {"schedule": "0 9 * * MON", "calendar": {"name": "works", "otherwise": otherwise}, **written}


def dues(world: World) -> list[Instant]:
    return [each.trigger.due_at for each in world.consumers.attempts]


def test_two_changes_within_seconds_owe_an_occurrence_once(world: World) -> None:
    put(world)
    world.put(schedule="0 9 * * TUE", calendar={"name": "works", "otherwise": "previous"})
    world.run_until(nine(2) + HOUR_MS)
    put(world, TUESDAY)
    deliver(world)
    for seconds in (5, 10, 15):
        world.run_until(nine(2) + HOUR_MS + seconds * SECOND_MS)
        put(world, *([] if seconds == 10 else [TUESDAY]))
        deliver(world)
    world.run_until(nine(8))
    assert dues(world) == [nine(2) + HOUR_MS + API_LIMIT_MS]


@pytest.mark.parametrize("mode", ["latest", "all", "none"])
def test_what_a_change_puts_into_a_pause_is_a_misfire_of_it(world: World, mode: CatchUpMode) -> None:
    put(world)
    world.put(schedule="0 9 * * TUE,WED", calendar={"name": "works", "otherwise": "previous"})
    world.run_until(nine(2) - HOUR_MS)
    world.pause()
    world.run_until(nine(2) + HOUR_MS)
    put(world, TUESDAY)
    deliver(world)
    world.run_until(nine(2) + 2 * HOUR_MS)
    world.resume(mode=mode)
    world.run_until(nine(7))
    assert dues(world) == [*([] if mode == "none" else [nine(2)]), nine(4)]


def test_what_a_change_puts_before_a_pause_is_due_in_it(world: World) -> None:
    put(world)
    world.put(schedule="0 9 * * TUE", calendar={"name": "works", "otherwise": "previous"})
    world.run_until(nine(2) + HOUR_MS)
    world.pause()
    put(world, TUESDAY)
    deliver(world)
    world.run_until(nine(2) + 2 * HOUR_MS)
    assert dues(world) == []
    world.resume(mode="all")
    world.run_until(nine(8))
    assert dues(world) == [nine(2) + HOUR_MS + API_LIMIT_MS]


def test_a_batch_that_is_under_way_ends_by_the_days_by_which_it_began(world: World) -> None:
    put(world)
    world.put(**weekly("next", batch={"count": 4, "window": "1h"}))
    world.run_until(nine(2) + 20 * MINUTE_MS)
    put(world, MONDAY)
    deliver(world)
    world.run_until(nine(8))
    found = sorted((each.trigger.due_at, each.trigger.index) for each in world.consumers.attempts)
    assert found == [(nine(2), index) for index in range(4)]


def watched(world: World, *, is_down: bool) -> list[Instant]:
    """The instants of alerts, which are noted from now on. Consumers fail if they are down."""
    alerted: list[Instant] = []

    def answer(attempt: Attempt) -> Answer:
        if attempt.alert is not None:
            alerted.append(world.clock.time)
            return Answer(succeeded=True, code=200)
        return Answer(succeeded=not is_down, code=503 if is_down else 200)

    world.consumers.answering = answer
    return alerted


def test_no_alert_comes_for_an_occurrence_that_was_moved_away(world: World) -> None:
    alerted = watched(world, is_down=False)
    put(world)
    world.put(**weekly("next", alertAfter="10m", onAlert=ALERTED))
    world.run_until(nine(2) - 2 * MINUTE_MS)
    put(world, MONDAY)
    deliver(world)
    world.run_until(nine(4))
    assert dues(world) == [nine(3)]
    assert alerted == []


def test_an_alert_comes_for_a_moved_occurrence_that_fails_at_its_new_place(world: World) -> None:
    alerted = watched(world, is_down=True)
    put(world)
    world.put(**weekly("next", alertAfter="10m", onAlert=ALERTED, retry={"maxAttempts": 1}))
    world.run_until(nine(2) - 2 * MINUTE_MS)
    put(world, MONDAY)
    deliver(world)
    world.run_until(nine(4))
    assert [each // MINUTE_MS for each in alerted] == [(nine(3) + 10 * MINUTE_MS) // MINUTE_MS]


@pytest.mark.parametrize("lost", ["before the change", "after the change"])
def test_a_rebuild_arms_the_days_before_a_change_and_those_after_it(world: World, lost: str) -> None:
    is_before = lost == "before the change"
    put(world)
    world.put(**weekly("next"))
    world.put("daily", **DAILY)
    world.run_until(nine(2) - HOUR_MS)
    lost_at = world.clock.time
    if is_before:
        world.lose_timers()
    world.run_until(nine(2) + 10 * MINUTE_MS if is_before else nine(2) - 30 * MINUTE_MS)
    put(world, TUESDAY)
    deliver(world)
    if not is_before:
        world.lose_timers()
    world.clock.time += 10 * MINUTE_MS
    assert world.api().rebuilder.rebuild(lost_at, namespace="ns").failed == []
    world.run_until(nine(5) - HOUR_MS)
    assert sorted(dues(world)) == [nine(2), nine(2), nine(4)]


def test_an_audit_arms_a_job_that_has_followed(world: World) -> None:
    put(world)
    world.put(**DAILY)
    world.run_until(nine(2) + HOUR_MS)
    put(world, TUESDAY)
    deliver(world)
    assert world.audit_jobs().timers == []
    world.run_until(nine(3))
    world.lose_timers()
    world.run_until(nine(4) + 20 * MINUTE_MS)
    assert len(world.audit_jobs().timers) == 1
    world.run_until(nine(6) - HOUR_MS)
    assert dues(world) == [nine(2), nine(4), nine(5)]


def test_messages_that_come_again_change_nothing(world: World) -> None:
    put(world)
    world.put(**DAILY)
    put(world, MONDAY)
    for _ in range(3):
        world.queue.copy()
    world.run_until(nine(2))
    assert world.stored().rev.startswith("2-")
    assert next_due(world) == nine(3)


def test_a_job_that_has_read_a_deleted_calendar_follows_the_next_one_of_its_name(world: World) -> None:
    put(world)
    deliver(world)
    stale = world.calendars.get(KEY)
    world.api().calendars.delete(KEY, who="test", requested_at=world.api_clock.now())

    def read_before(_: object) -> Calendar | None:
        return stale

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(world.calendars, "get", read_before)
        world.put(**DAILY)
    put(world, MONDAY)
    deliver(world)
    assert next_due(world) == nine(3)


@pytest.mark.parametrize("repeats", [1, 2, 3])
def test_repeats_count_an_occurrence_that_is_moved_to_now(world: World, repeats: int) -> None:
    put(world)
    world.put(
        schedule="0 9 * * MON,WED", calendar={"name": "works", "otherwise": "previous"}, repeats=repeats
    )
    world.run_until(nine(3) + HOUR_MS)
    put(world, WEDNESDAY)
    deliver(world)
    world.run_until(nine(15))
    expected = [nine(2), nine(3) + HOUR_MS + API_LIMIT_MS, nine(9)]
    assert dues(world) == expected[:repeats]
