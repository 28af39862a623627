"""Worlds whose jobs have watches keep every promise, and their alerts leave."""

import pytest
from tests.simulation.simulation import run
from tests.simulation.traces.alerts import Alerted
from tests.simulation.workload.watches import FIRST_WITH_WATCHES

#: Few of them. `python -m tests.simulation --first 3500000` runs more. Two were red: a sweeper was at work at
#: the end of the world, and a patch gave a watched job a batch.
SEEDS = (0, 1, 2, 15)
RED = (106, 214)


@pytest.mark.parametrize("number", [*SEEDS, *RED])
def test_a_watch_tells_of_what_was_missed_and_of_nothing_else(number: int) -> None:
    result = run(FIRST_WITH_WATCHES + number)
    assert not result.complaints, result.complaints[:3]


def test_some_alerts_leave() -> None:
    events = [each for number in SEEDS for each in run(FIRST_WITH_WATCHES + number).events]
    assert len({each.alert_id for each in events if isinstance(each, Alerted)}) > 3
