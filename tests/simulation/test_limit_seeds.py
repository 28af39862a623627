"""The limits on triggers a minute hold, also while functions know two limits."""

import pytest
from tests.simulation.simulation import run
from tests.simulation.traces.trace import LimitSet
from tests.simulation.workload.limits import FIRST_CHANGED, FIRST_LIMITED, Limits

#: Few of them. `python -m tests.simulation --first 3150000` runs more.
SEEDS = (FIRST_LIMITED, *range(FIRST_CHANGED, FIRST_CHANGED + 4))


@pytest.mark.parametrize("seed", SEEDS)
def test_no_more_triggers_leave_than_the_limits_allow(seed: int) -> None:
    result = run(seed)
    assert not result.complaints, result.complaints[:3]
    set_to = [each.per_minute for each in result.events if isinstance(each, LimitSet)]
    assert len(set_to) > len(Limits.of(seed).changes)


def test_processes_learn_of_a_change_at_different_times() -> None:
    limits = Limits(0, 5, ((60_000, 20),), FIRST_CHANGED)
    known = [limits.known(f"deliver-{number}", 90_000) for number in range(20)]
    assert set(known) == {5, 20}
    assert {limits.known(f"deliver-{number}", 120_000) for number in range(20)} == {20}
    assert limits.allowed == [(60_000, 20), (60_000 + 60_000 + 90_000, 20)]
