"""The lateness benchmark tells which triggers were lost, early and late."""

from infra.bench.consumer import Arrival
from infra.bench.punctuality import judge, series_owed


def _arrival(job: str, due_at: int, arrived_at: int, sequence: int = 1) -> Arrival:
    return Arrival(f"{job}-{due_at}", "ns", job, sequence, due_at, arrived_at)


def test_a_trigger_that_was_owed_and_not_delivered_is_lost() -> None:
    found = judge({("a", 1_000), ("b", 1_000)}, [_arrival("a", 1_000, 1_200)])

    assert (found.owed, found.delivered, found.lost) == (2, 1, 1)


def test_a_trigger_that_comes_twice_is_judged_by_its_first_delivery() -> None:
    arrivals = [_arrival("a", 1_000, 1_200), _arrival("a", 1_000, 9_000)]

    found = judge({("a", 1_000)}, arrivals)

    assert (found.delivered, found.duplicates, found.max_ms) == (1, 1, 200)


def test_a_delivery_one_millisecond_before_its_due_time_is_early_and_one_at_its_due_time_is_not() -> None:
    arrivals = [_arrival("a", 1_000, 999), _arrival("b", 1_000, 1_000)]

    assert judge({("a", 1_000), ("b", 1_000)}, arrivals).early == 1


def test_the_percentiles_are_values_that_occurred() -> None:
    owed = {(f"job-{number}", 0) for number in range(200)}
    arrivals = [_arrival(f"job-{number}", 0, number + 1) for number in range(200)]

    found = judge(owed, arrivals)

    assert (found.p50_ms, found.p99_ms, found.max_ms) == (100, 198, 200)


def test_a_series_also_owes_the_occurrences_before_the_first_delivery_that_was_seen() -> None:
    seen = [_arrival("a", 15_000, 15_010, sequence=3)]

    assert series_owed(seen, 5_000, after=5_000, until=20_000) == {
        ("a", 10_000),
        ("a", 15_000),
        ("a", 20_000),
    }
