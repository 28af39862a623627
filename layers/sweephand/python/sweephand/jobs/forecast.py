"""The forecast of a namespace: how many triggers its jobs' schedules will make, bucket by bucket."""

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

from sweephand.base.limits import BULK_EXAMINED_MAX
from sweephand.base.timing import BULK_TIME_LIMIT_MS
from sweephand.jobs.read import Filter, examined_pages
from sweephand.model.job import Job
from sweephand.ports.clock import Clock
from sweephand.ports.jobs import JobStore
from sweephand.schedules import Series
from sweephand.schedules.triggers import WALKED_MAX, Span, due_counts

#: The CPU time after which a call returns with a cursor, in µs by the figures below. The job that exceeds it
#: is counted to its end. It takes 0.1 s at most, so that a call stays below half a second.
_WORK_US_MAX: Final = 300_000

#: Reading a page, with 16 requests to the table or more, and each job in it.
_PAGE_US: Final = 40_000
_READ_US: Final = 20
#: Finding out whether a job fires in the span.
_JOB_US: Final = 60
#: Parsing a character of a schedule that this process has not met.
_CHARACTER_US: Final = 2
#: Reading a zone that this process has not met.
_ZONE_US: Final = 1_500
#: A bucket, and each of the triggers in it that are walked.
_BUCKET_US: Final = 1
_TRIGGER_US: Final = 4

#: A first call reads all of its jobs at once: 24 requests for a thousand jobs instead of 160. A thousand of
#: the largest jobs take 40 MB of memory. A further call may count few of them, and begins with a small page.
_FIRST_PAGE_MAX: Final = BULK_EXAMINED_MAX
_FURTHER_PAGE_MAX: Final = 100
#: Each of the 16 partitions gives a few jobs at least.
_PAGE_MIN: Final = 16


class Forecast(NamedTuple):
    """What some jobs of a namespace will do.

    `triggers` has the number of triggers of each bucket that has some. The call looked at `jobs` whose
    triggers it counted, and at `paused` ones, which are paused during the whole span. It looked at the jobs
    up to the name `reached`, or at all of them if that is None.
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

        A call counts one job at least. It counts fewer than a thousand if their schedules take much time:
        those that fire in many buckets or have long texts, or that have many different zones.

        It counts what the schedules say: neither retries nor what somebody asks for by hand, and no policy,
        overlap or limit of the namespace. The sum over the pages of all calls is the forecast of all jobs. A
        job that is written between two calls may be left out.
        """
        now = self._clock.now()
        until = now + BULK_TIME_LIMIT_MS
        work = _Work(_FURTHER_PAGE_MAX if job_filter.after else _FIRST_PAGE_MAX)
        triggers: Counter[int] = Counter()
        jobs = paused = 0
        reached: str | None = job_filter.after
        for page in examined_pages(self._jobs, job_filter, self._clock, until, work.page_max):
            work.add_page(len(page.items))
            for job in page.items:
                if job_filter.matches(job) and not job.is_gone(now):
                    begin = job.fires_from(span.since)
                    is_paused = begin is None or begin >= span.until
                    paused += is_paused
                    jobs += not is_paused
                    counts = self._due(job, span)
                    triggers.update(counts)
                    if not is_paused:
                        work.add_job(job.series, counts)
                if (work.is_over or self._clock.now() >= until) and job is not page.items[-1]:
                    return Forecast(triggers, jobs, paused, job.key.name)
            reached = page.next
            if work.is_over:
                break
        return Forecast(triggers, jobs, paused, reached)

    def _due(self, job: Job, span: Span) -> Mapping[int, int]:
        begin = job.fires_from(span.since)
        if begin is None or begin >= span.until:
            return {}
        counts = Counter(due_counts(job.series, span))
        if begin > span.since:
            # What falls due before the pause ends is decided then.
            counts -= Counter(due_counts(job.series, span._replace(until=begin)))
        return counts


class _Work:
    """How much CPU time a call has taken, by an estimate that is the same on every machine."""

    def __init__(self, first_page_max: int) -> None:
        self._first_page_max = first_page_max
        self._spent_us = 0
        self._jobs_read = 0
        self._zones: set[str] = set()

    @property
    def is_over(self) -> bool:
        """Whether the call is to end."""
        return self._spent_us >= _WORK_US_MAX

    def page_max(self) -> int:
        """How many jobs to read next: all for which there is time, if they are like those before."""
        if not self._jobs_read:
            return self._first_page_max
        left_us = _WORK_US_MAX - self._spent_us
        return max(_PAGE_MIN, left_us * self._jobs_read // self._spent_us)

    def add_page(self, jobs: int) -> None:
        """Add a page of so many jobs, which was read."""
        self._jobs_read += jobs
        self._spent_us += _PAGE_US + _READ_US * jobs

    def add_job(self, series: Series, counts: Mapping[int, int]) -> None:
        """Add a job whose triggers were counted, by its series and the triggers in each bucket."""
        self._spent_us += _JOB_US + _CHARACTER_US * len(str(series.schedule))
        if series.timezone not in self._zones:
            self._zones.add(series.timezone)
            self._spent_us += _ZONE_US
        self._spent_us += sum(_BUCKET_US + _TRIGGER_US * min(each, WALKED_MAX) for each in counts.values())
