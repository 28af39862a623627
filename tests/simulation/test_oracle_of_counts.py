"""The oracle compares what deliveries counted with the answers of consumers."""

from collections import Counter
from dataclasses import replace

import pytest
from tests.simulation.oracle.counts import counts_are_what_consumers_saw
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces import stories
from tests.simulation.traces.stories import NOON, THROUGH
from tests.simulation.traces.trace import Concluded, Event, Mishap, RunAsked

from sweephand.model.counters import Stats

REQUEST = stories.requested(60)
TAKEN = Concluded(REQUEST.at, REQUEST.uid, REQUEST.trigger_id, 1, "succeeded")
REFUSED = Concluded(REQUEST.at, REQUEST.uid, REQUEST.trigger_id, 2, "failed")
ONE_OF_EACH = Stats(Counter({"succeeded": 1, "retrying": 1}), Counter({10: 1}))


def complaints(counted: Stats, *more: Event, uncounted: int = 0) -> list[str]:
    tale = Tale([REQUEST, TAKEN, REFUSED, *more], THROUGH, None)
    return list(counts_are_what_consumers_saw(tale, counted, uncounted))


def test_counts_of_what_happened_are_true() -> None:
    assert complaints(ONE_OF_EACH) == []


@pytest.mark.parametrize(
    "counted",
    [
        Stats(Counter({"succeeded": 2, "retrying": 1}), Counter({10: 1})),
        Stats(Counter({"succeeded": 1, "retrying": 1}), Counter({10: 1, 15: 1})),
        Stats(Counter({"retrying": 1}), Counter({10: 1})),
        Stats(Counter({"succeeded": 1}), Counter({10: 1})),
    ],
)
def test_what_is_counted_too_often_or_not_at_all_is_found(counted: Stats) -> None:
    assert len(complaints(counted)) == 1


def test_a_callback_that_comes_before_the_answer_is_lost_rules() -> None:
    nothing_refused = Stats(Counter({"succeeded": 1}), Counter({10: 1}))
    run_id = REFUSED.trigger_id.removeprefix(f"{REFUSED.uid}-")
    before = RunAsked(REFUSED.at - 1, "complete", "job", REFUSED.uid, run_id, REFUSED.attempt)
    assert complaints(nothing_refused, before) == []
    others = (
        replace(before, at=REFUSED.at),
        replace(before, attempt=1),
        replace(before, run_id=f"{run_id}0"),
        replace(before, uid="other"),
    )
    assert all(complaints(nothing_refused, each) for each in others)


@pytest.mark.parametrize(
    "mishap",
    [
        Mishap(NOON, "kill", "deliver 4 before runs.record"),
        Mishap(NOON, "outage of 5000 ms", "jobs, runs"),
    ],
)
def test_trouble_of_a_delivery_may_lose_counts_and_adds_none(mishap: Mishap) -> None:
    nothing = Stats(Counter(), Counter())
    assert complaints(nothing, mishap) == []
    assert complaints(nothing, uncounted=1) == []
    assert complaints(nothing, Mishap(NOON, "kill", "sweep 1 before timers.put"))
    assert complaints(Stats(Counter({"succeeded": 2}), Counter()), mishap)
