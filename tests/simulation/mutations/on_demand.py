"""Errors with jobs that fire only on demand."""

from collections.abc import Callable

from tests.simulation.mutations.registry import mutation, replacing, wrapping

from sweephand.base.instants import Instant
from sweephand.jobs import draft
from sweephand.model.definition import Definition
from sweephand.schedules import Series


@mutation("A job on demand expires as if its last occurrence were past")
@wrapping(draft, "expiry")
def lets_on_demand_expire(
    expiry: Callable[..., Instant | None], series: Series, definition: Definition
) -> Instant | None:
    return draft._kept_from(0, definition) if series.is_on_demand else expiry(series, definition)


@mutation("A job on demand counts as completed, so that an equal PUT makes a new revision")
@replacing(Series, "has_ended")
def completes_on_demand(self: Series, reached: Instant) -> bool:
    return self.next_after(reached) is None
