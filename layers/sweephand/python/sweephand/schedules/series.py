"""Which occurrences a series has, and which number each of them bears.

A series is all that is needed to enumerate: it travels inside timers, and whoever holds one gets the same
occurrences from it, wherever they begin.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, NamedTuple

from sweephand.instants import Instant
from sweephand.schedules.parsing import parse_schedule
from sweephand.schedules.timeline import Beginning, OneOff, Timeline
from sweephand.schedules.zones import zone_named

#: Of calendar: as far as an instant can lie ahead.
_MONTHS_MAX: Final = 12 * 10_000


class Occurrence(NamedTuple):
    """One due time of a series: epoch milliseconds, and its 1-based number within the series."""

    due_at: Instant
    sequence: int


@dataclass(frozen=True, slots=True)
class Series:
    """A schedule with its bounds, resolved to instants. Immutable; safe to share.

    `schedule` is what the user wrote, None for a one-off at `due_at`. `timezone` is the IANA name that rules.
    The series began with the request at `start_at`; no occurrence comes before `due_at` if there is one, nor
    after `ttl_at` (one exactly at it fires). It has `repeats` occurrences in all.

    After an update that changes neither schedule, dueTime nor timezone a series keeps its start, and so the
    phase of `@every`: its occurrences are then those after `counted_at`, numbered on from `counted`.
    """

    schedule: str | None
    timezone: str
    start_at: Instant
    due_at: Instant | None = None
    ttl_at: Instant | None = None
    repeats: int | None = None
    counted_at: Instant | None = None
    counted: int = 0

    def occurrences(self, after: Instant, known: Occurrence | None = None) -> Iterator[Occurrence]:
        """The occurrences strictly after an instant, ascending, lazily, within the bounds.

        `known` is an occurrence of this series at or before `after`, from which the numbers are counted;
        without it they are counted from the start: by division for elapsed time, month by month for cron.
        Either way they are the same. Raises ScheduleError when first asked if schedule or zone cannot be
        read.
        """
        timeline = self._timeline()
        assert known is None or known.due_at <= after, "numbers are counted forward from a known occurrence"
        if known is None:
            after = max(after, self._counted_from_at)
            sequence = self.counted + timeline.count(self._counted_from_at, after)
        else:
            sequence = known.sequence + timeline.count(known.due_at, after)
        for due_at in timeline.instants(after):
            sequence += 1
            if self.ttl_at is not None and due_at > self.ttl_at:
                return
            if self.repeats is not None and sequence > self.repeats:
                return
            yield Occurrence(due_at, sequence)

    def next_after(self, after: Instant, known: Occurrence | None = None) -> Occurrence | None:
        """The first occurrence strictly after an instant, None if none; `known` as in occurrences()."""
        return next(self.occurrences(after, known), None)

    def last_through(self, through: Instant, known: Occurrence) -> Occurrence:
        """The last occurrence up to an instant, which is included: at least `known`, which is not after it.

        No walk through those between the two.
        """
        assert known.due_at <= through, "the known occurrence lies in the span"
        timeline = self._timeline()
        if self.ttl_at is not None:
            through = min(through, self.ttl_at)
        last_at = timeline.last_through(through)
        if last_at is None or last_at <= known.due_at:
            return known
        sequence = known.sequence + timeline.count(known.due_at, last_at)
        if self.repeats is not None and sequence > self.repeats:
            return self.numbered(self.repeats, known)
        return Occurrence(last_at, sequence)

    def numbered(self, sequence: int, known: Occurrence) -> Occurrence:
        """The occurrence of that number, which the series has, counted from one that is not after it.

        No walk through those between the two.
        """
        assert known.sequence <= sequence, "numbers are counted forward from a known occurrence"
        if sequence == known.sequence:
            return known
        due_at = self._timeline().nth(sequence - known.sequence, known.due_at, _MONTHS_MAX)
        assert due_at is not None, "the series has an occurrence of that number"
        return Occurrence(due_at, sequence)

    def last_at(self, walk_max: int = 1000) -> Instant | None:
        """The instant of the last occurrence; None if the series has no end or none that is cheaply known.

        Only of cron with `repeats` the end may be unknown: it is looked for within `walk_max` months of
        calendar. If there is a `ttl` too, the last occurrence up to that is the answer then, an upper bound.
        """
        timeline = self._timeline()
        if self.schedule is None:
            return self.due_at
        by_ttl = None if self.ttl_at is None else timeline.last_through(self.ttl_at)
        if self.repeats is None or (self.ttl_at is not None and by_ttl is None):
            return by_ttl
        if self.repeats <= self.counted:
            return self.counted_at
        by_repeats = timeline.nth(self.repeats - self.counted, self._counted_from_at, walk_max)
        return min((each for each in (by_ttl, by_repeats) if each is not None), default=None)

    def to_item(self) -> dict[str, str | int]:
        """A flat map of strings and whole numbers, without the fields that are absent."""
        fields: dict[str, str | int | None] = {
            "schedule": self.schedule,
            "timezone": self.timezone,
            "startAt": self.start_at,
            "dueAt": self.due_at,
            "ttlAt": self.ttl_at,
            "repeats": self.repeats,
            "countedAt": self.counted_at,
            "counted": self.counted or None,
        }
        return {name: value for name, value in fields.items() if value is not None}

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> "Series":
        """The series that to_item() wrote, whatever kind of number the store gave back."""

        def number(name: str) -> int | None:
            return None if item.get(name) is None else int(item[name])

        return cls(
            schedule=item.get("schedule"),
            timezone=item["timezone"],
            start_at=int(item["startAt"]),
            due_at=number("dueAt"),
            ttl_at=number("ttlAt"),
            repeats=number("repeats"),
            counted_at=number("countedAt"),
            counted=number("counted") or 0,
        )

    @property
    def _counted_from_at(self) -> Instant:
        """The instant after which numbers are counted; nothing occurs up to it."""
        begun_at = self.start_at if self.due_at is None else min(self.start_at, self.due_at - 1)
        return begun_at if self.counted_at is None else max(begun_at, self.counted_at)

    def _timeline(self) -> Timeline:
        return timeline_of(self.schedule, self.timezone, self.start_at, self.due_at)


@lru_cache(maxsize=4096)
def timeline_of(schedule: str | None, timezone: str, start_at: Instant, due_at: Instant | None) -> Timeline:
    """The occurrences without ttl and repeats. Raises ScheduleError for what cannot be read."""
    if schedule is None:
        assert due_at is not None, "a series without a schedule has a dueTime"
        return OneOff(due_at)
    return parse_schedule(schedule).form.timeline(Beginning(start_at, due_at, zone_named(timezone)))
