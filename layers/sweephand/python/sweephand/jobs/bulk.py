"""Pausing, resuming and deleting many jobs: up to a thousand per call, each as if it were the only one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from sweephand.base.concurrency import Concurrently
from sweephand.base.errors import NotFoundError
from sweephand.base.instants import Instant
from sweephand.base.timing import BULK_TIME_LIMIT_MS
from sweephand.jobs.pause import Pauser
from sweephand.jobs.read import Filter, examined_pages
from sweephand.jobs.resume import Resumer
from sweephand.jobs.write import Writer
from sweephand.model.definition import CatchUpMode
from sweephand.model.job import Job
from sweephand.ports.clock import Clock
from sweephand.ports.jobs import JobStore

#: Jobs that are handled between two checks of the time limit.
_AT_ONCE: Final = 16

#: Changes one job. The instant is that of the request for this job.
_Act: TypeAlias = Callable[[Job, Instant], object]


@dataclass(frozen=True, slots=True)
class BulkResult:
    """How many jobs were changed, and the name up to which jobs were examined; None if all were."""

    count: int
    reached: str | None


class Bulk:
    """Does for many jobs what Pauser, Resumer and Writer do for one. The caller may safely ask again."""

    def __init__(
        self,
        *,
        jobs: JobStore,
        pauser: Pauser,
        resumer: Resumer,
        writer: Writer,
        clock: Clock,
        concurrently: Concurrently,
    ) -> None:
        self._jobs = jobs
        self._pauser = pauser
        self._resumer = resumer
        self._writer = writer
        self._clock = clock
        self._concurrently = concurrently

    def pause(self, job_filter: Filter, *, reason: str | None, who: str) -> BulkResult:
        """Pause those jobs. After StoreError or UnavailableError, any of them may have been paused."""

        def act(job: Job, now: Instant) -> object:
            return self._pauser.pause(job.key, reason=reason, who=who, requested_at=now)

        return self._each(job_filter, act, lambda job: job.paused_at is None)

    def resume(self, job_filter: Filter, *, mode: CatchUpMode | None, who: str) -> BulkResult:
        """Resume those jobs. After StoreError or UnavailableError, any of them may have been resumed."""

        def act(job: Job, now: Instant) -> object:
            return self._resumer.resume(job.key, who=who, requested_at=now, mode=mode)

        return self._each(job_filter, act, lambda job: job.paused_at is not None)

    def delete(self, job_filter: Filter, *, who: str) -> BulkResult:
        """Delete those jobs. After StoreError or UnavailableError, any of them may have been deleted."""

        def act(job: Job, now: Instant) -> object:
            self._writer.delete(job.key, who=who, requested_at=now)
            return job

        return self._each(job_filter, act, lambda _: True)

    def _each(self, job_filter: Filter, act: _Act, is_concerned: Callable[[Job], bool]) -> BulkResult:
        until = self._clock.now() + BULK_TIME_LIMIT_MS
        count = 0
        after: str | None = job_filter.after
        for page in examined_pages(self._jobs, job_filter, self._clock, until):
            found = [job for job in page.items if job_filter.matches(job) and is_concerned(job)]
            reached = self._handle(found, act, until)
            count += reached.count
            if reached.reached is not None:
                return BulkResult(count, reached.reached)
            after = page.next
        return BulkResult(count, after)

    def _handle(self, jobs: Sequence[Job], act: _Act, until: Instant) -> BulkResult:
        """Change the jobs of a page, some at a time; `reached` is set if time ran out before its end."""
        count = 0
        for start in range(0, len(jobs), _AT_ONCE):
            some = jobs[start : start + _AT_ONCE]
            count += sum(self._concurrently([partial(self._is_done, job, act) for job in some]))
            if self._clock.now() >= until and start + _AT_ONCE < len(jobs):
                return BulkResult(count, some[-1].key.name)
        return BulkResult(count, None)

    def _is_done(self, job: Job, act: _Act) -> bool:
        now = self._clock.now()
        if job.is_gone(now):
            return False
        try:
            act(job, now)
        except NotFoundError:
            return False
        return True
