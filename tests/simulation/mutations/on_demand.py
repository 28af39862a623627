"""Errors with jobs that fire only on demand."""

from collections.abc import Iterator
from unittest.mock import patch

from tests.simulation.mutations.registry import mutation

from sweephand.base.instants import Instant
from sweephand.jobs import draft
from sweephand.model.definition import Definition
from sweephand.schedules import Series


@mutation("A job on demand expires as if its last occurrence were past")
def lets_on_demand_expire() -> Iterator[None]:
    expiry = draft.expiry

    def expiring(series: Series, definition: Definition) -> Instant | None:
        return draft._kept_from(0, definition) if series.is_on_demand else expiry(series, definition)

    with patch.object(draft, "expiry", expiring):
        yield


@mutation("A job on demand counts as completed, so that an equal PUT makes a new revision")
def completes_on_demand() -> Iterator[None]:
    def has_ended(self: Series, reached: Instant) -> bool:
        return self.next_after(reached) is None

    with patch.object(Series, "has_ended", has_ended):
        yield
