"""Resuming: a paused job goes on from the moment of its pause, and what fell due since is caught up with."""

from contextlib import suppress

from sweephand.errors import StoreError
from sweephand.instants import Instant
from sweephand.jobs.commit import Commits
from sweephand.jobs.definition import CatchUpMode
from sweephand.jobs.draft import resumed
from sweephand.jobs.expected import check_revision, present
from sweephand.jobs.job import Job, JobKey
from sweephand.ports import Ids, JobStore, RunStore
from sweephand.schedules import Series
from sweephand.wheel.catchup import Span, misfires, skipped_run


class Resumer:
    """Resumes jobs; of several who write one, one commits, the others start over."""

    def __init__(self, *, jobs: JobStore, runs: RunStore, commits: Commits, ids: Ids) -> None:
        self._jobs = jobs
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
                return stored
            found = misfires(
                stored.series,
                after=stored.paused_at,
                through=requested_at,
                mode=mode or stored.definition.catchup.mode,
            )
            after = stored.paused_at if found.skipped is None else found.skipped.last.due_at
            draft = resumed(stored, after, token=self._ids.token(), who=who, now=requested_at)
            job = self._commits.commit(draft, stored, over=stored)
            if job is not None:
                self._record(job, found.skipped, stored.series, requested_at)
                return job

    def _record(self, job: Job, skipped: Span | None, series: Series, now: Instant) -> None:
        """Tell what was skipped, once that is settled: before, another resume could still let it fire.

        The first of them may have been delivered all the same, since a job is read up to a second before its
        request leaves: what has a record already is no part of the span. What is resumed stands, whether or
        not this could be written.
        """
        with suppress(StoreError):
            while skipped is not None and not self._runs.record(skipped_run(job, skipped, job, now)):
                skipped = skipped.after_first(series)
