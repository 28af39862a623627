"""Slots of an allowance: how many there are in a minute, and which of them is taken next."""

import pytest
from tests.fakes.world import NOON

from sweephand.base.instants import MINUTE_MS
from sweephand.model.counters import US_PER_MS, Allowance, next_slots, slice_of, step_us_of

NOON_US = NOON * US_PER_MS
MINUTE_US = MINUTE_MS * US_PER_MS


@pytest.mark.parametrize("per_minute", [1, 7, 60, 999, 1_000_000])
def test_no_minute_has_more_slots_than_its_allowance_and_none_has_fewer_by_more_than_rounding(
    per_minute: int,
) -> None:
    slots = -(-MINUTE_US // step_us_of(per_minute))
    assert per_minute * 0.98 <= slots <= per_minute


@pytest.mark.parametrize(
    ("per_minute", "expected"), [(1, 1), (599, 1), (6_000, 10), (60_000, 100), (600_000, 100)]
)
def test_a_process_takes_a_tenth_of_a_second_of_the_allowance_at_once(per_minute: int, expected: int) -> None:
    assert slice_of(per_minute) == expected


def test_what_a_minute_leaves_is_lost() -> None:
    stored = Allowance(NOON_US - 3 * MINUTE_US, 60)
    assert next_slots(stored, NOON + 59_999, 60).first_us == NOON_US
    assert next_slots(None, NOON + 59_999, 60).first_us == NOON_US


def test_a_clock_that_is_behind_takes_no_slot_twice() -> None:
    stored = Allowance(NOON_US + MINUTE_US + 1, 60)
    assert next_slots(stored, NOON - 30_000, 60).first_us == NOON_US + MINUTE_US + 1
