"""A changed limit is in force within seconds, while it is in use."""

import pytest
from tests.simulation.flow.limit_changes import open_after_a_change, open_after_a_resume

from sweephand.base.instants import SECOND_MS


@pytest.mark.parametrize("seed", [1, 2])
def test_no_more_requests_are_open_than_a_lowered_limit_three_seconds_later(seed: int) -> None:
    later = [count for after_ms, count in open_after_a_change(seed, 20, 5) if after_ms > 3 * SECOND_MS]
    assert max(later) <= 5
    assert sum(later) >= 0.9 * 5 * len(later), "the lowered limit is in use"


@pytest.mark.parametrize("limit", [3, 40])
def test_a_resumed_policy_is_in_full_use_within_three_seconds(limit: int) -> None:
    opened = open_after_a_resume(1, limit)
    assert any(count == limit for after_ms, count in opened if after_ms <= 3 * SECOND_MS)
    later = [count for after_ms, count in opened if after_ms > 3 * SECOND_MS]
    assert sum(later) >= 0.9 * limit * len(later)


@pytest.mark.parametrize("seed", [1, 2])
def test_a_raised_limit_is_in_full_use_within_three_seconds(seed: int) -> None:
    opened = open_after_a_change(seed, 5, 20)
    assert any(count == 20 for after_ms, count in opened if after_ms <= 3 * SECOND_MS)
    later = [count for after_ms, count in opened if after_ms > 3 * SECOND_MS]
    assert sum(later) >= 0.9 * 20 * len(later)
