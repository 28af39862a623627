"""Alerts about jobs with windows: later about what a window held, and no later about the rest."""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from tests.fakes.memory_timers import MemoryTimers
from tests.fakes.windows import at, delete_window, put_once, put_window, world_with_windows
from tests.fakes.world import NOON, World

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.timer import WatchTimer
from sweephand.runs.watch import LOOK_AGAIN_MS

ALERTED = {"type": "http", "url": "https://ops.example/alert"}
DOWN = Answer(succeeded=False, code=503)
UP = Answer(succeeded=True, code=200)
ONCE = {"maxAttempts": 1}

#: The window of these tests is open from one to two o'clock, and what it held leaves within a minute.
HELD_UNTIL_MS = 2 * HOUR_MS + MINUTE_MS


class Scene:
    """A world with windows, whose consumer is down until `up_at`, and the alerts that have left it."""

    def __init__(self) -> None:
        self.world = world_with_windows()
        self.world.consumers.answering = self._answer
        self.up_at: float = float("inf")
        self.alerts: list[tuple[str, int, int]] = []

    def put(self, name: str, **written: Any) -> None:
        """Write a job with a watch."""
        self.world.put(name, **{"alertAfter": "10m", "onAlert": ALERTED, "retry": ONCE, **written})

    def run(self, until_ms: int) -> list[tuple[str, int, int]]:
        """The alerts up to so long after noon: the job, what was missed, and when the alert left."""
        self.world.run_until(NOON + until_ms)
        return self.alerts

    def _answer(self, attempt: Attempt) -> Answer:
        now = self.world.clock.time - NOON
        if attempt.alert is None:
            return UP if now >= self.up_at else DOWN
        body = json.loads(attempt.body)
        self.alerts.append((attempt.trigger.key.name, body["missed"], now // MINUTE_MS))
        return UP


def minutes(*ms: int) -> int:
    return sum(ms) // MINUTE_MS


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_an_alert_comes_in_time_although_a_window_is_open_between_any_two_due_times(scene: Scene) -> None:
    """The trigger has failed before the window, which has not touched it."""
    put_window(scene.world, schedule="0 1 * * *", duration="1h")
    scene.put("daily", schedule="0 0 13 * * *", alertAfter="24h")
    alerts = scene.run(4 * DAY_MS)
    assert alerts == [("daily", 1, minutes(HOUR_MS, day * DAY_MS)) for day in (1, 2, 3)]


def test_a_trigger_that_a_window_held_has_its_time_after_it(scene: Scene) -> None:
    put_once(scene.world, HOUR_MS, 2 * HOUR_MS)
    scene.put("held", dueTime=at(HOUR_MS + MINUTE_MS))
    alerts = scene.run(HELD_UNTIL_MS + 10 * MINUTE_MS + LOOK_AGAIN_MS)
    assert alerts == []
    assert scene.run(6 * HOUR_MS) == [("held", 1, minutes(HELD_UNTIL_MS, 10 * MINUTE_MS, LOOK_AGAIN_MS))]


def test_a_retry_that_a_window_held_has_its_time_after_it(scene: Scene) -> None:
    put_once(scene.world, HOUR_MS, 2 * HOUR_MS)
    retry = {"initialDelay": "5m", "maxAttempts": 2}
    scene.put("held", dueTime=at(HOUR_MS - MINUTE_MS), retry=retry)
    assert scene.run(6 * HOUR_MS) == [("held", 1, minutes(HELD_UNTIL_MS, 10 * MINUTE_MS, LOOK_AGAIN_MS))]


def test_a_watch_is_quiet_about_what_succeeds_after_a_window_or_is_skipped(scene: Scene) -> None:
    scene.up_at = 2 * HOUR_MS
    put_once(scene.world, HOUR_MS, 2 * HOUR_MS, prefix="held")
    put_once(scene.world, HOUR_MS, 2 * HOUR_MS, "skips", prefix="skipped", then="skip")
    scene.put("held", dueTime=at(HOUR_MS + MINUTE_MS))
    scene.put("held-retry", dueTime=at(HOUR_MS - MINUTE_MS), retry={"initialDelay": "5m"})
    scene.put("skipped", dueTime=at(HOUR_MS + MINUTE_MS))
    scene.put("late", dueTime=at(HOUR_MS - 30 * MINUTE_MS))
    assert scene.run(6 * HOUR_MS) == [("late", 1, 40)]


def test_many_triggers_that_a_window_held_are_told_once(scene: Scene) -> None:
    scene.up_at = HELD_UNTIL_MS
    put_once(scene.world, HOUR_MS, 2 * HOUR_MS)
    scene.put("often", schedule="0 * 13 * * *")
    assert scene.run(6 * HOUR_MS) == [("often", 60, minutes(HELD_UNTIL_MS, 10 * MINUTE_MS, LOOK_AGAIN_MS))]


def test_windows_of_which_one_follows_on_the_other_are_one_hold(scene: Scene) -> None:
    put_once(scene.world, HOUR_MS, 2 * HOUR_MS)
    put_once(scene.world, 2 * HOUR_MS, 3 * HOUR_MS, "second")
    scene.put("held", schedule="0 30 13,14 * * *")
    held_until_ms = HELD_UNTIL_MS + HOUR_MS
    assert scene.run(6 * HOUR_MS) == [("held", 2, minutes(held_until_ms, 10 * MINUTE_MS, LOOK_AGAIN_MS))]


def test_a_lost_trigger_is_told_although_a_window_opens_each_night(scene: Scene) -> None:
    put_window(scene.world, schedule="0 1 * * *", duration="1h")
    scene.put("lost", dueTime=at(HOUR_MS), alertAfter="23h")
    watched = [each for each in scene.world.timers.everything() if isinstance(each, WatchTimer)]
    scene.world.timers = MemoryTimers()
    scene.world.timers.put(watched)
    # The window closed at two in the morning.
    closed_ms = 14 * HOUR_MS + MINUTE_MS
    assert scene.run(6 * DAY_MS) == [("lost", 1, minutes(closed_ms, 23 * HOUR_MS, LOOK_AGAIN_MS))]


def test_what_a_removed_window_held_is_told(scene: Scene) -> None:
    put_once(scene.world, HOUR_MS, 2 * HOUR_MS)
    scene.put("held", dueTime=at(HOUR_MS + MINUTE_MS))
    scene.run(HOUR_MS + 30 * MINUTE_MS)
    delete_window(scene.world)
    assert [name for name, *_ in scene.run(6 * HOUR_MS)] == ["held"]


@pytest.mark.parametrize("change", [delete_window, partial(put_once, since_ms=20 * HOUR_MS, until_ms=DAY_MS)])
def test_what_a_removed_window_held_is_told_although_more_is_missed_as_it_closes(
    scene: Scene, change: Callable[[World], None]
) -> None:
    put_once(scene.world, HOUR_MS, 2 * HOUR_MS)
    scene.put("held", schedule="@every 10m", dueTime=at(HOUR_MS), repeats=7)
    scene.run(2 * HOUR_MS + 5 * MINUTE_MS)
    change(scene.world)
    # The check of 14:00 takes no trigger that the window held for told.
    assert scene.run(6 * HOUR_MS) == [("held", 7, minutes(2 * HOUR_MS, 10 * MINUTE_MS))]


def test_what_a_removed_window_held_before_a_pause_is_told_although_more_falls_due_in_the_pause(
    scene: Scene,
) -> None:
    put_once(scene.world, HOUR_MS, 2 * HOUR_MS)
    scene.put("held", schedule="0 */10 13-23 * * *")
    scene.run(HOUR_MS + 55 * MINUTE_MS)
    scene.world.pause("held")
    scene.run(2 * HOUR_MS + 20 * MINUTE_MS)
    delete_window(scene.world)
    # At 14:00, when the window was open no more, a trigger was due that the resume decides about.
    told_at = minutes(HELD_UNTIL_MS, 10 * MINUTE_MS, LOOK_AGAIN_MS)
    assert scene.run(6 * HOUR_MS) == [("held", 6, told_at)]


def test_a_success_before_a_long_window_is_not_missed_when_its_record_has_expired(scene: Scene) -> None:
    scene.up_at = 0
    put_once(scene.world, HOUR_MS, 14 * DAY_MS + HOUR_MS)
    scene.put("daily", schedule="0 30 12 * * *", alertAfter="7d")
    scene.run(20 * DAY_MS)
    stored = vars(scene.world.runs)["_runs"]
    for place in [place for place, run in stored.items() if run.due_at == NOON + 30 * MINUTE_MS]:
        del stored[place]
    assert scene.run(23 * DAY_MS) == []
