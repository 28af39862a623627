"""What every AllowanceStore promises (ports/)."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.contract.builders import EVERY_CHARACTER, NOON
from tests.fakes.engines import Stores

from sweephand.base.instants import MINUTE_MS
from sweephand.model.counters import US_PER_MS, Allowance, step_us_of

NOON_US = NOON * US_PER_MS
MINUTE_US = MINUTE_MS * US_PER_MS


def test_slots_are_taken_one_after_the_other(stores: Stores) -> None:
    taken = [stores.allowances.take("", NOON + 5_000, 60, count).first_us for count in (1, 3, 1)]
    assert taken == [NOON_US, NOON_US + 1_000_000, NOON_US + 4_000_000]


def test_an_allowance_can_be_read_without_taking_a_slot(stores: Stores) -> None:
    assert stores.allowances.get("") is None
    stores.allowances.take("", NOON, 60, 10)
    assert stores.allowances.get("") == Allowance(NOON_US + 10_000_000, 60)
    assert stores.allowances.take("", NOON, 60, 1).first_us == NOON_US + 10_000_000


def test_each_minute_begins_with_its_whole_allowance(stores: Stores) -> None:
    stores.allowances.take("", NOON, 60, 10)
    assert stores.allowances.take("", NOON + MINUTE_MS + 7, 60, 1).first_us == NOON_US + MINUTE_US


def test_the_slots_of_the_minutes_to_come_are_taken_when_those_of_this_minute_are(stores: Stores) -> None:
    stores.allowances.take("", NOON, 60, 60)
    assert stores.allowances.take("", NOON, 60, 90).first_us == NOON_US + MINUTE_US
    assert (
        stores.allowances.take("", NOON + MINUTE_MS, 60, 1).first_us == NOON_US + 2 * MINUTE_US + 30_000_000
    )


def test_slots_from_an_instant_on_can_be_left_for_others(stores: Stores) -> None:
    def first_us(count: int) -> int:
        return stores.allowances.take("", NOON + 1, 60, count, NOON_US + MINUTE_US).first_us

    assert [first_us(30), first_us(31)] == [NOON_US, NOON_US + 30_000_000]
    assert [first_us(1) for _ in range(3)] == [NOON_US + MINUTE_US + 1_000_000] * 3
    assert stores.allowances.get("") == Allowance(NOON_US + MINUTE_US + 1_000_000, 60)
    assert stores.allowances.take("", NOON + MINUTE_MS, 60, 1).first_us == NOON_US + MINUTE_US + 1_000_000


def test_allowances_of_different_names_do_not_affect_each_other(stores: Stores) -> None:
    names = ["", "a", EVERY_CHARACTER]
    assert [stores.allowances.take(name, NOON, 60, 1).first_us for name in names] == [NOON_US] * 3


def test_a_changed_limit_frees_the_slots_of_the_minutes_to_come_and_none_of_this_minute(
    stores: Stores,
) -> None:
    stores.allowances.take("", NOON, 60, 300)
    assert stores.allowances.take("", NOON + 1, 600, 1).first_us == NOON_US + MINUTE_US
    stores.allowances.take("a", NOON, 60, 30)
    assert stores.allowances.take("a", NOON + 1, 600, 1).first_us == NOON_US + MINUTE_US // 2


@pytest.mark.parametrize("per_minute", [7, 1_000])
def test_no_slot_is_given_twice_to_callers_at_the_same_time(stores: Stores, per_minute: int) -> None:
    with ThreadPoolExecutor(4) as threads:
        firsts = list(
            threads.map(lambda _: stores.allowances.take("", NOON, per_minute, 2).first_us, range(12))
        )
    expected = [NOON_US + number * 2 * step_us_of(per_minute) for number in range(12)]
    assert sorted(firsts) == expected


def test_each_change_of_the_limit_begins_an_epoch(stores: Stores) -> None:
    taken = [stores.allowances.take("", NOON, limit, 100) for limit in (60, 60, 600, 60, 60)]
    assert [each.epoch for each in taken] == [0, 0, 1, 2, 2]
    assert [each.first_us - NOON_US for each in taken[2:]] == [MINUTE_US, MINUTE_US, MINUTE_US + 100_000_000]
    assert stores.allowances.get("") == Allowance(NOON_US + MINUTE_US + 200_000_000, 60, 2)
