"""Jobs that a bench writes by the use cases of the API, without a call of the API."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from sweephand.base.instants import Instant
from sweephand.base.limits import JOBS_PER_BULK_MAX
from sweephand.jobs.bulk import BulkWriter, JobToWrite
from sweephand.jobs.write import WriteResult
from sweephand.model.definition import Definition, Payload
from sweephand.model.job import Job, JobKey

#: A little data, as most jobs have.
DATA: Final = '{"tenant":4711,"task":"refresh"}'

#: A consumer that nobody calls.
_URL: Final = "https://hooks.example.com/tenants/4711/jobs"


def named(jobs: Iterable[Mapping[str, Any]]) -> Iterator[JobToWrite]:
    """The jobs with names, and with that consumer unless they have another."""
    for number, job in enumerate(jobs):
        written = {"target": {"type": "http", "url": _URL}, **job}
        yield JobToWrite(JobKey("bench", f"job-{number:06d}"), Definition(written, Payload.of(DATA)))


def put(writer: BulkWriter, jobs: Sequence[JobToWrite], now: Instant) -> Iterator[Job]:
    """Write jobs by bulk calls, and return them as they are stored. None may be refused."""
    for start in range(0, len(jobs), JOBS_PER_BULK_MAX):
        some = jobs[start : start + JOBS_PER_BULK_MAX]
        for result in writer.put(some, caller="bench", requested_at=now):
            assert isinstance(result, WriteResult), result
            yield result.job
