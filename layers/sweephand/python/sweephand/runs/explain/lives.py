"""Which trigger an instant is about, and what the changes of its name say: was there a job, was it paused."""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final, Literal, NamedTuple

from sweephand.base.instants import HOUR_MS, MINUTE_MS, SECOND_MS, Instant
from sweephand.base.timing import API_LIMIT_MS, CLOCK_SKEW_MAX_MS
from sweephand.model.change import Change
from sweephand.model.job import Job, Revision
from sweephand.model.revisions import had_by, number_of
from sweephand.schedules import Occurrence, Series
from sweephand.schedules.clock.dst import ClockEffect
from sweephand.schedules.clock.zones import zone_named
from sweephand.schedules.day_effects import day_effects, moved_from, moved_to

#: Clock changes move a local time by less than this.
_CHANGE_MS_MAX: Final = 4 * HOUR_MS

#: The most effects of clock changes that are looked at. An expression can name each second of an hour.
_EFFECTS_MAX: Final = 10_000


class Subject(NamedTuple):
    """What a schedule says of an instant.

    `due_at` is the due time of the trigger that the instant is about; None if there is none. `moved_by` says
    what put it, or its absence, elsewhere than the schedule says. `effect` is that of the clock change, and
    `local_s` the local time in question (seconds since 1970-01-01T00:00:00 on the wall). `day` is the local
    day that the calendar does not fit: that of the instant, or the one from which the trigger was moved to
    the instant. `is_amended` says that a change of the calendar added or dropped a due time at the instant.
    `before` and `after` are the nearest due times before and after the instant, without the trigger itself.
    """

    due_at: Instant | None
    sequence: int = 0
    moved_by: Literal["clock", "jitter", "calendar"] | None = None
    effect: ClockEffect | None = None
    day: int | None = None
    is_amended: bool = False
    before: Instant | None = None
    after: Instant | None = None


def subject_of(series: Series, at: Instant) -> Subject:
    """What the series says of an instant. The caller has to know whether the series ruled then.

    An instant on a full minute stands for the first due time of that minute. An instant on a full second
    stands for the first due time of that second. For a local time that a clock change has dropped, both
    offsets of that day are right. ScheduleError if schedule or zone cannot be read.
    """
    series = before_count(series, at)
    found = _found(series, at)
    known = series.next_after(-1)
    before = after = None
    if known is not None and known.due_at < at:
        before = series.last_through(at - 1, known).due_at
    following = series.next_after(at if found.due_at is None else max(at, found.due_at))
    if following is not None:
        after = following.due_at
    return found._replace(before=before if before != found.due_at else None, after=after)


def before_count(series: Series, at: Instant) -> Series:
    """The series with the due times that it had up to an instant, if it counts only from a later one on.

    An update that kept the times of the job counts on from there. Before it they were the same.
    """
    if series.counted_at is None or at > series.counted_at:
        return series
    is_used_up = series.repeats is not None and series.counted >= series.repeats
    return series._replace(counted_at=None, counted=0, repeats=series.repeats if is_used_up else None)


def _found(series: Series, at: Instant) -> Subject:
    coming = series.next_after(at - 1)
    if coming is not None and coming.due_at == at:
        return _at_itself(series, coming)
    until = at + width_of(at)
    moved = _moved_by_calendar(series, at, until) or _moved_by_jitter_or_clock(series, at, until)
    if moved is not None:
        return moved
    if coming is not None and coming.due_at < until:
        return _at_itself(series, coming)
    return Subject(None)


def _moved_by_jitter_or_clock(series: Series, at: Instant, until: Instant) -> Subject | None:
    """Where jitter or a clock change has put what is due from `at` on; None if they do nothing."""
    if series.jitter_ms:
        moved = series.next_after(at + series.jitter_ms - 1)
        if moved is None or moved.due_at >= until + series.jitter_ms:
            return None
        return _at_itself(series, moved)._replace(moved_by="jitter")
    effect = _effect_at(series, at, until)
    if effect is None:
        return None
    made_up = series.next_after(effect.instant - 1) if effect.fires else None
    if made_up is not None and made_up.due_at == effect.instant:
        return Subject(made_up.due_at, made_up.sequence, "clock", effect)
    return Subject(None, moved_by="clock", effect=effect)


def _at_itself(series: Series, trigger: Occurrence) -> Subject:
    """An instant at which a trigger is due, which the calendar may have moved there."""
    is_owed = series.days is not None and trigger.due_at in series.days.also
    return Subject(
        trigger.due_at, trigger.sequence, day=moved_from(series, trigger.due_at), is_amended=is_owed
    )


def _moved_by_calendar(series: Series, at: Instant, until: Instant) -> Subject | None:
    """Where the calendar has put what is due from `at` on and before `until`; None if it does nothing."""
    if series.days is None:
        return None
    if any(at <= each < until for each in series.days.without):
        return Subject(None, moved_by="calendar", is_amended=True)
    # The instant that somebody asks about may be one with jitter, or one of the schedule itself.
    for by_ms in (0, series.jitter_ms):
        effect = next(day_effects(series, at + by_ms - 1, until + by_ms - 1), None)
        if effect is not None:
            due_at = moved_to(series, effect)
            trigger = None if due_at is None else series.next_after(due_at - 1)
            sequence = 0 if trigger is None else trigger.sequence
            return Subject(due_at, sequence, "calendar", day=effect.day)
    return None


def width_of(at: Instant) -> int:
    """How many ms after the instant it is still about."""
    if at % MINUTE_MS == 0:
        return MINUTE_MS
    return SECOND_MS if at % SECOND_MS == 0 else 1


def _effect_at(series: Series, at: Instant, until: Instant) -> ClockEffect | None:
    """The effect of a clock change that has moved or dropped the due time between the two instants."""
    effects = islice(series.clock_effects(at - _CHANGE_MS_MAX, at + _CHANGE_MS_MAX), _EFFECTS_MAX)
    zone = zone_named(series.timezone)
    for effect in effects:
        second = effect.instant // SECOND_MS
        if effect.cause == "gap":
            # The local time does not exist. Whoever names it may use the offset before the gap, or after it.
            offsets = {zone.offset_at(second - 1), zone.offset_at(second)}
            meant = {(effect.wall_s - offset) * SECOND_MS for offset in offsets}
        else:
            meant = set() if effect.fires else {effect.instant}
        if any(at <= each < until for each in meant):
            return effect
    return None


#: The fields that decide when a job fires.
_TIMING: Final = frozenset(
    {"schedule", "timezone", "dueTime", "ttl", "repeats", "dst", "jitter", "calendar", "batch"}
)


#: After this, what a change of that date wrote is stored by every clock, or its writer has failed.
_STORED_MS: Final = API_LIMIT_MS + CLOCK_SKEW_MAX_MS


class Pause(NamedTuple):
    """A pause, by the changes that began and ended it. `end` is None while it lasts.

    The end is a resume, or what ended the job: its deletion, or the creation of the next job of its name.
    """

    begin: Change
    end: Change | None = None


class Lives(NamedTuple):
    """The changes of a name, oldest first. `is_complete` says that no older one is missing."""

    changes: Sequence[Change]
    is_complete: bool = True

    @classmethod
    def of(cls, newest_first: Iterable[Change], *, is_complete: bool, is_there: bool) -> "Lives":
        """The changes, without deletions that had no effect. `is_there` says whether there is a job now.

        A deletion is filed before the job is deleted, and may fail after that. Of the deletions of one job,
        only the last can have had an effect, and none if the job is there, or was changed later. The dates
        are those of different clocks.
        """
        found: list[Change] = []
        may_end, there_at = not is_there, 0
        for change in newest_first:
            if change.what == "deleted":
                if not may_end or there_at - change.at > CLOCK_SKEW_MAX_MS:
                    continue
                may_end = False
            elif change.what == "created":
                # What was created took the place of a job that had ended.
                may_end, there_at = True, 0
            else:
                there_at = max(there_at, change.at)
            found.append(change)
        return cls(found[::-1], is_complete)

    def last_up_to(self, at: Instant) -> Change | None:
        """The last change up to an instant."""
        return next((each for each in reversed(self.changes) if each.at <= at), None)

    def first_after(self, at: Instant) -> Change | None:
        """The first change after an instant."""
        return next((each for each in self.changes if each.at > at), None)

    def pause_at(self, due_at: Instant, *, is_paused: bool) -> Pause | None:
        """The pause in which a trigger fell due; None if there was none.

        `is_paused` says whether the job is paused now, and not to be resumed by then. If it is not, every
        pause has ended. The instant of the pause itself is not in the pause: what is due then is still owed
        (Revision.owns). The instant at which a pause ends by itself is not in it either.
        """
        begin: Change | None = None
        for change in self.changes:
            if change.what == "paused" and begin is None:
                begin = change
            elif change.what in ("resumed", "created", "deleted"):
                ended_at = change.at if change.until is None else change.until - 1
                if begin is not None and begin.at < due_at <= ended_at:
                    return Pause(begin, change)
                begin = None
        is_open = begin is not None and is_paused and begin.at < due_at
        return Pause(begin) if begin is not None and is_open else None

    def last_pause(self) -> Change | None:
        """The change that began the last pause; None if there was none, or if it was not kept."""
        found: Change | None = None
        for change in reversed(self.changes):
            if change.what == "paused":
                found = change
            elif found is not None and change.what in ("resumed", "created", "deleted"):
                break
        return found

    def may_have_changed(self, field: str, since: Instant) -> bool:
        """Whether a field of the job was changed at an instant or later, or may have been."""
        writes = (each for each in self.changes if each.at >= since and each.what in ("replaced", "patched"))
        return not self.is_complete or any(
            found.name == field for each in writes for found in each.fields or ()
        )

    def retimed_after(self, due_at: Instant, series: Series) -> Change | None:
        """The first change after an instant that may have changed when the job fires; None if none has.

        `series` is that of the job now. A write that begins a series anew counts a relative `dueTime` anew,
        although no field has changed.
        """
        for change in self.changes:
            if change.at < due_at or change.what not in ("replaced", "patched"):
                continue
            if any(each.name in _TIMING for each in change.fields or ()):
                return change
            if change.former is not None and uncounted(change.former.series) != uncounted(series):
                return change
        return None

    def overtaking(self, at: Instant) -> Change | None:
        """The first change that may have been stored after an instant at which the definition before was due.

        A change is dated by the clock of its writer before it is stored.
        """
        recent = (each for each in self.changes if each.at + _STORED_MS > at)
        return next(
            (
                each
                for each in recent
                if each.former is not None and subject_of(each.former.series, at).due_at is not None
            ),
            None,
        )


def uncounted(series: Series) -> Series:
    """A series without its counts, which an update may have taken up later."""
    return series._replace(counted_at=None, counted=0)


class Former(NamedTuple):
    """A schedule that applied then, and the change that ended it.

    `revisions` are those that had it from the instant on, oldest first.
    """

    series: Series
    change: Change
    revisions: tuple[Revision, ...]

    def owns(self, instant: Instant) -> bool:
        """Whether a trigger due at an instant belongs to it."""
        return any(each.owns(instant) for each in self.revisions)


def former_at(job: Job, lives: Lives, at: Instant) -> tuple[Former, Subject] | None:
    """The schedule that applied at an instant and does not any more, with what it says of the instant.

    None if it was not kept, or if another one applied to a part of what the instant stands for. It is kept if
    the revision of that time is among those in the job's item, and the change that ended the schedule has it.
    Other changes up to that one left the times of the job as they were. From the request of an update until
    its commit, both schedules apply.
    """
    ended = lives.retimed_after(at, job.series)
    if ended is None or ended.former is None:
        return None
    earlier = job.earlier
    names = [each.rev for each in earlier]
    owner = next((place for place, each in enumerate(earlier) if each.owns(at)), None)
    if owner is None or ended.former.rev not in names[owner:]:
        return None
    last = names.index(ended.former.rev)
    retimed = {each.former.rev for each in lives.changes if each.former is not None}
    former = Former(ended.former.series, ended, earlier[owner : last + 1])
    subject = subject_of(former.series, at)
    meant = (at, at + width_of(at) - 1, *(() if subject.due_at is None else (subject.due_at,)))
    others = (*earlier[:owner], *earlier[last + 1 :], job.current)
    is_alone = all(map(former.owns, meant)) and not _own_some(others, min(meant), max(meant))
    if not is_alone or not retimed.isdisjoint(names[owner:last]):
        return None
    return former, _within(former, subject)


def _own_some(revisions: Iterable[Revision], first: Instant, last: Instant) -> bool:
    """Whether some instant from the first to the last belongs to one of the revisions."""
    return any(each.since < last and (each.until is None or first <= each.until) for each in revisions)


def _within(former: Former, subject: Subject) -> Subject:
    """The same without nearest due times that the schedule has where it did not apply."""
    before, after = subject.before, subject.after
    if before is not None and not former.owns(before):
        before = None
    if after is not None and not former.owns(after):
        after = None
    return subject._replace(before=before, after=after)


def latest_of_present(job: Job, now: Instant) -> Instant | None:
    """The latest due time up to now that the present revision owns; None if there is none."""
    return _last_between(job.series, job.current.since, now)


def latest_of_earlier(job: Job, lives: Lives) -> Instant | None:
    """The latest due time before the present revision; None if none is known.

    `lives` has the changes since the oldest revision that the job keeps. Where the series of a revision was
    not kept, the one that followed it stands for it. So the due time may be one that the job never had: what
    is said of it has to follow from what was kept.

    Due times of a pause lie between two revisions if the resume has not caught them up. They also do if the
    job was written during the pause. All of them count, because the schedule had them.
    """
    formers = (each.former for each in lives.changes if each.former is not None)
    replaced = {number_of(each.rev): each.series for each in formers}
    following, following_since = job.series, job.current.since
    for revision in reversed(job.earlier):
        series = had_by(revision.rev, replaced, job.series)
        is_same = uncounted(series) == uncounted(following)
        through = following_since if is_same or revision.until is None else revision.until
        found = _last_between(series, revision.since, through)
        if found is not None:
            return found
        following, following_since = series, revision.since
    return None


def _last_between(series: Series, after: Instant, through: Instant) -> Instant | None:
    """The last due time of a series after an instant, up to and including another one; None if none is."""
    series = before_count(series, through)
    first = series.next_after(after)
    if first is None or first.due_at > through:
        return None
    return series.last_through(through, first).due_at
