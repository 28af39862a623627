"""Errors with jobs that go with their last run: too soon, never, or another job instead."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, Ports, built, mutation, replacing, together, wrapping

from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.jobs import expiry
from sweephand.jobs.expiry import JobExpiry
from sweephand.jobs.resume import Resumer
from sweephand.model.job import Job
from sweephand.model.run import Run
from sweephand.runs.callbacks import Callbacks
from sweephand.runs.deadlines import Deadlines
from sweephand.runs.trigger_ranges import TriggerRanges


class _Nobody:
    """A JobExpiry that does not check whether the last run of a job is over."""

    def ended(self, *_: Any) -> None:
        """Do nothing."""


def _unasked(use_case: type) -> Any:
    def change(ports: Ports) -> None:
        ports["expiry"] = _Nobody()

    return built(use_case, change)


@mutation("A job with `deleteAfterCompletion` is not deleted after its last run")
def stays() -> Broken:
    return patch.object(JobExpiry, "ended", lambda *_: None)


@mutation(
    "A job is deleted after its last run although a trigger holds its line",
    shown_by="tests/unit/jobs/test_expiry_delayed.py::test_a_job_whose_last_occurrence_is_skipped_stays_until_the_run_that_holds_the_line_is_over",
)
def goes_without_its_line() -> Broken:
    return patch.object(JobExpiry, "_is_line_used", lambda *_: False)


@mutation("A job is not deleted if its consumer reported the end of the last run")
def stays_after_reports() -> Broken:
    report = Callbacks.__init__

    def built_without(self: Callbacks, **ports: Any) -> None:
        report(self, **ports)
        self._expiry = _Nobody()  # type: ignore[assignment]

    return together(patch.object(Callbacks, "__init__", built_without), _unasked(Deadlines))


@mutation("A job is not deleted if its last run was given up")
@wrapping(JobExpiry, "ended")
def stays_after_failures(
    ended: Callable[..., None], self: JobExpiry, job: Job | None, run: Run | None = None
) -> None:
    if run is not None:
        ended(self, job, run)


@mutation("A job is not deleted if its last occurrences were skipped as misfires")
def stays_after_misfires() -> Broken:
    return together(_unasked(TriggerRanges), _unasked(Resumer))


@mutation("A job is deleted after its first run")
def goes_with_the_first() -> Broken:
    def wants(job: Job, now: Instant) -> bool:
        return job.definition.deletes_after_completion and job.paused_at is None and not job.is_gone(now)

    return together(
        patch.object(expiry, "_is_ending", wants), patch.object(JobExpiry, "_are_over", lambda *_: True)
    )


@mutation("A job is deleted when its last occurrence is past, although runs are not over")
def goes_with_the_last_occurrence() -> Broken:
    return patch.object(JobExpiry, "_are_over", lambda *_: True)


@mutation("A job is deleted after the run of its last occurrence, although other runs of it are not over")
@wrapping(JobExpiry, "_are_over")
def goes_though_others_go_on(
    are_over: Callable[..., bool], self: JobExpiry, job: Job, run: Run | None, now: Instant
) -> bool:
    page = self._runs.page(job.key, None, "", 50).items
    last = next((each for each in page if each.uid == job.uid and each.demand is None), run)
    is_last = last is not None and job.series.next_after(last.due_at) is None
    return (is_last and last is not None and last.is_over) or are_over(self, job, run, now)


@mutation("A job is deleted although an occurrence of it has not been delivered yet")
@replacing(JobExpiry, "_are_over")
def goes_before_all_began(self: JobExpiry, job: Job, run: Run | None, _: Instant) -> bool:
    page = self._runs.page(job.key, None, "", 50).items
    found = [each for each in page if each.uid == job.uid]
    return bool(found or run) and all(each.is_over for each in found)


@mutation("A paused job is deleted after its last run")
@replacing(expiry, "_is_ending")
def goes_while_paused(job: Job, now: Instant) -> bool:
    wants = job.definition.deletes_after_completion
    return wants and not job.is_gone(now) and job.series.next_after(now) is None


@mutation("A job without `deleteAfterCompletion` is deleted after its last run")
def goes_unasked() -> Broken:
    return patch("sweephand.model.definition.Definition.deletes_after_completion", property(lambda _: True))


@mutation("A job is deleted when a run of an earlier job of its name is over")
@replacing(JobExpiry, "ended")
def goes_by_name(self: JobExpiry, job: Job | None, run: Run | None = None) -> None:
    if job is None or not job.definition.deletes_after_completion:
        return
    with suppress(StoreError):
        now = self._clock.now()
        if expiry._is_ending(job, now) and self._are_over(job, run, now):
            for _ in range(5):
                stored = self._jobs.get(job.key)
                if stored is None:
                    return
                expired = replace(stored, version=self._ids.token(), expires_at=now)
                if self._jobs.put(expired, stored.version):
                    return


@mutation("The deletion of a job after its last run overwrites newer versions of the job")
@replacing(JobExpiry, "ended")
def goes_as_it_was(self: JobExpiry, job: Job | None, run: Run | None = None) -> None:
    if job is None or not job.definition.deletes_after_completion:
        return
    with suppress(StoreError):
        now = self._clock.now()
        stored = self._jobs.get(job.key)
        if stored is not None and expiry._is_ending(job, now) and self._are_over(job, run, now):
            expired = replace(job, version=self._ids.token(), expires_at=now)
            self._jobs.put(expired, stored.version)


@mutation("The item of a job is removed at once after its last run")
@wrapping(JobExpiry, "ended")
def removes_items(
    ended: Callable[..., None], self: JobExpiry, job: Job | None, run: Run | None = None
) -> None:
    ended(self, job, run)
    with suppress(StoreError):
        wants = job is not None and job.definition.deletes_after_completion
        gone = self._jobs.get(job.key) if job is not None and wants else None
        if gone is not None and gone.is_gone(self._clock.now()):
            self._jobs.delete(gone)
