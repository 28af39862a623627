"""The record of an instant is found among many runs. Without an instant, the answer is about the latest."""

from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.http_events import Client
from tests.fakes.world import NOON, World, key_of
from tests.unit.runs.explain.ways import explained, with_policy

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Instant
from sweephand.jobs.policy_fields import PolicyLimits
from sweephand.model.job import EARLIER_REVISIONS_MAX
from sweephand.model.policy import PolicyKey, Rate
from sweephand.model.run import Run
from sweephand.model.run_id import Demand
from sweephand.model.trigger import BatchPlace

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
    world: World, written: dict[str, Any], minute: int, changes: int
) -> None:
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
    world: World, change: dict[str, Any], without: list[str]
) -> None:
    world.put(schedule="10 * * * *")
    world.run_until(NOON + 30 * MINUTE_MS)
    world.patch(without=without, **change)
    world.run_until(NOON + 35 * MINUTE_MS)
    latest_is(world, NOON + 10 * MINUTE_MS)


def test_a_job_that_is_replaced_with_the_same_times_is_explained_by_the_due_time_before(world: World) -> None:
    world.put(schedule="10 * * * *")
    world.run_until(NOON + 30 * MINUTE_MS)
    world.put(schedule="10 * * * *", description="The times stay.")
    latest_is(world, NOON + 10 * MINUTE_MS)
    world.run_until(NOON + 75 * MINUTE_MS)
    latest_is(world, NOON + 70 * MINUTE_MS)


def test_a_due_time_of_the_schedule_now_goes_before_one_of_a_former_schedule(world: World) -> None:
    world.put(schedule="10 * * * *")
    world.run_until(NOON + 30 * MINUTE_MS)
    world.patch(schedule="40 * * * *")
    world.run_until(NOON + 45 * MINUTE_MS)
    latest_is(world, NOON + 40 * MINUTE_MS)


def test_of_several_former_schedules_the_latest_that_had_a_due_time_is_asked(world: World) -> None:
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


MISFIRES = "One record stands for 60 such triggers"


def world_of_deleted_job() -> World:
    world = World()
    world.put(schedule="@yearly")
    world.delete()
    return world


def run_at(due_at: int) -> Run:
    return Run(
        key_of(), "gone", due_at, 0, "succeeded", 1, "1-r", 1, started_at=due_at, ended_at=due_at, owner="1-r"
    )


@pytest.mark.parametrize("count", [99, 100, 101, 1_000])
def test_a_batch_later_in_the_minute_hides_no_run(count: int) -> None:
    world = world_of_deleted_job()
    world.runs.record(run_at(NOON))
    in_batch = replace(run_at(NOON + 20 * SECOND_MS), batch=BatchPlace(count, 0, 0))
    for index in range(count):
        world.runs.record(replace(in_batch, index=index))
    world.clock.time = NOON + HOUR_MS
    assert explained(world, NOON).verdict == "delivered"


@pytest.mark.parametrize("count", [99, 101, 1_000])
@pytest.mark.parametrize("step_ms", [0, 1])
def test_runs_on_demand_hide_no_record_of_misfires(count: int, step_ms: int) -> None:
    world = world_of_deleted_job()
    skipped = replace(run_at(NOON), state="skipped", reason="misfire", attempts=0, started_at=None)
    world.runs.record(replace(skipped, count=60, last_due_at=NOON + HOUR_MS - MINUTE_MS))
    for number in range(count):
        asked = Demand("manual", f"{number:032d}")
        world.runs.record(replace(run_at(NOON + MINUTE_MS + number * step_ms), demand=asked))
    world.clock.time = NOON + 2 * HOUR_MS
    found = explained(world, NOON + 30 * MINUTE_MS)
    assert found.verdict == "misfire"
    assert MISFIRES in found.summary
