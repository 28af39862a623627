"""Writing jobs: arm first, commit second, so that a job that can be read has been armed."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Literal

from sweephand.errors import (
    InvalidError,
    NotFoundError,
    PreconditionError,
    StoreError,
    UnavailableError,
    Violation,
)
from sweephand.instants import INSTANT_MAX, Instant
from sweephand.jobs.definition import Definition, Payload
from sweephand.jobs.job import EARLIER_REVISIONS_MAX, Job, JobKey, Revision
from sweephand.jobs.read import view
from sweephand.ports import Clock, Ids, JobStore, PayloadStore, Queue, TimerStore
from sweephand.schedules import Series, series_of
from sweephand.timing import API_PATIENCE_MS
from sweephand.wheel.arm import Armable, arm, delay_of


@dataclass(frozen=True, slots=True)
class Written:
    """The job as it now is, and what a PUT did to it."""

    job: Job
    outcome: Literal["created", "replaced", "unchanged"]


class Writer:
    """Creates, replaces and deletes jobs; of several who write one, one commits, the others start over."""

    def __init__(
        self,
        *,
        jobs: JobStore,
        timers: TimerStore,
        queue: Queue,
        payloads: PayloadStore,
        clock: Clock,
        ids: Ids,
        shards: Callable[[], int],
    ) -> None:
        self._jobs = jobs
        self._timers = timers
        self._queue = queue
        self._payloads = payloads
        self._clock = clock
        self._ids = ids
        self._shards = shards

    def put(
        self,
        key: JobKey,
        definition: Definition,
        *,
        caller: str,
        requested_at: Instant,
        if_match: str | None = None,
        if_absent: bool = False,
    ) -> Written:
        """Create or replace a job; an equal definition changes nothing, unless the job is completed.

        `if_match` is the revision that must rule, `if_absent` asks that there be no job. Relative times
        count from `requested_at`. Raises InvalidError (times that cannot be), PreconditionError, and
        UnavailableError after 20 s; in each case nothing was committed. StoreError: it may have been,
        and asking again is safe.
        """
        while True:
            # Of a bulk call, too: what has not begun in time must not be armed for nothing.
            self._check_patience(requested_at)
            found = self._jobs.get(key)
            stored = None if found is None or found.is_gone(requested_at) else found
            _check(key, stored, if_match, if_absent=if_absent)
            if stored is not None and _changes_nothing(stored, definition, requested_at):
                return Written(stored, "unchanged")
            job = self._draft(key, stored, definition, caller, requested_at)
            self._keep_payload(job)
            counted_at = None if stored is None else job.series.counted_at
            after = requested_at - 1 if counted_at is None else min(requested_at, counted_at)
            self._arm(job, after, requested_at)
            job = self._cut(job, stored)
            try:
                self._check_patience(requested_at)
            except UnavailableError:
                self._discard(job, stored)
                raise
            if self._jobs.put(job, found.version if found else None):
                self._discard(found, job)
                return Written(job, "created" if stored is None else "replaced")
            self._discard(job, stored)

    def delete(self, key: JobKey, *, requested_at: Instant, if_match: str | None = None) -> None:
        """Remove a job: once this returns, no delivery of it begins.

        Raises NotFoundError, PreconditionError, and UnavailableError after 20 s. Its timers and
        messages are dropped when they are read; its runs stay.
        """
        while True:
            job = self._jobs.get(key)
            if job is None or job.is_gone(requested_at):
                raise NotFoundError(f"There is no job {key.name} in namespace {key.namespace}.")
            _check(key, job, if_match, if_absent=False)
            if self._jobs.delete(job):
                self._discard(job, None)
                return
            if self._clock.now() - requested_at > API_PATIENCE_MS:
                raise UnavailableError("Others keep writing this job; it was not deleted. Ask again.")

    def _check_patience(self, requested_at: Instant) -> None:
        if self._clock.now() - requested_at > API_PATIENCE_MS:
            raise UnavailableError("The stores are too slow at present; nothing was written. Ask again.")

    def _draft(
        self, key: JobKey, stored: Job | None, definition: Definition, caller: str, now: Instant
    ) -> Job:
        """The job as it will be written, but for the cut, which is read just before."""
        uid = stored.uid if stored else self._ids.token()
        token = self._ids.token()
        number = 1 + (int(stored.rev.partition("-")[0]) if stored else 0)
        series = _series(key, stored, definition, now)
        return Job(
            key=key,
            uid=uid,
            version=token,
            # The token keeps two writers that start from one revision from making the same one.
            current=Revision(f"{number}-{token}", since=now),
            cut=now,
            earlier=stored.earlier if stored else (),
            shard=stored.shard if stored else _shard(uid, self._shards()),
            definition=_with_ref(definition, stored, token),
            series=series,
            created_at=stored.created_at if stored else now,
            updated_at=now,
            owner=stored.owner if stored else caller,
            paused_at=stored.paused_at if stored else None,
            pause_reason=stored.pause_reason if stored else None,
            expires_at=_expiry(series, definition),
        )

    def _arm(self, job: Job, after: Instant, now: Instant) -> None:
        armable = Armable(job.key, job.uid, job.rev, job.shard, job.series)
        arming = arm(armable, after=after, now=now)
        if arming.timers:
            self._timers.put(arming.timers)
        if arming.messages:
            # Delays count from the sending: what was slow until now makes nothing late.
            sent_at = self._clock.now()
            self._queue.send([(each, delay_of(each, sent_at)) for each in arming.messages])

    def _cut(self, job: Job, stored: Job | None) -> Job:
        """The job with its cut, read now; the revision before it joins the earlier ones."""
        now = self._clock.now()
        cut = now if stored is None else max(now, stored.cut)
        since = _since(job, stored, cut)
        earlier: tuple[Revision, ...] = ()
        if stored is not None:
            until = cut if stored.paused_at is None else min(cut, stored.paused_at)
            earlier = (*stored.earlier, replace(stored.current, until=until))[-EARLIER_REVISIONS_MAX:]
        return replace(job, cut=cut, current=replace(job.current, since=since), earlier=earlier)

    def _keep_payload(self, job: Job) -> None:
        payload = job.definition.payload
        if payload is not None and payload.ref is not None and payload.text is not None:
            self._payloads.put(job.uid, payload.ref, payload.text)

    def _discard(self, loser: Job | None, winner: Job | None) -> None:
        """Let go of what only `loser` refers to: an object once let go of is never taken up again."""
        ref = loser.definition.payload.ref if loser and loser.definition.payload else None
        kept = winner.definition.payload.ref if winner and winner.definition.payload else None
        if loser is not None and ref is not None and ref != kept:
            # What is written stands, whether or not an object that it left behind can be marked.
            with suppress(StoreError):
                self._payloads.discard(loser.uid, ref)


def _check(key: JobKey, stored: Job | None, if_match: str | None, *, if_absent: bool) -> None:
    if if_absent and stored is not None:
        raise PreconditionError(f"There is a job {key.name} already, in revision {stored.rev}.")
    if if_match is not None and (stored is None or if_match not in ("*", stored.rev)):
        there = f"it is in revision {stored.rev}" if stored else "there is none"
        raise PreconditionError(f"The job is not in revision {if_match}: {there}.")


def _since(job: Job, stored: Job | None, cut: Instant) -> Instant:
    """The instant after which triggers are the new revision's: its cut, unless nobody fires until then."""
    requested_at = job.updated_at
    if stored is None or job.series.counted_at is None:
        return requested_at - 1
    if job.series.counted_at < requested_at:
        # Less jitter puts before the request what had not fired yet.
        return job.series.counted_at
    if stored.paused_at is not None or stored.series.next_after(cut) is not None:
        return cut
    # The bounds of the revision before it ended it already: the new one takes over from its last trigger.
    left = takewhile(lambda each: each.due_at <= cut, stored.series.occurrences(requested_at))
    return max((each.due_at for each in left), default=requested_at)


def _changes_nothing(stored: Job, definition: Definition, now: Instant) -> bool:
    return definition.equals(stored.definition) and view(stored, now).state != "completed"


def _series(key: JobKey, stored: Job | None, definition: Definition, now: Instant) -> Series:
    """The series of a definition: begun anew, or that of the stored job with new bounds."""
    goes_on = (
        stored is not None
        and definition.has_same_timing(stored.definition)
        and view(stored, now).state != "completed"
    )
    if stored is None or not goes_on:
        return _resolved(key, definition, now)
    begun = stored.series
    # Times that count from the dueTime are read as they were at first; others count from this request.
    bounded = _resolved(key, definition, now if definition.due_time is None else begun.start_at)
    # With another jitter what has fired and what has not are told apart by the schedule's own times: nothing
    # fires in its old place and again in its new one, nor in neither.
    counted_at = now + bounded.jitter_ms - begun.jitter_ms
    series = replace(bounded, start_at=begun.start_at, due_at=begun.due_at, counted_at=counted_at, counted=0)
    if series.next_after(counted_at) is None:
        raise InvalidError([Violation("/ttl", "It ends before the next fire; expected a later end.")])
    return series


def _resolved(key: JobKey, definition: Definition, requested_at: Instant) -> Series:
    return series_of(
        schedule=definition.schedule,
        timezone=definition.timezone,
        due_time=definition.due_time,
        ttl=definition.ttl,
        repeats=definition.repeats,
        dst=definition.dst,
        jitter=definition.jitter,
        key=str(key),
        requested_at=requested_at,
    )


def _with_ref(definition: Definition, stored: Job | None, token: str) -> Definition:
    payload = definition.payload
    if payload is None or payload.is_inline:
        return definition
    before = stored.definition.payload if stored else None
    if before is not None and before.digest == payload.digest and before.ref is not None:
        return replace(definition, payload=before)
    ref = f"{payload.digest[:32]}-{token}"
    return replace(definition, payload=Payload(payload.digest, payload.size, payload.text, ref))


def _expiry(series: Series, definition: Definition) -> Instant | None:
    last_at = series.last_at()
    if last_at is None:
        return None
    # A time that leaves Sweephand has a four-digit year: nobody could be shown a job with a later one.
    return min(last_at + definition.retry.age_max_ms + definition.retention_ms, INSTANT_MAX)


def _shard(uid: str, shards: int) -> int:
    # A uid is 16 random characters of base 36: its remainder spreads evenly over any number of shards.
    return int(uid, 36) % shards
