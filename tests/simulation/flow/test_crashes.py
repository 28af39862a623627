"""A crash of one worker stops no other permits than those that it had."""

import pytest
from tests.simulation.flow.crashes import use_after_a_crash


@pytest.mark.parametrize(
    ("limit", "functions"), [(4, 1_000), (5, 1_000), (4, 5), (12, 1_000), (50, 1_000), (50, 5)]
)
def test_nine_tenths_of_what_no_crashed_worker_holds_are_in_use_while_work_waits(
    limit: int, functions: int
) -> None:
    assert use_after_a_crash(1, limit, functions) >= 0.9
