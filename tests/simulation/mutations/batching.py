"""What may be wrong with batches: where their timers go on, and what an update or a pause does to them."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, mutation, replacing, together, wrapping
from tests.simulation.workload.batches import FIRST_LASTING
from tests.simulation.world.faults import FIRST_BATCHED

from sweephand.base.instants import Instant
from sweephand.model.job import Job, JobBrief
from sweephand.model.timer import OccurrenceTimer
from sweephand.model.trigger import TriggerMessage, message_of
from sweephand.schedules import Occurrence, Series
from sweephand.schedules.triggers import trigger_after, trigger_following
from sweephand.wheel import arm, expand, span
from sweephand.wheel.catchup import Misfires
from sweephand.wheel.expand import Expansion
from sweephand.wheel.span import Span, span_of

_MISFIRES: Final[Any] = span._misfires


def _next_occurrence(series: Series, trigger: Occurrence) -> Occurrence | None:
    return series.next_after(trigger.due_at, trigger)


@mutation(
    "A batch is armed by occurrence: its triggers beyond the first five minutes have no timer",
    first=FIRST_BATCHED,
)
def arms_batches_by_occurrence() -> Broken:
    return patch.object(arm, "trigger_following", _next_occurrence)


@mutation("The rest of a batch is cut where a sweeper's turn ends", first=FIRST_BATCHED)
def cuts_a_batch_where_a_turn_ends() -> Broken:
    return patch.object(span, "trigger_following", _next_occurrence)


@mutation("A batch loses the first trigger of each later bucket", first=FIRST_BATCHED)
def loses_a_trigger_between_buckets() -> Broken:
    def after(series: Series, instant: Instant, known: Occurrence) -> Occurrence | None:
        found = trigger_after(series, instant, known)
        return found and trigger_following(series, found) if series.batch else found

    return together(patch.object(span, "trigger_after", after), patch.object(span, "WALK_MAX", 1))


@mutation("An update ends the batch that is running", first=FIRST_BATCHED)
@replacing(expand, "span_of")
def ends_batches_with_their_revision(
    timer: OccurrenceTimer, job: Job | JobBrief | None, *args: Any
) -> Span | None:
    found = span_of(timer, job, *args)
    is_cut = found is not None and found.until is not None and found.first.at > found.until
    return None if is_cut else found


@mutation("A pause drops the rest of the batch that is running", first=FIRST_BATCHED)
def drops_a_batch_with_a_pause() -> Broken:
    return patch.object(Expansion, "hold", lambda *_: None)


@mutation("All triggers of a batch are sent for the due time of their occurrence", first=FIRST_BATCHED)
def sends_a_batch_at_once() -> Broken:
    def at_once(*args: Any) -> TriggerMessage:
        message = message_of(*args)
        return message._replace(not_before=message.trigger.due_at)

    return together(patch.object(expand, "message_of", at_once), patch.object(arm, "message_of", at_once))


@mutation(
    "A batch that has begun is judged as a misfire",
    shown_by="tests/unit/wheel/test_batches.py::"
    "test_a_batch_that_has_begun_is_completed_however_late_and_catch_up_decides_about_whole_batches",
)
def judges_a_batch_that_has_begun() -> Broken:
    def judged(timer: OccurrenceTimer, first: Occurrence, *args: Any) -> Misfires:
        found: Misfires = _MISFIRES(timer, first._replace(batch_index=0), *args)
        return found

    def spanned(timer: OccurrenceTimer, job: Any, *args: Any) -> Span | None:
        found = span_of(timer, job, *args)
        if found is None or found.skipped is None:
            return found
        following = timer.series.next_after(found.skipped.last.due_at, found.skipped.last)
        return None if following is None else replace(found, first=following)

    return together(patch.object(span, "_misfires", judged), patch.object(expand, "span_of", spanned))


@mutation("A batch is shortened for an occurrence that repeats or ttl exclude", first=FIRST_LASTING)
@wrapping(Series, "window_ms_of")
def shortens_for_what_does_not_fire(
    window_ms_of: Callable[..., int], series: Series, occurrence: Occurrence
) -> int:
    return window_ms_of(series._replace(repeats=None, ttl_at=None), occurrence)
