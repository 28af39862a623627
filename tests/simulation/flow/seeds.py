"""The seeds of worlds with one policy: what happens in each, and what is wrong with it in the end."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from random import Random
from typing import Final

from tests.simulation.flow.platform import NOON
from tests.simulation.flow.world import FlowWorld

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.jobs.policy_fields import PolicyLimits
from sweephand.model.policy import PRIORITIES, Rate

#: Triggers come for this long. Then everything is calm, and what waits has to be delivered.
BUSY_MS: Final = 8 * MINUTE_MS
CALM_MS: Final = 90 * MINUTE_MS

#: Triggers of a world in which nothing goes wrong come for this long, and wait for less than that. A guard
#: comes after 200 s.
SHORT_MS: Final = 3 * MINUTE_MS
LATE_MS: Final = 80 * SECOND_MS

#: How often the policy is paused in worlds with pauses, and for how long at most. In a world in which
#: nothing goes wrong, a guard comes later than the end of such a pause.
_PAUSES_MAX: Final = 3
_PAUSE_MS_MAX: Final = 4 * MINUTE_MS
_SHORT_PAUSE_MS_MAX: Final = 20 * SECOND_MS

#: Within this after a pause is asked for, all functions have left.
_STOPPING_MS: Final = 5 * SECOND_MS

#: In the end, so many triggers come for each slot. They need about so many seconds.
_LAST: Final = 25

#: A crash keeps slots for less than this. What has waited for longer in the calm waits for ever.
STUCK_MS: Final = 15 * MINUTE_MS

#: Rates that a policy can change to. After the slow ones, the next token is up to a day away.
CHANGING_RATES: Final = (
    None,
    Rate(10, SECOND_MS),
    Rate(2, SECOND_MS),
    Rate(20, MINUTE_MS),
    Rate(1, HOUR_MS),
    Rate(1, DAY_MS),
)

#: The low triggers that wait before high ones come, and how many of them stand in one entry.
_BACKLOG: Final = 4_000
_PACK: Final = 100

#: How many triggers stand in one entry while the use of a rate is measured.
_WAITING: Final = 10

#: How often the use of a limit is looked at.
_SAMPLE_MS: Final = 50


def run(
    seed: int,
    rates: Sequence[Rate | None] = (),
    functions_max: int = 1_000,
    *,
    clocks_differ: bool = True,
    has_pauses: bool = False,
) -> FlowWorld:
    """Run a seed to its end, with so many flow functions. Its complaints say what is wrong.

    With `rates`, each change of the policy takes one of them, and how they are kept is not checked. Unless
    `clocks_differ`, a rate must be kept exactly, whatever else goes wrong. If it `has_pauses`, the policy is
    paused and resumed in between.
    """
    world = FlowWorld(seed, functions_max=functions_max, clocks_differ=clocks_differ)
    world.watch_limits()
    random, scheduler = world.random, world.scheduler
    top = random.choice((1, 1, 2, 3, 5, 12, 25))
    rate = None
    if random.random() < 0.3:
        rate = random.choice((Rate(10, SECOND_MS), Rate(2, SECOND_MS), Rate(20, MINUTE_MS)))
    first = PolicyLimits(top, rate)
    world.change(first)
    per_second = top / 3 * random.choice((0.3, 0.8, 1.2))
    if rate is not None:
        per_second = min(per_second, 0.8 * rate.limit / rate.per_ms * 1_000)
    at = 0.0
    while at < BUSY_MS:
        at += random.expovariate(per_second / 4) * SECOND_MS
        scheduler.call_at(NOON + int(at), lambda: _arrive(world))
    for _ in range(random.randint(0, 5)):
        when = NOON + random.randrange(BUSY_MS)
        if random.random() < 0.3:
            scheduler.call_at(when, lambda: world.change(None))
            when += random.randint(1, 60) * SECOND_MS
        limits = PolicyLimits(max(1, int(top * random.choice((0.3, 0.6, 1, 1.5)))), rate)
        if rates:
            # The last change is the one that ends the busy time.
            limits, when = replace(limits, rate=random.choice(rates)), min(when, NOON + BUSY_MS - 1)
        scheduler.call_at(when, lambda limits=limits: world.change(limits))  # type: ignore[misc]
    world.pauses.plan(seed, NOON + BUSY_MS)
    if has_pauses:
        _plan_pauses(world, BUSY_MS, _PAUSE_MS_MAX)
    scheduler.run(NOON + BUSY_MS)
    world.mishaps = 0
    world.change(first)
    if rates or has_pauses:
        # An earlier write may be stored in the first moments of the calm, and its rate may last for a day.
        world.switch(pauses=False)
        scheduler.run(scheduler.now + MINUTE_MS)
        world.change(first)
        world.switch(pauses=False)
    await_deliveries(world)
    keeps = _keeps if clocks_differ else keeps_exactly
    if rate is not None and not rates and not keeps(world.consumer.begun_at, rate):
        world.complaints["rate"] += 1
    world.figures["left"] = len(world.memory_lines.everything())
    scheduler.end()
    return world


def _plan_pauses(world: FlowWorld, busy_ms: int, pause_ms_max: int) -> None:
    """Plan the pauses of the policy in a world that begins now."""
    random, begins_at = Random(f"{world.seed}/policy"), world.scheduler.now  # noqa: S311 - a seed, not a secret
    for _ in range(random.randint(1, _PAUSES_MAX)):
        at = begins_at + random.randrange(busy_ms)
        world.scheduler.call_at(at, partial(world.switch, pauses=True))
        world.scheduler.call_at(
            at + random.randrange(SECOND_MS, pause_ms_max), partial(world.switch, pauses=False)
        )


def run_calm(seed: int, *, has_pauses: bool = False) -> FlowWorld:
    """Run a seed in which nothing goes wrong, and half of the limit is needed on average.

    So no trigger waits for long, and none waits for a guard: that would be a wake-up that was lost. The
    limit changes in between. It is never lower than what the arrivals need. If it `has_pauses`, the policy is
    paused and resumed in between, and while the last triggers come. The time of a pause does not count.
    """
    world = FlowWorld(seed, mishaps=0, consumer_ms=(50, 1_950))
    world.watch_limits()
    random, scheduler = world.random, world.scheduler
    top = random.choice((1, 1, 2, 2, 3, 5, 5, 40))
    world.change(PolicyLimits(top, None))
    at = 0.0
    while at < SHORT_MS:
        at += random.expovariate(top / 8) * SECOND_MS
        scheduler.call_at(NOON + int(at), lambda: _arrive(world))
    for _ in range(random.randint(0, 4)):
        limits = PolicyLimits(top * random.choice((1, 2, 3)), None)
        when = NOON + random.randrange(SHORT_MS)
        scheduler.call_at(when, lambda limits=limits: world.change(limits))  # type: ignore[misc]
    if has_pauses:
        _plan_pauses(world, SHORT_MS // 2, _SHORT_PAUSE_MS_MAX)
    scheduler.run(NOON + SHORT_MS)
    if has_pauses:
        world.switch(pauses=True)
        scheduler.run(scheduler.now + _STOPPING_MS)
    # Nobody comes after these, so each function that leaves has to see to what is left.
    for _ in range(_LAST):
        world.put([world.consumer.trigger(scheduler.now) for _ in range(top)], "normal", world.ids.token())
        scheduler.run(scheduler.now + random.randint(0, 500))
    if has_pauses:
        # The guards have just come, so the next ones are far away.
        scheduler.run(NOON + SHORT_MS + MINUTE_MS)
        world.switch(pauses=False)
    await_deliveries(world)
    scheduler.end()
    for each in world.consumer.triggers.values():
        begun_at, due_at = each.begun_at or scheduler.now, each.message.not_before
        world.complaints["late"] += begun_at - due_at - world.consumer.paused_ms(due_at) > LATE_MS
    world.complaints += Counter()
    return world


def await_deliveries(world: FlowWorld) -> None:
    """Go on until every attempt that is owed was begun, or until nothing happens any more."""
    scheduler = world.scheduler
    while any(world.consumer.undelivered()) and scheduler.now < NOON + BUSY_MS + CALM_MS:
        begun = len(world.consumer.begun_at)
        scheduler.run(scheduler.now + STUCK_MS)
        if len(world.consumer.begun_at) == begun:
            break
    left = {message.trigger.id for _, entry in world.memory_lines.everything() for message in entry.messages}
    for each in world.consumer.undelivered():
        world.complaints["stuck" if each.message.trigger.id in left else "lost"] += 1


def _arrive(world: FlowWorld) -> None:
    random, now = world.random, world.scheduler.now
    due = [
        now + random.choice((0, random.randint(0, 3_000), random.randint(0, 20_000)))
        for _ in range(random.randint(1, 7))
    ]
    messages = [world.consumer.trigger(at) for at in sorted(due)]
    priority, name = random.choice(PRIORITIES), world.ids.token()
    world.put(messages, priority, name)


def _spans(begun_at: Sequence[int], rate: Rate) -> Sequence[int]:
    """The times between requests that are `limit` apart."""
    ordered = sorted(begun_at)
    return [b - a for a, b in zip(ordered, ordered[rate.limit :], strict=False)]


def _keeps(begun_at: Sequence[int], rate: Rate) -> bool:
    """Whether most windows keep to the rate. Clocks that differ by more than a slot cannot keep all."""
    spans = _spans(begun_at, rate)
    return not spans or sum(span < rate.per_ms * 0.9 for span in spans) <= len(spans) / 2


def keeps_exactly(begun_at: Sequence[int], rate: Rate) -> bool:
    """Whether any two requests that are `limit` apart have left at least `per` apart."""
    return all(span >= rate.per_ms for span in _spans(begun_at, rate))


def use(seed: int, limit: int, seconds: int, of_entry: int = 10, consumer_ms: int = 100) -> float:
    """The mean share of a limit that is in use while work waits, if nothing goes wrong.

    Enough triggers for so many seconds come into the line at one instant, in entries of that size. The
    share is measured from that instant on, until fewer than two triggers for each slot wait.
    """
    world = FlowWorld(seed, mishaps=0, consumer_ms=(consumer_ms * 4 // 5, consumer_ms * 6 // 5))
    world.watch_limits()
    world.change(PolicyLimits(limit, None))
    scheduler = world.scheduler
    scheduler.run(NOON + SECOND_MS)
    for _ in range(0, limit * seconds * SECOND_MS // consumer_ms, of_entry):
        messages = [world.consumer.trigger(scheduler.now) for _ in range(of_entry)]
        world.put(messages, "normal", world.ids.token())
    open_sum = samples = 0
    while True:
        scheduler.run(scheduler.now + _SAMPLE_MS)
        if len(world.consumer.triggers) - len(world.consumer.begun_at) < 2 * limit:
            break
        assert scheduler.now < NOON + 30 * MINUTE_MS, "work waits for ever"
        open_sum += len(world.consumer.open)
        samples += 1
    assert not world.complaints, world.complaints
    assert not world.figures["duplicates"], "a trigger was delivered twice though nothing went wrong"
    scheduler.end()
    return open_sum / samples / limit


def rate_use(seed: int, rate: Rate, seconds: int, limit: int = 40, functions_max: int = 1_000) -> float:
    """The share of a rate that is used in so many seconds while work waits, if nothing goes wrong.

    The consumer answers after 100 ms. `limit` bounds the requests that are open at once.
    """
    world = FlowWorld(seed, mishaps=0, consumer_ms=(80, 120), functions_max=functions_max)
    world.watch_limits()
    world.change(PolicyLimits(limit, rate))
    scheduler = world.scheduler
    scheduler.run(NOON + SECOND_MS)
    begins_at, most = scheduler.now, rate.limit * seconds * SECOND_MS // rate.per_ms
    for _ in range(most // _WAITING + 2):
        messages = [world.consumer.trigger(begins_at) for _ in range(_WAITING)]
        world.put(messages, "normal", world.ids.token())
    scheduler.run(begins_at + seconds * SECOND_MS)
    assert not world.complaints, world.complaints
    assert not world.figures["duplicates"], "a trigger was delivered twice though nothing went wrong"
    assert any(world.consumer.undelivered()), "nothing waits any more"
    begun_at = world.consumer.begun_at
    assert keeps_exactly(begun_at, rate), "the rate was exceeded"
    scheduler.end()
    return len(begun_at) / most


def spread_lateness_ms(seed: int, limit: int, load: float, seconds: int) -> list[int]:
    """How late each event of a batch is that is spread over so many seconds, sorted, if nothing goes wrong.

    On average, the batch needs the share `load` of the limit. A sweep has written its events two minutes
    ahead, in entries of a hundred.
    """
    world = FlowWorld(seed, mishaps=0, consumer_ms=(80, 120))
    world.watch_limits()
    world.change(PolicyLimits(limit, None))
    scheduler = world.scheduler
    scheduler.run(NOON + SECOND_MS)
    begins_at, window_ms = scheduler.now + 2 * MINUTE_MS, seconds * SECOND_MS
    count = int(limit * load * 10) * seconds
    dues = [begins_at + number * window_ms // count for number in range(count)]
    for first in range(0, count, _PACK):
        messages = [world.consumer.trigger(due_at) for due_at in dues[first : first + _PACK]]
        world.put(messages, "normal", world.ids.token())
    await_deliveries(world)
    assert not world.complaints, world.complaints
    scheduler.end()
    found = ((each.begun_at, each.message.not_before) for each in world.consumer.triggers.values())
    return sorted(begun_at - due_at for begun_at, due_at in found if begun_at is not None)


def high_waits_ms(seed: int, limit: int) -> list[int]:
    """How long triggers of high priority wait behind 4,000 low ones that are due already, with no mishap."""
    world = FlowWorld(seed, mishaps=0, consumer_ms=(80, 120))
    world.watch_limits()
    world.change(PolicyLimits(limit, None))
    scheduler = world.scheduler
    scheduler.run(NOON + SECOND_MS)
    for _ in range(_BACKLOG // _PACK):
        world.put([world.consumer.trigger(scheduler.now) for _ in range(_PACK)], "low", world.ids.token())
    high = []
    for _ in range(10):
        scheduler.run(scheduler.now + 2 * SECOND_MS)
        high.append(world.consumer.trigger(scheduler.now))
        world.put(high[-1:], "high", world.ids.token())
    backlog = sum(each.begun == 0 for each in world.consumer.triggers.values())
    assert backlog > _BACKLOG // 2, "too little waits for the high ones to wait behind it"
    scheduler.run(scheduler.now + 30 * MINUTE_MS)
    scheduler.end()
    begun_at = [world.consumer.triggers[each.trigger.id].begun_at or scheduler.now for each in high]
    return [at - each.not_before for each, at in zip(high, begun_at, strict=True)]


def recreated(seed: int) -> FlowWorld:
    """A policy is deleted while all of its slots are in use, and is created again two seconds later."""
    world = FlowWorld(seed, mishaps=0, consumer_ms=(30_000, 31_000))
    world.watch_limits()
    limits, scheduler = PolicyLimits(4, None), world.scheduler
    world.change(limits)
    scheduler.run(NOON + SECOND_MS)
    for _ in range(20):
        world.put([world.consumer.trigger(scheduler.now)], "normal", world.ids.token())
    scheduler.run(scheduler.now + 10 * SECOND_MS)
    assert len(world.consumer.open) == 4, "the slots are not in use"
    world.change(None)
    scheduler.run(scheduler.now + 2 * SECOND_MS)
    world.change(limits)
    await_deliveries(world)
    scheduler.end()
    return world
