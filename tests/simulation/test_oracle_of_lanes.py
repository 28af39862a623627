"""The oracle asks that a trigger of high priority is on time, however many others wait."""

import pytest
from tests.simulation.oracle.lanes import LATE_MS_MAX
from tests.simulation.traces.broken_lanes import delayed
from tests.simulation.traces.doctored import complaints
from tests.simulation.traces.trace import Event


def is_late(events: list[Event]) -> bool:
    return any("of high priority" in each for each in complaints(events))


def test_a_high_trigger_may_take_a_moment() -> None:
    assert not is_late(delayed(LATE_MS_MAX - 100, priority="high"))


@pytest.mark.parametrize("fields", [{"priority": "low"}, {"priority": "high", "overlap": "wait"}])
def test_others_may_wait_for_their_turn(fields: dict[str, str]) -> None:
    assert not is_late(delayed(LATE_MS_MAX + 100, **fields))
