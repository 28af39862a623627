"""What a job becomes by a write: its next version, drafted from the stored one before anything is armed."""

from dataclasses import replace
from typing import Literal

from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.base.timing import ATTEMPT_DELAY_MAX_MS
from sweephand.jobs.commit import Draft
from sweephand.jobs.payload_audit import ref_of
from sweephand.jobs.series import begun, begun_instead, goes_on, patched, restarted
from sweephand.model.change import Change, changed_fields
from sweephand.model.definition import Definition, Payload
from sweephand.model.job import Job, JobKey, Revision
from sweephand.schedules import Series
from sweephand.wheel.catchup import OccurrenceRange


def created(
    key: JobKey, definition: Definition, *, uid: str, token: str, shards: int, who: str, now: Instant
) -> Draft:
    """A new job. InvalidError for times that cannot be."""
    series = begun(key, definition, now)
    job = Job(
        key=key,
        uid=uid,
        version=token,
        current=Revision(f"1-{token}", since=now),
        cut=now,
        earlier=(),
        shard=_shard(uid, shards),
        definition=_with_ref(definition, key, None, token),
        series=series,
        created_at=now,
        updated_at=now,
        owner=who,
        expires_at=expiry(series, definition),
        change=Change(now, who, "created", token),
    )
    return Draft(job, now - 1)


def replaced(stored: Job, definition: Definition, *, token: str, who: str, now: Instant) -> Draft:
    """A stored job of which all is written anew; what it counts begins anew. InvalidError as in created()."""
    is_same_series = goes_on(stored, definition, now)
    series = (restarted if is_same_series else begun_instead)(stored, definition, now)
    job = _written(stored, definition, series, token=token, now=now)
    job = replace(job, change=_change(stored, definition, "replaced", token=token, who=who, now=now))
    return _following(stored, job, now) if is_same_series else _beginning(stored, job, now)


def amended(stored: Job, definition: Definition, *, token: str, who: str, now: Instant) -> Draft:
    """A stored job of which some is written anew; it goes on counting. InvalidError as in created()."""
    series = patched(stored, definition, now)
    job = _written(stored, definition, series, token=token, now=now)
    job = replace(job, change=_change(stored, definition, "patched", token=token, who=who, now=now))
    is_same_series = definition.has_same_timing(stored.definition)
    return _following(stored, job, now) if is_same_series else _beginning(stored, job, now)


def resumed(stored: Job, skipped: OccurrenceRange | None, *, token: str, who: str, now: Instant) -> Draft:
    """A paused job that goes on; what fell due since the pause and is not skipped is its new revision's."""
    assert stored.paused_at is not None, "only what is paused goes on"
    after = max(stored.paused_at, stored.moved_to) if skipped is None else skipped.last.due_at
    expires_at = expiry(stored.series, stored.definition)
    if expires_at is not None:
        # What its pause held back is delivered only now.
        expires_at = max(expires_at, _kept_from(now, stored.definition))
    job = replace(
        stored,
        version=token,
        current=Revision(_next_rev(stored, token), since=after),
        updated_at=now,
        paused_at=None,
        pause_reason=None,
        expires_at=expires_at,
        change=Change(now, who, "resumed", token),
        resumed_at=now,
    )
    return Draft(job, after, skipped=skipped)


def expiry(series: Series, definition: Definition) -> Instant | None:
    """When a job whose end is known is gone: after that end, its retries and its retention."""
    last_at = _end_of(series)
    return None if last_at is None else _kept_from(last_at, definition)


def _expiry_after(stored: Job, series: Series, definition: Definition) -> Instant | None:
    """When a job that was written anew is gone: as much later as a late resume has made it, if it goes on."""
    expires_at, former = expiry(series, definition), expiry(stored.series, stored.definition)
    is_same_end = _end_of(series) == _end_of(stored.series)
    if expires_at is None or former is None or stored.expires_at is None or not is_same_end:
        return expires_at
    return min(expires_at + max(stored.expires_at - former, 0), INSTANT_MAX)


def _kept_for_what_waits(
    stored: Job, expires_at: Instant | None, definition: Definition, now: Instant
) -> Instant | None:
    """That expiry of a job that was written anew, put off if the stored job's triggers may wait for longer.

    The end of the stored job may have been put off for what waits (runs/retention.py), or was late enough by
    itself. What waits does so by the old definition, whatever the new one says.
    """
    if expires_at is None:
        return None
    waiting_until = now + stored.definition.run_time_max_ms + ATTEMPT_DELAY_MAX_MS
    if stored.expires_at is not None:
        waiting_until = min(waiting_until, stored.expires_at)
        former = expiry(stored.series, stored.definition)
        if former is None or stored.expires_at > former:
            # It was put off, by more than was needed.
            needed_until = stored.expires_at - stored.definition.put_off_ms
            waiting_until = max(waiting_until, needed_until)
    if expires_at >= waiting_until:
        return expires_at
    return min(waiting_until + definition.put_off_ms, INSTANT_MAX)


def _end_of(series: Series) -> Instant | None:
    """The last occurrence, as far as it is known; of a job that fires only on demand its `ttl`."""
    return series.ttl_at if series.is_on_demand else series.last_at()


def _kept_from(last_at: Instant, definition: Definition) -> Instant:
    # A time that leaves Sweephand has a four-digit year: nobody could be shown a job with a later one.
    return min(last_at + definition.run_time_max_ms + definition.retention_ms, INSTANT_MAX)


def _following(stored: Job, job: Job, now: Instant) -> Draft:
    """The draft of a job that goes on with the series of the stored one."""
    return Draft(job, _armed_from(stored, job, now), goes_on=True)


def _beginning(stored: Job, job: Job, now: Instant) -> Draft:
    """The draft of a job whose series begins with the request."""
    return Draft(job, min(now - 1, _armed_from(stored, job, now)))


def _armed_from(stored: Job, job: Job, now: Instant) -> Instant:
    """The instant after which a job is armed: its request, or earlier.

    Less jitter puts before the request what had not fired yet.
    """
    counted_at = job.series.counted_at
    if counted_at is not None and job.series.jitter_ms < stored.series.jitter_ms:
        return min(now, counted_at)
    return now


def _written(stored: Job, definition: Definition, series: Series, *, token: str, now: Instant) -> Job:
    # A paused job waits for whoever paused it, however long.
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
    )


def _change(
    stored: Job,
    definition: Definition,
    what: Literal["replaced", "patched"],
    *,
    token: str,
    who: str,
    now: Instant,
) -> Change:
    return Change(now, who, what, token, fields=changed_fields(stored.definition, definition))


def _next_rev(stored: Job, token: str) -> str:
    # The token keeps two writers that start from one revision from making the same one.
    return f"{1 + int(stored.rev.partition('-')[0])}-{token}"


def _with_ref(definition: Definition, key: JobKey, stored: Job | None, token: str) -> Definition:
    payload = definition.payload
    if payload is None or payload.is_inline:
        return definition
    before = stored.definition.payload if stored else None
    if before is not None and before.digest == payload.digest and before.ref is not None:
        return replace(definition, payload=before)
    ref = ref_of(payload.digest, token, key)
    return replace(definition, payload=Payload(payload.digest, payload.size, payload.text, ref))


def _shard(uid: str, shards: int) -> int:
    # A uid is 16 random characters of base 36: its remainder spreads evenly over any number of shards.
    return int(uid, 36) % shards
