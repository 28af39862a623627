"""How long a herd waits for delivery functions, by the model."""

import pytest

from sweephand_engine.costs.pollers import (
    CALL_TRIGGERS,
    COLD_S,
    Pollers,
    Work,
    herd_late_s,
    poll,
    provisioned,
    spread_late_s,
    standard,
    together,
    woken,
)

#: A function that has a processor of its own, and a consumer that answers in 0.2 s.
WORK = Work(trigger_cpu_s=0.001)


def test_a_call_makes_its_requests_in_rounds_of_32() -> None:
    assert WORK.call_s(32) == pytest.approx(0.2)
    assert WORK.call_s(33) == pytest.approx(0.4)
    assert WORK.call_s(250) == pytest.approx(8 * 0.2)


def test_a_small_share_of_a_core_makes_the_rounds_longer() -> None:
    assert Work(trigger_cpu_s=0.01, core=0.25).round_s == pytest.approx(32 * 0.04)


def test_the_messages_of_one_call_are_delivered_by_one_function_in_rounds() -> None:
    assert herd_late_s(CALL_TRIGGERS, WORK, standard(5), warm=5) == pytest.approx(0.6)
    assert herd_late_s(CALL_TRIGGERS, WORK, standard(1), warm=1) == pytest.approx(0.6)


def test_a_trigger_that_is_alone_is_in_time_if_its_function_is_warm() -> None:
    assert herd_late_s(1, WORK, standard(5), warm=1) == 0
    assert herd_late_s(1, WORK, standard(5), warm=0) == pytest.approx(COLD_S - 0.5)


def test_five_functions_begin_and_five_more_come_each_second() -> None:
    pollers = standard(50)
    assert [pollers.begins_at(number) for number in (0, 4, 5, 9, 49)] == pytest.approx([0, 0, 0.2, 1, 9])
    assert standard(2).at_first == 2


def test_a_provisioned_poller_serves_ten_functions_from_the_beginning() -> None:
    pollers = provisioned(20, 100)
    assert [pollers.begins_at(number) for number in (199, 200)] == pytest.approx([0, 0.06])
    assert pollers.most == 1_000


def test_lambda_starts_a_thousand_functions_at_once_and_a_hundred_a_second_more() -> None:
    pollers = provisioned(200, 500)
    assert [pollers.begins_at(number) for number in (999, 1_000, 1_999)] == pytest.approx([0, 0.01, 10])


def test_never_more_functions_run_than_the_event_source_allows() -> None:
    turns = 100_000 / (7 * CALL_TRIGGERS)
    assert herd_late_s(100_000, WORK, standard(7)) == pytest.approx(turns * WORK.call_s(), rel=0.02)


@pytest.mark.parametrize("herd", [1_000, 10_000, 100_000])
def test_more_functions_and_faster_pollers_make_no_herd_later(herd: int) -> None:
    ways: list[Pollers] = [
        standard(2),
        standard(5),
        standard(50),
        provisioned(20, 100),
        provisioned(200, 500),
    ]
    lasts = [herd_late_s(herd, WORK, each) for each in ways]
    assert lasts == sorted(lasts, reverse=True)


def test_a_herd_without_wake_ups_waits_for_a_cold_start() -> None:
    woken_before, cold = (herd_late_s(400, WORK, standard(50), warm=warm) for warm in (4, 0))
    assert cold - woken_before == pytest.approx(COLD_S - 0.5)


@pytest.mark.parametrize(
    ("herd", "functions_max", "functions"),
    [(1, 5, 2), (1_000, 5, 3), (1_000, 50, 25), (1_000, 500, 32), (100_000, 1_000, 100)],
)
def test_tick_has_woken_as_many_functions_as_decision_039_says(
    herd: int, functions_max: int, functions: int
) -> None:
    assert woken(herd, functions_max) == functions


def test_a_window_that_is_long_enough_makes_no_trigger_late() -> None:
    assert spread_late_s(100_000, 900, WORK, standard(5)) == 0
    # Five functions make 100 deliveries in 0.8 s each.
    latest = [spread_late_s(100_000, window_s, WORK, standard(5)) for window_s in (15, 60)]
    assert latest == pytest.approx([100_000 / (5 * 100 / 0.8) - window_s for window_s in (15, 60)])


def test_triggers_wait_for_pollers_while_these_are_added() -> None:
    # 1,000 a second need eight functions, and Lambda begins with five.
    assert 0 < spread_late_s(60_000, 60, WORK, standard(50)) < 1
    assert spread_late_s(60_000, 60, WORK, standard(5)) > 30


@pytest.mark.parametrize(("herd", "concurrency"), [(1_000, 5), (10_000, 5), (10_000, 2)])
def test_a_herd_takes_about_as_long_as_the_model_of_single_triggers_says(herd: int, concurrency: int) -> None:
    """That one plays each trigger, and knows no cold starts."""
    pollers = Pollers(concurrency, most=concurrency)
    played = poll(together(herd, 1), 1.0, WORK, pollers)
    mine = herd_late_s(herd, WORK, standard(concurrency), warm=concurrency)
    assert mine == pytest.approx(played.late_p99_s, rel=0.25, abs=0.3)
