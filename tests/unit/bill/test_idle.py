"""The cost of a month in which nothing fires, and its share that the template decides."""

from dataclasses import replace

import pytest
from infra.bench import prices
from infra.bill import idle
from infra.bill.idle import Parameters
from infra.bill.lines import Line, total
from infra.bill.template import FILE, Template, template
from tests.unit.bill.test_triggers import MEASURED


def lines(parameters: Parameters, of: Template | None = None) -> list[Line]:
    return list(idle.lines(MEASURED, of or template(), parameters))


def units(found: list[Line], price: prices.Price) -> float:
    return sum(each.units for each in found if each.price == price)


def test_each_of_five_pollers_sends_three_requests_a_minute() -> None:
    assert units(lines(Parameters()), prices.SQS_REQUESTS) == 5 * 3 * 730 * 60


def test_alarms_cost_ten_cents_a_month_for_each_metric_that_they_read() -> None:
    plain, alarmed = lines(Parameters()), lines(Parameters(has_alarms=True))
    assert units(alarmed, prices.ALARMS) == 14
    assert total(alarmed) - total(plain) == pytest.approx(1.40)


def test_a_shard_costs_a_read_each_minute() -> None:
    one, four = lines(Parameters()), lines(Parameters(shards=4))
    assert units(four, prices.READS) - units(one, prices.READS) == 3 * 730 * 60


def test_snapshots_are_billed_by_the_memory_of_their_functions() -> None:
    memory_mb = template().memory_mb("Api") + template().memory_mb("Authorizer")
    found = units(lines(Parameters(has_snapshots=True)), prices.SNAPSHOT_GB_SECOND)
    assert found == pytest.approx(memory_mb / 1024 * 730 * 3_600)


def test_the_defaults_of_the_template_have_one_shard_no_alarms_and_no_snapshots() -> None:
    assert idle.defaults(template()) == Parameters()


def test_another_default_in_the_template_changes_the_bill() -> None:
    text = FILE.read_text(encoding="utf-8")
    more = text.replace(
        'AlarmTopicArn:\n    Type: String\n    Default: ""', "AlarmTopicArn:\n    Default: arn"
    )
    assert idle.defaults(Template(more)) == Parameters(has_alarms=True)
    bounded = (
        "ScalingConfig: !If [HasPollers, !Ref AWS::NoValue, { MaximumConcurrency: !Ref DeliveryConcurrency }]"
    )
    assert idle.defaults(Template(text.replace(bounded, ""))) == Parameters(pollers=2)


def test_more_memory_of_tick_costs_more() -> None:
    small, large = (idle.tick_gb_s(MEASURED, memory_mb) for memory_mb in (256, 1_024))
    assert small < large


def test_a_longer_retention_of_logs_costs_more() -> None:
    text = FILE.read_text(encoding="utf-8").replace(
        "LogRetentionDays:\n    Type: Number\n    Default: 30", "LogRetentionDays:\n    Default: 365"
    )
    longer = lines(idle.defaults(Template(text)), Template(text))
    assert units(longer, prices.LOG_STORAGE) > 10 * units(lines(Parameters()), prices.LOG_STORAGE)


def test_two_pollers_cost_two_fifths_of_five_pollers() -> None:
    few = lines(replace(Parameters(), pollers=idle.POLLERS_MIN))
    assert units(few, prices.SQS_REQUESTS) == pytest.approx(
        0.4 * units(lines(Parameters()), prices.SQS_REQUESTS)
    )


def test_a_stack_that_is_switched_off_has_no_pollers_no_wake_ups_and_reads_no_shard() -> None:
    on, off = lines(Parameters(shards=4)), lines(Parameters(shards=4, is_enabled=False))
    assert units(off, prices.SQS_REQUESTS) == 0
    assert units(off, prices.INVOCATIONS) == pytest.approx(730 * 60 * MEASURED.idle.invocations)
    assert units(off, prices.READS) < units(on, prices.READS)
    assert units(off, prices.WRITES) == units(on, prices.WRITES), "the heartbeat goes on"
