"""The oracle asks that no more triggers leave than a limit allows, with some minutes to spare for clocks."""

from tests.simulation.oracle.limits import SPARE_MINUTES
from tests.simulation.traces.broken_limits import herd
from tests.simulation.traces.doctored import complaints, with_
from tests.simulation.traces.stories import NOON, every_minute
from tests.simulation.traces.trace import LimitSet


def exceeds(*limits: LimitSet, size: int) -> bool:
    said = complaints(with_(*limits, *herd(size))(every_minute()))
    return any("a minute are allowed" in each for each in said)


def test_the_limit_holds_for_all_the_time_that_has_passed_and_some_minutes_more() -> None:
    # Two minutes after noon, two triggers of the story have left as well.
    allowed = 10 * (2 + SPARE_MINUTES)
    assert not exceeds(LimitSet(NOON, 10), size=allowed - 2)
    assert exceeds(LimitSet(NOON, 10), size=allowed + 1)


def test_a_flood_of_less_than_four_minutes_is_named() -> None:
    # A change of a limit once released as many, and the oracle allowed four minutes more than had passed.
    assert exceeds(LimitSet(NOON, 10), size=10 * 5)


def test_another_limit_begins_anew() -> None:
    assert not exceeds(LimitSet(NOON, 1), LimitSet(NOON + 119_000, 100), size=200)
