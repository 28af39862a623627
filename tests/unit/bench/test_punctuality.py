"""The benches tell which triggers were lost, early and late."""

from infra.bench.consumer import Arrival
from infra.bench.punctuality import judge, judge_series


def test_a_trigger_that_was_owed_and_not_delivered_is_lost() -> None:
    found = judge({"a": 1_000, "b": 1_000}, [("a", 1_200)])

    assert (found.owed, found.delivered, found.lost) == (2, 1, 1)


def test_a_trigger_that_was_not_owed_is_ignored() -> None:
    assert judge({"a": 1_000}, [("b", 10), ("a", 1_200)]) == judge({"a": 1_000}, [("a", 1_200)])


def test_a_trigger_that_comes_twice_is_judged_by_its_first_delivery() -> None:
    found = judge({"a": 1_000}, [("a", 1_200), ("a", 9_000)])

    assert (found.delivered, found.twice, found.max_ms) == (1, 1, 200)


def test_a_delivery_one_millisecond_before_its_due_time_is_early_and_one_at_its_due_time_is_not() -> None:
    assert judge({"a": 1_000, "b": 1_000}, [("a", 999), ("b", 1_000)]).early == 1


def test_a_trigger_is_early_only_beyond_the_difference_of_clocks() -> None:
    assert judge({"a": 1_000}, [("a", 950)], clocks_ms=100).early == 0
    assert judge({"a": 1_000}, [("a", 500)], clocks_ms=100).early == 1


def test_the_percentiles_are_values_that_occurred() -> None:
    names = [f"job-{number}" for number in range(200)]

    found = judge(dict.fromkeys(names, 0), [(name, number + 1) for number, name in enumerate(names)])

    assert (found.p50_ms, found.p99_ms, found.max_ms) == (100, 198, 200)


def test_a_group_of_which_nothing_came_is_lost_whole() -> None:
    found = judge({"a": 1_000}, [])

    assert (found.lost, found.max_ms) == (1, 0)


def test_a_series_also_owes_the_occurrences_before_the_first_delivery_that_was_seen() -> None:
    seen = [Arrival("a", 3, 15_000, 15_010)]

    found = judge_series(seen, 5_000, after=5_000, until=20_000)

    # Owed are those at 10, 15 and 20 s.
    assert (found.owed, found.delivered, found.max_ms) == (3, 1, 10)
