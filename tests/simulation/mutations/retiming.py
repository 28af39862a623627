"""Errors in updates that change when a job fires."""

from collections.abc import Iterator
from dataclasses import replace
from unittest.mock import patch

from tests.simulation.mutations.registry import everywhere, mutation

from sweephand.base.instants import Instant
from sweephand.jobs import commit, series
from sweephand.model.definition import Definition
from sweephand.model.job import Job
from sweephand.schedules import Series


@mutation("An update forgets how far an earlier update with more jitter has moved the job")
def forgets_what_jitter_moved() -> Iterator[None]:
    with (
        patch.object(Job, "moved_to", 0),
        patch.object(series, "_dealt_with", lambda _, reached_at: reached_at),
    ):
        yield


@mutation("A revision with another jitter begins at its cut")
def rules_from_unmoved_cut() -> Iterator[None]:
    def since_of_next(stored: Job, job: Job, cut: Instant) -> Instant:
        del stored, job
        return cut

    with patch.object(commit, "_since_of_next", since_of_next):
        yield


@mutation("After an update of the zone, a time of the schedule fires at its old and its new place")
def fires_again_in_another_zone() -> Iterator[None]:
    with patch.object(series, "_not_again", lambda _, begun, __: begun):
        yield


@mutation("After an update of dueTime, a time of a cron schedule fires at its old and its new place")
def fires_again_after_another_due_time() -> Iterator[None]:
    def counts_from_due(_: Series, due_at: Instant) -> bool:
        return due_at > 0

    with patch.object(series, "_counts_from_due", counts_from_due):
        yield


@mutation("A PATCH of repeats after the end counts times that did not occur")
def counts_beyond_the_end() -> Iterator[None]:
    patched = series.patched_series

    def counted(stored: Job, definition: Definition, now: Instant) -> Series:
        after = patched(stored, definition, now)
        if not series.is_over(stored, now) or not definition.has_same_timing(stored.definition):
            return after
        return replace(after, counted_at=stored.series.counted_at, counted=stored.series.counted)

    with everywhere("patched_series", counted):
        yield
