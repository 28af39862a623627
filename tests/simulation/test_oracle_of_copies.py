"""The oracle on a first attempt that was delivered twice without a claim, and ended in two ways."""

import json
from dataclasses import replace
from typing import Final

import pytest
from tests.simulation.traces.doctored import Doctoring, changed, complaints, of, with_, without
from tests.simulation.traces.stories import concluded, in_order, requested, run
from tests.simulation.traces.stories_of_ends import DUE, RUN, TRIGGER, followed_by_another, link
from tests.simulation.traces.trace import Buried, Event, Requested, RunStored

_LEFT_WITH: Final = "left with"

#: A copy of the first attempt. A function claims it and gives it up.
_COPY: Final = requested(180, late_ms=60_000)
_CLAIM: Final = replace(run(_COPY, None, "claimed"), at=_COPY.at - 5)


def _followed(state: str) -> list[Event]:
    """The next job follows that end of the third minute's run, too."""
    said = {"triggerId": TRIGGER, "attempts": 1, "state": state}
    return link(180, at=_COPY.at + 300, data=json.dumps(said))


def ended_twice(state: str = "failed") -> list[Event]:
    """The third minute of followed_by_another() succeeds without a record. Its copy fails later."""
    return in_order(
        without(of(RunStored, run_id=RUN))(followed_by_another()),
        _CLAIM,
        _COPY,
        concluded(_COPY, "failed"),
        Buried(_COPY.at + 35, TRIGGER, "Attempt 1 of 1 failed: Response 503."),
        replace(run(_COPY, "claimed", "failed"), reason="Attempt 1 of 1 failed: Response 503."),
        _followed(state),
    )


def test_both_ends_of_an_attempt_without_a_claim_may_be_followed_under_one_id() -> None:
    assert [each for each in complaints(ended_twice()) if _LEFT_WITH in each] == []


@pytest.mark.parametrize(
    "doctoring",
    [
        # The success was recorded, so the copy should have found its run over.
        with_(replace(run(requested(180), None, "succeeded"), run_id=RUN)),
        # There was no copy.
        without(lambda event: event == _COPY),
        # The first delivery was claimed, so the copy should have waited for its record.
        changed(of(RunStored, state="claimed"), at=DUE - 5),
        # The consumer of each delivery was to report.
        changed(of(Requested, trigger_id=TRIGGER), token="shr_1"),
        # The ends are of two attempts.
        with_(
            *link(
                180,
                at=_COPY.at + 400,
                data=json.dumps({"triggerId": TRIGGER, "attempts": 2, "state": "failed"}),
            )
        ),
        # The next job was triggered with something else.
        with_(*link(180, at=_COPY.at + 400, data='"y"')),
    ],
)
def test_other_differences_between_what_a_chain_carries_are_named(doctoring: Doctoring) -> None:
    found = complaints(in_order(doctoring(ended_twice())))
    assert any(_LEFT_WITH in each for each in found)


def test_a_notification_of_no_recorded_end_is_named_though_the_attempt_left_twice() -> None:
    assert any("it had not" in each for each in complaints(ended_twice("cancelled")))
