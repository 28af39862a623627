"""Errors with a write that the SDK repeats after others' writes."""

from collections.abc import Callable, Iterator
from unittest.mock import patch

from tests.simulation.mutations.registry import Instead, Ports, built, mutation

from sweephand.jobs import commit
from sweephand.jobs.write import Writer
from sweephand.model.job import Job


@mutation(
    "The data of a deleted job is marked at once, though a repeated creation may bring the job back",
    shown_by="tests/unit/jobs/test_payloads.py::test_a_creation_that_is_repeated_behind_a_delete_keeps_its_data",
)
def forgets_that_jobs_come_back() -> Iterator[None]:
    with patch.object(commit, "may_come_back", lambda *_: False):
        yield


@mutation("A repeated deletion removes the next job of the name")
def deletes_the_next_job() -> Iterator[None]:
    def change(ports: Ports) -> None:
        jobs = ports["jobs"]

        def delete(job: Job, in_time: Callable[[], bool]) -> bool:
            while not jobs.delete(job, in_time):
                found = jobs.get(job.key)
                if found is None or found.uid == job.uid:
                    return False
                job = found
            return True

        ports["jobs"] = Instead(jobs, delete=delete)

    with built(Writer, change):
        yield
