"""Which series a job has after a write: begun anew, counted anew, or gone on with."""

from dataclasses import replace

from sweephand.base.errors import InvalidError, Violation
from sweephand.base.instants import INSTANT_MAX, Instant, rfc3339
from sweephand.model.definition import Definition
from sweephand.model.job import Job, JobKey
from sweephand.schedules import Series, series_of


def begun(key: JobKey, definition: Definition, now: Instant) -> Series:
    """The series that begins with a request at `now`; InvalidError for times that cannot be."""
    return series_of(
        schedule=definition.schedule,
        timezone=definition.timezone,
        due_time=definition.due_time,
        ttl=definition.ttl,
        repeats=definition.repeats,
        dst=definition.dst,
        jitter=definition.jitter,
        key=str(key),
        requested_at=now,
        may_be_on_demand=True,
    )


def is_over(job: Job, now: Instant) -> bool:
    """Whether no occurrence is left; of a paused job, whether none was when it was paused.

    A job that fires only on demand is over when its `ttl` is past. What fell due during a pause is owed
    until the resume has decided on it.
    """
    return job.series.has_ended(_reached(job, now))


def goes_on(stored: Job, definition: Definition, now: Instant) -> bool:
    """Whether a job that is replaced keeps its series: same times, and an occurrence left."""
    return definition.has_same_timing(stored.definition) and not is_over(stored, now)


def begun_instead(stored: Job, definition: Definition, now: Instant) -> Series:
    """The series that begins with a request at `now` in the place of the stored one.

    InvalidError for times that cannot be.
    """
    return _not_again(stored, begun(stored.key, definition, now), now)


def restarted(stored: Job, definition: Definition, now: Instant) -> Series:
    """The stored series with the bounds of a definition, its occurrences counted anew.

    Those of a paused job from the pause on, as if it had been replaced then: what fell due since is still to
    be decided on. InvalidError if none is left.
    """
    series = _bounded(stored, definition, _ttl_at(stored, definition, now))
    if series.is_on_demand:
        return series
    series = _counted_from(stored, series, _reached(stored, now), counted=0)
    if series.next_after(0) is None:
        raise InvalidError([Violation("/ttl", "It ends before the next fire; expected a later end.")])
    return series


def patched(stored: Job, definition: Definition, now: Instant) -> Series:
    """The series of a stored job some of whose fields were written anew: it goes on counting.

    Relative times that were not written anew stay the instants that they were resolved to at first.
    InvalidError for times that cannot be, and for a bound by which nothing would be left.
    """
    former, before = stored.series, stored.definition
    is_same_ttl = before.ttl == definition.ttl
    if not definition.has_same_timing(before):
        return _begun_again(stored, definition, now, is_same_ttl=is_same_ttl)
    ttl_at = former.ttl_at if is_same_ttl else _ttl_at(stored, definition, now)
    series = _bounded(stored, definition, ttl_at)
    if series.is_on_demand:
        return series
    reached_at = _reached(stored, now)
    is_over_already = former.next_after(reached_at) is None
    if (series.dst, series.jitter_ms) == (former.dst, former.jitter_ms) and not is_over_already:
        series = replace(series, counted_at=former.counted_at, counted=former.counted)
    else:
        # What did not occur, since the series was over, does not count.
        series = _counted_from(stored, series, reached_at, counted=_count(former, reached_at))
        reached_at = min(reached_at, series.counted_at or reached_at)
    is_used_up = (
        definition.repeats != before.repeats and (definition.repeats or INSTANT_MAX) <= series.counted
    )
    if is_used_up or (series != former and series.next_after(reached_at) is None and not is_over_already):
        raise _ended(series, is_same_ttl=is_same_ttl)
    return series


def as_if_ever(job: Job, since: Instant) -> Series:
    """The job's series as if it had been there from `since` on: not bounded by how often, or by its start.

    Where the schedule counts from its start (`@every`), it begins there all the same. `dueTime` and `ttl`
    bound it.
    """
    return _begun_before(replace(job.series, repeats=None, counted_at=None, counted=0), since)


def _begun_before(series: Series, since: Instant) -> Series:
    """A series as if it had begun before an instant, unless its schedule counts from its beginning."""
    earlier = replace(series, start_at=min(series.start_at, since - 1))
    unbound = replace(earlier, repeats=None, ttl_at=None, counted_at=None, counted=0)
    # The next fire by a start and by one a moment later differ only if it is counted from there.
    moved = replace(unbound, start_at=unbound.start_at + 1)
    coming = [each.next_after(series.start_at) for each in (unbound, moved)]
    is_counted = len({each and each.due_at for each in coming}) > 1
    return series if is_counted else earlier


def _begun_again(stored: Job, definition: Definition, now: Instant, *, is_same_ttl: bool) -> Series:
    former = stored.series
    is_same_due = stored.definition.due_time == definition.due_time
    kept: dict[str, str] = {}
    if is_same_due and former.due_at is not None:
        # A dueTime that is past lies behind every occurrence to come; where it lies, the phase begins. A
        # one-off has no other occurrence.
        is_floor = definition.schedule is not None
        kept["dueTime"] = rfc3339(max(former.due_at, now) if is_floor else former.due_at)
    if is_same_ttl and former.ttl_at is not None:
        kept["ttl"] = rfc3339(former.ttl_at)
    series = begun(stored.key, replace(definition, written={**definition.written, **kept}), now)
    if is_same_due:
        series = replace(series, due_at=former.due_at)
    # The first occurrence may be due at the very instant of the request.
    series = replace(series, counted_at=now - 1, counted=_count(former, _reached(stored, now)))
    if series.is_on_demand:
        return replace(series, counted_at=None, counted=0)
    series = _not_again(stored, series, now)
    if series.next_after(series.counted_at or now - 1) is None:
        raise _ended(series, is_same_ttl=True)
    return series


def _bounded(stored: Job, definition: Definition, ttl_at: Instant | None) -> Series:
    """The series of a definition whose times are those of a stored job: it begins where that began.

    It is read as of then: a list of instants that are past by now was none then.
    """
    former = stored.series
    written = {name: value for name, value in definition.written.items() if name != "ttl"}
    began_at = former.start_at
    if definition.due_time is not None and former.due_at is not None:
        written["dueTime"] = rfc3339(former.due_at)
        began_at = min(began_at, former.due_at)
    series = begun(stored.key, replace(definition, written=written), began_at)
    return replace(series, start_at=former.start_at, due_at=former.due_at, ttl_at=ttl_at)


def _ttl_at(stored: Job, definition: Definition, now: Instant) -> Instant | None:
    """What the ttl of a definition means now: it counts from the dueTime, where that was at first."""
    if definition.ttl is None:
        return None
    former = stored.series
    counts_from_due = definition.due_time is not None and former.due_at is not None
    counted_from = former.due_at if counts_from_due and former.due_at is not None else now
    asked_at = min(former.start_at, counted_from) if counts_from_due else now
    written = {"dueTime": rfc3339(counted_from), "ttl": definition.ttl, "timezone": former.timezone}
    return begun(stored.key, Definition(written), asked_at).ttl_at


def _reached(job: Job, now: Instant) -> Instant:
    """The instant up to which the job's occurrences have been dealt with."""
    return now if job.paused_at is None else min(now, job.paused_at)


def _dealt_with(job: Job, reached_at: Instant) -> Instant:
    """The same, of a job that more jitter may have moved ahead: its series begins where that put it."""
    begun_at = 0 if job.series.due_at is not None else job.series.start_at - 1
    return max(reached_at, begun_at, job.moved_to, job.series.counted_at or 0)


def _moved(instant: Instant, stored: Job, series: Series) -> Instant:
    """Where another jitter puts an instant of the stored series."""
    return instant + series.jitter_ms - stored.series.jitter_ms


def _counted_from(stored: Job, series: Series, reached_at: Instant, *, counted: int) -> Series:
    """A series that follows the stored one: without what that one has dealt with, numbered on from `counted`.

    With less jitter it may begin before the stored one did: the first time of that one's schedule may lie
    before its request, and not have fired yet.
    """
    counted_at = _moved(_dealt_with(stored, reached_at), stored, series)
    if series.due_at is None and series.jitter_ms < stored.series.jitter_ms:
        series = _begun_before(series, counted_at)
    return replace(series, counted_at=counted_at, counted=counted)


def _not_again(stored: Job, series: Series, now: Instant) -> Series:
    """A series that begins at `now` with another time zone or dueTime, and so counts its times anew.

    With the same schedule and another jitter, of this update or the one before it, a time of the schedule
    that has fired at its old place does not fire at its new one. One that has not fires there, though that
    is past.
    """
    former = stored.series
    is_unmoved = series.jitter_ms == former.jitter_ms and _dealt_with(stored, now) <= now
    if series.is_on_demand or series.schedule != former.schedule or is_unmoved:
        return series
    if series.schedule is None or series.due_at is not None:
        is_counted = series.due_at != former.due_at
    else:
        is_counted = _begun_before(series, series.start_at - 1) == series
    if is_counted:
        # Its schedule counts from the request, or from another dueTime: it has no time of before.
        return series
    return _counted_from(stored, series, now, counted=series.counted)


def _count(series: Series, through: Instant) -> int:
    """The number of the last occurrence up to an instant; what was counted before, if there is none."""
    coming = series.next_after(through)
    if coming is not None:
        return coming.sequence - 1
    first = series.next_after(0)
    return series.counted if first is None else series.last_through(through, first).sequence


def _ended(series: Series, *, is_same_ttl: bool) -> InvalidError:
    if is_same_ttl and series.repeats is not None:
        detail = f"{series.repeats} occurrences have been counted already; expected more in all."
        return InvalidError([Violation("/repeats", detail)])
    return InvalidError([Violation("/ttl", "It ends before the next fire; expected a later end.")])
