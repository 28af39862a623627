"""The flow benchmark tells the use of a limit, what was lost, and how far off plan events came."""

from infra.bench.consumer import Request
from infra.bench.flow import Plan, most_open, plans_of, row, use
from infra.bench.punctuality import judge
from infra.bench.report import Figure

MS = 1_000_000
OTHERS = judge({"other": 0}, [("other", 7)])


def _open(from_ms: int, until_ms: int | None) -> Request:
    return Request(from_ms * MS, None if until_ms is None else until_ms * MS)


def _event(index: int, from_ms: int) -> Request:
    head = (
        "POST / HTTP/1.1\r\nsweephand-job: batch\r\n"
        "sweephand-sequence: 1\r\nsweephand-due: 1970-01-01T00:00:01Z\r\n"
        f"sweephand-batch-index: {index}"
    )
    return Request(from_ms * MS, (from_ms + 5) * MS, head.encode())


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

    found = row(plan, [_event(0, 1_005), _event(2, 1_210), _event(0, 1_400)], OTHERS)

    shown = {name: str(found[name]) for name in ("lost", "twice", "early", "most open", "others p99")}
    assert shown == {
        "lost": "!1 of 0",
        "twice": "!1 of 0",
        "early": "0 of 0",
        "most open": "1 of 1",
        "others p99": "7",
    }


def test_an_event_that_comes_before_it_is_due_is_early() -> None:
    found = row(Plan("batch", 2, 200, None, 1_000), [_event(1, 1_099)], OTHERS)

    assert (str(found["early"]), found["use"]) == ("!1 of 0", "")


def test_distance_and_time_begin_with_the_first_due_time() -> None:
    came_at = (1_150, 1_160, 1_220, 1_330)

    found = row(Plan("batch", 4, 400, None, 1_000), [*map(_event, range(4), came_at)], OTHERS)

    assert (found["p50 ms"], found["p99 ms"], found["took s"]) == (30, 150, Figure(0.33, 1))
