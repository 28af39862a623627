"""A world that is switched off for days, in which the stores and queues remove what has expired."""

from tests.fakes.world import World

from sweephand.base.instants import DAY_MS, HOUR_MS, Instant
from sweephand.base.timing import KEEP_FIRST_MS
from sweephand.model.keep_round import Kept

#: Tick runs every minute. A few times a day are enough for rounds of days.
_TICKS_APART_MS = 6 * HOUR_MS


def expire(world: World) -> None:
    """Remove what DynamoDB and SQS remove by now."""
    now = world.clock.time
    stores = (world.timers, world.jobs, world.runs, world.batches, world.lines, world.policy_lines)
    for store in (*stores, world.policies, world.kept_queues):
        store.expire(now)
    world.payloads.remove_old(now)


def keep(world: World, off_since: Instant) -> Kept | None:
    """One step of the round that keeps what waits, as tick takes it."""
    return world.upkeep().keep_rounds.step(off_since)


def pass_days_off(world: World, days: float) -> None:
    """Let days pass while the world is off. Tick runs a few times a day, and keeps what waits."""
    world.is_enabled = False
    end = world.clock.time + int(days * DAY_MS)
    while world.clock.time < end:
        world.clock.time = min(end, world.clock.time + _TICKS_APART_MS)
        expire(world)
        off_since = world.tick().off_since
        assert off_since is not None
        if world.clock.time - off_since >= KEEP_FIRST_MS:
            keep(world, off_since)
            world.upkeep().keep_rounds.check(off_since)
