"""What a sweeper knows of the shard that it visits, and how much it handles there between two commits.

A portion of a page is small enough that the sweeper finishes it even if stores are slow.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple

from sweephand.base.concurrency import REQUESTS_AT_ONCE
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.model.job import JobBrief, JobKey
from sweephand.model.timer import Lease
from sweephand.wheel.expand import TRIGGERS_MAX, Expansion
from sweephand.wheel.span import Seen

#: How many keys, items and messages one request of DynamoDB or SQS takes. A sweeper divides its work into
#: parts of this size, which it then reads, writes and sends at once.
JOBS_PER_READ: Final = 100
TIMERS_PER_WRITE: Final = 25
MESSAGES_PER_SEND: Final = 10

#: Timers that are read at once. One-off jobs make one trigger each, and as many triggers fit between two
#: commits.
PAGE_TIMERS_MAX: Final = 1_000

#: Requests for each timer, at most: a hundredth of a BatchGetItem, a twenty-fifth of a BatchWriteItem, and a
#: record of a skipped range. A round is as many requests as are made at once.
_ROUNDS_PER_TIMER: Final = (1 / JOBS_PER_READ + 1 / TIMERS_PER_WRITE + 1) / REQUESTS_AT_ONCE

#: Rounds of requests for each trigger.
_ROUNDS_PER_TRIGGER: Final = 1 / MESSAGES_PER_SEND / REQUESTS_AT_ONCE

#: Rounds that any portion takes: one more of each kind of request, a renewal, and the commit.
_ROUNDS_AT_LEAST: Final = 6

#: Each claim that reached no commit divides the next portion by this. After five in a row, a sweeper tries a
#: single timer.
_SHRINKING: Final = 4


class Portion(NamedTuple):
    """How many timers, and how many triggers and skipped ranges, go between two commits at most."""

    timers: int
    triggers: int


class Pace:
    """The time that requests have taken in one sweep."""

    def __init__(self) -> None:
        self._round_ms = 0.0

    def record(self, took_ms: int, rounds: float = 1) -> None:
        """Record how long that many rounds took. A slow round counts at once, and is forgotten slowly."""
        self._round_ms = max(took_ms / max(1, rounds), self._round_ms / 2)

    def has_time(self, remaining_ms: int) -> bool:
        """Whether the remaining time suffices for one more portion and a release."""
        return remaining_ms >= (_ROUNDS_AT_LEAST + 2) * self._round_ms

    def portion(self, remaining_ms: int, claims_without_commit: int) -> Portion:
        """What a sweeper can do in half of the remaining time; at least one timer and one trigger.

        `claims_without_commit` is the number of claims of the shard in a row that reached no commit, because
        of a time limit or a failure. With each of them the portion shrinks, down to one timer. So the shard
        advances as long as one timer can be handled.
        """
        timers, triggers = PAGE_TIMERS_MAX, TRIGGERS_MAX
        if self._round_ms:
            rounds = remaining_ms / 2 / self._round_ms - _ROUNDS_AT_LEAST
            # Half of the rounds are for the requests that each timer needs, and half for its triggers.
            timers = min(timers, int(rounds / 2 / _ROUNDS_PER_TIMER))
            triggers = min(triggers, int(rounds / 2 / _ROUNDS_PER_TRIGGER))
        shrunk = _SHRINKING**claims_without_commit
        return Portion(max(1, timers // shrunk), max(1, triggers // shrunk))


def rounds(timers: int, messages: int, records: int) -> float:
    """The rounds of requests that a portion of that size took; each kind counts as one round at least."""
    requests = timers / JOBS_PER_READ + timers / TIMERS_PER_WRITE + messages / MESSAGES_PER_SEND + records
    return 4 + requests / REQUESTS_AT_ONCE


class Done(NamedTuple):
    """What a sweeper has committed in one shard.

    `found` is the number of messages sent and runs recorded. `seconds` counts the triggers that were sent
    ahead, by the second in which they fall due.
    """

    triggers: int = 0
    timers: int = 0
    found: int = 0
    seconds: Mapping[int, int] = MappingProxyType({})
    faults: tuple[Exception, ...] = ()

    @property
    def peak(self) -> int:
        """The triggers of the second that has the most."""
        return max(self.seconds.values(), default=0)

    def plus(self, expansion: Expansion, now: Instant) -> "Done":
        """The same with an expansion that is sent `now`."""
        ahead = (each.not_before // SECOND_MS for each in expansion.messages if each.not_before > now)
        return Done(
            self.triggers + len(expansion.messages),
            self.timers + expansion.timers,
            self.found + expansion.size,
            Counter(self.seconds) + Counter(ahead),
            (*self.faults, *expansion.faults),
        )


@dataclass(slots=True)
class ShardVisit:
    """A sweeper's visit to a shard: the lease as last written, when it was renewed, and what was done.

    `is_over` says whether the sweeper must leave the shard. `left_at` is the due time of the first timer
    left. `seen` has the timers of the bucket that begins at `bucket_at`. `briefs` are those of the last turn,
    which may not have done all of its timers.
    """

    lease: Lease
    renewed_at: Instant
    is_over: Callable[[Instant], bool]
    done: Done = field(default_factory=Done)
    left_at: Instant | None = None
    bucket_at: Instant = 0
    seen: Seen = field(default_factory=Seen)
    briefs: Mapping[JobKey, JobBrief] = field(default_factory=dict)

    def seen_in(self, bucket_at: Instant) -> Seen:
        """The timers that this sweeper has met in that bucket."""
        if bucket_at != self.bucket_at:
            self.bucket_at, self.seen = bucket_at, Seen()
        return self.seen
