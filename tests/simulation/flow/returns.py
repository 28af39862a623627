"""A trigger that leaves the line and comes back, while the function that settled it stands still."""

from typing import Final

from tests.simulation.flow.platform import NOON
from tests.simulation.flow.seeds import await_deliveries
from tests.simulation.flow.world import FlowWorld
from tests.simulation.world.processes import MachineClock

from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.flow.permit import Permit
from sweephand.jobs.policy_fields import PolicyLimits
from sweephand.model.trigger import LineWait, TriggerMessage

#: The function stands still for so long. Its lease of the entry lasts for longer.
_FROZEN_MS: Final = 5 * SECOND_MS


def returned(seed: int) -> FlowWorld:
    """A function sends a trigger to the delivery queue, and stands still before it deletes the entry.

    The delivery function puts the same trigger into the line again, as it was. Then the first function goes
    on, and must not delete the second entry.
    """
    world = FlowWorld(seed, mishaps=0)
    world.watch_limits()
    world.change(PolicyLimits(5, None))
    consumer, scheduler = world.consumer, world.scheduler
    deliver = consumer.deliver
    sent: list[TriggerMessage] = []

    def sends_it_away(
        clock: MachineClock,
        mine: set[object],
        message: TriggerMessage,
        permit: Permit,
        deadline: Instant,
    ) -> bool | LineWait:
        if sent:
            return deliver(clock, mine, message, permit, deadline)
        sent.append(message)
        world.put([message], "normal", "the delivery function")
        scheduler.freeze(_FROZEN_MS)
        return True

    consumer.deliver = sends_it_away  # type: ignore[method-assign]
    scheduler.run(NOON + SECOND_MS)
    world.put([consumer.trigger(scheduler.now)], "normal", "the sweeper")
    scheduler.run(scheduler.now + _FROZEN_MS // 2)
    assert sent, "no function has met the trigger"
    assert world.memory_lines.everything(), "the function does not stand still before it deletes the entry"
    await_deliveries(world)
    # Nothing is left in the line once the request is over and the function has thawed.
    scheduler.run(scheduler.now + MINUTE_MS)
    scheduler.end()
    return world
