"""The watch over stored jobs allows one job too many where decision 045 says so, and nowhere else."""

from dataclasses import replace

from tests.fakes.world import job_of
from tests.simulation.workload.quotas import Quotas
from tests.simulation.world.permit_watch import QuotaWatch


def watch() -> QuotaWatch:
    return QuotaWatch(lambda: 0, Quotas(jobs_max=1))


def test_a_job_beyond_the_limit_is_a_complaint() -> None:
    watched = watch()
    watched.job_changed(None, job_of("a"))
    watched.job_changed(None, replace(job_of("b"), uid="other"))
    assert watched.complaints == ["b: 2 jobs are stored, and 1 are allowed"]


def test_a_deleted_job_that_a_repeated_creation_brings_back_allows_one_more() -> None:
    watched = watch()
    first, second = job_of("a"), replace(job_of("b"), uid="other")
    watched.job_changed(None, first)
    watched.job_changed(first, None)
    watched.job_changed(None, second)
    watched.job_changed(None, first)
    assert not watched.complaints
    watched.job_changed(None, replace(job_of("c"), uid="third"))
    assert watched.complaints == ["c: 3 jobs are stored, and 2 are allowed"]
