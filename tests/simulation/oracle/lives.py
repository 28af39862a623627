"""What a trace tells of each job: its writes in order, and which revision owned which due times when."""

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

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
from tests.simulation.traces.trace import (
    Deleted,
    Event,
    Removed,
    Written,
)

#: How long before a request leaves its job may have been read (README of the design, promise 3).
READ_AGE_MS = 1_000


@dataclass(frozen=True)
class Reign:
    """The span in which a revision owns what falls due: `since < due <= until`, None while it rules."""

    rev: str
    since: int
    until: int | None
    occurrences: Occurrences

    def owns(self, due_at: int) -> bool:
        """Whether that due time is in its span."""
        return self.since < due_at and (self.until is None or due_at <= self.until)

    def dues(self, through: int) -> list[int]:
        """All that it owns up to an instant."""
        until = through if self.until is None else min(self.until, through)
        return [due_at for due_at, _ in self.occurrences.between(self.since, until)]


@dataclass
class Life:
    """One job from its creation to its end.

    `writes`, `occurrences` and `began` (whether the write began a series) go side by side. At `removed_at`
    DynamoDB removed it, its time to live being over: then there is no item, and what is owed is still owed.
    `gone_at` has when the item was deleted that the write of a number had left, if the job came back: the
    SDK repeated its creation after somebody else had deleted it. Both calls were open then, so that the
    creation counts as the later one.
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
        """The job as it stands at the end, or stood when it was deleted."""
        return self.writes[-1]

    @property
    def is_held(self) -> bool:
        """Whether it is paused at the end."""
        return self.last.paused_at is not None

    def stood(self, from_at: int, to_at: int) -> Iterator[int]:
        """The numbers of the writes that stood at some moment between two true instants, both included."""
        for number, write in enumerate(self.writes):
            is_last = number + 1 == len(self.writes)
            ended_at = self._ended_at if is_last else self.gone_at.get(number, self.writes[number + 1].at)
            if write.at <= to_at and (ended_at is None or from_at <= ended_at):
                yield number

    @property
    def came_back_at(self) -> int | None:
        """When a repeated creation last brought it back; None if none did."""
        return self.writes[max(self.gone_at) + 1].at if self.gone_at else None

    def gaps(self) -> Iterator[tuple[int, int]]:
        """When there was no item although the job came back: from a deletion to the repeated creation."""
        for number, gone_at in self.gone_at.items():
            yield gone_at, self.writes[number + 1].at

    def before(self, number: int) -> Written | None:
        """The write that the one of that number followed; None for a creation, a repeated one too."""
        return self.writes[number - 1] if number and number - 1 not in self.gone_at else None

    @property
    def _ended_at(self) -> int | None:
        return self.removed_at if self.deleted_at is None else self.deleted_at

    def readable(self, at: int) -> list[int]:
        """The writes that may have been read at most a second before a request that left at that instant."""
        return list(self.stood(at - READ_AGE_MS, at))

    def reigns(self, number: int = -1) -> list[Reign]:
        """Every revision's reign as the job stood after the write of that number, oldest first."""
        number %= len(self.writes)
        if number not in self._reigns:
            first = self.first_since_return(number)
            self._reigns[number] = list(self._reigning(first, self.writes[: number + 1]))
        return self._reigns[number]

    def first_since_return(self, number: int) -> int:
        """The number of the creation that the write of a number follows: the first one or a repeated one."""
        return max((gone + 1 for gone in self.gone_at if gone < number), default=0)

    def _reigning(self, first: int, writes: list[Written]) -> Iterator[Reign]:
        numbers = range(first, len(writes))
        brought = [at for at in numbers if at == first or writes[at].rev != writes[at - 1].rev]
        for at, following in zip(brought, [*brought[1:], None], strict=True):
            until = None if following is None else until_of(writes[following - 1], writes[following])
            yield Reign(writes[at].rev, writes[at].since, until, self.occurrences[at])

    def reign(self, rev: str, number: int = -1) -> Reign | None:
        """The reign of one revision, as the job stood then; None if it had never heard of it."""
        return next((each for each in self.reigns(number) if each.rev == rev), None)

    def later_revisions(self, rev: str) -> list[Written]:
        """The writes that brought the revisions after one."""
        revs = [each.rev for each in self.reigns()]
        later = revs[revs.index(rev) + 1 :]
        # A write of that name from before the job came back brought nothing that lasted.
        writes = self.writes[self.first_since_return(len(self.writes) - 1) :]
        return [next(write for write in writes if write.rev == each) for each in later]


def until_of(before: Written, write: Written) -> int:
    """Until when a revision rules that a write replaces: the new cut, or the moment of a pause before it."""
    return write.cut if before.paused_at is None else min(write.cut, before.paused_at)


def lives_of(events: Sequence[Event]) -> dict[str, Life]:
    """The jobs of a trace by uid, in the order of their creation."""
    lives: dict[str, Life] = {}
    for event in events:
        if isinstance(event, Written):
            life = lives.setdefault(event.uid, Life(event.uid, event.name))
            if life.deleted_at is None:
                began, occurrences = _series(life, event)
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


def _series(life: Life, write: Written) -> tuple[bool, Occurrences]:
    """What a write makes of the series that there was, and whether it begins one."""
    if not life.writes:
        return True, Occurrences(begun(write.definition, write.asked_at, write.jitter_ms))
    before, known = life.writes[-1], life.occurrences[-1]
    if write.rev == before.rev or write.verb == "resume":
        return False, known
    reached = write.asked_at if before.paused_at is None else min(write.asked_at, before.paused_at)
    goes_on = has_same_timing(before.definition, write.definition)
    is_over = known.has_ended(reached)
    former = known.timing
    # The time of the schedule up to which all belongs to the writes before this one.
    dealt_with = max(reached, begins_ahead_at(before), _beginning(former)) - former.jitter_ms
    if write.verb == "patch":
        # A PATCH goes on counting, and leaves the instants that it does not speak of.
        timing = patched(former, before.definition, write.definition, write.asked_at)
        timing = replace(timing, jitter_ms=write.jitter_ms)
        counted = known.counted_through(reached)
        if not goes_on:
            timing = counted_on(timing, write.asked_at, counted)
        elif is_over or (timing.jitter_ms, timing.gap, timing.overlap) != (
            former.jitter_ms,
            former.gap,
            former.overlap,
        ):
            timing = counted_from(timing, dealt_with, counted, former.jitter_ms)
    elif goes_on and not is_over:
        # A PUT counts anew: from the pause on, if there is one, since what fell due in it is still open.
        timing = gone_on(former, write.definition, write.asked_at)
        timing = counted_from(replace(timing, jitter_ms=write.jitter_ms), dealt_with, 0, former.jitter_ms)
        return False, Occurrences(timing)
    else:
        timing = begun(write.definition, write.asked_at, write.jitter_ms)
        goes_on = False
    reached = max(write.asked_at, begins_ahead_at(before), _beginning(former))
    is_moved = timing.jitter_ms != former.jitter_ms or reached > write.asked_at
    # A new dueTime is the beginning of other times. Without its dueTime, a schedule names the same times.
    is_same = timing.schedule == former.schedule and timing.due_at in {None, former.due_at}
    # Where the times are counted from the beginning, a new series names others; from one dueTime, the same.
    names_others = timing.counts_from_start and timing.due_at is None
    if not goes_on and is_same and is_moved and not names_others:
        # By another zone, too, a time of the schedule does not fire at both of its places.
        as_written = reached - former.jitter_ms
        timing = counted_from(timing, as_written, timing.counted, former.jitter_ms)
    return not goes_on, Occurrences(timing)


def _beginning(timing: Timing) -> int:
    """The instant up to which a series has nothing."""
    return max(timing.counted_at or 0, timing.start_at - 1 if timing.due_at is None else 0)


def begins_ahead_at(write: Written) -> int:
    """Where a revision begins that more jitter has put after its cut; else 0."""
    return write.since if write.since > write.cut else 0


def told(instant: int) -> str:
    """An instant as complaints name it."""
    moment = dt.datetime.fromtimestamp(instant // 1_000, dt.UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{instant % 1_000:03d}Z"


def position(instant: int) -> str:
    """Where an instant lies among the keys of a shard: `2026-11-21T01:08#42.000`."""
    written = told(instant)
    return f"{written[:16]}#{written[17:23]}"
