"""Keeping what belongs to single jobs: the job, its line, the records of its runs, its policy's line."""

from collections.abc import Callable
from dataclasses import replace

from sweephand.base.errors import NewerError
from sweephand.base.instants import DAY_MS, Instant
from sweephand.base.timing import (
    KEEP_ENDING_MS,
    KEEP_ROUND_MS,
    REVISION_RETENTION_MS,
    TIMER_RETENTION_MS,
)
from sweephand.model.job import EARLIER_REVISIONS_MAX, Job, JobKey
from sweephand.model.keep_round import KeepPlace, Kept
from sweephand.model.policy_names import PolicyKey
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.flow import NamespaceStore, PolicyLines, PolicyStore
from sweephand.ports.jobs import JobStore
from sweephand.ports.keep import KeptJobs
from sweephand.ports.runs import LineStore, RunStore
from sweephand.runs.job_walk import PAGE_MAX, namespaces_from, run_pages
from sweephand.runs.kept_lines import KeptLines

#: The states of runs whose records are kept. Some of these runs wait for a consumer or for their next
#: attempt. Without the records of the others, a trigger that waits in a queue or a timer would be delivered.
#: The consumer of a run that is still `claimed` may call back, although the function has crashed.
_KEPT = ("claimed", "running", "retrying", "cancelled", "skipped")

#: So many filed revisions of a job are written before the time is asked again.
_REVISIONS_MAX = 500

#: The runs that are looked at are those that may have been under way when the stack was switched off, and a
#: day more.
_RUNS_MS = DAY_MS


class JobKeeper:
    """Goes through all jobs. It changes how long things are kept, and nothing that a reader sees of them."""

    def __init__(
        self,
        *,
        jobs: JobStore,
        kept_jobs: KeptJobs,
        runs: RunStore,
        lines: LineStore,
        policies: PolicyStore,
        policy_lines: PolicyLines,
        namespaces: NamespaceStore,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._jobs = jobs
        self._kept_jobs = kept_jobs
        self._runs = runs
        self._lines = lines
        self._policies = policies
        self._policy_lines = policy_lines
        self._namespaces = namespaces
        self._clock = clock
        self._ids = ids

    def keep(
        self, place: KeepPlace, off_since: Instant, kept: Kept, is_over: Callable[[], bool]
    ) -> KeepPlace | None:
        """Keep what belongs to the jobs after that place, until the time is over.

        Returns the place that was reached; None after the last job of the last namespace that is listed.
        """
        lines = KeptLines(policies=self._policies, lines=self._policy_lines)
        try:
            for namespace in namespaces_from(self._namespaces, place.name, None):
                begun = place if namespace == place.name else KeepPlace("jobs", namespace)
                if is_over():
                    return begun
                reached = self._keep_some(begun, off_since, lines, kept, is_over)
                if reached is not None:
                    return reached
        finally:
            kept.entries += lines.count
        return None

    def _keep_some(
        self,
        begun: KeepPlace,
        off_since: Instant,
        lines: KeptLines,
        kept: Kept,
        is_over: Callable[[], bool],
    ) -> KeepPlace | None:
        """Keep what belongs to the jobs of one namespace; None if that is done."""
        if begun.before:
            job = self._jobs.get(JobKey(begun.name, begun.after))
            before = None if job is None else self._keep_runs(job, begun.before, off_since, kept, is_over)
            if before is not None:
                return begun._replace(before=before)
        done = KeepPlace("jobs", begun.name, begun.after)
        after: str | None = begun.after
        while after is not None:
            page = self._jobs.page(begun.name, "", after, PAGE_MAX)
            for job in page.items:
                if is_over():
                    return done
                self._keep_job(job, kept)
                self._keep_line(job, kept)
                if not self._has_kept_filed(job, kept):
                    return done
                policy = job.definition.policy
                if policy is not None:
                    key = PolicyKey(job.key.namespace, policy)
                    if lines.keep(key, self._clock.now(), is_over) is False:
                        return done
                done = KeepPlace("jobs", begun.name, job.key.name)
                before = self._keep_runs(job, "", off_since, kept, is_over)
                if before is not None:
                    return done._replace(before=before)
            after = page.next
        return None

    def _keep_job(self, job: Job, kept: Kept) -> None:
        """Keep the item of a job that has ended. Triggers of it may wait, and each is judged by the job."""
        now = self._clock.now()
        if job.removed_at is not None and job.removed_at < now + KEEP_ENDING_MS:
            kept.jobs += self._kept_jobs.keep(job.key, now + TIMER_RETENTION_MS)

    def _has_kept_filed(self, job: Job, kept: Kept) -> bool:
        """Keep the earlier revisions for which a job has no room; False if there are more of them.

        A timer of such a revision may wait, and its triggers are owed only if the revision is found.
        """
        if len(job.earlier) < EARLIER_REVISIONS_MAX:
            return True
        now = self._clock.now()
        ending, until = now + REVISION_RETENTION_MS - 2 * KEEP_ROUND_MS, now + REVISION_RETENTION_MS
        written = self._kept_jobs.keep_filed(job.key, ending, until, _REVISIONS_MAX)
        kept.revisions += written
        return written < _REVISIONS_MAX

    def _keep_line(self, job: Job, kept: Kept) -> None:
        """Keep the line of a job whose runs take turns. Without it, triggers would lose their order."""
        if job.definition.overlap.mode == "allow":
            return
        try:
            stored, now = self._lines.get(job.key), self._clock.now()
        except NewerError:
            # Only a newer version can read the line. It must not keep the round from the other jobs.
            return
        if stored is None or stored.expires_at is None or stored.expires_at >= now + KEEP_ENDING_MS:
            return
        later = stored._replace(version=self._ids.token(), expires_at=now + TIMER_RETENTION_MS)
        # If another function changes the line at the same moment, that write keeps it.
        kept.lines += self._lines.put(later, stored.version)

    def _keep_runs(
        self, job: Job, before: str, off_since: Instant, kept: Kept, is_over: Callable[[], bool]
    ) -> str | None:
        """Keep the records of runs that wait; return the position that was reached, or None if all are done.

        Without its record, an asynchronous run would not be found to have missed its deadline, and would not
        be retried.
        """
        for page in run_pages(self._runs, job, before, off_since - _RUNS_MS):
            now = self._clock.now()
            for run in page.runs:
                if run.state not in _KEPT or run.expires_at is None:
                    continue
                if run.expires_at < now + KEEP_ENDING_MS:
                    until = now + TIMER_RETENTION_MS
                    later = replace(run, expires_at=until, version=self._ids.token())
                    kept.runs += self._runs.move(later, run)
            if page.before is not None and is_over():
                return page.before
        return None
