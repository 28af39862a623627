"""Traces of batches, made by hand: one in which every promise is kept, and changes that break one each."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from tests.simulation.traces.doctored import Broken, changed, of, without
from tests.simulation.traces.rare_events import BatchEnded, BatchTold, Marked
from tests.simulation.traces.stories import NOON, UID, concluded, every_minute, in_order, requested, run
from tests.simulation.traces.trace import Event, Requested, RunStored, Written

#: Three triggers a minute, twenty seconds apart.
DEFINITION: Final[dict[str, Any]] = {
    "schedule": "@every 60s",
    "batch": {"count": 3, "window": "1m"},
    "data": '"x"',
}


def batches() -> list[Event]:
    """The story every_minute(), with a batch of three for each minute, and one by hand at 4:00."""
    events: list[Event] = []
    for due_s in range(60, 901, 60):
        for index in (1, 2):
            due_at = NOON + due_s * 1_000
            made = replace(
                requested(due_s, late_ms=20_000 * index + 20, index=index),
                trigger_id=f"{UID}-{due_at}-{index}",
            )
            stored = replace(run(made, None, "succeeded"), run_id=f"{due_at}-{index}")
            events += [made, concluded(made), stored]
    story = in_order(every_minute(), (each for each in events if each.at < NOON + 900_000), _by_hand())
    return changed(of(Written), definition=DEFINITION)(story)


def _by_hand() -> list[Event]:
    due_at = NOON + 240_000
    events: list[Event] = []
    for index in range(3):
        made = replace(
            requested(240, late_ms=20_000 * index + 50, index=index, sequence=0),
            trigger_id=f"{UID}-manual-{due_at}-{index}-token",
            is_on_demand=True,
        )
        stored = replace(run(made, None, "succeeded"), run_id=f"manual-{due_at}-{index}-token")
        events += [made, concluded(made), stored]
    return events


def counted() -> list[Event]:
    """The story batches(), in which the progress of the batch of 5:00 is kept, and its end is told."""
    due_at, last_at = NOON + 300_000, NOON + 340_020
    marks = [
        Marked(due_at + 20_000 * index + 70, "job", UID, str(due_at), index, "succeeded")
        for index in range(3)
    ]
    ended = BatchEnded(last_at + 80, "job", UID, str(due_at), 3, 3, was_told=False)
    told = BatchTold(
        last_at + 120, "job", UID, str(due_at), f"{UID}-{due_at}-batch-end", "succeeded", 3, (3, 0, 0)
    )
    story = changed(of(Written), definition={**DEFINITION, "onComplete": {"type": "http"}})(batches())
    story = changed(of(RunStored), is_counted=False)(story)
    for index in range(3):
        story = changed(of(RunStored, run_id=f"{due_at}-{index}"), is_counted=True)(story)
    return in_order(story, marks, [ended, told])


#: Traces in which every promise was kept.
STORIES_OF_BATCHES: Final = (batches, counted)


def _again(events: list[Event]) -> list[Event]:
    """The marks of the story, a second later."""
    return [replace(each, at=each.at + 1_000) for each in events if isinstance(each, Marked)]


#: A story, what is changed of it, and what the oracle then says.
BROKEN_BATCHES: Final[Sequence[Broken]] = (
    (batches, without(of(Requested, due_s=300, index=2)), "no request left for the indexes [2]"),
    (
        batches,
        without(of(Requested, due_s=300, index=1), of(Requested, due_s=300, index=2)),
        "no request left for the indexes [1, 2]",
    ),
    (batches, changed(of(Requested, due_s=300, index=2), index=3), "has the index 3 of 3"),
    (
        batches,
        changed(of(Requested, due_s=300, index=2), at=NOON + 240_000),
        "earlier than any clock is ahead",
    ),
    (
        batches,
        without(of(Requested, index=2, is_on_demand=True)),
        "has the indexes [0, 1]; its sizes were [3]",
    ),
    (counted, changed(of(Marked, index=1), end="failed"), "is marked as failed, and had not ended so"),
    (counted, lambda events: in_order(events, _again(events)), "is marked again as succeeded"),
    (counted, changed(of(BatchEnded), at=NOON + 330_000), "with 2 of 3 runs over"),
    (counted, without(of(BatchEnded), of(BatchTold)), "are over, and it has not ended"),
    (counted, without(of(BatchTold)), "ended at 2026-11-21T12:05:40.100Z, and no notification left"),
    (counted, changed(of(BatchTold), counts=(2, 1, 0)), "was told with (2, 1, 0) of 3"),
)
