"""Worlds whose jobs are audited again and again, and some of whose timers are lost, keep every promise."""

import pytest
from tests.simulation.simulation import run
from tests.simulation.workload.audits import FIRST_WITH_AUDITS

#: A few in which a timer is lost, and a few in which none is. `python -m tests.simulation --first 3700000`
#: runs more.
LOSING = (39, 49, 53)
OTHERS = (1, 2)


@pytest.mark.parametrize("number", [*LOSING, *OTHERS])
def test_an_audit_finds_what_was_lost_and_repeats_nothing_else(number: int) -> None:
    result = run(FIRST_WITH_AUDITS + number)
    assert not result.complaints, result.complaints[:3]
    assert result.figures["audited jobs"]
    assert bool(result.figures.get("timers lost")) == (number in LOSING)
    assert result.figures.get("timers found lost", 0) == (number in LOSING)
