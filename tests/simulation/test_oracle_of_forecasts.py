"""The oracle asks that a forecast says what the jobs of a trace owe, and how many there are."""

from collections.abc import Mapping

import pytest
from tests.simulation.oracle.forecast import Forecasted, forecast_is_what_jobs_owe
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces import stories
from tests.simulation.traces.stories import NOON, THROUGH
from tests.simulation.traces.trace import Event

MINUTE = 60_000

#: A job that fires every minute.
THERE: list[Event] = [stories.written("create", "1-a", 0)]
PAUSED: list[Event] = [*THERE, stories.written("pause", "1-a", 10, paused_at=10)]
OWED = {0: 5, 1: 5, 2: 2}


def complaints(events: list[Event], triggers: Mapping[int, int], jobs: int = 1, paused: int = 0) -> list[str]:
    since = NOON + 60 * MINUTE
    said = Forecasted(since, since + 12 * MINUTE, 5 * MINUTE, triggers, jobs, paused)
    return list(forecast_is_what_jobs_owe(Tale(events, THROUGH, None), said))


def test_a_forecast_of_what_is_owed_is_true() -> None:
    assert complaints(THERE, OWED) == []
    assert complaints(PAUSED, {}, 0, 1) == []


@pytest.mark.parametrize("triggers", [{}, {0: 5, 1: 5}, {0: 5, 1: 5, 2: 3}, {0: 12}])
def test_other_triggers_are_named(triggers: dict[int, int]) -> None:
    [said] = complaints(THERE, triggers)
    assert f"the jobs owe {OWED}" in said


def test_a_paused_job_owes_nothing_and_jobs_are_counted() -> None:
    found = complaints(PAUSED, OWED)
    assert any("there are 0 and 1" in each for each in found)
    assert any("the jobs owe {}" in each for each in found)
