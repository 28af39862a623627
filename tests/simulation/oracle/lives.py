"""What a trace says of each job: its writes in order, and which revision owned which due times when."""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.simulation.oracle.day_changes import amended
from tests.simulation.oracle.days import Days, days_of
from tests.simulation.oracle.enumeration import (
    Occurrences,
    Timing,
    begun,
    counted_from,
    counted_on,
    gone_on,
    has_same_timing,
    patched,
)
from tests.simulation.traces.rare_events import CalendarStored
from tests.simulation.traces.trace import Deleted, Event, Removed, Written

#: How long before a request leaves its job may have been read (promise 3).
READ_AGE_MS = 1_000


@dataclass(frozen=True)
class Reign:
    """The time for which a revision owns due times: `since < due <= until`.

    `until` is None while it rules.
    """

    rev: str
    since: int
    until: int | None
    occurrences: Occurrences

    def owns(self, due_at: int) -> bool:
        """Whether the revision owns that due time."""
        return self.since < due_at and (self.until is None or due_at <= self.until)

    def dues(self, through: int) -> list[int]:
        """Return all that it owns up to an instant."""
        until = through if self.until is None else min(self.until, through)
        return [due_at for due_at, _ in self.occurrences.between(self.since, until)]


@dataclass
class Life:
    """One job from its creation to its end.

    `writes`, `occurrences` and `began` (whether the write began a series) have the same order. At
    `removed_at` DynamoDB removed the job, whose time to live was over. Then there is no item, and owed
    triggers are still owed. `gone_at` says when the item of a write was deleted if the job came back: the SDK
    repeated its creation after somebody else had deleted it. Both calls were open then, so the creation
    counts as the later one.
    """

    uid: str
    name: str
    writes: list[Written] = field(default_factory=list)
    occurrences: list[Occurrences] = field(default_factory=list)
    began: list[bool] = field(default_factory=list)
    deleted_at: int | None = None
    removed_at: int | None = None
    gone_at: dict[int, int] = field(default_factory=dict)
    _reigns: dict[int, list[Reign]] = field(default_factory=dict)

    @property
    def last(self) -> Written:
        """The job as it is at the end, or was when it was deleted."""
        return self.writes[-1]

    @property
    def is_held(self) -> bool:
        """Whether it is paused at the end."""
        return self.last.paused_at is not None

    def stood(self, from_at: int, to_at: int) -> Iterator[int]:
        """Return the numbers of the writes that were in force at some instant between two, both included."""
        for number, write in enumerate(self.writes):
            is_last = number + 1 == len(self.writes)
            ended_at = self._ended_at if is_last else self.gone_at.get(number, self.writes[number + 1].at)
            if write.at <= to_at and (ended_at is None or from_at <= ended_at):
                yield number

    @property
    def came_back_at(self) -> int | None:
        """Return when a repeated creation last brought the job back, or None."""
        return self.writes[max(self.gone_at) + 1].at if self.gone_at else None

    def gaps(self) -> Iterator[tuple[int, int]]:
        """Return when the job had no item before it came back: from a deletion to the repeated creation."""
        for number, gone_at in self.gone_at.items():
            yield gone_at, self.writes[number + 1].at

    @property
    def deletions(self) -> list[int]:
        """Return when the job was deleted. A repeated creation may have brought it back each time."""
        return [*self.gone_at.values(), *([] if self.deleted_at is None else [self.deleted_at])]

    def before(self, number: int) -> Written | None:
        """Return the write before the one of that number. A creation has none, also a repeated one."""
        return self.writes[number - 1] if number and number - 1 not in self.gone_at else None

    @property
    def _ended_at(self) -> int | None:
        return self.removed_at if self.deleted_at is None else self.deleted_at

    def readable(self, at: int) -> list[int]:
        """Return the writes that may have been read within the second before a request left."""
        return list(self.stood(at - READ_AGE_MS, at))

    def reigns(self, number: int = -1) -> list[Reign]:
        """Return every revision's reign as of the write of that number, oldest first."""
        number %= len(self.writes)
        if number not in self._reigns:
            first = self.first_since_return(number)
            self._reigns[number] = list(self._reigning(first, self.writes[: number + 1]))
        return self._reigns[number]

    def first_since_return(self, number: int) -> int:
        """Return the number of the creation before a write: the first creation or a repeated one."""
        return max((gone + 1 for gone in self.gone_at if gone < number), default=0)

    def _reigning(self, first: int, writes: list[Written]) -> Iterator[Reign]:
        numbers = range(first, len(writes))
        brought = [at for at in numbers if at == first or writes[at].rev != writes[at - 1].rev]
        for at, following in zip(brought, [*brought[1:], None], strict=True):
            until = None if following is None else until_of(writes[following - 1], writes[following])
            yield Reign(writes[at].rev, writes[at].since, until, self.occurrences[at])

    def reign(self, rev: str, number: int = -1) -> Reign | None:
        """Return the reign of one revision as of then, or None if the job had no such revision."""
        return next((each for each in self.reigns(number) if each.rev == rev), None)

    def later_revisions(self, rev: str) -> list[Written]:
        """Return the writes that made the revisions after one."""
        revs = [each.rev for each in self.reigns()]
        later = revs[revs.index(rev) + 1 :]
        # A write with that name, from before the job came back, has no lasting effect.
        writes = self.writes[self.first_since_return(len(self.writes) - 1) :]
        return [next(write for write in writes if write.rev == each) for each in later]


def until_of(before: Written, write: Written) -> int:
    """Return until when a replaced revision rules: the new cut, or the instant of a pause before it."""
    return write.cut if before.paused_at is None else min(write.cut, before.paused_at)


def lives_of(events: Sequence[Event]) -> dict[str, Life]:
    """Return the jobs of a trace by uid, in the order of their creation."""
    lives: dict[str, Life] = {}
    calendars: dict[str | None, Mapping[str, Any] | None] = {}
    for event in events:
        if isinstance(event, CalendarStored):
            calendars[event.closed] = event.written
        elif isinstance(event, Written):
            life = lives.setdefault(event.uid, Life(event.uid, event.name))
            if life.deleted_at is None:
                days = days_of(event.definition, event.closed, calendars.get(event.closed))
                began, occurrences = _series(life, event, days)
            else:
                began, occurrences = True, life.occurrences[0]
                life.gone_at[len(life.writes) - 1] = life.deleted_at
                life.deleted_at = None
            life.began.append(began)
            life.occurrences.append(occurrences)
            life.writes.append(event)
        elif isinstance(event, Deleted) and event.uid in lives:
            lives[event.uid].deleted_at = event.at
        elif isinstance(event, Removed) and event.item == "job" and event.uid in lives:
            lives[event.uid].removed_at = event.at
    return lives


def _series(life: Life, write: Written, days: Days | None) -> tuple[bool, Occurrences]:
    """Return the series after a write, and whether the write begins one."""
    if not life.writes:
        timing = begun(write.definition, write.asked_at, write.jitter_ms)
        return True, Occurrences(replace(timing, days=days))
    before, known = life.writes[-1], life.occurrences[-1]
    if write.rev == before.rev or write.verb == "resume":
        return False, known
    reached = write.asked_at if before.paused_at is None else min(write.asked_at, before.paused_at)
    goes_on = has_same_timing(before.definition, write.definition)
    is_over = known.has_ended(reached)
    former = known.timing
    # Times of the schedule up to this one belong to the writes before.
    dealt_with = max(reached, begins_ahead_at(before), _beginning(former)) - former.jitter_ms
    if write.verb == "follow":
        timing = amended(replace(former, days=days), former, reached, write.asked_at)
        timing = counted_from(timing, dealt_with, known.counted_through(reached), former.jitter_ms)
        return False, Occurrences(timing)
    if write.verb == "patch":
        # A PATCH continues the numbers, and keeps the instants of the fields that it leaves out.
        timing = patched(former, before.definition, write.definition, write.asked_at)
        timing = replace(timing, jitter_ms=write.jitter_ms, days=days)
        if goes_on:
            timing = amended(timing, former, reached, write.asked_at)
        counted = known.counted_through(reached)
        if not goes_on:
            timing = counted_on(timing, write.asked_at, counted)
        elif known.has_no_occurrence_left(reached) or _moves(timing) != _moves(former):
            timing = counted_from(timing, dealt_with, counted, former.jitter_ms)
    elif goes_on and not is_over:
        # A PUT numbers from the beginning. It counts from the pause if there is one, since the resume still
        # decides on later times.
        timing = gone_on(former, write.definition, write.asked_at)
        timing = replace(timing, jitter_ms=write.jitter_ms, days=days)
        timing = amended(timing, former, reached, write.asked_at)
        timing = counted_from(timing, dealt_with, 0, former.jitter_ms)
        return False, Occurrences(timing)
    else:
        timing = replace(begun(write.definition, write.asked_at, write.jitter_ms), days=days)
        goes_on = False
    reached = max(write.asked_at, begins_ahead_at(before), _beginning(former))
    is_moved = timing.jitter_ms != former.jitter_ms or reached > write.asked_at
    # A one-off and a period begin with their dueTime, so another one gives them other times. Cron does not.
    begins_with_due = timing.schedule is None or timing.counts_from_start
    is_same = timing.schedule == former.schedule and (
        not begins_with_due or timing.due_at in {None, former.due_at}
    )
    # If times count from the beginning, a new series has other times. With the same dueTime it has the same.
    names_others = timing.counts_from_start and timing.due_at is None
    if not goes_on and is_same and is_moved and not names_others:
        # With another zone, too, a time of the schedule does not fire at both of its places.
        as_written = reached - former.jitter_ms
        timing = counted_from(timing, as_written, timing.counted, former.jitter_ms)
    return not goes_on, Occurrences(timing)


def _moves(timing: Timing) -> object:
    """What moves the times of a schedule."""
    return timing.jitter_ms, timing.gap, timing.overlap, timing.days


def _beginning(timing: Timing) -> int:
    """Return the instant up to which a series has no occurrence."""
    return max(timing.counted_at or 0, timing.start_at - 1 if timing.due_at is None else 0)


def begins_ahead_at(write: Written) -> int:
    """Return where a revision begins that more jitter has moved to after its cut, else 0."""
    return write.since if write.since > write.cut else 0


def told(instant: int) -> str:
    """Return an instant as complaints write it."""
    moment = dt.datetime.fromtimestamp(instant // 1_000, dt.UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{instant % 1_000:03d}Z"


def position(instant: int) -> str:
    """Return the place of an instant among the keys of a shard: `2026-11-21T01:08#42.000`."""
    written = told(instant)
    return f"{written[:16]}#{written[17:23]}"
