"""Rebuilds, audits and rounds find runs that are listed far from when they are under way."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from tests.contract.builders import run
from tests.fakes.acceptance import ACCEPTED
from tests.fakes.faults import calls_of
from tests.fakes.time_off import pass_days_off
from tests.fakes.world import NOON, World, key_of

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Instant
from sweephand.jobs import expiry
from sweephand.model.attempt import Answer
from sweephand.model.run import Run, State
from sweephand.runs import job_walk

FAILED, OK = Answer(succeeded=False, code=503), Answer(succeeded=True, code=204)
RETRY = {"initialDelay": "2h", "maxDelay": "2h", "multiplier": 1}
#: The beginning of the month: twenty days before noon, and the only due time near it.
MONTHLY = "0 0 0 1 * *"
OLD = NOON - 20 * DAY_MS - 12 * HOUR_MS
#: Two runs of each day are recorded from then on, so many that no page reaches back to the beginning.
SINCE = NOON - 19 * DAY_MS


@pytest.fixture(autouse=True)
def short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    # Modules that are imported only when they are needed would keep the short page for later tests.
    for name in ("audit", "audit_lines"):
        import_module(f"sweephand.runs.{name}")
    monkeypatch.setattr(job_walk, "PAGE_MAX", 5)


def record_runs(world: World, since: Instant, until: Instant) -> None:
    """Record two runs of each day that have succeeded."""
    for due_at in range(since, until, DAY_MS // 2):
        assert world.runs.record(recorded(world, due_at, "succeeded"))


def recorded(world: World, due_at: Instant, state: State) -> Run:
    return run(due_at, key=key_of(), uid=world.stored().uid, state=state, claimed_until=None)


def busy(**written: Any) -> World:
    """A world whose job has run twice a day for weeks."""
    world = World()
    world.namespaces.enlist("ns")
    world.put(**{"schedule": MONTHLY, "catchup": {"mode": "none"}, "retry": RETRY, **written})
    record_runs(world, SINCE, NOON)
    return world


def wait(world: World, duration_ms: int) -> None:
    """Let time pass, with a tick for each two hours."""
    end = world.clock.time + duration_ms
    while world.clock.time < end:
        world.clock.time = min(end, world.clock.time + 2 * HOUR_MS)
        world.tick()
        world.run_until(world.clock.time + SECOND_MS, ticking=False)


def backfill(world: World, answer: Answer = FAILED) -> None:
    """A run that was due long before the others begins now."""
    world.consumers.answering = lambda _: answer
    assert world.backfill(since=OLD - DAY_MS, until=OLD + DAY_MS).count == 1
    world.run_until(world.clock.time + 20 * SECOND_MS, ticking=False)
    world.consumers.answering = lambda _: OK


def redrive(world: World) -> None:
    """A run that failed long before the others is redriven now."""
    failed = recorded(world, OLD, "failed")
    assert world.runs.record(failed)
    world.consumers.answering = lambda _: FAILED
    world.redrive(failed.run_id)
    world.run_until(world.clock.time + 20 * SECOND_MS, ticking=False)
    world.consumers.answering = lambda _: OK


def oldest(world: World) -> Run:
    return world.runs.page(key_of(), None, "", 10_000).items[-1]


@pytest.mark.parametrize("begin", [backfill, redrive])
def test_a_rebuild_sends_the_retry_of_a_late_run(begin: Callable[[World], None]) -> None:
    world = busy()
    begin(world)
    assert oldest(world).state == "retrying"
    world.lose_timers()
    world.leases.raise_shards(2)
    assert world.api().rebuilder.rebuild(world.clock.time - HOUR_MS, namespace="ns").runs == 1
    wait(world, 4 * HOUR_MS)
    assert oldest(world).state == "succeeded"


@pytest.mark.parametrize("begin", [backfill, redrive])
@pytest.mark.parametrize("days", [1, 7])
def test_an_audit_finds_the_lost_retry_of_a_late_run(begin: Callable[[World], None], days: int) -> None:
    # A retry that is found after days is made only if `maxAge` allows it.
    world = busy(retry={**RETRY, "maxAge": "30d"})
    begin(world)
    world.timers.clear()
    wait(world, days * DAY_MS)
    assert oldest(world).state == "retrying"
    assert len(world.audit_jobs().runs) == 1
    wait(world, HOUR_MS)
    assert oldest(world).state == "succeeded"


def test_a_stack_that_is_off_keeps_the_record_of_a_late_run() -> None:
    world = busy(completion="async", heartbeatTimeout="30m", maxRunTime="1h", historyRetention="15d")
    world.patch(retry={"maxAge": "1h"})
    backfill(world, ACCEPTED)
    assert oldest(world).state == "running"
    pass_days_off(world, 60)
    world.is_enabled = True
    wait(world, 5 * HOUR_MS)
    assert oldest(world).state == "failed"


def test_the_late_runs_of_a_week_cost_one_write_of_their_job() -> None:
    world = busy()
    writes = []
    for _ in range(3):
        writes.append(calls_of(world, lambda: backfill(world)).count("before jobs.put"))
        world.clock.time += 3 * DAY_MS
    world.clock.time += 5 * DAY_MS
    writes.append(calls_of(world, lambda: backfill(world)).count("before jobs.put"))
    assert writes == [1, 0, 0, 1]


def pages_of_runs(world: World) -> int:
    """How many pages of runs an audit reads. The first pages of several jobs are read at once."""
    calls = calls_of(world, world.audit_jobs)
    return calls.count("before runs.page") + calls.count("before runs.newest")


def test_a_job_without_late_runs_is_walked_as_far_as_a_run_may_last() -> None:
    world = busy()
    # A run may be retried for a day, and may be an hour late.
    pages = pages_of_runs(world)
    assert pages == 9 * 2 // job_walk.PAGE_MAX + 1
    assert world.stored().late_until is None
    backfill(world)
    pages = pages_of_runs(world)
    assert pages == 19 * 2 // job_walk.PAGE_MAX + 1


def test_a_run_that_began_under_a_longer_definition_is_found(world: World) -> None:
    world.put(schedule=MONTHLY, completion="async", heartbeatTimeout="20d", maxRunTime="20d")
    world.consumers.answering = lambda _: ACCEPTED
    world.trigger()
    world.run_until(NOON + 20 * SECOND_MS, ticking=False)
    world.put(schedule=MONTHLY, retry=RETRY)
    world.timers.clear()
    record_runs(world, NOON + DAY_MS, NOON + 20 * DAY_MS)
    world.clock.time = NOON + 21 * DAY_MS
    wait(world, MINUTE_MS)
    assert oldest(world).state == "running"
    assert len(world.audit_jobs().runs) == 1


def test_a_job_is_not_deleted_while_its_backfilled_run_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "_PAGE_MAX", 1)
    world = World()
    world.put(schedule="0 1 12 * * *", repeats=1, deleteAfterCompletion=True, retry=RETRY)
    late = NOON - 9 * DAY_MS
    world.consumers.answering = lambda each: FAILED if each.trigger.due_at < late + DAY_MS else OK
    assert world.backfill(since=late, until=late + 2 * DAY_MS).count == 2
    world.run_until(NOON + 2 * MINUTE_MS)
    assert [each.state for each in world.runs.page(key_of(), None, "", 9).items][-1] == "retrying"
    assert not world.stored().is_gone(world.clock.time)
    world.consumers.answering = lambda _: OK
    wait(world, 3 * HOUR_MS)
    assert world.stored().is_gone(world.clock.time)
