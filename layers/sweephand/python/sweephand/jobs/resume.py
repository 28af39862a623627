"""Resuming: a paused job continues from its pause, and the misfires since then are caught up."""

from contextlib import suppress

from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.jobs.change_history import ChangeHistory, former_window_ms
from sweephand.jobs.commit import Commits
from sweephand.jobs.draft import draft_resume, expiry
from sweephand.jobs.expiry import JobExpiry
from sweephand.jobs.preconditions import check_job_revision, existing_job
from sweephand.model.change import SWEEPHAND
from sweephand.model.definition import CatchUpMode
from sweephand.model.job import Job, JobKey
from sweephand.ports.clock import Ids
from sweephand.ports.jobs import JobStore
from sweephand.ports.runs import RunStore
from sweephand.schedules import Series
from sweephand.wheel.catchup import OccurrenceRange, misfires_between, record_misfires, skipped_run


class Resumer:
    """Resumes jobs. If several callers write one job at once, one commits and the others start again."""

    def __init__(
        self,
        *,
        jobs: JobStore,
        runs: RunStore,
        changes: ChangeHistory,
        commits: Commits,
        expiry: JobExpiry,
        ids: Ids,
    ) -> None:
        self._jobs = jobs
        self._changes = changes
        self._expiry = expiry
        self._runs = runs
        self._commits = commits
        self._ids = ids

    def resume(
        self,
        key: JobKey,
        *,
        who: str,
        requested_at: Instant,
        mode: CatchUpMode | None = None,
        if_match: tuple[str, ...] | None = None,
    ) -> Job:
        """Resume a job. A job that is not paused is not changed.

        Triggers that fell due before the pause are delivered by the revision to which they belong. `mode`
        decides which of those that fell due since then fire (None: the job's own `catchup`). The others get
        one record, and the new revision begins after them. Raises NotFoundError, PreconditionError, and
        UnavailableError after 20 s; then nothing was committed. Raises StoreError, after which the resume may
        be committed. The caller may safely ask again.
        """
        while True:
            self._commits.check_time_limit(requested_at)
            stored = existing_job(self._jobs.get(key), key, requested_at)
            check_job_revision(key, stored, if_match)
            if stored.paused_at is None:
                # The function that resumed the job may have crashed before this call.
                self._expiry.ended(stored)
                return stored
            job = self._resumed(stored, stored.paused_at, requested_at, who=who, now=requested_at, mode=mode)
            if job is not None:
                return job

    def end_pause(self, key: JobKey, uid: str, *, now: Instant) -> Job | None:
        """Resume the job of that uid if its pause is to end by itself at `now` or before; None if it is not.

        So nothing happens if a caller has resumed the job or changed the end. What fell due before the end
        are misfires of the pause. What falls due at the end or after it fires. But what is late by more than
        the job's `catchup.window` is a misfire too, because the stack stood still. Errors as of resume().
        """
        while True:
            self._commits.check_time_limit(now)
            stored = self._jobs.get(key)
            if stored is None or stored.uid != uid:
                return None
            if stored.paused_at is None:
                # As in resume().
                self._expiry.ended(stored)
                return None
            end = stored.pause_end
            if end is None or end.at > now:
                return None
            through = max(end.at, now - stored.definition.catchup.window_ms) - 1
            job = self._resumed(stored, stored.paused_at, through, who=SWEEPHAND, now=now, mode=end.mode)
            if job is not None:
                return job

    def _resumed(
        self,
        stored: Job,
        paused_at: Instant,
        through: Instant,
        *,
        who: str,
        now: Instant,
        mode: CatchUpMode | None,
    ) -> Job | None:
        """The job, resumed with what fell due up to `through` as misfires; None if it is not `stored` now."""
        found = misfires_between(
            stored.series,
            after=max(paused_at, stored.moved_to),
            through=through,
            mode=mode or stored.definition.catchup.mode,
        )
        draft = draft_resume(
            stored,
            found.skipped,
            token=self._ids.token(),
            who=who,
            now=now,
            through=through,
            former_window_ms=self._former_window_ms(stored, paused_at),
        )
        job = self._commits.commit(draft, stored, over=stored)
        if job is not None:
            self._record(job, found.skipped, stored.series, now)
            # The job's last run may have ended during the pause.
            self._expiry.ended(job)
        return job

    def _former_window_ms(self, stored: Job, paused_at: Instant) -> int:
        """As former_window_ms(), of the batches that the pause may have interrupted.

        A job without an end needs none, since it does not expire.
        """
        if expiry(stored.series, stored.definition) is None:
            return 0
        return former_window_ms(stored, paused_at, self._changes)

    def _record(self, job: Job, skipped: OccurrenceRange | None, series: Series, now: Instant) -> None:
        """Record the skipped misfires after the commit. Before it, another resume could still let them fire.

        The record shows them at once. If this function cannot write it or crashes, the message that was sent
        with the arming has the delivery function write it.
        """
        if skipped is not None:
            with suppress(StoreError):
                record_misfires(self._runs, skipped_run(job, skipped, job, now), series)
