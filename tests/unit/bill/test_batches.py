"""What a million events of a batch cost: the sum, and its table."""

from dataclasses import replace

import pytest
from infra.bill import batches
from infra.bill.lines import total
from infra.bill.template import template
from infra.bill.triggers import Bill
from tests.unit.bill.test_triggers import MEASURED

BILL = Bill(MEASURED, template())
WITHOUT, UNDER = MEASURED.batches


def test_a_million_events_cost_their_units_requests_and_calls_at_list_price() -> None:
    # 0.625 a million writes, 0.125 a million reads, 0.40 and 0.10 a million requests with a group, 0.20 a
    # million calls.
    assert total(batches.lines(UNDER)) == pytest.approx(0.2 * 0.625 + 3.0 * 0.125 + 0.2 * 0.50 + 0.05 * 0.20)


def test_the_table_has_a_row_for_each_batch_with_its_limit_its_window_and_its_units() -> None:
    head, _, without, under = batches.dollars_table(BILL).splitlines()
    assert head.startswith("| $ a million events | in all |")
    assert without.startswith("| no policy, over 10 s | **0.07** |")
    assert without.endswith("| 0.004 | 0.050 | 0.100 | 0.050 |")
    assert under.startswith("| `maxConcurrent` 20, at once | **0.61** |")


def test_more_units_cost_more() -> None:
    dearer = replace(UNDER, reads=UNDER.reads + 8)
    assert total(batches.lines(dearer)) == pytest.approx(total(batches.lines(UNDER)) + 1.0)


def test_a_flow_function_bills_each_event_a_tenth_of_its_request_if_all_permits_are_in_use() -> None:
    gb = BILL.template.memory_mb("Flow") / 1024
    assert batches.flow_time(BILL) == pytest.approx(1_000_000 * 0.01 * gb * 0.0000133334)
