"""The series of a job after a write: a new one, the same one counted again, or the same one continued."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import Final

from sweephand.base.errors import InvalidError, Violation
from sweephand.base.instants import INSTANT_MAX, Instant, rfc3339
from sweephand.jobs.day_change import amended
from sweephand.jobs.fields.timing import series_of_fields
from sweephand.model.definition import Definition
from sweephand.model.job import Job, JobKey
from sweephand.schedules import Series, duration_text
from sweephand.schedules.day_rule import DayRule

#: How many occurrences are compared with the window. A list has at most 100, and a daily job a year of them.
#: If two later ones lie closer together, the batch between them is shortened (Series.window_ms_of).
_COMPARED_MAX: Final = 400


def new_series(key: JobKey, definition: Definition, now: Instant) -> Series:
    """The series that begins with a request at `now`; InvalidError for impossible times."""
    series = series_of_fields(
        definition.written, now, key=str(key), closed=definition.closed, may_be_on_demand=True
    )
    if definition.batch is None:
        return series
    series = series._replace(batch=definition.batch)
    _check_window(series)
    return series


def is_over(job: Job, now: Instant) -> bool:
    """Whether no trigger is left; for a paused job, whether none was left when it was paused.

    A job that fires only on demand is over after its `ttl`. Occurrences of a pause are owed until the resume
    decides about them.
    """
    return job.series.has_ended(_reached(job, now))


def continues_series(stored: Job, definition: Definition, now: Instant) -> bool:
    """Whether a replaced job keeps its series: its times are unchanged, and an occurrence is left."""
    return definition.has_same_timing(stored.definition) and not is_over(stored, now)


def series_instead(stored: Job, definition: Definition, now: Instant) -> Series:
    """The series that begins with a request at `now` and replaces the stored one.

    Raises InvalidError for impossible times.
    """
    return _not_again(stored, new_series(stored.key, definition, now), now)


def recounted_series(stored: Job, definition: Definition, now: Instant) -> Series:
    """The stored series with the limits of the definition, and with its occurrences counted from 1 again.

    A paused job counts from its pause, because the resume has yet to decide about the occurrences since then.
    Raises InvalidError if no occurrence is left, unless the batch of the last one is still running.
    """
    series = _bounded(stored, definition, now)
    if series.is_on_demand:
        return series
    reached_at = _reached(stored, now)
    series = amended(series, stored.series, reached_at, now)
    series = _counted_from(stored, series, reached_at, counted=0)
    if series.next_after(0) is None and not _is_last_batch_running(stored, now):
        raise InvalidError([Violation("/ttl", "It ends before the next fire; expected a later end.")])
    return series


def _is_last_batch_running(stored: Job, now: Instant) -> bool:
    """Whether the stored job has no occurrence left, but triggers of the last one."""
    return stored.series.next_after(_reached(stored, now)) is None and not is_over(stored, now)


def patched_series(stored: Job, definition: Definition, now: Instant) -> Series:
    """The series of a stored job whose fields are patched. Its count continues.

    A relative time that the patch leaves unchanged keeps the instant that it had at first. Raises
    InvalidError for impossible times, and for a limit that would leave no occurrence.
    """
    former, before = stored.series, stored.definition
    is_same_ttl = before.ttl == definition.ttl
    if not definition.has_same_timing(before):
        return _begun_again(stored, definition, now, is_same_ttl=is_same_ttl)
    series = _bounded(stored, definition, None if is_same_ttl else now)
    if series.is_on_demand:
        # A later patch may give the job a schedule, and its numbers follow those of before.
        return series._replace(counted=former.counted)
    reached_at = _reached(stored, now)
    series = amended(series, former, reached_at, now)
    is_over_already = former.next_after(reached_at) is None
    is_unmoved = (series.dst, series.jitter_ms, series.days) == (former.dst, former.jitter_ms, former.days)
    if is_unmoved and not is_over_already:
        series = series._replace(counted_at=former.counted_at, counted=former.counted)
    else:
        # The series was over, so the occurrences since then do not count.
        series = _counted_from(stored, series, reached_at, counted=_count(former, reached_at))
        reached_at = min(reached_at, series.counted_at or reached_at)
    is_used_up = (
        definition.repeats != before.repeats and (definition.repeats or INSTANT_MAX) <= series.counted
    )
    if is_used_up or (series != former and series.next_after(reached_at) is None and not is_over_already):
        raise _ended(series, is_same_ttl=is_same_ttl)
    return series


def followed_series(stored: Job, closed: str, now: Instant) -> Series:
    """The series of a job whose calendar has changed, and has these closed days now. Its count continues.

    It may have no occurrence left.
    """
    former, reached_at = stored.series, _reached(stored, now)
    assert former.days is not None, "the job has a calendar"
    series = former._replace(days=DayRule(closed, former.days.fits, former.days.otherwise))
    series = amended(series, former, reached_at, now)
    return _counted_from(stored, series, reached_at, counted=_count(former, reached_at))


def unbounded(job: Job, since: Instant) -> Series:
    """The job's series as if it had begun at `since`, without `repeats`; `dueTime` and `ttl` still limit it.

    A schedule that counts from its start (`@every`) keeps that start.
    """
    return _begun_before(job.series._replace(repeats=None, counted_at=None, counted=0), since)


def _begun_before(series: Series, since: Instant) -> Series:
    """The series as if it had begun before that instant, unless its schedule counts from its beginning."""
    earlier = series._replace(start_at=min(series.start_at, since - 1))
    return series if _counts_from_its_start(series, earlier.start_at) else earlier


def _counts_from_its_start(series: Series, start_at: Instant) -> bool:
    """Whether the series has other times if it starts a moment after `start_at`."""
    unbound = _unbound(series)
    starts = [unbound._replace(start_at=start_at), unbound._replace(start_at=start_at + 1)]
    return _differ_after(series.start_at, starts)


def _counts_from_due(series: Series, due_at: Instant) -> bool:
    """Whether the series has other times if its dueTime is a moment later. A one-off has."""
    if series.schedule is None:
        return True
    unbound = _unbound(series)
    return _differ_after(due_at + 1, [unbound, unbound._replace(due_at=due_at + 1)])


def _unbound(series: Series) -> Series:
    return series._replace(repeats=None, ttl_at=None, counted_at=None, counted=0)


def _differ_after(instant: Instant, compared: Sequence[Series]) -> bool:
    """Whether the next occurrence after that instant differs."""
    coming = [each.next_after(instant) for each in compared]
    return len({each and each.due_at for each in coming}) > 1


def _begun_again(stored: Job, definition: Definition, now: Instant, *, is_same_ttl: bool) -> Series:
    former = stored.series
    is_same_due = stored.definition.due_time == definition.due_time
    kept: dict[str, str] = {}
    if is_same_due and former.due_at is not None:
        # A past dueTime lies before every occurrence to come. With a schedule, the dueTime only sets where
        # the phase begins. A one-off has no other occurrence.
        is_floor = definition.schedule is not None
        kept["dueTime"] = rfc3339(max(former.due_at, now) if is_floor else former.due_at)
    if is_same_ttl and former.ttl_at is not None:
        kept["ttl"] = rfc3339(former.ttl_at)
    series = new_series(stored.key, replace(definition, written={**definition.written, **kept}), now)
    if is_same_due:
        series = series._replace(due_at=former.due_at)
    # The first occurrence may be due at the very instant of the request.
    series = series._replace(counted_at=now - 1, counted=_count(former, _reached(stored, now)))
    if series.is_on_demand:
        # A later patch may give the job a schedule again, and its numbers follow.
        return series._replace(counted_at=None)
    series = _not_again(stored, series, now)
    if series.next_after(series.counted_at or now - 1) is None:
        raise _ended(series, is_same_ttl=True)
    return series


def _bounded(stored: Job, definition: Definition, now: Instant | None) -> Series:
    """The series of a definition with the times of the stored job; it begins where that job's series began.

    Its ttl counts from `now`; without that, it is the stored one. The schedule is parsed as of its beginning,
    because a list with only past instants would be refused now. Raises InvalidError with all that is wrong.
    """
    former, ttl_at = stored.series, stored.series.ttl_at
    found: list[Violation] = []
    if now is not None:
        try:
            ttl_at = _ttl_at(stored, definition, now)
        except InvalidError as error:
            found += error.violations
    written = {name: value for name, value in definition.written.items() if name != "ttl"}
    began_at = former.start_at
    if definition.due_time is not None and former.due_at is not None:
        written["dueTime"] = rfc3339(former.due_at)
        began_at = min(began_at, former.due_at)
    try:
        series = new_series(stored.key, replace(definition, written=written), began_at)
    except InvalidError as error:
        raise InvalidError([*found, *error.violations]) from error
    if found:
        raise InvalidError(found)
    return series._replace(start_at=former.start_at, due_at=former.due_at, ttl_at=ttl_at)


def _ttl_at(stored: Job, definition: Definition, now: Instant) -> Instant | None:
    """The instant of the definition's ttl. It counts from the dueTime, or from now without one."""
    if definition.ttl is None:
        return None
    former = stored.series
    counts_from_due = definition.due_time is not None and former.due_at is not None
    counted_from = former.due_at if counts_from_due and former.due_at is not None else now
    asked_at = min(former.start_at, counted_from) if counts_from_due else now
    written = {"dueTime": rfc3339(counted_from), "ttl": definition.ttl, "timezone": former.timezone}
    return new_series(stored.key, Definition(written), asked_at).ttl_at


def _reached(job: Job, now: Instant) -> Instant:
    """The instant up to which the job's occurrences have been handled."""
    return now if job.paused_at is None else min(now, job.paused_at)


def _dealt_with(job: Job, reached_at: Instant) -> Instant:
    """The same for a job that a longer jitter may have moved ahead: at least where its series begins."""
    begun_at = 0 if job.series.due_at is not None else job.series.start_at - 1
    return max(reached_at, begun_at, job.moved_to, job.series.counted_at or 0)


def _moved(instant: Instant, stored: Job, series: Series) -> Instant:
    """The instant at which the new jitter puts an instant of the stored series."""
    return instant + series.jitter_ms - stored.series.jitter_ms


def _counted_from(stored: Job, series: Series, reached_at: Instant, *, counted: int) -> Series:
    """A series that follows the stored one, without its handled occurrences; numbers follow `counted`.

    With a shorter jitter, it may begin before the stored series did. The first time of the schedule may then
    lie before the request, and has not fired yet.
    """
    counted_at = _moved(_dealt_with(stored, reached_at), stored, series)
    if series.due_at is None and series.jitter_ms < stored.series.jitter_ms:
        series = _begun_before(series, counted_at)
    return series._replace(counted_at=counted_at, counted=counted)


def _not_again(stored: Job, series: Series, now: Instant) -> Series:
    """A series that begins at `now` with another time zone or dueTime, and so numbers its occurrences from 1.

    The schedule may be the same and the jitter may differ, by this update or the one before. Then a time of
    the schedule that has fired at its old instant does not fire at its new one. A time that has not fired
    does, even if its new instant is past.
    """
    former = stored.series
    is_unmoved = series.jitter_ms == former.jitter_ms and _dealt_with(stored, now) <= now
    if series.is_on_demand or series.schedule != former.schedule or is_unmoved:
        return series
    if series.due_at is None:
        is_counted = _counts_from_its_start(series, series.start_at)
    else:
        is_counted = series.due_at != former.due_at and _counts_from_due(series, series.due_at)
    if is_counted:
        # The schedule counts from the request, or from another dueTime, so its times are all new.
        return series
    return _counted_from(stored, series, now, counted=series.counted)


def _count(series: Series, through: Instant) -> int:
    """The number of the last occurrence up to an instant; if there is none, the count before the series."""
    coming = series.next_after(through)
    if coming is not None:
        return coming.sequence - 1
    first = series.next_after(0)
    return series.counted if first is None else series.last_through(through, first).sequence


def _ended(series: Series, *, is_same_ttl: bool) -> InvalidError:
    if is_same_ttl and series.repeats is not None:
        detail = f"As many as {series.repeats} have been counted already; expected more in all."
        return InvalidError([Violation("/repeats", detail)])
    return InvalidError([Violation("/ttl", "It ends before the next fire; expected a later end.")])


def _check_window(series: Series) -> None:
    """Raise InvalidError unless the batch's window is shorter than the time between two occurrences.

    That is the shortest time among the first 400 occurrences. A job with a single occurrence may have any
    window.
    """
    window_ms = 0 if series.batch is None else series.batch.window_ms
    if not window_ms:
        return
    for one, other in pairwise(islice(series.occurrences(0), _COMPARED_MAX)):
        apart_ms = other.due_at - one.due_at
        if apart_ms <= window_ms:
            apart = duration_text(apart_ms)
            detail = (
                f"It must be shorter than the time between two occurrences. {rfc3339(other.due_at)} comes "
                f"{apart} after {rfc3339(one.due_at)}; give less than {apart}."
            )
            raise InvalidError([Violation("/batch/window", detail)])
