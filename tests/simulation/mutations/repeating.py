"""Errors with a write that the SDK repeats after others' writes."""

import sys
from collections.abc import Callable, Iterator
from unittest.mock import patch

from tests.simulation.mutations.registry import Instead, Ports, built, mutation

from sweephand.jobs import commit
from sweephand.jobs.write import Writer
from sweephand.model.job import Job
from sweephand.model.trigger import TriggerMessage
from sweephand.runs.gates import Gates


@mutation(
    "The data of a deleted job is marked as dead at once, though a repeated creation may restore the job",
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


@mutation(
    "A first attempt whose job is gone is cancelled, though a repeated creation may bring the job back",
    shown_by="tests/unit/runs/test_claims.py::test_a_first_attempt_whose_job_is_deleted_and_comes_back_within_the_grace_is_made",
)
def cancels_what_may_come_back() -> Iterator[None]:
    may_be_committed = Gates.may_be_committed

    def careless(self: Gates, message: TriggerMessage) -> bool:
        is_about_a_claim = sys._getframe(1).f_code.co_name == "_not_made"
        return not is_about_a_claim and may_be_committed(self, message)

    with patch.object(Gates, "may_be_committed", careless):
        yield
