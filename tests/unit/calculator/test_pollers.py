"""The model of Lambda's pollers: how full calls are, and how long each is billed."""

import random
from dataclasses import replace

import pytest

from sweephand.base.instants import SECOND_MS
from sweephand.model.job import JobKey
from sweephand.model.trigger import BundleMessage, Trigger, TriggerMessage
from sweephand.wheel.sending import bundled
from sweephand_engine.costs.pollers import (
    AWS,
    CORE_MB,
    Pollers,
    Work,
    bundles,
    core_of,
    poll,
    spread,
    together,
)

#: A platform that makes one call at a time. Its poller takes all messages that are visible, up to ten.
ONE = Pollers(1, most=1)

#: A call of no CPU time, whose consumer answers at once.
NOTHING = Work(trigger_cpu_s=0, answer_s=0)

#: What the model assumes for the receive, the invocation and a read of jobs.
OVERHEAD_S = 0.02

WORK = Work(trigger_cpu_s=0.001, core=core_of(256), call_cpu_s=0.001)


def dues(rate: float, seconds: float = 600) -> list[float]:
    return spread(rate, seconds, random.Random(1))  # noqa: S311 - the same each time


@pytest.mark.parametrize("rate", [0.5, 3, 40])
@pytest.mark.parametrize("span_s", [1, 2])
def test_the_model_makes_the_same_bundles_as_a_sweep(rate: float, span_s: int) -> None:
    due_ms = sorted({round(each * 1_000) for each in dues(rate)})
    messages = [
        TriggerMessage(
            Trigger(JobKey("a", f"job-{each}"), "u" * 16, "1-" + "v" * 16, each, 1, armed_at=0),
            not_before=each,
        )
        for each in due_ms
    ]
    sent = bundled(messages, span_s * SECOND_MS, now=-1)
    sizes = [len(each.triggers) if isinstance(each, BundleMessage) else 1 for each in sent]
    assert [len(each) for each in bundles([each / 1_000 for each in due_ms], span_s)] == sizes


@pytest.mark.parametrize("platform", [AWS, ONE])
@pytest.mark.parametrize("times", [dues(0.2, 3_000), dues(30, 120), together(400, 5)])
def test_the_model_delivers_every_trigger_once_and_never_early(times: list[float], platform: Pollers) -> None:
    polled = poll(times, 1, WORK, platform)
    assert polled.late_p50_s >= 0
    assert 0 < polled.calls <= polled.messages <= 1


def test_the_same_triggers_lead_to_the_same_figures() -> None:
    assert poll(dues(7), 1, WORK) == poll(dues(7), 1, WORK)


def test_a_lone_trigger_is_billed_for_half_a_second_of_waiting_and_for_its_consumer() -> None:
    alone = [100.0 * number + number / 1_000 for number in range(1_000)]
    polled = poll(alone, 1, replace(NOTHING, answer_s=0.2))
    assert polled.calls == polled.messages == 1
    assert 0.7 - OVERHEAD_S < polled.billed_s < 0.7 + OVERHEAD_S


def test_a_call_lasts_as_long_as_its_slowest_trigger_however_many_it_has() -> None:
    one = poll(together(1, 300), 1, replace(NOTHING, answer_s=2))
    ten = poll(together(10, 300), 1, replace(NOTHING, answer_s=2))
    assert one.billed_s == pytest.approx(10 * ten.billed_s, rel=0.01)


def test_triggers_that_are_due_together_never_cost_more_than_those_that_are_spread() -> None:
    for per_minute in (3, 10, 60, 1_000):
        herd = poll(together(per_minute, 20), 1, WORK)
        apart = poll(dues(per_minute / 60, 1_200), 1, WORK)
        assert herd.billed_s <= apart.billed_s
        assert herd.calls <= apart.calls


def test_without_bundles_each_trigger_is_a_message() -> None:
    assert poll(dues(5), 0, WORK).messages == 1


def test_a_poller_takes_at_most_ten_messages() -> None:
    polled = poll(together(1_000, 5), 0, WORK)
    assert 1 / 10 <= polled.calls < 1 / 8


def test_no_more_calls_run_at_once_than_the_platform_allows() -> None:
    slow = replace(WORK, answer_s=5)
    assert poll(dues(200, 60), 1, slow, Pollers(most=5)).at_once == 5
    assert poll(dues(200, 60), 1, slow).at_once > 5


def test_a_smaller_share_of_a_core_makes_calls_longer_and_triggers_later() -> None:
    small, large = (poll(together(200, 20), 1, replace(WORK, core=core_of(each))) for each in (256, CORE_MB))
    assert small.billed_s > large.billed_s
    assert small.late_p99_s > large.late_p99_s


def test_more_memory_than_that_of_a_core_makes_no_call_shorter() -> None:
    assert core_of(256) == 256 / 1_769
    assert core_of(CORE_MB) == core_of(4 * CORE_MB) == 1


def test_a_call_makes_at_most_32_requests_at_once() -> None:
    """100 triggers of ten full bundles take four rounds of a second."""
    ten_bundles = poll(together(100, 1), 1, replace(NOTHING, answer_s=1), ONE)
    assert ten_bundles.calls == 1 / 100
    assert 2 < ten_bundles.late_p99_s < 3.1
