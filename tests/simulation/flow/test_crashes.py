"""A crash of one function stops no other slots than those that it had: ten, or a quarter of a small limit."""

import pytest
from tests.simulation.flow.crashes import after_a_crash


@pytest.mark.parametrize(
    ("limit", "functions"), [(4, 1_000), (5, 1_000), (4, 5), (12, 1_000), (50, 1_000), (50, 5)]
)
def test_nine_tenths_of_what_no_crashed_function_holds_are_in_use_while_work_waits(
    limit: int, functions: int
) -> None:
    crash = after_a_crash(1, limit, functions)
    assert crash.slots <= min(10, -(-limit // 4))
    assert crash.use >= 0.9
