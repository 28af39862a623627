"""Errors in updates that change when a job fires."""

from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, everywhere, mutation, replacing, together

from sweephand.base.instants import Instant
from sweephand.jobs import commit, series
from sweephand.model.definition import Definition
from sweephand.model.job import Job
from sweephand.schedules import Series


@mutation("An update forgets how far an earlier update with more jitter has moved the job")
def forgets_what_jitter_moved() -> Broken:
    return together(
        patch.object(Job, "moved_to", 0),
        patch.object(series, "_dealt_with", lambda _, reached_at: reached_at),
    )


@mutation("A revision with another jitter begins at its cut")
@replacing(commit, "_since_of_next")
def rules_from_unmoved_cut(stored: Job, job: Job, cut: Instant) -> Instant:
    del stored, job
    return cut


@mutation("After an update of the zone, a time of the schedule fires at its old and its new place")
def fires_again_in_another_zone() -> Broken:
    return patch.object(series, "_not_again", lambda _, begun, __: begun)


@mutation("After an update of dueTime, a time of a cron schedule fires at its old and its new place")
@replacing(series, "_counts_from_due")
def fires_again_after_another_due_time(_: Series, due_at: Instant) -> bool:
    return due_at > 0


@mutation("A PATCH of repeats after the end counts times that did not occur")
def counts_beyond_the_end() -> Broken:
    patched = series.patched_series

    def counted(stored: Job, definition: Definition, now: Instant) -> Series:
        after = patched(stored, definition, now)
        if not series.is_over(stored, now) or not definition.has_same_timing(stored.definition):
            return after
        return after._replace(counted_at=stored.series.counted_at, counted=stored.series.counted)

    return everywhere("patched_series", counted)
