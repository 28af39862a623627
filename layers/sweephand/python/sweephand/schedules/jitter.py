"""By how much jitter moves the series of a job: one stable offset within a window, made from the job's key.

A million jobs with the schedule `@hourly` spread over the window. Each of them fires at an instant of its
own, which stays the same while the job keeps its name. Source: EventBridge's flexible window, made
predictable.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from sweephand.base.instants import INSTANT_MAX, SECOND_MS, Instant
from sweephand.base.limits import JITTER_S_MAX
from sweephand.schedules.clock.dst import ClockEffect, HasClockEffects
from sweephand.schedules.durations import parse_duration_ms
from sweephand.schedules.errors import ScheduleError, quoted
from sweephand.schedules.timeline import Timeline

_DIGEST_BYTES: Final = 8


def parse_jitter_ms(text: str) -> int:
    """The window in ms, from 1 ms to JITTER_S_MAX seconds. Raises ScheduleError."""
    window_ms = parse_duration_ms(text)
    if not 0 < window_ms <= JITTER_S_MAX * SECOND_MS:
        raise ScheduleError(
            f"{quoted(text)} is out of range; expected more than 0 and at most {JITTER_S_MAX} s"
        )
    return window_ms


def offset_ms(key: str, window_ms: int) -> int:
    """How many ms later the job of that key fires: from 0 to less than the window.

    A key takes the same fraction of every window, so that a wider window moves every job in proportion. The
    fraction is the first 64 bits of the key's SHA-256, which spread evenly.
    """
    fraction = int.from_bytes(sha256(key.encode()).digest()[:_DIGEST_BYTES])
    return fraction * window_ms >> 8 * _DIGEST_BYTES


@dataclass(frozen=True, slots=True)
class MovedTimeline:
    """A timeline whose instants all come `by_ms` later."""

    timeline: Timeline
    by_ms: int

    @property
    def is_finite(self) -> bool:
        """Whether the timeline ends by itself."""
        return self.timeline.is_finite

    def instants(self, after: Instant) -> Iterator[Instant]:
        """The moved instants of the timeline, up to the year 9999."""
        for instant in self.timeline.instants(after - self.by_ms):
            if instant + self.by_ms > INSTANT_MAX:
                return
            yield instant + self.by_ms

    def count(self, after: Instant, through: Instant) -> int:
        """How many moved instants lie after `after`, up to `through`."""
        return self.timeline.count(after - self.by_ms, min(through, INSTANT_MAX) - self.by_ms)

    def nth(self, number: int, after: Instant, months_max: int) -> Instant | None:
        """The moved instant of that number after `after`; None if it lies beyond the year 9999."""
        instant = self.timeline.nth(number, after - self.by_ms, months_max)
        return None if instant is None or instant + self.by_ms > INSTANT_MAX else instant + self.by_ms

    def last_through(self, through: Instant) -> Instant | None:
        """The last moved instant up to this one; None if there is none."""
        instant = self.timeline.last_through(min(through, INSTANT_MAX) - self.by_ms)
        return None if instant is None else instant + self.by_ms

    def clock_effects(self, after: Instant, through: Instant) -> Iterator[ClockEffect]:
        """The moved effects of the timeline. Each still names the local time of the schedule."""
        if isinstance(self.timeline, HasClockEffects):
            for effect in self.timeline.clock_effects(after - self.by_ms, through - self.by_ms):
                yield effect._replace(instant=effect.instant + self.by_ms)
