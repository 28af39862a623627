"""Resuming: a paused job goes on from the moment of its pause, and what fell due since is caught up with."""

from contextlib import suppress

from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.jobs.commit import Commits
from sweephand.jobs.draft import resumed
from sweephand.jobs.expiry import JobExpiry
from sweephand.jobs.preconditions import check_revision, present
from sweephand.model.definition import CatchUpMode
from sweephand.model.job import Job, JobKey
from sweephand.ports import Ids, JobStore, RunStore
from sweephand.schedules import Series
from sweephand.wheel.catchup import OccurrenceRange, misfires_between
from sweephand.wheel.misfires import record_skipped


class Resumer:
    """Resumes jobs; of several who write one, one commits, the others start over."""

    def __init__(
        self, *, jobs: JobStore, runs: RunStore, commits: Commits, expiry: JobExpiry, ids: Ids
    ) -> None:
        self._jobs = jobs
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
        if_match: str | None = None,
    ) -> Job:
        """Resume a job; one that is not paused stays as it is.

        What fell due up to the pause is delivered by the revision that it fell due by. Of what fell due
        since, `mode` says what fires (None: the job's own `catchup`); the new revision rules from after
        what does not, of which there is one record. Raises NotFoundError, PreconditionError, and
        UnavailableError after 20 s: nothing was committed. StoreError: it may have been, and asking again
        is safe.
        """
        while True:
            self._commits.check_patience(requested_at)
            stored = present(self._jobs.get(key), key, requested_at)
            check_revision(key, stored, if_match)
            if stored.paused_at is None:
                # Whoever resumed it may have died before asking.
                self._expiry.ended(stored)
                return stored
            found = misfires_between(
                stored.series,
                after=max(stored.paused_at, stored.moved_to),
                through=requested_at,
                mode=mode or stored.definition.catchup.mode,
            )
            draft = resumed(stored, found.skipped, token=self._ids.token(), who=who, now=requested_at)
            job = self._commits.commit(draft, stored, over=stored)
            if job is not None:
                self._record(job, found.skipped, stored.series, requested_at)
                # Its last run may have ended during the pause.
                self._expiry.ended(job)
                return job

    def _record(self, job: Job, skipped: OccurrenceRange | None, series: Series, now: Instant) -> None:
        """Tell what was skipped, once that is settled: before, another resume could still let it fire.

        So that it can be seen at once; if it cannot be written, or nobody lives to, the message does it that
        was sent with the arming.
        """
        if skipped is not None:
            with suppress(StoreError):
                record_skipped(self._runs, job, skipped, series, job, decided_at=now)
