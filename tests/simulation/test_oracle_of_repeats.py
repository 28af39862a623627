"""The oracle lets a repeated write bring back the revision that it wrote before, and no other content."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pytest
from tests.simulation.traces.doctored import Doctoring, changed, complaints, of, with_
from tests.simulation.traces.stories import NOON, deleted, in_order, replaced, written
from tests.simulation.traces.trace import Event, Written

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
