"""A model of a herd: many triggers that fall due at one instant, and the delivery functions that take them.

It plays calls of the delivery function, not single triggers. So it plays a herd of a million in a second.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from infra.capacity import quotas

from sweephand.base.concurrency import DELIVERIES_AT_ONCE
from sweephand.wheel.sending import BUNDLE_TRIGGERS_MAX
from sweephand.wheel.warm import MESSAGES_AT_ONCE, WAKE_UPS_MAX, WARM_FUNCTIONS

#: A message is visible up to a second before it is due, because SQS counts delays in whole seconds.
_EARLY_S: Final = 0.5

#: A cold delivery function takes so long: Lambda's part, and half a second of a core for its own start, at a
#: third of a core. It is assumed. `make smoke-aws` measures it.
COLD_S: Final = 1.5

#: Lambda starts quotas.SCALE_UP functions of one kind in so many seconds.
_SCALE_UP_S: Final = 10

#: Triggers that one call takes, if its messages are full bundles.
CALL_TRIGGERS: Final = MESSAGES_AT_ONCE * BUNDLE_TRIGGERS_MAX


@dataclass(frozen=True, slots=True)
class Work:
    """A call of the delivery function: the consumer answers after `answer_s`.

    `cpu_s` is what a trigger takes of a whole core, and `core` is the share of one that the function has.
    """

    cpu_s: float
    core: float
    answer_s: float = 0.2

    @property
    def round_s(self) -> float:
        """The seconds from one request of a thread to its next, if all threads are busy."""
        return max(self.answer_s, DELIVERIES_AT_ONCE * self.cpu_s / self.core)

    def call_s(self, triggers: int) -> float:
        """The seconds of a call with so many triggers that are due."""
        full, rest = divmod(triggers, DELIVERIES_AT_ONCE)
        return full * self.round_s + (max(self.answer_s, rest * self.cpu_s / self.core) if rest else 0)


@dataclass(frozen=True, slots=True)
class Pollers:
    """How many calls Lambda makes at once: `at_first`, and so many more `a_minute`, up to `most`."""

    at_first: int
    a_minute: int
    most: int

    def begins_at(self, number: int) -> float:
        """When that call, counted from 0, can begin, in seconds after the first message is visible."""
        polled_at = (number + 1 - self.at_first) * 60 / self.a_minute
        started_at = (number + 1 - quotas.SCALE_UP.value) * _SCALE_UP_S / quotas.SCALE_UP.value
        return max(0.0, polled_at, started_at)


@dataclass(frozen=True, slots=True)
class Delivered:
    """How late the triggers of a herd were, in seconds, and how many functions ran at once."""

    p50_s: float
    p99_s: float
    last_s: float
    functions: int


def standard(delivery_concurrency: int) -> Pollers:
    """The pollers of a queue whose event source has that `DeliveryConcurrency`."""
    return Pollers(
        min(quotas.POLLERS_AT_FIRST.value, delivery_concurrency),
        quotas.POLLERS_A_MINUTE.value,
        delivery_concurrency,
    )


def provisioned(least: int, most: int) -> Pollers:
    """So many provisioned pollers at least and at most. Each serves ten functions."""
    each = quotas.PROVISIONED_FUNCTIONS.value
    return Pollers(least * each, quotas.PROVISIONED_A_MINUTE.value, most * each)


def woken(herd: int, functions_max: int) -> int:
    """The functions that are warm when the herd falls due: tick has woken them (decision 039)."""
    needed = min(ceil(herd / DELIVERIES_AT_ONCE), ceil(functions_max / 2), WAKE_UPS_MAX)
    return max(WARM_FUNCTIONS, needed)


def deliver(
    herd: int,
    work: Work,
    pollers: Pollers,
    warm: int | None = None,
    call_triggers: int = CALL_TRIGGERS,
) -> Delivered:
    """Play a herd whose triggers are of one namespace. A call takes at most `call_triggers`.

    By default, tick has woken functions for it.
    """
    warm = woken(herd, pollers.most) if warm is None else warm
    left = herd
    # A call begins when its poller is there. The first call of a cold function waits for its start.
    slots = [(0.0, 0, True)]
    started, most_at_once = 1, 0
    rounds: list[tuple[float, int]] = []
    ends: list[float] = []
    while left:
        at, number, is_new = heapq.heappop(slots)
        if is_new and started < pollers.most:
            heapq.heappush(slots, (pollers.begins_at(started), started, True))
            started += 1
        taken = min(call_triggers, left)
        left -= taken
        begins_at = max(0.0, at - _EARLY_S + (COLD_S if is_new and number >= warm else 0))
        rounds += _rounds(begins_at, taken, work)
        ends_at = begins_at + work.call_s(taken)
        heapq.heappush(slots, (ends_at + _EARLY_S, number, False))
        ends.append(ends_at)
        most_at_once = max(most_at_once, number + 1)
    rounds.sort()
    return Delivered(
        _percentile(rounds, herd, 0.5), _percentile(rounds, herd, 0.99), rounds[-1][0], most_at_once
    )


def _rounds(begins_at: float, triggers: int, work: Work) -> list[tuple[float, int]]:
    """When the requests of a call leave: 32 at a time."""
    return [
        (begins_at + number * work.round_s, min(DELIVERIES_AT_ONCE, triggers - sent))
        for number, sent in enumerate(range(0, triggers, DELIVERIES_AT_ONCE))
    ]


def _percentile(rounds: Sequence[tuple[float, int]], herd: int, share: float) -> float:
    sent = 0
    for at, count in rounds:
        sent += count
        if sent >= share * herd:
            return at
    return rounds[-1][0]


def spread_late_s(herd: int, window_s: int, work: Work, pollers: Pollers) -> float:
    """How late the latest trigger is, in seconds, if the herd falls due evenly over so many whole seconds.

    Every second Lambda has as many functions as its pollers serve then. What they cannot take waits.
    """
    function_per_s = CALL_TRIGGERS / work.call_s(CALL_TRIGGERS)
    waiting, latest_s = 0.0, 0.0
    functions = pollers.at_first
    for second in range(window_s):
        while functions < pollers.most and pollers.begins_at(functions) <= second:
            functions += 1
        per_s = functions * function_per_s
        waiting = max(0.0, waiting + herd / window_s - per_s)
        latest_s = max(latest_s, waiting / per_s)
    return latest_s
