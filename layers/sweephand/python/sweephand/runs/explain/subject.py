"""Which trigger an instant is about: one due then, or one that a clock change or jitter has moved."""

from dataclasses import replace
from itertools import islice
from typing import Final, Literal, NamedTuple

from sweephand.base.instants import HOUR_MS, MINUTE_MS, SECOND_MS, Instant
from sweephand.schedules import Series
from sweephand.schedules.clock.dst import ClockEffect
from sweephand.schedules.clock.zones import zone_named

#: Clock changes move a local time by less than this.
_CHANGE_MS_MAX: Final = 4 * HOUR_MS

#: The most effects of clock changes that are looked at. An expression can name each second of an hour.
_EFFECTS_MAX: Final = 10_000


class Subject(NamedTuple):
    """What a schedule says of an instant.

    `due_at` is the due time of the trigger that the instant is about; None if there is none. `moved_by` says
    what put it, or its absence, elsewhere than the schedule says. `effect` is that of the clock change, and
    `local_s` the local time in question (seconds since 1970-01-01T00:00:00 on the wall). `before` and `after`
    are the nearest due times before and after the instant, without the trigger itself.
    """

    due_at: Instant | None
    sequence: int = 0
    moved_by: Literal["clock", "jitter"] | None = None
    effect: ClockEffect | None = None
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
    return replace(series, counted_at=None, counted=0, repeats=series.repeats if is_used_up else None)


def _found(series: Series, at: Instant) -> Subject:
    coming = series.next_after(at - 1)
    if coming is not None and coming.due_at == at:
        return Subject(at, coming.sequence)
    until = at + width_of(at)
    if series.jitter_ms:
        moved = series.next_after(at + series.jitter_ms - 1)
        if moved is not None and moved.due_at < until + series.jitter_ms:
            return Subject(moved.due_at, moved.sequence, "jitter")
    elif (effect := _effect_at(series, at, until)) is not None:
        made_up = series.next_after(effect.instant - 1) if effect.fires else None
        if made_up is not None and made_up.due_at == effect.instant:
            return Subject(made_up.due_at, made_up.sequence, "clock", effect)
        return Subject(None, moved_by="clock", effect=effect)
    if coming is not None and coming.due_at < until:
        return Subject(coming.due_at, coming.sequence)
    return Subject(None)


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
