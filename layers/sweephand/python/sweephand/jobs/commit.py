"""Committing a version of a job: first arm, then cut, then write. So every job that can be read is armed."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Final

from sweephand.base.concurrency import Concurrently, parts
from sweephand.base.errors import StoreError, UnavailableError
from sweephand.base.instants import Instant
from sweephand.jobs.payload_audit import may_come_back, payload_ref, refers
from sweephand.jobs.preconditions import check_time_limit, within_time_limit
from sweephand.model.job import Job, RevisionName
from sweephand.model.revisions import evicted_revisions, retained_revisions
from sweephand.model.timer import OccurrenceTimer, TimerPack, WatchTimer
from sweephand.model.trace import Origin
from sweephand.model.trigger import Message
from sweephand.ports.clock import Clock
from sweephand.ports.jobs import ChangeStore, JobStore, PayloadStore
from sweephand.ports.queue import Queue
from sweephand.ports.wheel import TimerStore
from sweephand.schedules import Series
from sweephand.wheel.arm import Armable, Arming, arm, delay_of, range_message
from sweephand.wheel.catchup import OccurrenceRange
from sweephand.wheel.packing import packed_new
from sweephand.wheel.watch import arm_watch

#: The messages of one send: those of eight calls of SQS, which are made at once.
SEND_AT_ONCE: Final = 80


@dataclass(frozen=True, slots=True)
class Draft:
    """A version of a job with its own revision, before it is armed.

    `job` has no cut yet, and `job.updated_at` is the instant of the request. Its triggers after `after` are
    armed. If the version `continues_series` of the version before it, its revision begins at the cut.
    Otherwise it begins at `after`. `skipped` are misfires that do not fire. The job's watch begins after
    `after` too, or after `watched_after` if that is set. A draft that `waits_for_due` is not committed if an
    occurrence fell due since the request that both versions could fire, or neither of them.
    """

    job: Job
    after: Instant
    continues_series: bool = False
    skipped: OccurrenceRange | None = None
    watched_after: Instant | None = None
    waits_for_due: bool = False

    def with_place(self, counted_in: int | None) -> "Draft":
        """The draft of a new job that took its place in that generation of its namespace's count."""
        return replace(self, job=replace(self.job, counted_in=counted_in))

    def with_pause(self) -> "Draft":
        """The draft of a new job that is paused from its beginning on."""
        return replace(self, job=replace(self.job, paused_at=self.after, expires_at=None))

    def with_origin(self, traceparent: str | None) -> "Draft":
        """The draft of a request with that trace context, which continues for a job that fires once."""
        origin = None if traceparent is None else Origin(traceparent, self.job.series.is_single)
        return self if origin == self.job.origin else replace(self, job=replace(self.job, origin=origin))

    def with_reason(self, reason: str | None) -> "Draft":
        """The draft whose change says why the caller made it."""
        assert self.job.change is not None, "a draft has its change"
        change = self.job.change._replace(reason=reason)
        return self if reason is None else replace(self, job=replace(self.job, change=change))


class Commits:
    """Commits drafts. If several callers write one job at once, one commits and the others start again."""

    def __init__(
        self,
        *,
        jobs: JobStore,
        changes: ChangeStore,
        timers: TimerStore,
        queue: Queue,
        payloads: PayloadStore,
        clock: Clock,
    ) -> None:
        self._jobs = jobs
        self._changes = changes
        self._timers = timers
        self._queue = queue
        self._payloads = payloads
        self._clock = clock

    def check_time_limit(self, requested_at: Instant) -> None:
        """Raises UnavailableError if a commit of that request could come too late after its arming."""
        check_time_limit(self._clock, requested_at)

    def commit(self, draft: Draft, stored: Job | None, *, over: Job | None) -> Job | None:
        """Commit the draft and return the job, or None if the stored version is not `over`.

        `stored` is the version that the draft follows, None for a new job. `over` is the item that the write
        replaces; it may be an expired job. Raises UnavailableError, after which nothing was committed. Raises
        StoreError, after which the commit may have been applied.
        """
        requested_at = draft.job.updated_at
        self._keep_payload(draft.job)
        try:
            self._prepare(draft, over)
            job = self._cut(draft, stored)
            if stored is not None and self._has_filed(stored, job):
                # Filing took time, and the cut must be read just before the write.
                job = self._cut(draft, stored)
            # After so long, a further try of the same function would take as long again.
            self.check_time_limit(requested_at)
            if stored is not None and draft.waits_for_due and _was_due(stored, job):
                return None
        except (StoreError, UnavailableError):
            # No write of this version was sent, so no job can refer to its data.
            self._discard(draft.job, stored)
            raise
        if self._jobs.put(job, over.version if over else None, within_time_limit(self._clock, requested_at)):
            self.discard_unused_payload(over, job)
            return job
        if self._was_committed(job):
            self.discard_unused_payload(over, job)
            return job
        self.discard_unused_payload(job, stored)
        return None

    def create(
        self, drafts: Sequence[Draft], concurrently: Concurrently
    ) -> Sequence[Job | StoreError | UnavailableError | None]:
        """Commit the drafts of new jobs, whose data is stored in them. Returns the result of each, in order.

        All are armed together, and then each is committed by itself. A result is the job, or None if there is
        a job of its name by now, or the error of its commit: after a StoreError that commit may have been
        applied. Raises UnavailableError and StoreError if the drafts could not be armed. Then nothing was
        committed.
        """
        if not drafts:
            return []
        armings = [self._arming(draft) for draft in drafts]
        timers = [timer for arming in armings for timer in arming.timers]
        watches = [arming.watch for arming in armings if arming.watch is not None]
        self._put_timers([*packed_new(timers), *watches])
        self._send([message for arming in armings for message in arming.messages])
        self.check_time_limit(drafts[0].job.updated_at)
        return list(concurrently([partial(self._create_one, draft) for draft in drafts]))

    def _create_one(self, draft: Draft) -> Job | StoreError | UnavailableError | None:
        job, requested_at = self._cut(draft, None), draft.job.updated_at
        try:
            self.check_time_limit(requested_at)
            is_written = self._jobs.put(job, None, within_time_limit(self._clock, requested_at))
            return job if is_written or self._was_committed(job) else None
        except (StoreError, UnavailableError) as error:
            return error

    def discard_unused_payload(self, loser: Job | None, winner: Job | None) -> None:
        """Discard the data that `loser` refers to and `winner` does not, unless a job refers to it now.

        The SDK may have repeated a write of `loser` after another writer's write. Then the job is back, or
        another version has taken over its data. So this method reads the job again. The SDK can repeat a
        creation for a while. The data of so young a job is left to the audit (jobs/payload_audit.py).
        """
        ref = payload_ref(loser)
        if loser is None or ref is None or payload_ref(winner) == ref:
            return
        if may_come_back(loser, self._clock.now()):
            return
        # The commit stands even if an object that it left behind cannot be discarded now.
        with suppress(StoreError):
            if not refers(self._jobs.get(loser.key), loser.uid, ref):
                self._payloads.discard(loser.uid, ref)

    def _was_committed(self, job: Job) -> bool:
        """Whether a refused version was stored before, and was followed by others.

        The SDK repeats a write whose answer was lost. By then, the stored job may have forgotten the revision
        of the first try. The writer of the next version has filed the change of this one before its own
        commit, and every filed change was committed (model/change.py).
        """
        change = job.change
        if change is None:
            return False
        latest = self._changes.page(job.key, f"{change.position}~", 1).items
        return any(each.version == change.version for each in latest)

    def _discard(self, loser: Job, winner: Job | None) -> None:
        ref = payload_ref(loser)
        if ref is not None and payload_ref(winner) != ref:
            with suppress(StoreError):
                self._payloads.discard(loser.uid, ref)

    def _prepare(self, draft: Draft, over: Job | None) -> None:
        paused_at = draft.job.paused_at
        if paused_at is None or draft.after < paused_at:
            # A paused job is not armed, because the resume arms what falls due after the pause. But a request
            # can be older than a pause that overtook it; its earlier triggers are armed here.
            self._arm(draft)
        if over is not None and over.change is not None:
            self._changes.put(over.key, over.change._replace(uid=over.uid))

    def _keep_payload(self, job: Job) -> None:
        payload = job.definition.payload
        if payload is not None and payload.ref is not None and payload.text is not None:
            self._payloads.put(job.uid, payload.ref, payload.text)

    def _arm(self, draft: Draft) -> None:
        arming = self._arming(draft)
        self._put_timers([*arming.timers, *([] if arming.watch is None else [arming.watch])])
        self._send(arming.messages)

    def _arming(self, draft: Draft) -> Arming:
        job = draft.job
        of = job.definition
        armable = Armable(job.key, job.uid, job.rev, job.shard, job.series, of.catchup, of.lane)
        arming = arm(armable, after=draft.after, now=job.updated_at)
        if of.alert_after_ms is not None:
            arming = self._with_watch(arming, armable, of.alert_after_ms, draft)
        if draft.skipped is None:
            return arming
        # The record must follow the commit. The message makes it even if this function crashes in between.
        record = range_message(armable, draft.skipped, job.updated_at, are_skipped=True)
        return arming._replace(messages=(*arming.messages, record))

    @staticmethod
    def _with_watch(arming: Arming, armable: Armable, after_ms: int, draft: Draft) -> Arming:
        since = draft.after if draft.watched_after is None else draft.watched_after
        checks, watch = arm_watch(armable, since=since, after_ms=after_ms, now=draft.job.updated_at)
        return arming._replace(messages=(*arming.messages, *checks), watch=watch)

    def _put_timers(self, timers: Sequence[OccurrenceTimer | WatchTimer | TimerPack]) -> None:
        if timers:
            self._timers.put(timers)

    def _send(self, messages: Sequence[Message]) -> None:
        for some in parts(messages, SEND_AT_ONCE):
            # Each delay counts from its own send. A slow write, or ten thousand messages before it, would
            # otherwise make triggers late.
            sent_at = self._clock.now()
            self._queue.send([(each, delay_of(each, sent_at)) for each in some])

    def _has_filed(self, stored: Job, job: Job) -> bool:
        """File the revisions that `stored` keeps and `job` does not; return whether there were any.

        Filing comes before the commit. So a reader of the new version finds each revision that is missing
        there among the filed ones. A filed revision is true even if the commit fails.
        """
        evicted = evicted_revisions(stored, job, self._clock.now())
        for revision in evicted:
            self._jobs.file(RevisionName(stored.key, stored.uid, revision.rev), revision)
        return bool(evicted)

    def _cut(self, draft: Draft, stored: Job | None) -> Job:
        """The job with its cut, which is read now. The stored revision joins its earlier revisions."""
        job = draft.job
        # The clock may have gone back since the request. What fell due before the request was not armed.
        now = max(self._clock.now(), job.updated_at)
        if stored is None:
            return replace(job, cut=now, current=job.current._replace(since=draft.after))
        # A pause is a cut too. A writer whose clock is behind must not cut before it.
        cut = max(now, stored.cut, stored.paused_at or 0)
        until = cut if stored.paused_at is None else stored.paused_at
        since = _since_of_next(stored, job, cut) if draft.continues_series else draft.after
        current = job.current._replace(since=since)
        # A writer whose clock is behind must not date the change before the version that it follows.
        updated_at = max(job.updated_at, stored.updated_at)
        earlier = retained_revisions(stored, until)
        return replace(job, cut=cut, current=current, earlier=earlier, updated_at=updated_at)


def _was_due(stored: Job, job: Job) -> bool:
    """Whether occurrences between the request and the cut may fire twice, or may never fire.

    The stored version fires those that it has there. The days of the next one count from the request.
    """
    if stored.paused_at is not None:
        return False
    was, becomes = (
        _dues(each.series, job.change.at if job.change else job.cut, job.cut) for each in (stored, job)
    )
    moves = any(each.series.days is not None and each.series.days.moves for each in (stored, job))
    return was != becomes or bool(moves and was)


def _dues(series: Series, after: Instant, through: Instant) -> list[Instant]:
    coming = takewhile(lambda each: each.due_at <= through, series.occurrences(after))
    return [each.due_at for each in coming]


def _since_of_next(stored: Job, job: Job, cut: Instant) -> Instant:
    """The instant after which the revision of `job`, which continues the stored series, owns triggers.

    There the stored revision ends, in the schedule's own time. A change of `jitter` moves the instant by as
    much as it moves the series, later or earlier. So each time of the schedule belongs to one revision.
    """
    moved_ms = job.series.jitter_ms - stored.series.jitter_ms
    if stored.paused_at is not None:
        return max(stored.paused_at if moved_ms else cut, stored.moved_to) + moved_ms
    if stored.series.is_on_demand or stored.series.next_after(cut) is not None:
        return max(cut, stored.moved_to) + moved_ms
    # The limits of the stored series have ended it already. The new revision begins after its last trigger.
    requested_at = job.updated_at
    left = takewhile(lambda each: each.due_at <= cut, stored.series.occurrences(requested_at))
    return max((each.due_at for each in left), default=max(requested_at, stored.moved_to)) + moved_ms
