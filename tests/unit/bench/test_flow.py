"""The flow benchmark tells the use of a limit, what was lost, and how far off plan events came."""

from infra.bench.consumer import Arrival, Open
from infra.bench.flow import Plan, judge, most_open, plans_of, use

MS = 1_000_000


def _arrival(index: int, arrived_at: int) -> Arrival:
    return Arrival(f"uid-1000-{index}", "ns", "job", 1, 1_000, arrived_at, index)


def _open(from_ms: int, until_ms: int | None) -> Open:
    return Open(from_ms * MS, None if until_ms is None else until_ms * MS)


def test_events_are_planned_evenly_over_the_window_with_fractions_cut_off() -> None:
    assert Plan("batch", 3, 100, None, 1_000).planned_at() == [1_000, 1_033, 1_066]


def test_the_batches_are_those_of_the_aim() -> None:
    slow, alone, spread, at_once = plans_of(20_000)

    assert (slow.events, slow.limit, slow.answer_ms) == (1_000, 50, 2_000)
    assert (alone.events, alone.window_ms, alone.limit) == (20_000, 120_000, None)
    assert (spread.events, spread.window_ms, spread.limit) == (20_000, 120_000, 50)
    assert (at_once.events, at_once.limit) == (50_000, 200)


def test_a_trial_has_the_rate_of_the_aim() -> None:
    _, _, spread, at_once = plans_of(2_000)

    assert (spread.events, spread.window_ms, at_once.events) == (2_000, 12_000, 5_000)


def test_requests_that_follow_each_other_are_never_open_together() -> None:
    assert most_open([_open(0, 100), _open(100, 200), _open(200, None)]) == 1


def test_requests_that_overlap_are_counted_together_also_if_one_has_no_answer() -> None:
    assert most_open([_open(0, None), _open(50, 60), _open(55, 70), _open(65, 80)]) == 3


def test_the_use_is_measured_while_at_least_two_events_for_each_permit_wait() -> None:
    # Four events are due at 0 under a limit of 1. The third begins at 300: then only one waits.
    requests = [_open(100, 200), _open(250, 300), _open(300, 400), _open(400, 500)]

    found = use(1, [0] * 4, [each.from_ns for each in requests], requests)

    # In these 300 ms a request was open for 150.
    assert found == 0.5


def test_a_limit_that_no_event_waits_for_has_no_use() -> None:
    assert use(5, [0], [10 * MS], [_open(10, 20)]) is None


def test_an_event_that_did_not_come_is_lost_and_one_that_came_again_came_twice() -> None:
    plan = Plan("batch", 3, 300, 1, 1_000)
    arrivals = [_arrival(0, 1_005), _arrival(2, 1_210), _arrival(0, 1_400)]

    found = judge(plan, arrivals, [_open(1_005, 1_010), _open(1_210, 1_220), _open(1_400, 1_410)])

    assert (found.lost, found.twice, found.early, found.most_open) == (1, 1, 0, 1)


def test_an_event_that_comes_before_it_is_due_is_early() -> None:
    plan = Plan("batch", 2, 200, None, 1_000)

    found = judge(plan, [_arrival(1, 1_099)], [_open(1_099, 1_100)])

    assert (found.early, found.use) == (1, None)


def test_distance_and_time_begin_with_the_first_due_time() -> None:
    plan = Plan("batch", 4, 400, None, 1_000)
    came_at = (1_150, 1_160, 1_220, 1_330)
    arrivals = [_arrival(index, at) for index, at in enumerate(came_at)]

    found = judge(plan, arrivals, [_open(at, at + 5) for at in came_at])

    assert (found.p50_ms, found.p99_ms, found.took_ms) == (30, 150, 330)
