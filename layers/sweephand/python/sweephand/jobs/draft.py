"""The next version of a job: drafted from the stored version and a request, before anything is armed."""

from dataclasses import replace
from typing import Literal

from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.base.timing import ATTEMPT_DELAY_MAX_MS
from sweephand.jobs.commit import Draft
from sweephand.jobs.payload_audit import ref_of
from sweephand.jobs.series import (
    continues_series,
    followed_series,
    new_series,
    patched_series,
    recounted_series,
    series_instead,
)
from sweephand.model.change import SWEEPHAND, Change, Former, changed_fields
from sweephand.model.definition import Definition, Payload
from sweephand.model.job import Job, JobKey, Revision
from sweephand.model.revisions import number_of
from sweephand.schedules import Series
from sweephand.wheel.catchup import OccurrenceRange


def draft_creation(
    key: JobKey, definition: Definition, *, uid: str, token: str, shard: int, who: str, now: Instant
) -> Draft:
    """The draft of a new job; InvalidError for impossible times."""
    series = new_series(key, definition, now)
    job = Job(
        key=key,
        uid=uid,
        version=token,
        current=Revision(f"1-{token}", since=now),
        cut=now,
        earlier=(),
        shard=shard,
        definition=_with_ref(definition, key, None, token),
        series=series,
        created_at=now,
        updated_at=now,
        owner=who,
        expires_at=expiry(series, definition),
        change=Change(now, who, "created", token),
        has_batches=series.batch is not None,
    )
    return Draft(job, now - 1)


def draft_replacement(stored: Job, definition: Definition, *, token: str, who: str, now: Instant) -> Draft:
    """The draft of a job that is replaced whole. Its counts start again. InvalidError as for a creation."""
    continues = continues_series(stored, definition, now)
    series = (recounted_series if continues else series_instead)(stored, definition, now)
    job = _rewritten(stored, definition, series, token=token, now=now)
    return _draft_of(stored, job, "replaced", who=who, now=now, continues=continues)


def draft_patch(stored: Job, definition: Definition, *, token: str, who: str, now: Instant) -> Draft:
    """The draft of a job whose fields are patched. Its counts continue. InvalidError as for a creation."""
    series = patched_series(stored, definition, now)
    job = _rewritten(stored, definition, series, token=token, now=now)
    continues = definition.has_same_timing(stored.definition)
    return _draft_of(stored, job, "patched", who=who, now=now, continues=continues)


def draft_follow(stored: Job, closed: str, *, token: str, now: Instant) -> Draft:
    """The draft of a job that follows its calendar, which has these closed days now. Its counts continue."""
    series = followed_series(stored, closed, now)
    job = _rewritten(stored, stored.definition, series, token=token, now=now)
    draft = _draft_of(stored, job, "patched", who=SWEEPHAND, now=now, continues=True)
    draft = draft.with_reason(f"The calendar {stored.definition.calendar} was changed.")
    return replace(draft, waits_for_due=True)


def draft_resume(
    stored: Job,
    skipped: OccurrenceRange | None,
    *,
    token: str,
    who: str,
    now: Instant,
    through: Instant,
    former_window_ms: int = 0,
) -> Draft:
    """The draft of a resumed job. Its revision owns what fell due since the pause and is not skipped.

    The watch sends no alert about what fell due up to `through`, because the pause kept it from firing. A
    batch that an earlier series has begun goes on for up to `former_window_ms` after the resume.
    """
    assert stored.paused_at is not None, "only a paused job can be resumed"
    after = max(stored.paused_at, stored.moved_to) if skipped is None else skipped.last.due_at
    expires_at = expiry(stored.series, stored.definition)
    if expires_at is not None:
        # Triggers that the pause held back are delivered only now. Runs that began before may last longer
        # than the present definition says.
        window_ms = max(_window_ms(stored.series), former_window_ms)
        late_until = 0 if stored.late_until is None else stored.late_until + ATTEMPT_DELAY_MAX_MS
        expires_at = max(expires_at, _kept_from(now + window_ms, stored.definition), late_until)
    job = replace(
        stored,
        version=token,
        current=Revision(_next_rev(stored, token), since=after),
        updated_at=now,
        paused_at=None,
        pause_reason=None,
        pause_end=None,
        expires_at=expires_at,
        change=Change(now, who, "resumed", token, until=_ended_at(stored, who)),
        resumed_at=now,
    )
    return Draft(job, after, skipped=skipped, watched_after=max(after, through))


def _ended_at(stored: Job, who: str) -> Instant | None:
    """When a pause ended by itself; None if a caller ends it."""
    return stored.pause_end.at if stored.pause_end is not None and who == SWEEPHAND else None


def expiry(series: Series, definition: Definition) -> Instant | None:
    """When a job expires: after its last trigger, its retries and its retention; None if it has no end."""
    last_at = _end_of(series)
    return None if last_at is None else _kept_from(last_at, definition)


def _expiry_after(stored: Job, series: Series, definition: Definition) -> Instant | None:
    """When a written job expires. If its end is unchanged, a delay by a late resume stays."""
    expires_at, former = expiry(series, definition), expiry(stored.series, stored.definition)
    is_same_end = _end_of(series) == _end_of(stored.series)
    if expires_at is None or former is None or stored.expires_at is None or not is_same_end:
        return expires_at
    return min(expires_at + max(stored.expires_at - former, 0), INSTANT_MAX)


def _kept_for_what_waits(
    stored: Job, expires_at: Instant | None, definition: Definition, now: Instant
) -> Instant | None:
    """`expires_at`, or later if triggers of the stored version may still wait.

    The stored version's expiry may have been put off for waiting triggers (runs/requeue.py), or was late
    enough by itself. Triggers wait by the old definition, whatever the new one says.
    """
    if expires_at is None:
        return None
    waiting_until = now + _window_ms(stored.series) + stored.definition.run_time_max_ms + ATTEMPT_DELAY_MAX_MS
    if stored.expires_at is not None:
        waiting_until = min(waiting_until, stored.expires_at)
        former = expiry(stored.series, stored.definition)
        if former is None or stored.expires_at > former:
            # The expiry was put off, and by more than was needed.
            needed_until = stored.expires_at - stored.definition.put_off_ms
            waiting_until = max(waiting_until, needed_until)
    if expires_at >= waiting_until:
        return expires_at
    return min(waiting_until + definition.put_off_ms, INSTANT_MAX)


def _end_of(series: Series) -> Instant | None:
    """When the last batch ends, if that is known; for a job that fires only on demand, its `ttl`."""
    last_at = series.ttl_at if series.is_on_demand else series.last_at()
    return None if last_at is None else last_at + _window_ms(series)


def _window_ms(series: Series) -> int:
    """For how long a batch of the series goes on after its occurrence, at most."""
    return 0 if series.batch is None else series.batch.window_ms


def _kept_from(last_at: Instant, definition: Definition) -> Instant:
    # The year of a time that leaves Sweephand has four digits, so a later expiry could not be shown.
    return min(last_at + definition.run_time_max_ms + definition.retention_ms, INSTANT_MAX)


def _draft_of(
    stored: Job, job: Job, what: Literal["replaced", "patched"], *, who: str, now: Instant, continues: bool
) -> Draft:
    """The draft of a rewritten job, with its change.

    The job either `continues` the series of the stored version, or its series begins with the request.
    """
    before = Former.of(stored.rev, stored.series, stored.definition)
    is_armed_alike = before == Former.of(stored.rev, job.series, job.definition)
    fields = changed_fields(stored.definition, job.definition)
    former = None if is_armed_alike else before
    job = replace(job, change=Change(now, who, what, job.version, fields=fields, former=former))
    after = _armed_from(stored, job, now)
    return Draft(
        job,
        after if continues else min(now - 1, after),
        continues_series=continues,
        # Less jitter makes a time due before the request. Nobody could deliver it in time.
        watched_after=now if continues and after < now else None,
    )


def _armed_from(stored: Job, job: Job, now: Instant) -> Instant:
    """The instant after which a job is armed: that of its request, or an earlier one.

    A shorter jitter may move an occurrence that has not fired yet to an instant before the request.
    """
    counted_at = job.series.counted_at
    if counted_at is not None and job.series.jitter_ms < stored.series.jitter_ms:
        return min(now, counted_at)
    return now


def _rewritten(stored: Job, definition: Definition, series: Series, *, token: str, now: Instant) -> Job:
    # A paused job never expires, so that its user finds it.
    expires_at = None
    if stored.paused_at is None:
        expires_at = _kept_for_what_waits(stored, _expiry_after(stored, series, definition), definition, now)
    return replace(
        stored,
        version=token,
        current=Revision(_next_rev(stored, token), since=now),
        definition=_with_ref(definition, stored.key, stored, token),
        series=series,
        updated_at=now,
        resumed_at=stored.cut if stored.resumed_at is None else stored.resumed_at,
        expires_at=expires_at,
        has_batches=stored.has_batches or series.batch is not None,
        late_until=_late_until(stored, definition, now),
    )


def _late_until(stored: Job, definition: Definition, now: Instant) -> Instant | None:
    """`late_until` of a job that is rewritten. Runs of the stored version go on by its definition."""
    if definition.run_time_max_ms >= stored.definition.run_time_max_ms:
        return stored.late_until
    return max(stored.late_until or 0, now + stored.definition.run_time_max_ms)


def _next_rev(stored: Job, token: str) -> str:
    # With the token, two writers that start from the same revision make different ones.
    return f"{1 + number_of(stored.rev)}-{token}"


def _with_ref(definition: Definition, key: JobKey, stored: Job | None, token: str) -> Definition:
    # The series has the days of the calendar.
    definition, payload = replace(definition, closed=None), definition.payload
    if payload is None or payload.is_inline:
        return definition
    before = stored.definition.payload if stored else None
    if before is not None and before.digest == payload.digest and before.ref is not None:
        return replace(definition, payload=before)
    ref = ref_of(payload.digest, token, key)
    return replace(definition, payload=Payload(payload.digest, payload.size, payload.text, ref))


def shard_of(token: str, shards: int) -> int:
    """The shard of a new job. Random tokens spread jobs evenly over the shards."""
    # A token is 16 random characters of base 36: its remainder spreads evenly over any number of shards.
    return int(token, 36) % shards
