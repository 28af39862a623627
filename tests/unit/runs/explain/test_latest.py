"""Without an instant, the answer is about the latest due time, whichever revision of the job owned it."""

from typing import Any

import pytest
from tests.fakes.http_events import Client
from tests.fakes.world import NOON, World
from tests.unit.runs.explain.ways import explained, with_policy

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, Instant
from sweephand.jobs.policy_fields import PolicyLimits
from sweephand.model.job import EARLIER_REVISIONS_MAX
from sweephand.model.policy import PolicyKey, Rate

ON_DEMAND: dict[str, Any] = {}
LABELS: dict[str, Any] = {"labels": {"a": "b"}}
ONCE: dict[str, Any] = {"dueTime": "1m", "retention": "30d"}
LIST: dict[str, Any] = {"schedule": ["2026-11-21T12:01:00Z", "2026-11-21T12:05:00Z"], "retention": "30d"}
TWICE: dict[str, Any] = {"schedule": "*/5 * * * *", "repeats": 2, "retention": "30d"}
UNTIL: dict[str, Any] = {"schedule": "*/5 * * * *", "ttl": "7m", "retention": "30d"}


def latest_is(world: World, due_at: Instant, verdict: str = "delivered") -> None:
    """Whether the answer without an instant is that about the instant, which is about the due time."""
    found = explained(world, None)
    assert (found.verdict, found.due_at) == (verdict, due_at), found.summary
    asked = explained(world, due_at)
    assert (asked.verdict, asked.due_at, asked.summary) == (found.verdict, found.due_at, found.summary)


@pytest.mark.parametrize(
    ("written", "minute"), [(ONCE, 1), (LIST, 5), (TWICE, 10), (UNTIL, 5)], ids=["once", "list", "n", "ttl"]
)
@pytest.mark.parametrize("changes", [1, 3, EARLIER_REVISIONS_MAX + 5])
def test_a_job_that_has_ended_is_explained_by_its_last_trigger_after_each_patch(
    written: dict[str, Any], minute: int, changes: int
) -> None:
    world = World()
    world.put(**written)
    world.run_until(NOON + HOUR_MS)
    for number in range(changes):
        world.run_until(world.clock.time + MINUTE_MS)
        world.patch(labels={"number": str(number)})
        latest_is(world, NOON + minute * MINUTE_MS)


@pytest.mark.parametrize(
    ("change", "without"),
    [
        (LABELS, []),
        ({"schedule": "0 3 * * *"}, []),
        ({"timezone": "Asia/Tokyo"}, []),
        ({"jitter": "10m"}, []),
        ({"retry": {"maxAttempts": 2}}, []),
        ({}, ["schedule"]),
    ],
    ids=["labels", "schedule", "timezone", "jitter", "retry", "on-demand"],
)
def test_a_job_that_is_patched_between_two_due_times_is_explained_by_the_one_before(
    change: dict[str, Any], without: list[str]
) -> None:
    world = World()
    world.put(schedule="10 * * * *")
    world.run_until(NOON + 30 * MINUTE_MS)
    world.patch(without=without, **change)
    world.run_until(NOON + 35 * MINUTE_MS)
    latest_is(world, NOON + 10 * MINUTE_MS)


def test_a_job_that_is_replaced_with_the_same_times_is_explained_by_the_due_time_before() -> None:
    world = World()
    world.put(schedule="10 * * * *")
    world.run_until(NOON + 30 * MINUTE_MS)
    world.put(schedule="10 * * * *", description="The times stay.")
    latest_is(world, NOON + 10 * MINUTE_MS)
    world.run_until(NOON + 75 * MINUTE_MS)
    latest_is(world, NOON + 70 * MINUTE_MS)


def test_a_due_time_of_the_schedule_now_goes_before_one_of_a_former_schedule() -> None:
    world = World()
    world.put(schedule="10 * * * *")
    world.run_until(NOON + 30 * MINUTE_MS)
    world.patch(schedule="40 * * * *")
    world.run_until(NOON + 45 * MINUTE_MS)
    latest_is(world, NOON + 40 * MINUTE_MS)


def test_of_several_former_schedules_the_latest_that_had_a_due_time_is_asked() -> None:
    world = World()
    world.put(schedule="10 * * * *")
    world.run_until(NOON + 15 * MINUTE_MS)
    world.patch(schedule="20 * * * *")
    world.run_until(NOON + 25 * MINUTE_MS)
    world.patch(schedule="5 3 * * *")
    world.patch(**LABELS)
    latest_is(world, NOON + 20 * MINUTE_MS)


@pytest.mark.parametrize("change", [{"policy": "other"}, {"priority": "high"}, LABELS])
def test_a_trigger_that_waits_under_a_policy_is_explained_after_a_patch(change: dict[str, Any]) -> None:
    world = World()
    writer = with_policy(world, PolicyLimits(None, Rate(1, DAY_MS)))
    writer.put(PolicyKey("ns", "other"), PolicyLimits(None, Rate(1, DAY_MS)), who="test", requested_at=NOON)
    world.put("first", dueTime="30s", policy="mailer")
    world.put("second", dueTime="30s", policy="other")
    world.put(**ONCE, policy="mailer")
    world.run_until(NOON + 10 * MINUTE_MS)
    latest_is(world, NOON + MINUTE_MS, "waiting-policy")
    world.patch(**change)
    world.run_until(NOON + 12 * MINUTE_MS)
    latest_is(world, NOON + MINUTE_MS, "waiting-policy")
    run = Client(world).send("GET", f"/v1/namespaces/ns/jobs/job/runs/{NOON + MINUTE_MS}-0")
    assert (run.status, run.json.get("state")) == (200, "waiting"), run.text


@pytest.mark.parametrize("mode", ["none", "all"])
def test_a_due_time_of_a_pause_is_the_latest_during_the_pause_and_after_the_resume(mode: Any) -> None:
    world = World()
    world.put(schedule="*/10 * * * *")
    world.run_until(NOON + 5 * MINUTE_MS)
    world.pause()
    world.run_until(NOON + 15 * MINUTE_MS)
    world.patch(**LABELS)
    world.run_until(NOON + 25 * MINUTE_MS)
    latest_is(world, NOON + 20 * MINUTE_MS, "paused")
    world.resume(mode=mode)
    world.run_until(NOON + 26 * MINUTE_MS)
    latest_is(world, NOON + 20 * MINUTE_MS, "paused")


@pytest.mark.parametrize("written", [ON_DEMAND, {"schedule": "10 * * * *"}, {"dueTime": "1h"}])
def test_a_job_without_a_past_due_time_is_explained_by_the_present(written: dict[str, Any]) -> None:
    world = World()
    world.put(**written)
    world.run_until(NOON + MINUTE_MS)
    world.patch(**LABELS)
    found = explained(world, None)
    assert (found.due_at, found.run) == (None, None)
