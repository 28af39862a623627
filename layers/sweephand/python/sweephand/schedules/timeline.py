"""What every form can be asked once zone and beginning are known, and the three that need no calendar."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar, NamedTuple, Protocol

from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.schedules.clock.dst import DEFAULT, DstRule
from sweephand.schedules.clock.zones import Zone
from sweephand.schedules.durations import MS_NS


class Beginning(NamedTuple):
    """Where a series begins: its anchor, the earliest instant at which it may fire, its zone.

    `jitter_ms` is by how much the whole series will be moved after it was made (`jitter`): the anchor is that
    of the series before, the bound that of the series after.
    """

    start_at: Instant
    due_at: Instant | None
    zone: Zone
    dst: DstRule = DEFAULT
    jitter_ms: int = 0

    @property
    def floor_at(self) -> Instant:
        """The last instant without an occurrence: at `due_at` one may fire, at `start_at` none."""
        return (self.start_at if self.due_at is None else self.due_at - 1) - self.jitter_ms

    @property
    def eager_floor_at(self) -> Instant:
        """The same for a form that may fire at `start_at`: a start of its own, an instant that is named."""
        return self.floor_at if self.due_at is not None else self.floor_at - 1


class Timeline(Protocol):
    """The occurrences of one series, without its other bounds (`ttl`, `repeats`). Immutable."""

    @property
    def is_finite(self) -> bool:
        """Whether it ends by itself, though a `ttl` or `repeats` may end it before."""
        ...

    def instants(self, after: Instant) -> Iterator[Instant]:
        """Its instants strictly after this one, ascending, lazily, from anywhere without a walk."""
        ...

    def count(self, after: Instant, through: Instant) -> int:
        """How many instants lie after the one and up to the other, which is included."""
        ...

    def nth(self, number: int, after: Instant, months_max: int) -> Instant | None:
        """The instant of that number (1-based) after this one, if within so many months of calendar."""
        ...

    def last_through(self, through: Instant) -> Instant | None:
        """The last instant up to this one, which is included; None if there is none."""
        ...


class Notation(Protocol):
    """A schedule that has been read; one form is one module."""

    def timeline(self, beginning: Beginning) -> Timeline:
        """Its occurrences from a beginning on."""
        ...


@dataclass(frozen=True, slots=True)
class Never:
    """No instant at all: a job that fires only on demand."""

    is_finite: ClassVar[bool] = True

    def instants(self, after: Instant) -> Iterator[Instant]:  # noqa: ARG002 - every timeline is asked alike
        """None."""
        return iter(())

    def count(self, after: Instant, through: Instant) -> int:  # noqa: ARG002 - same
        """None."""
        return 0

    def nth(self, number: int, after: Instant, months_max: int) -> Instant | None:  # noqa: ARG002 - same
        """None."""
        return None

    def last_through(self, through: Instant) -> Instant | None:  # noqa: ARG002 - same
        """None."""
        return None


@dataclass(frozen=True, slots=True)
class OneOff:
    """A single instant: what a job without a schedule fires at."""

    due_at: Instant
    is_finite: ClassVar[bool] = True

    def instants(self, after: Instant) -> Iterator[Instant]:
        """The instant, unless it is past."""
        if self.due_at > after:
            yield self.due_at

    def count(self, after: Instant, through: Instant) -> int:
        """One or none."""
        return int(after < self.due_at <= through)

    def nth(self, number: int, after: Instant, months_max: int) -> Instant | None:  # noqa: ARG002 - needs no walk
        """The instant, if it is the first after `after`."""
        return self.due_at if number == 1 and self.due_at > after else None

    def last_through(self, through: Instant) -> Instant | None:
        """The instant, unless it is yet to come."""
        return self.due_at if self.due_at <= through else None


@dataclass(frozen=True, slots=True)
class Periodic:
    """The multiples of a period after an anchor, in elapsed time, from multiple `first` on (0: the anchor).

    There are `number` of them, or no end of them if that is None. Every answer is a division. The period is
    exact and each instant is cut off to its millisecond, so that parts of one never add up to a drift.
    """

    anchor_at: Instant
    period_ns: int
    first: int = 1
    number: int | None = None

    @property
    def is_finite(self) -> bool:
        """Whether there is a number of them."""
        return self.number is not None

    def instants(self, after: Instant) -> Iterator[Instant]:
        """From the first one after `after` on, up to the year 9999."""
        for place in count(self._up_to(after) + 1):
            instant = self._at(place)
            if instant is None:
                return
            yield instant

    def count(self, after: Instant, through: Instant) -> int:
        """The difference of two places."""
        return max(0, self._up_to(through) - self._up_to(after))

    def nth(self, number: int, after: Instant, months_max: int) -> Instant | None:  # noqa: ARG002 - needs no walk
        """The instant, unless it lies beyond the end or the year 9999."""
        return self._at(self._up_to(after) + number)

    def last_through(self, through: Instant) -> Instant | None:
        """The last one."""
        return self._at(self._up_to(min(through, INSTANT_MAX)))

    def _at(self, place: int) -> Instant | None:
        """The instant at a place, counted from 1; None if there is none."""
        if place < 1 or (self.number is not None and place > self.number):
            return None
        instant = self.anchor_at + (self.first + place - 1) * self.period_ns // MS_NS
        return instant if instant <= INSTANT_MAX else None

    def _up_to(self, instant: Instant) -> int:
        """How many instants have come when this one is over."""
        come = ((instant - self.anchor_at + 1) * MS_NS - 1) // self.period_ns + 1 - self.first
        return max(0, come if self.number is None else min(come, self.number))
