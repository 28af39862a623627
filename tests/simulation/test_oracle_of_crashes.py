"""The oracle asks that a trigger is given up after five crashes of each of its messages."""

from collections.abc import Callable

import pytest
from tests.simulation.oracle.runs import CRASHES_MAX
from tests.simulation.traces.doctored import complaints, with_
from tests.simulation.traces.stories import NOON, UID, every_minute, in_turn
from tests.simulation.traces.trace import Event, LineStored, Mishap


def killed(trigger_id: str, times: int) -> list[Event]:
    """That many functions that a trigger crashed."""
    where = "deliver 1 making a request of "
    return [Mishap(NOON + 700_000 + each, "kill", where + trigger_id) for each in range(times)]


def waited() -> str:
    """The id of a trigger that waits in a line of the story `in_turn`."""
    lines = (each for each in in_turn() if isinstance(each, LineStored))
    return next(each.trigger_id for line in lines for each in line.waiting)


@pytest.mark.parametrize(
    ("story", "trigger_id", "limit"),
    [(every_minute, f"{UID}-{NOON + 60_000}-0", CRASHES_MAX), (in_turn, waited(), 2 * CRASHES_MAX)],
    ids=["one message", "two messages"],
)
def test_more_crashes_than_its_messages_may_count_are_named(
    story: Callable[[], list[Event]], trigger_id: str, limit: int
) -> None:
    expected = f"{trigger_id} crashed {limit + 1} functions, and was not given up after {limit}"
    assert expected in complaints(with_(*killed(trigger_id, limit + 1))(story()))
    assert expected not in complaints(with_(*killed(trigger_id, limit))(story()))
