"""The forecast of a namespace: how many triggers its jobs' schedules will make, bucket by bucket."""

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

from sweephand.base.limits import BULK_EXAMINED_MAX
from sweephand.base.timing import BULK_TIME_LIMIT_MS
from sweephand.jobs.examine import Filter, examined_pages
from sweephand.model.job import Job
from sweephand.ports import Clock, JobStore
from sweephand.schedules.forecast import Span, due_counts

#: A forecast looks at all jobs of a call, and rarely takes long. So it reads them at once: 24 requests for a
#: thousand jobs instead of 160. A thousand of the largest jobs take 40 MB of memory.
_PAGE_MAX: Final = BULK_EXAMINED_MAX


class Forecast(NamedTuple):
    """What some jobs of a namespace will do.

    `triggers` has the buckets in which triggers are due, and how many. `jobs` is the number of jobs that were
    counted, and `paused` how many more are paused, so that nothing of theirs is due. `reached` is the name up
    to which jobs were counted; None if all were.
    """

    triggers: Mapping[int, int]
    jobs: int
    paused: int
    reached: str | None


class Forecaster:
    """Makes forecasts. It reads jobs and computes; it writes nothing."""

    def __init__(self, *, jobs: JobStore, clock: Clock) -> None:
        self._jobs = jobs
        self._clock = clock

    def forecast(self, job_filter: Filter, span: Span) -> Forecast:
        """The triggers of the jobs that a filter selects, for up to a thousand jobs a call.

        It counts what the schedules say: neither retries nor what somebody asks for by hand, and no policy,
        overlap or limit of the namespace. The sum over the pages of all calls is the forecast of all jobs. A
        job that is written between two calls may be left out.
        """
        now = self._clock.now()
        until = now + BULK_TIME_LIMIT_MS
        triggers: Counter[int] = Counter()
        jobs = paused = 0
        reached: str | None = job_filter.after
        for page in examined_pages(self._jobs, job_filter, self._clock, until, _PAGE_MAX):
            for job in page.items:
                if job_filter.matches(job) and not job.is_gone(now):
                    paused += job.paused_at is not None
                    jobs += job.paused_at is None
                    triggers.update(self._due(job, span))
                if self._clock.now() >= until and job is not page.items[-1]:
                    return Forecast(triggers, jobs, paused, job.key.name)
            reached = page.next
        return Forecast(triggers, jobs, paused, reached)

    def _due(self, job: Job, span: Span) -> Mapping[int, int]:
        return {} if job.paused_at is not None else dict(due_counts(job.series, span))
