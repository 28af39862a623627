"""The timeline of a series: its instants, before `ttl` and `repeats` bound them."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Protocol

from sweephand.base.instants import Instant
from sweephand.schedules.clock.dst import DEFAULT, ClockEffect, DstRule
from sweephand.schedules.day_rule import DayRule

if TYPE_CHECKING:
    from sweephand.schedules.clock.zones import Zone


class Beginning(NamedTuple):
    """Where a series begins: the request, the dueTime if there is one, and the zone.

    `jitter_ms` is by how much MovedTimeline will move the timeline later. So the timeline itself may begin
    that much before the bound, while its anchor stays. `days` says on which days the series may fire.
    """

    start_at: Instant
    due_at: Instant | None
    zone: "Zone"
    dst: DstRule = DEFAULT
    jitter_ms: int = 0
    days: DayRule | None = None

    @property
    def floor_at(self) -> Instant:
        """The last instant without an occurrence. One may fire at `due_at`, but none at `start_at`."""
        return (self.start_at if self.due_at is None else self.due_at - 1) - self.jitter_ms

    @property
    def eager_floor_at(self) -> Instant:
        """The same for a notation that may fire at `start_at`, such as a list or a repetition."""
        return self.floor_at if self.due_at is not None else self.floor_at - 1


class Timeline(Protocol):
    """The instants of one series, without the bounds `ttl` and `repeats`. Immutable."""

    @property
    def is_finite(self) -> bool:
        """Whether the timeline ends by itself; `ttl` or `repeats` may end it earlier."""
        ...

    def instants(self, after: Instant) -> Iterator[Instant]:
        """The instants strictly after this one, ascending and lazily. Beginning anywhere costs the same."""
        ...

    def count(self, after: Instant, through: Instant) -> int:
        """How many instants lie after `after`, up to and including `through`."""
        ...

    def nth(self, number: int, after: Instant, months_max: int) -> Instant | None:
        """The instant of that number (1-based) after `after`; None if it is beyond `months_max` months."""
        ...

    def last_through(self, through: Instant) -> Instant | None:
        """The last instant up to and including this one; None if there is none."""
        ...

    def clock_effects(self, after: Instant, through: Instant) -> Iterator[ClockEffect]:
        """What clock changes did after `after`, up to and including `through`, ascending and lazily."""
        ...


class Notation(Protocol):
    """A schedule that has been read. Each notation is one module."""

    def timeline(self, beginning: Beginning) -> Timeline:
        """The instants of a series with this beginning."""
        ...


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FixedInstants:
    """Given instants, in ascending order and all different: of a list, of a one-off, or none on demand."""

    all_at: tuple[Instant, ...]
    #: What clock changes did, if the instants were local times before.
    effects: tuple[ClockEffect, ...] = ()
    is_finite: ClassVar[bool] = True

    def instants(self, after: Instant) -> Iterator[Instant]:
        """The instants that come after it."""
        return iter(self.all_at[bisect_right(self.all_at, after) :])

    def count(self, after: Instant, through: Instant) -> int:
        """How many instants of the list lie after `after`, up to `through`."""
        return max(0, bisect_right(self.all_at, through) - bisect_right(self.all_at, after))

    def nth(self, number: int, after: Instant, months_max: int) -> Instant | None:  # noqa: ARG002 - needs no walk
        """The instant of that number after `after`; None if the list ends before it."""
        at = bisect_right(self.all_at, after) + number - 1
        return self.all_at[at] if at < len(self.all_at) else None

    def last_through(self, through: Instant) -> Instant | None:
        """The last instant of the list up to this one."""
        at = bisect_right(self.all_at, through)
        return self.all_at[at - 1] if at else None

    def clock_effects(self, after: Instant, through: Instant) -> Iterator[ClockEffect]:
        """The known effects within these bounds."""
        return (each for each in self.effects if after < each.instant <= through)
