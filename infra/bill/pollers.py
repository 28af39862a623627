"""A model of Lambda's pollers of the delivery queue: how full calls are, and how long each is billed.

What AWS documents (docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html): Lambda polls a queue with
long polls and starts with five calls at a time. While messages are left, it adds up to 300 a minute. What it
does not document is how SQS shares messages that become visible together among the pollers that wait. The
model shares them evenly, which is the dearest way. `Platform` has the other ways.
"""

import heapq
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sweephand.base.concurrency import DELIVERIES_AT_ONCE
from sweephand.wheel.sending import BUNDLE_TRIGGERS_MAX

#: Messages that a poller receives at once, and a request deletes at once (template.yaml, BatchSize).
BATCH_MAX: Final = 10

#: A whole core is 1,769 MB of memory (docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html).
CORE_MB: Final = 1_769

#: Seconds from the receive of a message to the start of the function's handler.
_INVOKE_S: Final = 0.01

#: Seconds that a request to DynamoDB takes.
DYNAMODB_S: Final = 0.004

#: Triggers that a sweeper sends in a second. This decides how early each message is visible.
_SENT_PER_S: Final = 2_000

#: Visible messages are counted up to this number. More make no difference.
_COUNTED_MAX: Final = 1_000

#: How often Lambda may start one more call, while messages wait.
_SCALING_S: Final = 60 / 300


@dataclass(frozen=True, slots=True)
class Platform:
    """Who hands over messages.

    `pollers` calls run at a time at first. If messages wait, there are more, up to `pollers_max`. If it
    `shares_evenly`, messages that are visible at once are shared among all pollers that wait. Otherwise the
    first poller takes all, up to ten. A poller that finds nothing looks again after `looks_every_s`. If that
    is 0, it finds each message as soon as it is visible. A bundle holds at most `bundle_triggers`.
    """

    pollers: int = 5
    pollers_max: int = 1_000
    shares_evenly: bool = True
    looks_every_s: float = 0
    bundle_triggers: int = BUNDLE_TRIGGERS_MAX


#: The dearest way that AWS's documentation allows, and the cheapest.
AWS: Final = Platform()
AWS_FULL: Final = Platform(shares_evenly=False)

#: The local AWS: one thread looks ten times a second (infra.local.long_polling), and again as long as it
#: finds something.
LOCAL: Final = Platform(pollers=8, pollers_max=8, shares_evenly=False, looks_every_s=0.1)


@dataclass(frozen=True, slots=True)
class Work:
    """What a call does. Every consumer answers after `answer_s`. CPU times are those of a whole core."""

    answer_s: float
    call_cpu_s: float
    trigger_cpu_s: float
    memory_mb: int
    keeps_history: bool = False

    @property
    def core(self) -> float:
        """The share of a core that the function has. Python runs one thread at a time, so at most one."""
        return min(1.0, self.memory_mb / CORE_MB)


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


def bundles(
    dues: Sequence[float], span_s: float, most: int = BUNDLE_TRIGGERS_MAX
) -> Iterator[Sequence[float]]:
    """The due times in bundles, as sweephand.wheel.sending makes them of triggers of one namespace.

    A bundle has at most `most` triggers.
    """
    begin = 0
    while begin < len(dues):
        end = begin + 1
        ends_at = dues[begin] + span_s
        while end < min(len(dues), begin + most) and dues[end] < ends_at:
            end += 1
        yield dues[begin:end]
        begin = end


def poll(dues: Sequence[float], span_s: float, work: Work, platform: Platform = AWS, seed: int = 7) -> Polled:
    """Play the deliveries of triggers with those due times, in order. It does the same each time."""
    chance = random.Random(seed)  # noqa: S311 - it has to be the same each time
    waiting = sorted(_messages(dues, span_s, platform.bundle_triggers, chance))
    free_at = [0.0] * platform.pollers
    looks_at = chance.uniform(0, platform.looks_every_s)
    next_scaling_at = 0.0
    calls, billed_s, at_once, position = 0, 0.0, 0, 0
    lateness: list[float] = []
    while position < len(waiting):
        now = max(heapq.heappop(free_at), waiting[position].visible_at)
        if platform.looks_every_s and waiting[position].visible_at > looks_at:
            # It slept. It looks at the next of its times after the message is visible.
            rounds = -(-(now - looks_at) // platform.looks_every_s)
            now = looks_at = looks_at + max(0.0, rounds) * platform.looks_every_s
        looks_at = max(looks_at, now)
        visible = _visible(waiting, position, now)
        idle = 1 + sum(each <= now for each in free_at)
        share = -(-visible // idle) if platform.shares_evenly else visible
        taken = waiting[position : position + min(share, BATCH_MAX)]
        position += len(taken)
        took_s, late = _called(now + _INVOKE_S, taken, work)
        calls, billed_s = calls + 1, billed_s + took_s
        lateness += late
        heapq.heappush(free_at, now + _INVOKE_S + took_s)
        at_once = max(at_once, sum(each > now for each in free_at))
        is_left = position < len(waiting) and waiting[position].visible_at <= now
        if is_left and min(free_at) > now and len(free_at) < platform.pollers_max and next_scaling_at <= now:
            heapq.heappush(free_at, now)
            next_scaling_at = now + _SCALING_S
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


def _messages(
    dues: Sequence[float], span_s: float, bundle_triggers: int, chance: random.Random
) -> Iterator[_Message]:
    """The messages of sweeps that run once a minute, at any second of it, two minutes ahead.

    SQS delays a message by whole seconds, counted from its sending. So it is visible up to a second early.
    """
    groups = list(bundles(dues, span_s, bundle_triggers)) if span_s else [[each] for each in dues]
    minute, sent_at = -1.0, 0.0
    for group in groups:
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
