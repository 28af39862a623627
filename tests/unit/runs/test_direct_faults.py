"""Slots that are taken at once, while jobs change, writes fail and slow consumers hold a call."""

from typing import Any

import pytest
from tests.fakes.policies import KEY, OTHER, add_policy, nobody_serves, waiting, world_with
from tests.fakes.world import NOON, World, quiet
from tests.unit.runs.test_slow_connections import Slow

from sweephand.base.errors import StoreError
from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.model.attempt import Answer
from sweephand.model.gate import GateName
from sweephand.model.policy import Rate
from sweephand.model.trigger import BundleMessage, TriggerMessage
from sweephand.model.wire import decode, encode
from sweephand.runs.received import Received

DUE = NOON + 20 * SECOND_MS


@pytest.fixture
def world() -> World:
    world = World()
    world.takes_slots = True
    return world


def in_one_bundle(world: World) -> list[Received]:
    """All messages that wait, as one bundle that is received shortly before it is due."""
    world.queue.waiting = [(NOON, message) for _, message in world.queue.waiting]
    world.clock.time = DUE - 900
    batch = world.queue.take()
    messages = [decode(each.body) for each in batch]
    triggers = tuple(each for each in messages if isinstance(each, TriggerMessage))
    return [batch[0]._replace(body=encode(BundleMessage(triggers)))]


def limit_of(world: World, tenant: str) -> int:
    return world.gates.get(GateName(KEY, 0, f"label:tenant:{tenant}")).used


@pytest.mark.parametrize("takes_slots", [True, False])
def test_a_request_leaves_by_a_slot_of_the_key_that_its_job_has_at_that_moment(*, takes_slots: bool) -> None:
    world = world_with(1, by="label:tenant")
    world.takes_slots = takes_slots
    slow = Slow(world, 1_500)
    changes = iter([{"tenant": "zulu"}])

    def change() -> None:
        for labels in changes:
            world.patch("a", labels=labels)

    slow.while_connecting = change  # type: ignore[method-assign] # somebody writes the job at that moment
    used: list[tuple[int, int]] = []
    deliver = slow.deliver

    def delivered(attempt: Any) -> Answer:
        answer = deliver(attempt)
        if answer.succeeded:
            used.append((limit_of(world, "acme"), limit_of(world, "zulu")))
        return answer

    slow.deliver = delivered  # type: ignore[method-assign] # it looks at the gates while the request is open
    world.put("a", labels={"tenant": "acme"}, dueTime="20s", policy="mailer")
    world.run_until(DUE + 5 * MINUTE_MS)
    assert used == [(0, 1)]


def test_a_write_that_fails_for_one_key_takes_no_slot_of_another(world: World) -> None:
    add_policy(world, 1, by="label:tenant")
    for number in range(6):
        world.put(f"job-{number}", labels={"tenant": f"t{number}"}, dueTime="20s", policy="mailer")
    received, writes = in_one_bundle(world), iter(range(100))

    def throttled(call: str) -> None:
        if call == "before gates.change" and next(writes) == 5:
            raise StoreError("as the test asks")

    world.announce = throttled
    world.intake().handle(received, deadline=DUE + 90 * SECOND_MS)
    world.announce = quiet
    assert (len(world.consumers.times), len(waiting(world))) == (5, 1)
    world.run_until(DUE + 5 * SECOND_MS)
    assert len(world.consumers.times) == 6


def test_what_cannot_leave_does_not_wait_for_slow_consumers_of_its_call(world: World) -> None:
    add_policy(world, None, rate=Rate(1, SECOND_MS))
    add_policy(world, 5, key=OTHER)
    world.put("first", dueTime="20s", policy="mailer")
    world.put("second", dueTime="20s", policy="mailer")
    world.put("slow", dueTime="20s", policy="other")
    in_line: list[int] = []

    def note(call: str) -> None:
        if call == "after gate_lines.put":
            in_line.append(world.clock.time - DUE)

    def answer(attempt: Any) -> Answer:
        world.clock.time += 50 * SECOND_MS if attempt.trigger.key.name == "slow" else 0
        return Answer(succeeded=True, code=204)

    world.consumers.answering = answer
    received = in_one_bundle(world)
    world.announce = note
    with nobody_serves(world):
        world.intake().handle(received, deadline=DUE + 90 * SECOND_MS)
    assert len(in_line) == 1
    assert in_line[0] <= 0


def test_a_trigger_of_a_rate_that_nobody_has_used_leaves_when_it_is_due(world: World) -> None:
    add_policy(world, None, rate=Rate(1, 2 * SECOND_MS))
    world.put(dueTime="20s", policy="mailer")
    world.run_until(DUE + SECOND_MS)
    assert world.consumers.times == [DUE]
    assert not world.flow_queue.sent


def test_one_function_takes_no_more_slots_than_one_that_serves(world: World) -> None:
    add_policy(world, 8)
    for number in range(8):
        world.put(f"job-{number}", dueTime="20s", policy="mailer")
    gates = world.deliveries().rare().gates
    policy = world.policies.get(KEY)
    assert policy is not None
    held = [gates.acquire(policy, None, 1, NOON) for _ in range(4)]
    assert [each is not None for each in held] == [True, True, False, False]
    gates.leave(GateName(KEY, 0), 1)
    assert gates.acquire(policy, None, 5, NOON) is not None
    assert gates.acquire(policy, None, 1, NOON) is None


def test_a_resume_while_flow_policies_are_off_is_told_when_they_are_on_again() -> None:
    world = world_with(1, by="label:tenant")
    writer = world.api().policy_writer
    writer.pause(KEY, reason=None, who="me", requested_at=NOON)
    world.put("a", labels={"tenant": "acme"}, schedule=["2026-11-21T12:00:10Z"], policy="mailer")
    world.run_until(NOON + 15 * MINUTE_MS)
    assert len(waiting(world)) == 1
    assert not world.flow_queue.waiting, "the guard of a paused key rests"
    functions, world.flow_functions_max = world.flow_functions_max, 0
    world.api().policy_writer.resume(KEY, who="me", requested_at=world.api_clock.now())
    world.flow_functions_max = functions
    world.run_until(world.clock.time + MINUTE_MS)
    assert len(world.consumers.ids) == 1


def test_a_pause_of_a_policy_by_key_sends_nothing_however_many_keys_wait() -> None:
    world = world_with(1, by="label:tenant")
    world.flow_queue.sent.clear()
    world.api().policy_writer.pause(KEY, reason=None, who="me", requested_at=NOON)
    assert not world.flow_queue.sent
    world.api().policy_writer.resume(KEY, who="me", requested_at=NOON)
    assert len(world.flow_queue.sent) == 2
