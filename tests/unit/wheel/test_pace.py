"""How much a sweeper handles between two commits: a whole page if stores are fast, and at least one timer."""

import pytest

from sweephand.wheel.expand import TRIGGERS_MAX
from sweephand.wheel.shard_visit import PAGE_TIMERS_MAX, Pace, Portion, rounds

WHOLE = Portion(PAGE_TIMERS_MAX, TRIGGERS_MAX)


def pace_of(*requests_ms: int) -> Pace:
    pace = Pace()
    for each in requests_ms:
        pace.record(each)
    return pace


@pytest.mark.parametrize("request_ms", [0, 1, 20, 60])
def test_a_whole_page_goes_between_two_commits_while_stores_are_quick(request_ms: int) -> None:
    assert pace_of(request_ms).portion(40_000, 0) == WHOLE


@pytest.mark.parametrize("request_ms", [100, 300, 1_000, 3_000, 6_000, 60_000])
@pytest.mark.parametrize("left_ms", [15_000, 40_000, 105_000])
def test_a_portion_takes_half_of_what_is_left_at_most_or_is_a_single_timer(
    request_ms: int, left_ms: int
) -> None:
    portion = pace_of(request_ms).portion(left_ms, 0)
    assert portion.timers >= 1
    assert portion.triggers >= 1
    expected_ms = request_ms * rounds(portion.timers, portion.triggers, portion.timers)
    assert portion.timers == 1 or expected_ms <= left_ms / 2


def test_each_failed_attempt_makes_the_portion_smaller_down_to_one_timer() -> None:
    portions = [Pace().portion(40_000, attempts).timers for attempts in range(8)]
    assert portions == sorted(portions, reverse=True)
    assert portions[:3] == [1_000, 250, 62]
    assert portions[5:] == [1, 1, 1]


def test_a_slow_request_counts_at_once_and_stops_counting_after_quick_ones() -> None:
    assert pace_of(10, 3_000).portion(40_000, 0).timers < 20
    assert pace_of(3_000, *[10] * 7).portion(40_000, 0) == WHOLE


def test_no_portion_is_begun_if_too_little_time_is_left_for_it() -> None:
    assert Pace().has_time(1)
    assert pace_of(1_000).has_time(15_000)
    assert not pace_of(3_000).has_time(15_000)
