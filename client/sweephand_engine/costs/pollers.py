"""How Lambda polls SQS: how full calls of the delivery function are, how long each lasts, and who waits.

`poll` plays single triggers. `herd_late_s` plays calls, so that it can play a herd of a million in a second.
Other programs may use both.

What AWS documents (docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html): Lambda polls a queue with
long polls and starts with five calls at a time. While messages are left, it adds up to 300 a minute. What it
does not document is how SQS shares messages that become visible together among the pollers that wait.
"""

import heapq
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final, NamedTuple

from sweephand.base.concurrency import DELIVERIES_AT_ONCE
from sweephand.wheel.sending import BUNDLE_TRIGGERS_MAX
from sweephand.wheel.tick import MESSAGES_AT_ONCE, WAKE_UPS_MAX, WARM_FUNCTIONS
from sweephand_engine.costs import quotas

#: A whole core is 1,769 MB of memory (docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html).
CORE_MB: Final = 1_769

#: Seconds that a request to DynamoDB takes.
DYNAMODB_S: Final = 0.004

#: A cold function takes this long: Lambda's part, and half a second of a core for its own start, at a third
#: of a core. It is assumed. `make smoke-aws` measures it.
COLD_S: Final = 1.5

#: A message is visible up to a second before it is due, because SQS counts delays in whole seconds.
EARLY_S: Final = 0.5

#: Triggers that one call takes, if its messages are full bundles.
CALL_TRIGGERS: Final = MESSAGES_AT_ONCE * BUNDLE_TRIGGERS_MAX

#: Seconds from the receive of a message to the start of the function's handler.
_INVOKE_S: Final = 0.01

#: Triggers that a sweeper sends in a second. This decides how early each message is visible.
_SENT_PER_S: Final = 2_000

#: Visible messages are counted up to this number. More make no difference.
_COUNTED_MAX: Final = 1_000

#: Lambda starts quotas.SCALE_UP functions of one kind in this many seconds.
_SCALE_UP_S: Final = 10


def core_of(memory_mb: int) -> float:
    """The share of a core of a function. Python runs one thread at a time, so it is one at most."""
    return min(1.0, memory_mb / CORE_MB)


@dataclass(frozen=True, slots=True)
class Work:
    """What a call does. Every consumer answers after `answer_s`. CPU times are those of a whole core.

    The function has the share `core` of one.
    """

    trigger_cpu_s: float
    core: float = 1.0
    answer_s: float = 0.2
    call_cpu_s: float = 0
    keeps_history: bool = False

    @property
    def round_s(self) -> float:
        """The seconds from one request of a thread to its next, if all threads are busy."""
        return max(self.answer_s, DELIVERIES_AT_ONCE * self.trigger_cpu_s / self.core)

    def call_s(self, triggers: int = CALL_TRIGGERS) -> float:
        """The seconds of a call with this many triggers that are due."""
        full, rest = divmod(triggers, DELIVERIES_AT_ONCE)
        last_s = max(self.answer_s, rest * self.trigger_cpu_s / self.core) if rest else 0
        return full * self.round_s + last_s


@dataclass(frozen=True, slots=True)
class Pollers:
    """How many calls Lambda makes at once: `at_first`, and `a_minute` more while messages wait, up to `most`.

    Messages that are visible at once are shared evenly among all pollers that wait. That is the dearest way
    that AWS's documentation allows.
    """

    at_first: int = quotas.POLLERS_AT_FIRST.value
    a_minute: int = quotas.POLLERS_A_MINUTE.value
    most: int = quotas.MAXIMUM_CONCURRENCY.value

    def begins_at(self, number: int) -> float:
        """When that call, counted from 0, can begin, in seconds after the first message is visible."""
        polled_at = (number + 1 - self.at_first) * 60 / self.a_minute
        started_at = (number + 1 - quotas.SCALE_UP.value) * _SCALE_UP_S / quotas.SCALE_UP.value
        return max(0.0, polled_at, started_at)


AWS: Final = Pollers()


def standard(delivery_concurrency: int) -> Pollers:
    """The pollers of a queue whose event source has that `DeliveryConcurrency`."""
    return Pollers(min(AWS.at_first, delivery_concurrency), most=delivery_concurrency)


def provisioned(least: int, most: int) -> Pollers:
    """The pollers of a queue with this many provisioned ones. Each serves ten functions."""
    each = quotas.PROVISIONED_FUNCTIONS.value
    return Pollers(least * each, quotas.PROVISIONED_A_MINUTE.value, most * each)


class Polled(NamedTuple):
    """What the pollers did, for each trigger, and how late the triggers were.

    A call is one receive and one delete. `at_once` is the largest number of calls at a time.
    """

    messages: float
    calls: float
    billed_s: float
    late_p50_s: float
    late_p99_s: float
    at_once: int


class _Message(NamedTuple):
    """When a message becomes visible, and the due times of its triggers."""

    visible_at: float
    dues: Sequence[float]


def spread(rate: float, seconds: float, chance: random.Random) -> list[float]:
    """Due times at random, in order, in seconds."""
    return sorted(chance.uniform(0, seconds) for _ in range(max(1, round(rate * seconds))))


def together(herd: int, minutes: int) -> list[float]:
    """Due times of a herd at the beginning of each minute."""
    return [60.0 * minute for minute in range(minutes) for _ in range(herd)]


def bundles(dues: Sequence[float], span_s: float) -> Iterator[Sequence[float]]:
    """The due times in bundles, as sweephand.wheel.sending makes them of triggers of one namespace."""
    begin = 0
    while begin < len(dues):
        end = begin + 1
        ends_at = dues[begin] + span_s
        while end < min(len(dues), begin + BUNDLE_TRIGGERS_MAX) and dues[end] < ends_at:
            end += 1
        yield dues[begin:end]
        begin = end


def poll(dues: Sequence[float], span_s: float, work: Work, pollers: Pollers = AWS) -> Polled:
    """Play the deliveries of triggers with those due times, in order. It does the same each time."""
    chance = random.Random(7)  # noqa: S311 - it has to be the same each time
    waiting = sorted(_messages(dues, span_s, chance))
    free_at = [0.0] * pollers.at_first
    next_scaling_at = 0.0
    calls, billed_s, at_once, position = 0, 0.0, 0, 0
    lateness: list[float] = []
    while position < len(waiting):
        now = max(heapq.heappop(free_at), waiting[position].visible_at)
        visible = _visible(waiting, position, now)
        idle = 1 + sum(each <= now for each in free_at)
        share = -(-visible // idle)
        taken = waiting[position : position + min(share, MESSAGES_AT_ONCE)]
        position += len(taken)
        took_s, late = _called(now + _INVOKE_S, taken, work)
        calls, billed_s = calls + 1, billed_s + took_s
        lateness += late
        heapq.heappush(free_at, now + _INVOKE_S + took_s)
        at_once = max(at_once, sum(each > now for each in free_at))
        is_left = position < len(waiting) and waiting[position].visible_at <= now
        if is_left and min(free_at) > now and len(free_at) < pollers.most and next_scaling_at <= now:
            heapq.heappush(free_at, now)
            next_scaling_at = now + 60 / pollers.a_minute
    lateness.sort()
    triggers = len(dues)
    return Polled(
        messages=len(waiting) / triggers,
        calls=calls / triggers,
        billed_s=billed_s / triggers,
        late_p50_s=lateness[triggers // 2],
        late_p99_s=lateness[triggers * 99 // 100],
        at_once=at_once,
    )


def _messages(dues: Sequence[float], span_s: float, chance: random.Random) -> Iterator[_Message]:
    """The messages of sweeps that run once a minute, at any second of it, two minutes ahead.

    SQS delays a message by whole seconds, counted from its sending. So it is visible up to a second early.
    """
    minute, sent_at = -1.0, 0.0
    for group in bundles(dues, span_s) if span_s else ([each] for each in dues):
        if group[0] // 60 != minute:
            minute = group[0] // 60
            sent_at = 60 * (minute - 2) + chance.uniform(0, 60)
        sent_at += len(group) / _SENT_PER_S
        yield _Message(sent_at + (group[0] - sent_at) // 1, group)


def _visible(waiting: Sequence[_Message], position: int, now: float) -> int:
    """How many messages are visible then, at least; counting stops where it makes no difference."""
    end = position
    while end < len(waiting) and waiting[end].visible_at <= now and end - position < _COUNTED_MAX:
        end += 1
    return max(1, end - position)


def _called(begins_at: float, taken: Sequence[_Message], work: Work) -> tuple[float, list[float]]:
    """The billed seconds of a call, and the lateness of its triggers.

    A thread waits for a trigger's due time, and then for its consumer. One thread at a time runs.
    """
    dues = sorted(due for message in taken for due in message.dues)
    threads = [begins_at] * min(len(dues), DELIVERIES_AT_ONCE)
    cpu_free_at = begins_at + work.call_cpu_s / work.core
    late: list[float] = []
    ends_at = begins_at
    reads_s = DYNAMODB_S  # The jobs are read shortly before their triggers are due, or at once.
    for due in dues:
        ready_at = max(due, heapq.heappop(threads), begins_at + reads_s, cpu_free_at)
        cpu_free_at = ready_at + work.trigger_cpu_s / work.core
        late.append(cpu_free_at - due)
        done_at = cpu_free_at + work.answer_s + (DYNAMODB_S if work.keeps_history else 0)
        ends_at = max(ends_at, done_at)
        heapq.heappush(threads, done_at)
    return ends_at - begins_at, late


def woken(herd: int, functions_max: int) -> int:
    """The functions that are warm when the herd falls due: tick has woken them (decision 036)."""
    needed = min(ceil(herd / DELIVERIES_AT_ONCE), ceil(functions_max / 2), WAKE_UPS_MAX)
    return max(WARM_FUNCTIONS, needed)


def herd_late_s(herd: int, work: Work, pollers: Pollers, warm: int | None = None) -> float:
    """How late the latest trigger of a herd of one namespace is, in seconds.

    By default, tick has woken functions for it.
    """
    warm = woken(herd, pollers.most) if warm is None else warm
    left = herd
    # A call begins when its poller is there. The first call of a cold function waits for its start.
    slots = [(0.0, 0, True)]
    started, last_s = 1, 0.0
    while left:
        at, number, is_new = heapq.heappop(slots)
        if is_new and started < pollers.most:
            heapq.heappush(slots, (pollers.begins_at(started), started, True))
            started += 1
        taken = min(CALL_TRIGGERS, left)
        left -= taken
        begins_at = max(0.0, at - EARLY_S + (COLD_S if is_new and number >= warm else 0))
        last_s = max(last_s, begins_at + (ceil(taken / DELIVERIES_AT_ONCE) - 1) * work.round_s)
        heapq.heappush(slots, (begins_at + work.call_s(taken) + EARLY_S, number, False))
    return last_s


def spread_late_s(herd: int, window_s: int, work: Work, pollers: Pollers) -> float:
    """How late the latest trigger is, in seconds, if the herd falls due evenly over that many whole seconds.

    Every second Lambda has as many functions as its pollers serve then. What they cannot take waits.
    """
    function_per_s = CALL_TRIGGERS / work.call_s()
    waiting, latest_s = 0.0, 0.0
    functions = pollers.at_first
    for second in range(window_s):
        while functions < pollers.most and pollers.begins_at(functions) <= second:
            functions += 1
        per_s = functions * function_per_s
        waiting = max(0.0, waiting + herd / window_s - per_s)
        latest_s = max(latest_s, waiting / per_s)
    return latest_s
