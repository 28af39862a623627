"""Errors of what is said about jobs and runs: of flags, of explanations, of forecasts, and of counts."""

from collections.abc import Mapping
from typing import Any, Final
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, everywhere, mutation, replacing, together

from sweephand.jobs.forecast import Forecaster
from sweephand.model.job import Job
from sweephand.model.run import Run
from sweephand.runs import delivery_stats
from sweephand.runs.delivery_stats import DeliveryStats
from sweephand.runs.explain import explainer, lives, of_job, of_run
from sweephand.runs.explain.lives import Lives, Pause
from sweephand.runs.flagged import FlaggedRuns
from sweephand.schedules.triggers import Span, due_counts

_CHECKS: Final[Any] = explainer._CHECKS

#: Without the check whether the definition before may have fired.
_SURE: Final = tuple(each for each in _CHECKS if each is not of_job.overtaken)


@mutation("A flag is written after the record of its run")
@replacing(FlaggedRuns, "record")
def flags_after_the_record(self: Any, run: Run) -> bool:
    is_written: bool = self._runs.record(run)
    if run.state in ("retrying", "failed", "skipped"):
        self._flag(run)
    return is_written


@mutation("A run that is given up gets no flag")
def flags_no_failures() -> Broken:
    return everywhere("_FLAGGED", frozenset({"retrying", "skipped"}))


@mutation("A pause explains whatever falls due after it")
@replacing(Lives, "pause_at")
def explains_by_former_pauses(self: Lives, due_at: int, *, is_paused: bool) -> Pause | None:
    del is_paused
    found = [each for each in self.changes if each.what == "paused" and each.at < due_at]
    return Pause(found[-1]) if found else None


@mutation("The schedule of today explains what was due under another one")
def explains_by_the_present_schedule() -> Broken:
    checks = tuple(each for each in _SURE if each not in (of_job.retimed, of_job.forgotten))
    return together(
        patch.object(explainer, "_CHECKS", checks), patch.object(explainer, "former_at", _nothing)
    )


def _nothing(*_: object) -> None:
    """A former schedule that was not found."""


@mutation("A former schedule alone explains what was due between the request of its update and the commit")
def explains_by_one_of_two_schedules() -> Broken:
    return together(
        patch.object(lives, "_own_some", lambda *_: False), patch.object(explainer, "_CHECKS", _SURE)
    )


@mutation("A definition alone explains what the one before may have fired, by a clock that was ahead")
def explains_by_the_later_of_two_schedules() -> Broken:
    return patch.object(explainer, "_CHECKS", _SURE)


@mutation("A trigger is explained before its record is read")
def explains_without_records() -> Broken:
    checks = tuple(each for each in _CHECKS if each is not of_run.recorded)
    return patch.object(explainer, "_CHECKS", checks)


@mutation("A forecast counts what paused jobs would do")
@replacing(Forecaster, "_due")
def forecasts_paused_jobs(_: Forecaster, job: Job, span: Span) -> Mapping[int, int]:
    return dict(due_counts(job.series, span))


@mutation("An attempt that will be retried is counted as delivered")
def counts_retries_as_deliveries() -> Broken:
    return patch.dict(delivery_stats._COUNTED, {"retrying": "succeeded"})


@mutation("A call counts one trigger of each message, and not all triggers of a bundle")
def counts_messages() -> Broken:
    count: Any = DeliveryStats.count

    def counted(self: Any, handled: Any, call: str, deadline: int) -> Any:
        return count(self, {each.received: each for each in handled}.values(), call, deadline)

    return patch.object(DeliveryStats, "count", counted)
