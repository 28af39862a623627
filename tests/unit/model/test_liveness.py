"""Which triggers are alive, for every kind of revision, cut, pause and job."""

from dataclasses import replace

import pytest
from tests.fakes.world import NOON, job_of

from sweephand.model.job import Job, Revision
from sweephand.model.revisions import Liveness, liveness_by_revision, liveness_of_retry

#: Ruled first from -100 s to noon, then to 100 s after it, now the third.
JOB = replace(
    job_of(),
    current=Revision("3-c", since=NOON + 100_000),
    earlier=(Revision("1-a", NOON - 100_000, NOON), Revision("2-b", NOON, NOON + 100_000)),
)
PAUSED = replace(JOB, paused_at=NOON + 150_000)


@pytest.mark.parametrize(
    ("rev", "due_s", "answer"),
    [
        ("1-a", -100, "dead"),  # since is excluded: it was the revision before's
        ("1-a", -99.999, "alive"),
        ("1-a", 0, "alive"),  # until is included
        ("1-a", 0.001, "dead"),
        ("2-b", 0, "dead"),
        ("2-b", 0.001, "alive"),
        ("2-b", 100, "alive"),
        ("2-b", 100.001, "dead"),
        ("3-c", 0, "dead"),
        ("3-c", 100, "dead"),
        ("3-c", 100.001, "alive"),
        ("3-c", 10_000_000, "alive"),
        ("4-d", 100.001, "unknown"),  # its commit may be in flight
        ("1-b", 0, "unknown"),  # a writer that lost: the same number, another token
    ],
)
def test_a_trigger_is_judged_by_its_own_revision(rev: str, due_s: float, answer: Liveness) -> None:
    due_at = NOON + round(due_s * 1_000)
    assert liveness_by_revision(JOB, uid=JOB.uid, rev=rev, due_at=due_at) == answer


@pytest.mark.parametrize(
    ("rev", "due_s", "answer"),
    [
        ("1-a", 0, "held"),  # owed before the pause
        ("3-c", 140, "held"),
        ("3-c", 160, "held"),  # what it is worth is for the resume to decide
        ("2-b", 101, "dead"),
        ("4-d", 140, "unknown"),
    ],
)
def test_an_owed_trigger_of_a_paused_job_is_held_and_others_are_judged_as_ever(
    rev: str, due_s: int, answer: Liveness
) -> None:
    assert liveness_by_revision(PAUSED, uid=JOB.uid, rev=rev, due_at=NOON + due_s * 1_000) == answer


@pytest.mark.parametrize("job", [None, replace(JOB, uid="another")], ids=["no job", "a namesake"])
def test_a_trigger_of_a_job_that_is_not_there_is_unknown(job: Job | None) -> None:
    assert liveness_by_revision(job, uid=JOB.uid, rev="3-c", due_at=NOON + 200_000) == "unknown"
    assert liveness_of_retry(job, uid=JOB.uid) == "unknown"


def test_a_trigger_that_is_marked_as_owed_is_owed_for_as_long_as_its_job_exists() -> None:
    expired = replace(JOB, expires_at=NOON - 1)
    assert liveness_by_revision(expired, uid=JOB.uid, rev="3-c", due_at=NOON + 200_000) == "alive"
    assert liveness_of_retry(expired, uid=JOB.uid) == "alive"


def test_a_later_attempt_is_judged_by_the_job_and_its_pause_alone() -> None:
    assert liveness_of_retry(JOB, uid=JOB.uid) == "alive"
    assert liveness_of_retry(PAUSED, uid=JOB.uid) == "held"
