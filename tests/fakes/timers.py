"""Jobs that fire periodically, and the first timers of jobs, for tests of expanding."""

from tests.fakes.world import NOON, job_of

from sweephand.base.instants import MINUTE_MS
from sweephand.model.job import Job, JobKey
from sweephand.model.timer import OccurrenceTimer


def first_timer(job: Job) -> OccurrenceTimer:
    """The timer of a job's occurrences from noon on, in shard 0, armed a minute before."""
    first = job.series.next_after(NOON - 1)
    assert first is not None
    made = OccurrenceTimer(0, job.key, job.uid, job.rev, job.series, first, NOON - MINUTE_MS)
    return made._replace(catchup=job.definition.catchup)


def periodic_jobs(*periods_s: int) -> dict[JobKey, Job]:
    """A job for each period, created at noon, with the names `job-0`, `job-1` and so on."""
    jobs = (job_of(f"job-{number}", schedule=f"@every {each}s") for number, each in enumerate(periods_s))
    return {job.key: job for job in jobs}
