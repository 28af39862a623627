"""The bounds of a field judge values of their own kind, and ignore values of another kind."""

from typing import Any

import pytest

from sweephand.base.errors import Violation
from sweephand.base.field_bounds import NumberBounds

TIMES = NumberBounds(1, 100, "How many times.")


@pytest.mark.parametrize("value", [1, 1.0, 50.5, 100])
def test_a_number_on_a_bound_or_between_is_accepted(value: float) -> None:
    assert TIMES.violations("/times", value) == []


@pytest.mark.parametrize(
    ("value", "detail"),
    [
        (0, "Must be at least 1. How many times."),
        (0.999, "Must be at least 1. How many times."),
        (-(10**400), "Must be at least 1. How many times."),
        (101, "Must be at most 100. How many times."),
        (10**400, "Must be at most 100. How many times."),
        (float("inf"), "Must be at most 100. How many times."),
    ],
)
def test_a_number_out_of_its_range_is_refused_with_the_bound_that_it_breaks(
    value: float, detail: str
) -> None:
    assert TIMES.violations("/times", value) == [Violation("/times", detail)]


@pytest.mark.parametrize("value", [None, True, False, [0], {"a": 0}, float("nan")])
def test_a_value_of_another_kind_is_left_to_the_shape(value: Any) -> None:
    assert TIMES.violations("/times", value) == []


def test_a_schema_states_the_same_bounds() -> None:
    assert TIMES.schema == {"minimum": 1, "maximum": 100}
