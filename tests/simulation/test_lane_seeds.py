"""Worlds whose stacks have lanes keep every promise, while one lane is flooded in the calm."""

import pytest
from tests.simulation.simulation import run
from tests.simulation.traces.trace import Requested
from tests.simulation.workload.lanes import FIRST_WITH_LANES, FLOOD, HERDS, PROMPT

#: Few of them, because each takes a second. `python -m tests.simulation --first 3300000` runs more. In some
#: others, faults keep one of the two jobs from being created. Two were red: floods that fell due while
#: the stack was off came together, and a backlog waited for its rate without end.
SEEDS = (1, 2, 3, 4, 6, 9)
RED = (70, 56)


@pytest.mark.parametrize("number", RED)
def test_a_world_that_was_red_is_green(number: int) -> None:
    assert not run(FIRST_WITH_LANES + number).complaints


@pytest.mark.parametrize("number", SEEDS)
def test_a_world_with_lanes_recovers_from_its_troubles(number: int) -> None:
    result = run(FIRST_WITH_LANES + number)
    assert not result.complaints, result.complaints[:3]
    left = {each.name for each in result.events if isinstance(each, Requested)}
    assert {PROMPT, FLOOD} <= left, "the seed shows nothing of lanes"


def test_ten_thousand_low_triggers_delay_high_ones_by_less_than_a_second() -> None:
    result = run(HERDS.start)
    assert not result.complaints, result.complaints[:3]
    left = [each for each in result.events if isinstance(each, Requested) and each.attempt == 1]
    herd = [each.at for each in left if each.name == FLOOD]
    assert len(herd) == 10_000
    beside = [each for each in left if each.name == PROMPT and min(herd) <= each.due_at <= max(herd)]
    assert len(beside) > 20, "the herd is over too soon"
    assert all(each.at - each.due_at < 1_000 for each in beside)
