"""Errors in how long items are kept: an item is removed while it is still needed."""

from collections.abc import Callable
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, Instead, mutation, wrapping
from tests.simulation.workload.scenario import FIRST_FOR_WEEKS

from sweephand.base.instants import Instant
from sweephand.jobs import draft
from sweephand.runs.delivery import Delivery, Stop, Wait
from sweephand.runs.gates import Gates
from sweephand.runs.overlap_queue import OverlapQueue
from sweephand.runs.requeue import KeptData, Retention


@mutation(
    "A job is not kept for longer while a trigger of it waits, runs or is tried again", first=FIRST_FOR_WEEKS
)
def keeps_no_job() -> Broken:
    return patch.object(Retention, "keep_job", lambda *_: None)


@mutation("An update with fewer occurrences lets a job expire while its triggers wait", first=FIRST_FOR_WEEKS)
def forgets_what_waits() -> Broken:
    return patch.object(draft, "_kept_for_what_waits", lambda _, expires_at, *__: expires_at)


@mutation(
    "A line that is held for weeks is not renewed",
    shown_by="tests/unit/runs/test_retention.py::test_a_line_and_the_places_in_it_stay_however_long_a_pause_is",
)
def keeps_no_line() -> Broken:
    return patch.object(OverlapQueue, "extend", lambda *_: None)


@mutation(
    "The record of a run that a crashed function left, and that a pause holds, is not renewed",
    shown_by="tests/unit/runs/test_retention.py::test_the_record_of_a_run_that_a_pause_holds_stays",
)
def keeps_no_run() -> Broken:
    return patch.object(Retention, "keep_run", lambda *_: None)


@mutation("A held trigger is put back though its run is over", first=FIRST_FOR_WEEKS)
@wrapping(Gates, "_held")
def holds_what_is_over(
    held: Callable[..., Stop], self: Gates, delivery: Delivery, paused_at: Instant
) -> Stop:
    # No call of a port lies within, so no other process sees the store that has no runs.
    with patch.object(self, "_runs", Instead(self._runs, of=lambda _: None)):
        found = held(self, delivery, paused_at)
    return found._replace(keeps_place=False) if isinstance(found, Wait) else found


@mutation(
    "The data of a trigger is not renewed while the trigger waits",
    shown_by="tests/unit/runs/test_kept_data.py::test_a_trigger_is_delivered_after_a_long_wait_for_its_turn",
)
def renews_no_data() -> Broken:
    return patch.object(KeptData, "of_run", lambda _, __, payload, ___: payload)
