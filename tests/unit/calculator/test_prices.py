"""Lines of a bill, and their sums with and without free tiers."""

import pytest

from sweephand_engine.costs import prices
from sweephand_engine.costs.prices import Line, by_part, total, total_with_free_tier

LINES = [
    Line("calls", prices.INVOCATIONS, 3_000_000),
    Line("time", prices.GB_SECOND, 500_000),
    Line("more time", prices.GB_SECOND, 100_000),
]


def test_the_total_is_the_sum_of_the_parts() -> None:
    assert total(LINES) == pytest.approx(sum(by_part(LINES).values()))
    assert total(LINES) == pytest.approx(0.60 + 6.66670 + 1.33334)


def test_lines_of_one_price_share_one_free_tier() -> None:
    assert total_with_free_tier(LINES) == pytest.approx(2 * 0.20 + 200_000 * 0.0000133334)


def test_a_free_tier_makes_no_line_negative() -> None:
    assert total_with_free_tier([Line("calls", prices.INVOCATIONS, 10)]) == 0
    assert all(price.with_free_tier(0) == 0 for price in prices.ALL)


def test_a_free_tier_is_never_worth_more_than_it_gives() -> None:
    for price in prices.ALL:
        assert price.of(price.free) == pytest.approx(
            price.of(2 * price.free) - price.with_free_tier(2 * price.free)
        )


def test_each_price_is_listed_once_with_its_source() -> None:
    assert len({each.what for each in prices.ALL}) == len(prices.ALL)
    assert all(each.source.startswith("aws.amazon.com/") and each.dollars > 0 for each in prices.ALL)
    assert set(prices.ALL) == {each for each in vars(prices).values() if isinstance(each, prices.Price)}
