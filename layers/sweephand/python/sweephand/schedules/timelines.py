"""Timelines that need no wall clock: a fixed period of elapsed time, and another timeline moved by jitter."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.schedules.clock.dst import ClockEffect
from sweephand.schedules.durations import MS_NS
from sweephand.schedules.timeline import Timeline


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Periodic:
    """The multiples of a period after an anchor, in elapsed time, from multiple `first` on (0 is the anchor).

    There are `number` multiples; without `number` they go on. Every answer is a division. The period is exact
    and only each instant is cut to a millisecond, so that no drift adds up.
    """

    anchor_at: Instant
    period_ns: int
    first: int = 1
    number: int | None = None

    @property
    def is_finite(self) -> bool:
        """Whether the multiples have a number."""
        return self.number is not None

    def instants(self, after: Instant) -> Iterator[Instant]:
        """From the first instant after `after` on, up to the year 9999."""
        for place in count(self._up_to(after) + 1):
            instant = self._at(place)
            if instant is None:
                return
            yield instant

    def count(self, after: Instant, through: Instant) -> int:
        """How many multiples lie after `after`, up to `through`."""
        return max(0, self._up_to(through) - self._up_to(after))

    def nth(self, number: int, after: Instant, months_max: int) -> Instant | None:  # noqa: ARG002 - needs no walk
        """The instant of that number after `after`; None after the end or the year 9999."""
        return self._at(self._up_to(after) + number)

    def last_through(self, through: Instant) -> Instant | None:
        """The last instant up to this one."""
        return self._at(self._up_to(min(through, INSTANT_MAX)))

    def clock_effects(self, after: Instant, through: Instant) -> Iterator[ClockEffect]:  # noqa: ARG002 - none
        """None: no clock change moves elapsed time."""
        return iter(())

    def _at(self, place: int) -> Instant | None:
        """The instant at a place, counted from 1; None if there is none."""
        if place < 1 or (self.number is not None and place > self.number):
            return None
        instant = self.anchor_at + (self.first + place - 1) * self.period_ns // MS_NS
        return instant if instant <= INSTANT_MAX else None

    def _up_to(self, instant: Instant) -> int:
        """How many instants lie up to and including this one."""
        come = ((instant - self.anchor_at + 1) * MS_NS - 1) // self.period_ns + 1 - self.first
        return max(0, come if self.number is None else min(come, self.number))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
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
        for effect in self.timeline.clock_effects(after - self.by_ms, through - self.by_ms):
            yield effect._replace(instant=effect.instant + self.by_ms)
