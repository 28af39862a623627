"""The oracle lets a repeated write bring back the revision that it wrote before, and no other content."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest
from tests.simulation.traces.doctored import Doctoring, changed, complaints, of, with_, without
from tests.simulation.traces.stories import (
    NOON,
    deleted,
    in_order,
    replaced,
    requested,
    retried,
    run,
    written,
)
from tests.simulation.traces.trace import Concluded, Event, Requested, RunStored, Written

#: When the repeated creation brings the job back.
_BACK: Final = NOON + 392_000
_BACK_REPLACED: Final = _BACK + 1_000

_NAMESAKE: Final = "has the name of an earlier revision"


def brought_back() -> list[Event]:
    """The story replaced(); the job is deleted at 391 s. The SDK repeats its creation and its replacement."""
    creation, replacement = (event for event in replaced() if isinstance(event, Written))
    again = (replace(creation, at=_BACK), replace(replacement, at=_BACK_REPLACED))
    return in_order(replaced(), deleted(391), again)


def _made_again(at: int) -> Doctoring:
    """A PATCH follows, and then the replacement is there once more."""

    def change(events: list[Event]) -> list[Event]:
        replacement = next(event for event in events if of(Written, rev="2-b")(event))
        return in_order(events, written("patch", "3-c", 394), replace(replacement, at=at))

    return change


def test_a_repeated_write_brings_back_the_revision_that_it_wrote_before() -> None:
    assert complaints(brought_back()) == []


@pytest.mark.parametrize(
    ("story", "mutation"),
    [
        (replaced, with_(written("patch", "3-c", 395), written("patch", "2-b", 396))),
        (brought_back, changed(of(Written, at=_BACK), since=NOON - 2)),
        (brought_back, changed(of(Written, at=_BACK_REPLACED), cut=_BACK)),
        (brought_back, _made_again(at=_BACK + 3_000)),
    ],
)
def test_no_other_revision_bears_the_name_of_an_earlier_one(
    story: Callable[[], list[Event]], mutation: Doctoring
) -> None:
    assert any(_NAMESAKE in each for each in complaints(mutation(story())))


@pytest.mark.parametrize("is_deleted", [True, False])
def test_a_deletion_cancels_a_run_although_the_job_comes_back(*, is_deleted: bool) -> None:
    [creation] = (event for event in retried() if isinstance(event, Written))
    second = requested(180, attempt=2, late_ms=14_000)
    called_off = replace(run(second, "retrying", "cancelled"), at=NOON + 196_000)
    gone = (deleted(195), replace(creation, at=NOON + 197_000)) if is_deleted else ()
    second_failed = without(
        *(of(kind, attempt=3) for kind in (Requested, Concluded)), of(RunStored, attempts=3)
    )
    story = in_order(second_failed(retried()), called_off, gone)
    assert any("though nobody asked for it" in each for each in complaints(story)) != is_deleted
