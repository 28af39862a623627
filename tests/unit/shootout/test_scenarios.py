"""How what came is judged."""

from infra.shootout.scenarios import judge_seconds, spread
from infra.shootout.sink import Came

_SECONDS = range(10_000, 13_000, 1_000)


def test_triggers_are_spread_evenly() -> None:
    assert spread(4, 2) == [0, 500, 1_000, 1_500]


def test_a_recurring_job_is_judged_by_the_due_times_that_it_tells() -> None:
    pairs = [(10_000, 10_004), (11_000, 12_500), (11_000, 12_600), (9_000, 9_001)]
    came = [Came("a", due_at, arrived_at) for due_at, arrived_at in pairs]
    found = judge_seconds(came, ["a"], _SECONDS)
    assert (found["owed"], found["lost"], found["twice"], found["early"]) == (3, 1, 1, 0)
    assert (found["p50 ms"], found["max ms"]) == (4, 1_500)


def test_of_a_scheduler_that_tells_no_due_time_each_fire_counts_for_the_next_second() -> None:
    came = [Came("a", None, at) for at in (9_700, 10_700, 11_700, 12_700, 12_900, 13_700)]
    found = judge_seconds(came, ["a", "b"], _SECONDS)
    assert (found["owed"], found["lost"], found["twice"]) == (6, 3, 1)
