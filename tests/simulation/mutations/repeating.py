"""Errors with a write that the SDK repeats after others' writes."""

import sys
from collections.abc import Callable
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, Instead, Ports, built, mutation, wrapping

from sweephand.jobs import commit
from sweephand.jobs.write import Writer
from sweephand.model.job import Job
from sweephand.model.trigger import TriggerMessage
from sweephand.runs.gates import Gates


@mutation(
    "The data of a deleted job is marked as dead at once, though a repeated creation may restore the job",
    shown_by="tests/unit/jobs/test_payloads.py::test_a_creation_that_is_repeated_behind_a_delete_keeps_its_data",
)
def forgets_that_jobs_come_back() -> Broken:
    return patch.object(commit, "may_come_back", lambda *_: False)


@mutation("A repeated deletion removes the next job of the name")
def deletes_the_next_job() -> Broken:
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

    return built(Writer, change)


@mutation(
    "A first attempt whose job is gone is cancelled, though a repeated creation may bring the job back",
    shown_by="tests/unit/runs/test_claims.py::test_a_first_attempt_whose_job_is_deleted_and_comes_back_within_the_grace_is_made",
)
@wrapping(Gates, "may_be_committed")
def cancels_what_may_come_back(
    may_be_committed: Callable[..., bool], self: Gates, message: TriggerMessage
) -> bool:
    is_about_a_claim = sys._getframe(2).f_code.co_name == "_not_made"
    return not is_about_a_claim and may_be_committed(self, message)
