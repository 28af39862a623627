"""Whether the last run of a job is over, with which the job may want to go (`deleteAfterCompletion`)."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from sweephand.errors import StoreError
from sweephand.instants import Instant
from sweephand.jobs.job import Job
from sweephand.ports import Clock, Ids, JobStore, RunStore
from sweephand.runs.run import Run
from sweephand.timing import CLOCK_SKEW_MAX_MS

#: The newest runs, among which one that is not over or has none is looked for: what lies behind had its time.
_RUNS_MAX: Final = 1_000

#: A job that others keep writing is left to its retention.
_WRITES_MAX: Final = 5


class Completions:
    """Lets jobs expire when all of their runs are over, by what is stored of these: it may be asked any time.

    It is asked once an end is recorded, and again when its message comes again. So of several runs that end
    at once the last one sees the others, and whoever dies in between is followed by somebody who asks.
    """

    def __init__(self, *, jobs: JobStore, runs: RunStore, clock: Clock, ids: Ids) -> None:
        self._jobs = jobs
        self._runs = runs
        self._clock = clock
        self._ids = ids

    def ended(self, job: Job | None, run: Run | None = None) -> None:
        """Let the job expire now if it wants that and its last run is over; `run` may have no record.

        Its item stays for two weeks more, as that of every job that has expired: a trigger that comes late is
        delivered all the same. What cannot be written now is left to the job's retention.
        """
        if job is None or not job.definition.deletes_after_completion:
            return
        stored: Job | None = job
        with suppress(StoreError):
            now = self._clock.now()
            for _ in range(_WRITES_MAX):
                if stored is None or not _is_ending(stored, now) or not self._are_over(stored, run, now):
                    return
                expired = replace(stored, version=self._ids.token(), expires_at=now)
                if self._jobs.put(expired, stored.version):
                    return
                stored = self._jobs.get(job.key)

    def _are_over(self, job: Job, run: Run | None, now: Instant) -> bool:
        """Whether every run of the job is over, as far as its newest runs tell."""
        page = self._runs.page(job.key, None, "", _RUNS_MAX)
        found = [each for each in page.items if each.uid == job.uid]
        if run is not None and run.uid == job.uid and all(each.run_id != run.run_id for each in found):
            found.append(run)
        if not all(each.is_over for each in found):
            return False
        due = [each for each in found if each.demand is None]
        if not due or job.series.next_after(max(map(_last_due_at, due))) is not None:
            return False
        # Either successes leave no record, but for the last one, or nothing but what is on its way has none.
        return not job.definition.records_successes or _have_records(job, due, now, is_all=page.next is None)


def _have_records(job: Job, runs: Sequence[Run], now: Instant, *, is_all: bool) -> bool:
    """Whether each occurrence of the ruling revision has a record, as far back as records are kept.

    `runs` are the newest, or all. What has none will be asked about when it is over.
    """
    kept_since = now - job.definition.history_retention_ms + CLOCK_SKEW_MAX_MS
    listed_since = 0 if is_all else min(each.due_at for each in runs) - 1
    after = max(job.current.since, kept_since, listed_since)
    spans = [(each.due_at, _last_due_at(each)) for each in runs]
    following = job.series.next_after(after)
    while following is not None and following.due_at <= now:
        ends = [last for first, last in spans if first <= following.due_at <= last]
        if not ends:
            return False
        # What was skipped may be millions: no walk through it.
        following = job.series.next_after(max(ends))
    return True


def is_last(job: Job, run: Run) -> bool:
    """Whether a run is that of its job's last occurrence, if the job wants to go with it."""
    return (
        job.definition.deletes_after_completion
        and run.demand is None
        and job.series.next_after(run.due_at) is None
    )


def _last_due_at(run: Run) -> Instant:
    """The due time of the last of those that a record stands for: of skipped misfires there are many."""
    return run.due_at if run.last_due_at is None else run.last_due_at


def _is_ending(job: Job, now: Instant) -> bool:
    """Whether the job wants to go, has nothing to come, and has not gone yet."""
    wants = job.definition.deletes_after_completion
    return wants and job.paused_at is None and not job.is_gone(now) and job.series.next_after(now) is None
