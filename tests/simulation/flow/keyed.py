"""Worlds whose policy has `by`: jobs get other tenants, and the policy gets another `by` in a quiet time."""

from collections import Counter
from functools import partial
from typing import Final

from tests.simulation.flow.platform import LIMIT_MS, NOON
from tests.simulation.flow.seeds import BUSY_MS, LATE_MS, SHORT_MS, await_deliveries
from tests.simulation.flow.tenants import BY, Tenants
from tests.simulation.flow.world import FlowWorld

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.jobs.policy_fields import PolicyLimits
from sweephand.model.policy import PRIORITIES, Rate

#: None of the jobs shares its key with another one.
_JOBS: Final = 4

#: The share of the time in which nothing comes, and how often another `by` is asked for in the last third.
_QUIET: Final = (0.3, 0.8)
_ASKED: Final = 4

#: The share of worlds with a rate, and of those whose policy is paused in between.
_RATE: Final = 0.3
_PAUSED: Final = 0.5
_PAUSE_MS: Final = 20 * SECOND_MS

#: A request may leave so long after a read of its job or of the policy, if nothing holds a function up.
_STALE_MS: Final = 4 * SECOND_MS

#: The last pause. All guards rest by then.
_LAST_PAUSE_MS: Final = 12 * MINUTE_MS
_LAST: Final = 5


def run_keyed(seed: int, *, is_calm: bool) -> FlowWorld:
    """Run a seed. Unless it `is_calm`, everything goes wrong in its first minutes.

    Each key needs half of its limit on average. So if nothing goes wrong, no trigger waits for long, whatever
    the other keys do. In the end, the policy is paused until no guard is under way, and resumed.
    """
    tenants = Tenants(_JOBS, _STALE_MS if is_calm else 2 * LIMIT_MS)
    world = FlowWorld(
        seed, mishaps=0 if is_calm else 1, consumer_ms=(50, 1_950), tenants=tenants, clocks_differ=False
    )
    # Nothing is lost and no key exceeds its limit, also if `by` is changed while the policy is in use.
    world.checks_use = is_calm
    world.watch_limits()
    random, scheduler = world.random, world.scheduler
    top = random.choice((1, 1, 2, 3, 5, 40))
    rate = Rate(top, SECOND_MS) if random.random() < _RATE else None
    busy_ms = SHORT_MS if is_calm else BUSY_MS
    first = PolicyLimits(top, rate, random.choice(BY[:-1]))
    world.change(first)
    _plan_arrivals(world, busy_ms, top)
    quiet = range(*(int(share * busy_ms) for share in _QUIET))
    for _ in range(_ASKED):
        limits = PolicyLimits(top, rate, random.choice(BY))
        scheduler.call_at(
            NOON + quiet.stop - random.randrange(len(quiet) // 3), partial(world.change, limits)
        )
    for _ in range(random.randint(0, 4)):
        factor, at = random.choice((1, 2, 3)), NOON + random.randrange(busy_ms)
        scheduler.call_at(at, partial(_raise, world, PolicyLimits(top * factor, rate)))
    for name in tenants.names * random.randint(0, 2):
        at = NOON + random.randrange(busy_ms)
        scheduler.call_at(at, partial(tenants.move, name, at))
    if random.random() < _PAUSED:
        at = NOON + random.randrange(busy_ms // 2)
        scheduler.call_at(at, partial(world.switch, pauses=True))
        scheduler.call_at(at + random.randrange(_PAUSE_MS), partial(world.switch, pauses=False))
    scheduler.run(NOON + busy_ms)
    world.mishaps = 0
    _raise(world, PolicyLimits(top, rate))
    world.switch(pauses=False)
    await_deliveries(world)
    _wait_in_a_pause(world, top)
    await_deliveries(world)
    scheduler.end()
    for each in world.consumer.triggers.values():
        begun_at, due_at = each.begun_at or scheduler.now, each.message.not_before
        if is_calm or due_at > NOON + busy_ms:
            late_ms = begun_at - due_at - world.consumer.paused_ms(due_at)
            world.complaints["late"] += late_ms > LATE_MS
    world.figures["another by"] = tenants.changes_of_by
    world.complaints += Counter()
    return world


def _plan_arrivals(world: FlowWorld, busy_ms: int, top: int) -> None:
    """Let triggers of each job come, but for a quiet time."""
    assert world.tenants is not None, "the world has tenants"
    random = world.random
    for name in world.tenants.names:
        at = 0.0
        while at < busy_ms:
            at += random.expovariate(top / 8) * SECOND_MS
            if not _QUIET[0] <= at / busy_ms < _QUIET[1]:
                world.scheduler.call_at(NOON + int(at), partial(_arrive, world, name))


def _arrive(world: FlowWorld, name: str) -> None:
    random, now = world.random, world.scheduler.now
    due = sorted(now + random.choice((0, random.randint(0, 3_000))) for _ in range(random.randint(1, 7)))
    messages = [world.consumer.trigger(at, name) for at in due]
    world.put(messages, random.choice(PRIORITIES), world.ids.token())


def _raise(world: FlowWorld, limits: PolicyLimits) -> None:
    """Write another limit, with the `by` that the policy has."""
    assert world.tenants is not None, "the world has tenants"
    world.change(PolicyLimits(limits.concurrent_max, limits.rate, world.tenants.by))


def _wait_in_a_pause(world: FlowWorld, top: int) -> None:
    """Pause the policy while triggers of each key come, until each guard rests. Then resume it.

    Half of the jobs get another tenant meanwhile.
    """
    assert world.tenants is not None, "the world has tenants"
    scheduler = world.scheduler
    world.switch(pauses=True)
    scheduler.run(scheduler.now + 5 * SECOND_MS)
    for name in world.tenants.names:
        messages = [world.consumer.trigger(scheduler.now, name) for _ in range(_LAST * min(top, 5))]
        world.put(messages, "normal", world.ids.token())
    scheduler.run(scheduler.now + _LAST_PAUSE_MS)
    for name in world.tenants.names[::2]:
        world.tenants.move(name, scheduler.now)
    scheduler.run(scheduler.now + 2 * _STALE_MS)
    listed, owed = world.listed(), {each.message.trigger.id for each in world.consumer.undelivered()}
    for gate, entry in world.memory_lines.everything():
        # A function that crashed after its write leaves an entry. Its triggers come again, and may have
        # gone to a gate of another `by`.
        is_owed = any(message.trigger.id in owed for message in entry.messages)
        world.complaints["unlisted"] += is_owed and gate.key is not None and gate not in listed
    world.switch(pauses=False)
