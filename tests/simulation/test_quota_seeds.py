"""Namespaces that may store few jobs keep every promise, and never store more."""

import pytest
from tests.simulation.simulation import run
from tests.simulation.traces.trace import Answered
from tests.simulation.workload.quotas import FIRST_WITH_QUOTAS

#: Few of them. `python -m tests.simulation --first 3400000` runs more. In the fourth one, a bulk write was
#: refused in part. In the last one, the SDK repeats a creation after a deletion.
SEEDS = (0, 1, 2, 18, 481)


@pytest.mark.parametrize("number", SEEDS)
def test_a_namespace_stores_no_more_than_it_may(number: int) -> None:
    result = run(FIRST_WITH_QUOTAS + number)
    assert not result.complaints, result.complaints[:3]


def test_some_jobs_are_refused() -> None:
    events = [each for number in SEEDS for each in run(FIRST_WITH_QUOTAS + number).events]
    errors = [each.error for each in events if isinstance(each, Answered) and each.error is not None]
    assert any("(limits.jobs)" in each for each in errors)
