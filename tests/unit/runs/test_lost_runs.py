"""A run that waits under a policy is lost only if the policy's line has come further than to its message."""

from collections.abc import Callable

import pytest
from tests.fakes.acceptance import ACCEPTED
from tests.fakes.deliveries import run_of
from tests.fakes.faults import crashing
from tests.fakes.policies import GATE, delete_policy, jobs_in_line, let_wait, waiting, world_with
from tests.fakes.world import NOON, World
from tests.unit.runs.test_audit_runs import DAY, FAILED, HOUR, MINUTE, RETRY, lost

from sweephand.model.gate_line import entries_of

#: Every job of these tests has more occurrences, so it does not end.
LIST = ["2026-11-21T12:10:00Z", "2028-11-21T12:10:00Z"]


def retrying() -> World:
    """A world in which the first attempt under the policy has failed."""
    world = world_with()
    world.consumers.answering = lambda _: FAILED
    world.put(schedule=LIST, policy="mailer", retry=RETRY)
    world.run_until(NOON + 11 * MINUTE)
    assert run_of(world).state == "retrying"
    return world


def retry_waits() -> World:
    """A world with a retry in the line, which nobody serves."""
    world = retrying()
    let_wait(world, NOON + HOUR)
    assert jobs_in_line(world) == ["job"]
    return world


def claim_waits() -> World:
    """A world with a trigger in the line whose attempt a function has claimed before it crashed."""
    world = world_with()
    world.put(schedule=LIST, policy="mailer", history="full")
    world.announce = crashing
    with pytest.raises(KeyboardInterrupt):
        world.run_until(NOON + 11 * MINUTE)
    world.announce = lambda _: None
    let_wait(world, NOON + HOUR)
    assert run_of(world).state == "claimed"
    assert jobs_in_line(world) == ["job"]
    return world


WAITING = pytest.mark.parametrize("waits", [retry_waits, claim_waits])


@WAITING
def test_a_run_that_waits_for_a_policy_without_an_item_is_not_lost(waits: Callable[[], World]) -> None:
    world = waits()
    world.policies._policies.clear()
    for hours in (3, 4, 5):
        world.run_until(NOON + hours * HOUR)
        assert world.audit_jobs().runs == []
    world.run_until(world.clock.time + HOUR)
    assert jobs_in_line(world) == ["job"]


@WAITING
def test_a_run_that_waits_under_a_policy_that_closes_comes_to_its_end(waits: Callable[[], World]) -> None:
    world = waits()
    delete_policy(world)
    world.run_until(world.clock.time + HOUR)
    assert run_of(world).is_over
    assert world.audit_jobs().runs == []


@WAITING
@pytest.mark.parametrize("mends", [True, False])
def test_a_run_that_waits_in_the_line_of_a_policy_that_is_behind_is_not_lost(
    waits: Callable[[], World], *, mends: bool
) -> None:
    world = waits()
    let_wait(world, NOON + 5 * HOUR)
    done = world.audit_jobs(mends=mends)
    assert (done.runs, done.written) == ([], 0)
    world.run_until(world.clock.time + HOUR)
    assert run_of(world).is_over


@WAITING
def test_a_run_whose_message_was_lost_comes_to_its_end_under_a_policy(waits: Callable[[], World]) -> None:
    world = waits()
    lost(world)
    world.gate_lines.clear()
    world.run_until(NOON + 5 * HOUR)
    assert len(world.audit_jobs().runs) == 1
    world.run_until(NOON + 6 * HOUR)
    assert run_of(world).is_over
    assert world.audit_jobs().runs == []


@pytest.mark.parametrize(("ahead_ms", "is_lost"), [(HOUR - MINUTE, False), (HOUR + MINUTE, True)])
def test_a_run_is_judged_by_the_time_that_the_line_has_come_to(ahead_ms: int, *, is_lost: bool) -> None:
    world = retry_waits()
    (message,) = waiting(world)
    world.gate_lines.clear()
    [entry] = entries_of([message], "normal", "source")
    world.gate_lines.put(GATE, entry._replace(at=message.not_before + ahead_ms))
    let_wait(world, NOON + 9 * HOUR)
    assert bool(world.audit_jobs(mends=False).runs) == is_lost


def test_the_check_of_an_accepted_run_does_not_wait_for_a_policy() -> None:
    world = world_with()
    world.consumers.answering = lambda _: ACCEPTED
    world.put(
        schedule=LIST, policy="mailer", completion="async", heartbeatTimeout="10m", retry={"maxAttempts": 1}
    )
    world.run_until(NOON + 11 * MINUTE)
    assert run_of(world).state == "running"
    delete_policy(world)
    lost(world)
    world.run_until(NOON + 5 * HOUR)
    assert len(world.audit_jobs().runs) == 1
    world.run_until(NOON + 6 * HOUR)
    assert run_of(world).state == "failed"


@pytest.mark.parametrize("name", ["mailer", None])
def test_a_retry_that_a_pause_has_put_off_is_not_lost_within_an_hour_of_the_resume(name: str | None) -> None:
    world = world_with()
    world.consumers.answering = lambda _: FAILED
    world.put(schedule=LIST, retry=RETRY, policy=name)
    world.run_until(NOON + 11 * MINUTE)
    world.pause()
    world.run_until(NOON + DAY)
    world.resume()
    assert world.audit_jobs().runs == []
    lost(world)
    world.gate_lines.clear()
    world.run_until(NOON + DAY + 2 * HOUR)
    assert len(world.audit_jobs().runs) == 1
