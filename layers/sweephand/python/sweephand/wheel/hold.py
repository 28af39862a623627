"""What a sweeper knows of the shard that it holds, and what it has done there."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.model.job import JobBrief, JobKey
from sweephand.model.timer import Lease
from sweephand.wheel.expand import Expansion
from sweephand.wheel.seen import Seen


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
class Hold:
    """A shard that the sweeper holds: its lease as last written, when it was renewed, and what was done.

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
