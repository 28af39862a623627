"""The watch on a job: an alert comes for triggers that have not succeeded in time, and for no others."""

import json
from typing import Any

import pytest
from tests.fakes.memory_timers import MemoryTimers
from tests.fakes.world import NOON, World, key_of

from sweephand.base.instants import SECOND_MS, rfc3339
from sweephand.base.timing import DEADLINE_GRACE_MS
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.timer import WatchTimer
from sweephand.model.watch import WatchMessage
from sweephand.runs import watch

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR
ALERTED = {"type": "http", "url": "https://ops.example/alert"}
WATCHED = {"alertAfter": "10m", "onAlert": ALERTED}
ONCE = {"maxAttempts": 1}
DOWN = Answer(succeeded=False, code=503)
UP = Answer(succeeded=True, code=200)


class Scene:
    """A world whose consumer of triggers may be down, and the alerts that have left it."""

    def __init__(self, world: World | None = None, **written: Any) -> None:
        self.world = world or World()
        self.answer = UP
        self.alerts: list[dict[str, Any]] = []
        self.alerted_at: list[int] = []
        self.world.consumers.answering = self._answer
        if written:
            self.put(**written)

    def put(self, name: str = "job", **written: Any) -> None:
        """Write a job with a watch."""
        self.world.put(name, **{**WATCHED, **written})

    def run(self, until_ms: int, *, ticking: bool = True) -> None:
        """Let time pass until so long after noon."""
        self.world.run_until(NOON + until_ms, ticking=ticking)

    def _answer(self, attempt: Attempt) -> Answer:
        if attempt.alert is None:
            return self.answer
        assert attempt.spec == ALERTED
        body = json.loads(attempt.body)
        assert body["alertId"] == attempt.id
        self.alerts.append(body)
        self.alerted_at.append(self.world.clock.time - NOON)
        return UP


def watch_timers(world: World) -> list[WatchTimer]:
    return [each for each in world.timers.everything() if isinstance(each, WatchTimer)]


def test_a_trigger_that_fails_is_told_when_its_time_is_over() -> None:
    scene = Scene(dueTime="10s", retry=ONCE)
    scene.answer = DOWN
    scene.run(10 * MINUTE)
    assert not scene.alerts
    scene.run(11 * MINUTE)
    due = rfc3339(NOON + 10 * SECOND_MS)
    uid = scene.world.stored().uid
    assert scene.alerts == [
        {
            "namespace": "ns",
            "job": "job",
            "alertId": f"{uid}-alert-{NOON}",
            "missed": 1,
            "firstDueAt": due,
            "lastDueAt": due,
            "checkedAt": rfc3339(NOON + 10 * SECOND_MS + 10 * MINUTE),
            "lastRun": {
                "runId": f"{NOON + 10_000}-0",
                "state": "failed",
                "startedAt": due,
                "attempts": 1,
                "responseCode": 503,
                "reason": "Attempt 1 of 1 failed: Response 503.",
            },
        }
    ]
    assert scene.alerted_at == [10 * MINUTE + 10 * SECOND_MS + DEADLINE_GRACE_MS]


@pytest.mark.parametrize("schedule", ["@every 1s", "@every 40s", "@every 7m", "@every 3h"])
def test_triggers_that_succeed_in_time_send_no_alert(schedule: str) -> None:
    scene = Scene(schedule=schedule, alertAfter="1m")
    scene.run(HOUR // 3 if schedule == "@every 1s" else 7 * HOUR)
    assert scene.world.consumers.attempts
    assert not scene.alerts


def test_a_success_that_comes_too_late_is_told_and_one_that_comes_in_time_is_not() -> None:
    for after_ms, alerts in ((9 * MINUTE, 0), (11 * MINUTE, 1)):
        scene = Scene(dueTime="10s", retry={"initialDelay": "30s", "multiplier": 1, "maxAttempts": 100})
        scene.answer = DOWN
        scene.run(after_ms)
        scene.answer = UP
        scene.run(30 * MINUTE)
        assert len(scene.alerts) == alerts, after_ms


def test_each_missed_night_is_told() -> None:
    scene = Scene(schedule="0 30 2 * * *", retry=ONCE)
    scene.answer = DOWN
    scene.run(3 * DAY)
    assert [each["missed"] for each in scene.alerts] == [1, 1, 1]
    assert len({each["alertId"] for each in scene.alerts}) == 3


def test_an_outage_that_begins_before_the_full_hour_is_told_once_at_first() -> None:
    scene = Scene(schedule="@every 30s", alertAfter="5m", retry=ONCE)
    scene.run(50 * MINUTE)
    scene.answer = DOWN
    scene.run(80 * MINUTE)
    scene.answer = UP
    scene.run(3 * HOUR)
    assert len(scene.alerts) == 1
    assert 55 * MINUTE < scene.alerted_at[0] < 57 * MINUTE


def test_a_trigger_that_was_lost_is_told() -> None:
    scene = Scene(dueTime="1h")
    scene.run(HOUR - 60_000)
    scene.world.queue.waiting = [
        each for each in scene.world.queue.waiting if isinstance(each[1], WatchMessage)
    ]
    scene.run(2 * HOUR)
    (alert,) = scene.alerts
    assert alert["lastRun"] is None


def test_a_watch_finds_a_job_whose_timers_of_occurrences_are_lost() -> None:
    scene = Scene(schedule="@every 1h")
    kept = watch_timers(scene.world)
    scene.world.timers = MemoryTimers()
    scene.world.timers.put(kept)
    scene.run(3 * HOUR)
    assert len(scene.alerts) == 2


def test_an_accepted_run_that_is_not_over_is_told() -> None:
    scene = Scene(dueTime="10s", completion="async")
    scene.answer = Answer(succeeded=True, code=202)
    scene.run(HOUR)
    (alert,) = scene.alerts
    assert alert["missed"] == 1


def test_what_is_skipped_for_another_run_is_not_told_but_that_run_is() -> None:
    scene = Scene(schedule="@every 5m", completion="async", overlap="skip", heartbeatTimeout="3h")
    scene.answer = Answer(succeeded=True, code=202)
    scene.run(25 * MINUTE)
    (alert,) = scene.alerts
    assert (alert["missed"], alert["firstDueAt"]) == (1, rfc3339(NOON + 5 * MINUTE))


@pytest.mark.parametrize("begins", ["with an update", "with a resume"])
@pytest.mark.parametrize("is_completed", [True, False])
def test_what_is_skipped_for_a_run_from_before_the_watch_is_told_unless_that_run_succeeds_in_time(
    begins: str, *, is_completed: bool
) -> None:
    scene = Scene()
    scene.answer = Answer(succeeded=True, code=202)
    watched: dict[str, Any] = WATCHED
    since_creation = watched if begins == "with a resume" else {}
    scene.world.put(
        schedule="@every 1h", completion="async", overlap="skip", heartbeatTimeout="3h", **since_creation
    )
    if begins == "with a resume":
        scene.world.pause()
        scene.run(HOUR + MINUTE)
        scene.world.resume()
    else:
        scene.run(HOUR + MINUTE)
        scene.world.patch(**watched)
    scene.run(2 * HOUR + MINUTE)
    if is_completed:
        scene.world.callbacks().complete(key_of("job"), f"{NOON + HOUR}-0", None)
    scene.run(2 * HOUR + 20 * MINUTE)

    skipped = scene.world.runs.get(key_of("job"), f"{NOON + 2 * HOUR}-0")
    assert skipped is not None
    assert (skipped.state, skipped.skipped_for) == ("skipped", f"{NOON + HOUR}-0")
    told = [] if is_completed else [rfc3339(NOON + 2 * HOUR)]
    assert [each["firstDueAt"] for each in scene.alerts] == told


def test_a_paused_job_alerts_about_what_was_due_before_the_pause_alone() -> None:
    scene = Scene(schedule="@every 5m", retry={"initialDelay": "1m", "multiplier": 1})
    scene.answer = DOWN
    scene.run(6 * MINUTE)
    scene.world.pause()
    scene.run(4 * HOUR)
    (alert,) = scene.alerts
    assert (alert["missed"], alert["lastDueAt"]) == (1, rfc3339(NOON + 5 * MINUTE))
    scene.answer = UP
    scene.world.resume(mode="all")
    scene.run(6 * HOUR)
    assert len(scene.alerts) == 1


def test_a_watch_goes_on_after_a_resume() -> None:
    scene = Scene(schedule="@every 5m", retry=ONCE)
    scene.world.pause()
    scene.run(HOUR)
    scene.world.resume()
    scene.answer = DOWN
    scene.run(HOUR + 10 * MINUTE)
    assert not scene.alerts
    scene.run(HOUR + 16 * MINUTE)
    assert len(scene.alerts) == 1


def test_a_patched_job_is_still_watched_for_what_fell_due_before() -> None:
    scene = Scene(schedule="@every 5m", retry=ONCE)
    scene.answer = DOWN
    scene.run(6 * MINUTE)
    scene.answer = UP
    scene.world.patch(description="new")
    scene.run(HOUR)
    (alert,) = scene.alerts
    assert (alert["missed"], alert["lastDueAt"]) == (1, rfc3339(NOON + 5 * MINUTE))


def test_the_first_trigger_missed_after_an_update_is_told_although_an_alert_was_sent_shortly_before() -> None:
    scene = Scene(schedule="@every 10m", retry=ONCE)
    scene.answer = DOWN
    scene.run(21 * MINUTE)
    scene.world.patch(description="another text")
    scene.run(50 * MINUTE)
    assert [each["firstDueAt"] for each in scene.alerts] == [
        rfc3339(NOON + 10 * MINUTE),
        rfc3339(NOON + 30 * MINUTE),
    ]
    assert len({each["alertId"] for each in scene.alerts}) == 1


@pytest.mark.parametrize("becomes", ["deleted", "replaced", "without a watch"])
def test_a_job_that_is_gone_or_has_no_watch_now_sends_no_alert(becomes: str) -> None:
    scene = Scene(dueTime="10s", retry=ONCE)
    scene.answer = DOWN
    scene.run(MINUTE)
    if becomes == "without a watch":
        scene.world.patch(without=("alertAfter", "onAlert"))
    else:
        scene.world.delete()
    if becomes == "replaced":
        scene.put(dueTime="5h")
    scene.run(HOUR)
    assert not scene.alerts


def test_a_cancelled_run_is_not_told() -> None:
    scene = Scene(dueTime="10s", completion="async", heartbeatTimeout="3h")
    scene.answer = Answer(succeeded=True, code=202)
    scene.run(MINUTE)
    scene.world.callbacks().cancel(key_of("job"), f"{NOON + 10_000}-0", who="test")
    scene.run(HOUR)
    assert not scene.alerts


def test_triggers_on_demand_are_not_watched() -> None:
    scene = Scene(dueTime="10h", retry=ONCE)
    scene.answer = DOWN
    scene.world.trigger()
    scene.run(HOUR)
    assert scene.world.consumers.attempts
    assert not scene.alerts


def test_the_check_of_a_revision_that_was_never_committed_is_dropped() -> None:
    scene = Scene(dueTime="1h")
    (timer,) = watch_timers(scene.world)
    orphan = timer.message._replace(rev="9-never", check_at=NOON + MINUTE, armed_at=NOON)
    scene.world.queue.send([(orphan, 0)])
    scene.run(MINUTE + 30_000)
    assert any(each == orphan for _, each in scene.world.queue.waiting)
    scene.run(10 * MINUTE)
    assert not any(each == orphan for _, each in scene.world.queue.waiting)
    assert not scene.alerts


def test_an_alert_that_nobody_takes_becomes_a_dead_letter() -> None:
    scene = Scene(dueTime="10s", retry=ONCE)
    scene.answer = DOWN
    scene.world.consumers.answering = lambda _: DOWN
    scene.run(2 * DAY)
    letters = [letter for letter, _ in scene.world.queue.buried]
    (letter,) = (each for each in letters if "alert" in each.body)
    assert letter.reason.startswith("The onAlert target could not be notified.")


def test_a_check_of_many_missed_triggers_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "CHECKED_MAX", 7)
    scene = Scene(schedule="@every 1m", catchup={"mode": "none"}, retry=ONCE)
    scene.run(20 * MINUTE)
    scene.world.clock.time = NOON + 50 * MINUTE
    scene.run(53 * MINUTE)
    (alert,) = scene.alerts
    # The last of the seven is delivered at its deadline, when the stack runs again.
    assert (alert["missed"], alert["lastDueAt"]) == (6, rfc3339(NOON + 40 * MINUTE))


def test_a_check_of_many_triggers_looks_at_all_of_them_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "CHECKED_MAX", 7)
    scene = Scene(schedule="@every 10s", alertAfter="3h", retry=ONCE)
    scene.answer = DOWN
    scene.run(12_000)
    scene.answer = UP
    scene.run(10 * MINUTE)
    assert scene.world.consumers.attempts
    scene.world.clock.time = NOON + 3 * HOUR + 9 * MINUTE
    scene.run(3 * HOUR + 13 * MINUTE)
    assert [each["firstDueAt"] for each in scene.alerts] == [rfc3339(NOON + 10 * SECOND_MS)]


def test_a_trigger_that_less_jitter_makes_due_in_the_past_is_not_told() -> None:
    scene = Scene(schedule="0 0 * * * *", jitter="1h", alertAfter="1m")
    jitter_ms = scene.world.stored().series.jitter_ms
    assert jitter_ms > 3 * MINUTE
    scene.run(3 * HOUR + jitter_ms - MINUTE)
    scene.world.patch(without=["jitter"])
    scene.run(5 * HOUR)
    assert not scene.alerts
    scene.answer = DOWN
    scene.run(6 * HOUR + 2 * MINUTE)
    assert scene.alerts
