"""Triggers of a policy with a breaker wait while their consumer is out of order, and use no attempts."""

from typing import Any

import pytest
from tests.fakes.acceptance import ACCEPTED
from tests.fakes.policies import GATE, waiting, world_with
from tests.fakes.world import NOON, World, key_of

from sweephand.base.instants import HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.model.attempt import Answer
from sweephand.model.policy import Breaker
from sweephand.model.run import Run

OK = Answer(succeeded=True, code=204)
OUT = Answer(succeeded=False, code=503)
RETRY = {"maxAttempts": 4, "initialDelay": "2s", "maxDelay": "2s"}


def world_of_a_consumer_that_is_out(jobs: int, *, takes_slots: bool, **written: Any) -> World:
    """So many jobs fall due at one instant, and their consumer answers with 503."""
    world = world_with(5, breaker=Breaker(3, MINUTE_MS))
    world.takes_slots = takes_slots
    for number in range(jobs):
        world.put(f"job{number}", dueTime="10s", policy="mailer", retry=RETRY, **written)
    world.consumers.answering = lambda _: OUT
    return world


def run_of(world: World, name: str = "job0") -> Run:
    [run] = world.runs.page(key_of(name), None, "", 10).items
    return run


def attempts_of(world: World) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for each in world.consumers.attempts:
        found.setdefault(each.trigger.key.name, []).append(each.number)
    return found


@pytest.mark.parametrize("takes_slots", [False, True])
def test_an_outage_of_an_hour_fails_no_run_and_all_are_delivered_after_it(*, takes_slots: bool) -> None:
    world = world_of_a_consumer_that_is_out(8, takes_slots=takes_slots)
    world.run_until(NOON + HOUR_MS)
    probes = [each for each in world.consumers.times if each > NOON + MINUTE_MS]
    assert 57 <= len(probes) <= 60, "one in each minute"
    assert all(max(each) <= 2 for each in attempts_of(world).values()), "probes use no attempts"
    assert len(waiting(world)) == 8
    world.consumers.answering = lambda _: OK
    world.run_until(NOON + HOUR_MS + 75 * SECOND_MS)
    assert {run_of(world, f"job{number}").state for number in range(8)} == {"succeeded"}
    assert not waiting(world)
    assert world.gates.get(GATE).used == 0


def test_a_probe_of_an_asynchronous_job_that_fails_leaves_no_claim_and_no_slot() -> None:
    world = world_of_a_consumer_that_is_out(3, takes_slots=True, completion="async", maxRunTime="5m")
    world.run_until(NOON + 10 * MINUTE_MS)
    assert world.gates.get(GATE).used == 0
    world.consumers.answering = lambda _: ACCEPTED
    world.run_until(NOON + 12 * MINUTE_MS)
    assert [run_of(world, f"job{number}").state for number in range(3)] == ["running"] * 3
    assert world.gates.get(GATE).used == 3


def test_answers_that_are_no_outage_fail_runs_as_without_a_breaker() -> None:
    world = world_of_a_consumer_that_is_out(3, takes_slots=False)
    world.consumers.answering = lambda _: Answer(succeeded=False, code=404)
    world.run_until(NOON + 5 * MINUTE_MS)
    assert {run_of(world, f"job{number}").state for number in range(3)} == {"failed"}
    assert len(world.consumers.attempts) == 12


def test_a_run_that_has_become_too_old_is_given_up_when_its_turn_comes() -> None:
    world = world_of_a_consumer_that_is_out(1, takes_slots=False)
    world.put("job0", dueTime="10s", policy="mailer", retry=RETRY | {"maxAge": "10m"})
    world.run_until(NOON + 30 * MINUTE_MS)
    world.consumers.answering = lambda _: OK
    world.run_until(NOON + 32 * MINUTE_MS)
    assert run_of(world).state == "failed"
