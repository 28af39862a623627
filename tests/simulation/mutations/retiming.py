"""What may be wrong with an update that says anew when a job fires."""

from collections.abc import Iterator
from unittest.mock import patch

from tests.simulation.mutations.registry import mutation

from sweephand.base.instants import Instant
from sweephand.jobs import commit, series
from sweephand.model.job import Job


@mutation("An update forgets that more jitter has put its job ahead of the request")
def forgets_what_jitter_moved() -> Iterator[None]:
    with (
        patch.object(Job, "moved_to", 0),
        patch.object(series, "_dealt_with", lambda _, reached_at: reached_at),
    ):
        yield


@mutation("With another jitter a revision rules from its cut")
def rules_from_unmoved_cut() -> Iterator[None]:
    def since_of_next(stored: Job, job: Job, cut: Instant) -> Instant:
        del stored, job
        return cut

    with patch.object(commit, "_since_of_next", since_of_next):
        yield


@mutation("Another zone lets a time of the schedule fire at its old and its new place")
def fires_again_in_another_zone() -> Iterator[None]:
    with patch.object(series, "_not_again", lambda _, begun, __: begun):
        yield
