"""Worlds whose policy has a breaker, and whose consumer is out of order now and then."""

from collections import Counter
from functools import partial
from random import Random
from typing import Final

from tests.simulation.flow.platform import NOON
from tests.simulation.flow.seeds import BUSY_MS, await_deliveries
from tests.simulation.flow.world import FlowWorld

from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.flow.permit import Permit
from sweephand.jobs.policy_fields import PolicyLimits
from sweephand.model.policy import PRIORITIES, Breaker, PolicyKey

#: One request in so many fails while the consumer is in order, but no probe. So many in a row do not fail by
#: chance.
_FAILED: Final = 25
_FAILURES: Final = 6

_PROBES_MS: Final = (5 * SECOND_MS, 20 * SECOND_MS)
_OUTAGES: Final = 2
_OUTAGE_MS: Final = (20 * SECOND_MS, 2 * MINUTE_MS)

#: Where nothing goes wrong, functions know of an open breaker after this. A trigger leaves no later than this
#: after the probe that has met a consumer in order. Those before it need a quarter of the outage's time. A
#: trigger that comes meanwhile waits behind them.
_KNOWN_AFTER_MS: Final = 2 * SECOND_MS
_LATE_MS: Final = 15 * SECOND_MS


class Outages:
    """When the consumer is out of order, and what leaves meanwhile. Times of outages lie far apart."""

    def __init__(self, world: FlowWorld, probe_after_ms: int) -> None:
        self._world = world
        self._random = Random(f"{world.seed}/outages")  # noqa: S311 - a seed, not a secret
        self.breaker = Breaker(_FAILURES, probe_after_ms)
        self.spans: list[tuple[Instant, Instant]] = []
        #: When each request began that met an outage, and of these the ones that were no probes.
        self.met: list[Instant] = []
        self.failed: list[Instant] = []
        self.opened_at: list[Instant] = []
        self.fails_by_chance = True
        open_breaker = world.memory_policies.open_breaker

        def opening(key: PolicyKey, probe: str, at: Instant, now: Instant) -> bool:
            stored = world.memory_policies.get(key)
            was_open = stored is not None and stored.probe is not None
            is_open = open_breaker(key, probe, at, now)
            if is_open and not was_open:
                self._opened()
            return is_open

        world.memory_policies.open_breaker = opening  # type: ignore[method-assign]

    def plan(self, busy_ms: int) -> None:
        """Let the consumer be out of order now and then in the time that begins now."""
        each_ms = busy_ms // _OUTAGES
        for number in range(_OUTAGES):
            lasts_ms = self._random.randint(*_OUTAGE_MS)
            at = NOON + number * each_ms + self._random.randrange(each_ms - lasts_ms - MINUTE_MS)
            self.spans.append((at, at + lasts_ms))

    def answers(self, permit: Permit, began_at: Instant) -> bool:
        """Let the consumer answer a request. Returns whether it is in order."""
        is_out = any(begins <= began_at < ends for begins, ends in self.spans)
        by_chance = self.fails_by_chance and not permit.is_probe
        fails = is_out or (by_chance and self._random.randrange(_FAILED) == 0)
        permit.met_outage = fails
        if is_out:
            self.met.append(began_at)
            if not permit.is_probe:
                self.failed.append(began_at)
        return not fails

    def _opened(self) -> None:
        now = self._world.scheduler.now
        self.opened_at.append(now)
        if not any(begins <= now < ends + MINUTE_MS for begins, ends in self.spans):
            self._world.complaints["opened in vain"] += 1

    def judge(self) -> None:
        """Nothing but probes leaves while the breaker is open, and what waited leaves soon after that."""
        world, after_ms = self._world, self.breaker.probe_after_ms
        for begins, ends in self.spans:
            opened = [each for each in self.opened_at if begins <= each < ends]
            failed = sorted(each for each in self.failed if begins <= each < ends)
            if not opened:
                world.complaints["not opened"] += len(failed) > 3 * _FAILURES
                continue
            known_at = opened[0] + _KNOWN_AFTER_MS
            probes = [each for each in self.met if known_at <= each < ends]
            world.figures["probes"] += len(probes)
            world.complaints["flood"] += len(probes) > (ends - opened[0]) // after_ms + 1
            world.complaints["no probe"] += len(probes) + 2 < (ends - opened[0]) // after_ms
        for each in world.consumer.triggers.values():
            begun_at, due_at = each.begun_at or world.scheduler.now, each.message.not_before
            met = [
                (begins, ends)
                for begins, ends in self.spans
                if begins < begun_at and due_at < ends + after_ms + (ends - begins) // 4
            ]
            out_ms = sum(max(ends - max(begins, due_at), 0) + (ends - begins) // 4 for begins, ends in met)
            world.complaints["late"] += begun_at - due_at > out_ms + after_ms + _LATE_MS


def run_outages(seed: int, *, is_calm: bool) -> FlowWorld:
    """Run a seed. Unless it `is_calm`, everything goes wrong in its first minutes.

    The consumer needs a small share of the limit. So what has waited during an outage leaves soon after it.
    """
    world = FlowWorld(seed, mishaps=0 if is_calm else 1, consumer_ms=(50, 500), clocks_differ=False)
    random, scheduler = world.random, world.scheduler
    outages = Outages(world, random.choice(_PROBES_MS))
    world.consumer.outages = outages.answers
    world.watch_limits()
    outages.plan(BUSY_MS)
    top = random.choice((1, 2, 5, 40))
    world.change(PolicyLimits(top, None, breaker=outages.breaker))
    at = 0.0
    while at < BUSY_MS:
        at += random.expovariate(max(top, 4) / 16) * SECOND_MS
        scheduler.call_at(NOON + int(at), partial(_arrive, world))
    if random.random() < 1 / 2:
        limits = PolicyLimits(top * random.choice((1, 2)), None, breaker=outages.breaker)
        scheduler.call_at(NOON + random.randrange(BUSY_MS), partial(world.change, limits))
    scheduler.run(NOON + BUSY_MS)
    world.mishaps = 0
    outages.fails_by_chance = False
    await_deliveries(world)
    scheduler.end()
    if is_calm:
        outages.judge()
    world.figures["opened"] += len(outages.opened_at)
    world.complaints += Counter()
    return world


def _arrive(world: FlowWorld) -> None:
    random, now = world.random, world.scheduler.now
    messages = [world.consumer.trigger(now) for _ in range(random.randint(1, 3))]
    world.put(messages, random.choice(PRIORITIES), world.ids.token())
