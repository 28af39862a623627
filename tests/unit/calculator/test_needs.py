"""What so many triggers a minute need, by the model."""

from dataclasses import replace

import pytest
from infra.calculator.needs import (
    LOAD,
    delivery,
    function_per_s,
    needs,
    rounded,
    sent_after_idle_s,
    sweeper_per_s,
)
from tests.unit.calculator.test_bill import MEASURED as OF_BILL

from sweephand_engine.costs.measured import SweeperPoint
from sweephand_engine.costs.pollers import Work

WORK = Work(trigger_cpu_s=0.001)
MEASURED = replace(
    OF_BILL,
    sweeper=[SweeperPoint("one-offs", 9_000, 100), SweeperPoint("packs", 5_000, 150)],
    function_cpu_us=1_000,
)


def test_a_sweeper_is_limited_by_its_calls_or_by_its_share_of_a_core() -> None:
    assert sweeper_per_s(MEASURED, "packs", 1_769) == 5_000
    assert sweeper_per_s(MEASURED, "packs", 3_000) == 5_000
    assert sweeper_per_s(MEASURED, "packs", 512) == pytest.approx(512 / 1_769 / 150e-6)


def test_a_delivery_function_has_the_share_of_a_core_that_its_memory_gives() -> None:
    assert delivery(MEASURED, 512) == Work(0.001, 512 / 1_769)


def test_a_function_waits_half_a_second_for_each_call_and_makes_100_deliveries_in_it() -> None:
    assert function_per_s(WORK) == pytest.approx(100 / (0.5 + 0.8))


def test_a_small_stack_needs_what_lambda_begins_with() -> None:
    found = needs(1_000, 5_000, WORK)
    assert (found.sweepers, found.functions, found.namespaces) == (1, 5, 1)
    assert found.raised == "none"


def test_a_million_a_minute_need_several_sweepers_and_hundreds_of_functions() -> None:
    found = needs(1_000_000, 2_000, WORK)
    assert found.sweepers == 12  # 16,667 a second, of 1,400 each
    assert found.functions == 310
    assert found.namespaces == 1
    assert found.reads_per_s == pytest.approx(25_000)
    assert found.raised == "none"


def test_a_hundred_million_a_minute_need_quotas_and_several_stacks() -> None:
    found = needs(100_000_000, 5_000, WORK)
    assert found.stacks == 31
    # The concurrency is the account's. Each stack has tables of its own.
    tables = "reads a second of a table 81,000; writes a second of a table 54,000"
    assert found.raised == f"Lambda concurrency 63,000; {tables}"
    assert found.namespaces == 75


@pytest.mark.parametrize("per_minute", [60, 5_000, 123_456, 7_000_000])
def test_twice_as_many_triggers_never_need_less(per_minute: int) -> None:
    one, two = needs(per_minute, 3_000, WORK), needs(2 * per_minute, 3_000, WORK)
    assert two.sweepers >= one.sweepers
    assert two.functions >= one.functions
    assert two.namespaces >= one.namespaces
    assert two.in_flight >= one.in_flight


def test_the_needed_sweepers_and_functions_are_loaded_to_seventy_percent_at_most() -> None:
    found = needs(3_000_000, 3_000, WORK)
    assert found.per_s / found.functions <= LOAD * function_per_s(WORK)
    assert found.per_s / found.sweepers <= LOAD * 3_000


def test_a_quota_is_named_where_it_does_not_suffice() -> None:
    found = replace(needs(60, 3_000, WORK), functions=600, reads_per_s=40_001)
    assert found.raised == "Lambda concurrency 1,300; reads a second of a table 41,000"


@pytest.mark.parametrize(("value", "up"), [(7, 7), (99, 99), (101, 110), (1_251, 1_300), (40_000, 40_000)])
def test_a_number_is_rounded_up_to_two_digits(value: int, up: int) -> None:
    assert rounded(value) == up


def test_after_an_idle_hour_tick_sweeps_alone_for_forty_seconds() -> None:
    assert sent_after_idle_s(40_000, 20_000, 1_000) == 40
    assert sent_after_idle_s(100_000, 20_000, 1_000) == pytest.approx(40 + 1.5 + 3)
    assert sent_after_idle_s(1_000, 20_000, 1_000) == 1
