"""A world that is switched off for days, in which the stores and queues remove what has expired."""

from tests.fakes.world import World

from sweephand.base.instants import DAY_MS, HOUR_MS, SECOND_MS
from sweephand.runs.time_off import TimeOff

#: Tick runs every minute. A few times a day are enough for time off of days.
_TICKS_APART_MS = 6 * HOUR_MS


def expire(world: World) -> None:
    """Remove what DynamoDB, S3 and SQS remove by now."""
    now = world.clock.time
    if world.expiry.is_on:
        stores = (world.timers, world.jobs, world.runs, world.batches, world.lines)
        for store in stores:
            store.expire(now)
    world.stack_queues.expire(now)
    world.payloads.remove_old(now)


def wait(world: World, duration_ms: int) -> None:
    """Let time pass while the stack works, twice a day. The stores remove what has expired."""
    end = world.clock.time + duration_ms
    while world.clock.time < end:
        world.clock.time = min(end, world.clock.time + 12 * HOUR_MS)
        world.tick()
        world.run_until(world.clock.time + SECOND_MS, ticking=False)
        expire(world)


def time_off(world: World) -> TimeOff:
    """What tick keeps waiting things by."""
    return world.wheel().time_off


def pass_days(world: World, days: float) -> None:
    """Let days pass. Tick runs a few times a day, and keeps what waits."""
    end = world.clock.time + int(days * DAY_MS)
    while world.clock.time < end:
        world.clock.time = min(end, world.clock.time + _TICKS_APART_MS)
        expire(world)
        ticked = world.tick()
        time_off(world).keep(ticked.off_since, ticked.off_at)


def pass_days_off(world: World, days: float) -> None:
    """Let days pass while the world is off."""
    world.is_enabled = False
    pass_days(world, days)
