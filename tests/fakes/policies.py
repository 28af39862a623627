"""A world with a policy, what waits at its gates, and what becomes of the policy."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tests.contract.builders import policy
from tests.fakes.world import World

from sweephand.base.instants import Instant
from sweephand.jobs.policy_fields import PolicyLimits
from sweephand.model.gate import GateName
from sweephand.model.gate_message import GateMessage
from sweephand.model.policy import PolicyKey
from sweephand.model.trigger import NewerMessage, TriggerMessage

KEY = PolicyKey("ns", "mailer")
OTHER = PolicyKey("ns", "other")
#: The first gate of the policy. A limit of up to 32 has no other.
GATE = GateName(KEY, 0)


def add_policy(world: World, concurrent_max: int | None = 5, key: PolicyKey = KEY, **changed: Any) -> None:
    """Let a policy exist."""
    world.flow_functions_max = 4
    assert world.policies.put(replace(policy(concurrent_max), key=key, **changed), None)


def world_with(concurrent_max: int | None = 5, **changed: Any) -> World:
    """A world with the policy `mailer`."""
    world = World()
    add_policy(world, concurrent_max, **changed)
    return world


def delete_policy(world: World) -> None:
    """Delete the policy, as the API does: it closes."""
    world.api().policy_writer.delete(KEY, who="me", requested_at=world.api_clock.now())


def put_policy(world: World, concurrent_max: int) -> None:
    """Write the policy, as the API does."""
    limits = PolicyLimits(concurrent_max, None)
    world.api().policy_writer.put(KEY, limits, who="me", requested_at=world.api_clock.now())


def waiting(world: World, key: PolicyKey = KEY) -> list[TriggerMessage]:
    """The triggers in all lines of a policy."""
    return [
        each for name, entry in world.gate_lines.everything() if name.policy == key for each in entry.messages
    ]


def jobs_in_line(world: World, key: PolicyKey = KEY) -> list[str]:
    """The jobs of these triggers, sorted."""
    return sorted(each.trigger.key.name for each in waiting(world, key))


@contextmanager
def nobody_serves(world: World) -> Iterator[None]:
    """Let no message about a gate be received, so that what comes into a line waits."""
    queue = world.flow_queue
    kept, queue.waiting, send = queue.waiting, [], queue.send

    def hold(message: GateMessage | NewerMessage, delay_ms: int) -> None:
        kept.append((world.clock.time + delay_ms, message))

    queue.send = hold  # type: ignore[method-assign]
    yield
    queue.send, queue.waiting = send, kept  # type: ignore[method-assign]


def let_wait(world: World, until: Instant) -> None:
    """Let time pass in which nobody serves."""
    with nobody_serves(world):
        world.run_until(until)


def call(world: World) -> None:
    """Have a function serve the first gate, also if an earlier call was lost."""
    world.flow().call(GATE, world.policies.get(KEY), again=True)
