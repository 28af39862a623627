"""What a million triggers and an idle month cost: the sums, and what each choice changes."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from infra.calculator import capacity, cost

from sweephand_engine.costs import bill as bills
from sweephand_engine.costs import measured, prices
from sweephand_engine.costs.bill import DELIVERY, PARTS, Bill, Case, Parameters, eventbridge, scheduler
from sweephand_engine.costs.measured import BatchCount, Count, Handling, Measured, Usage
from sweephand_engine.costs.prices import MILLION, Line, by_part, total
from sweephand_engine.costs.template import FILE, Template, template


def counted(kind: str, rate: float | None, *, per_minute: int = 60, writes: float = 0.5) -> Count:
    return Count(
        kind=kind,
        rate=rate,
        triggers=600,
        per_minute=per_minute,
        writes=writes,
        reads=1.5,
        messages=0.5,
        sends=0.05,
        jobs_bytes=500,
        timers_bytes=60,
        sweep_cpu_ms=0.5,
    )


COUNTS = [
    counted("recurring", 1.0),
    counted("recurring", 20.0, per_minute=1_200, writes=0.1),
    counted("recurringWithHistory", 20.0, per_minute=1_200, writes=1.1),
    counted("oneOffInBulk", 20.0, writes=1.1),
    counted("oneOffSingly", 20.0, writes=2.1),
    *(counted("recurring", None, per_minute=herd, writes=0.2) for herd in (1, 3, 10, 60, 1_000)),
]

MEASURED = Measured(
    when={},
    counts=COUNTS,
    idle=Usage(writes=1, reads=2, invocations=1, sweep_cpu_ms=5),
    handling=Handling(
        deliver_call_ms=1,
        deliver_trigger_ms=0.3,
        history_ms=0.6,
        tls_ms=0.7,
        put_ms=2,
        bulk_job_ms=0.7,
        log_call_bytes=700,
        log_trigger_bytes=6,
        api_log_bytes=500,
        request_bytes=500,
        metrics=2,
    ),
    batches=[
        BatchCount(limit=None, rate=100, events=1_000, writes=0.004, reads=0.05, sqs=0.1, invocations=0.05),
        BatchCount(limit=20, rate=None, events=1_000, writes=0.2, reads=3.0, sqs=0.2, invocations=0.05),
    ],
    sweeper=[],
    function_cpu_us=1_000,
)


#: The bill from the points that docs/cost.md and docs/capacity.md show.
OF_PAGE = Bill(measured.load(), template())


@pytest.fixture(scope="module")
def bill() -> Bill:
    return Bill(MEASURED, template())


def priced(lines: Sequence[Line], price: prices.Price) -> float:
    return sum(each.units for each in lines if each.price == price)


CASES = [
    Case(rate=1.0),
    Case(rate=20.0, keeps_history=True),
    Case(herd=10),
    Case(kind="oneOffInBulk", rate=20.0),
    Case(kind="oneOffSingly", rate=20.0),
]


@pytest.mark.parametrize("case", CASES)
def test_the_total_is_the_sum_of_the_parts_that_the_page_shows(bill: Bill, case: Case) -> None:
    lines = bill.lines(case)
    assert set(by_part(lines)) <= set(PARTS)
    assert total(lines) == pytest.approx(sum(by_part(lines).values()))


@pytest.mark.parametrize("case", CASES)
def test_no_part_holds_one_price_twice(bill: Bill, case: Case) -> None:
    named = [(each.part, each.price) for each in bill.lines(case)]
    assert len(named) == len(set(named))
    assert all(each.units >= 0 for each in bill.lines(case))


def test_the_bill_takes_its_units_from_the_counts(bill: Bill) -> None:
    lines = bill.lines(Case(rate=20.0))
    assert priced(lines, prices.WRITES) == pytest.approx(0.1 * MILLION)
    assert priced(lines, prices.READS) == pytest.approx(1.5 * MILLION)


def test_each_call_of_the_delivery_function_costs_a_receive_and_a_delete(bill: Bill) -> None:
    lines, calls = bill.lines(Case(rate=20.0)), bill.polled(Case(rate=20.0)).calls
    assert priced(lines, prices.INVOCATIONS) == pytest.approx(calls * MILLION)
    assert priced(lines, prices.SQS_REQUESTS) == pytest.approx((0.05 + 2 * calls) * MILLION)


def test_the_time_of_the_delivery_function_is_billed_by_its_memory(bill: Bill) -> None:
    case = Case(rate=20.0)
    gb_s = bill.polled(case).billed_s * template().memory_mb("Deliver") / 1024
    assert by_part(bill.lines(case))[DELIVERY] == pytest.approx(prices.GB_SECOND.of(gb_s * MILLION))


def test_triggers_that_are_due_together_cost_less_than_those_that_are_spread(bill: Bill) -> None:
    assert total(bill.lines(Case(herd=60))) < total(bill.lines(Case(rate=1.0)))
    assert total(bill.lines(Case(herd=1_000))) < total(bill.lines(Case(rate=20.0)))


def test_history_adds_a_write_its_storage_and_a_little_time(bill: Bill) -> None:
    case = Case(rate=20.0)
    plain, kept = bill.lines(case), bill.lines(replace(case, keeps_history=True))
    assert priced(kept, prices.WRITES) - priced(plain, prices.WRITES) == pytest.approx(1.0 * MILLION)
    assert priced(kept, prices.READS) == priced(plain, prices.READS)
    assert priced(kept, prices.STORAGE) > priced(plain, prices.STORAGE)
    assert 0.625 < of_history(bill, case) < 0.70


def of_history(bill: Bill, case: Case) -> float:
    """Dollars a million that a history adds, of the parts that the design's aims count."""
    return bill.dollars(replace(case, keeps_history=True), bills.OF_AIM) - bill.dollars(case, bills.OF_AIM)


#: The aims of the design in dollars a million. A consumer takes 0.2 s, and without more no history is kept.
AIMS = {Case(rate=rate): aim for rate, aim in ((1.0, 3.0), (5.0, 1.6), (20.0, 0.80), (100.0, 0.55))}
AIMS |= {Case(herd=1_000): 0.33, Case(kind="oneOffInBulk", herd=1_000): 1.10}


def test_the_measured_points_are_within_the_aims_of_the_design() -> None:
    assert [each for each, aim in AIMS.items() if round(OF_PAGE.dollars(each, bills.OF_AIM), 2) > aim] == []
    assert round(of_history(OF_PAGE, Case(rate=100.0)), 2) <= 0.65
    assert round(total(OF_PAGE.idle()), 2) <= 0.45


@pytest.mark.parametrize("kind", [capacity.RECURRING, capacity.ONE_OFF])
def test_a_herd_of_100_000_is_sent_at_20_000_a_second_and_in_a_minute_after_an_idle_hour(kind: str) -> None:
    usually_s, after_idle_s = capacity.swept_after_s(OF_PAGE.measured, template(), kind)
    assert usually_s <= 100_000 / 20_000
    assert after_idle_s <= 60


def test_a_slower_consumer_costs_more_time_and_nothing_else(bill: Bill) -> None:
    quick, slow = (by_part(bill.lines(Case(rate=1.0, answer_s=each))) for each in (0.05, 2.0))
    assert slow[DELIVERY] > quick[DELIVERY] + 1.9 * 0.2 * 13.3334 * template().memory_mb("Deliver") / 1024
    # A poller that is busy finds more messages afterwards. So the other parts cost at most as much.
    assert sum(slow.values()) - slow[DELIVERY] <= sum(quick.values()) - quick[DELIVERY] + 0.001


def test_a_bulk_call_shares_its_request_among_a_hundred_jobs(bill: Bill) -> None:
    singly, bulk = (bill.lines(Case(kind=each, rate=20.0)) for each in ("oneOffSingly", "oneOffInBulk"))
    assert priced(singly, prices.HTTP_API) == MILLION
    assert priced(bulk, prices.HTTP_API) == MILLION / 100
    assert priced(bill.lines(Case(rate=20.0)), prices.HTTP_API) == 0


def test_a_rate_between_two_counted_ones_has_the_units_of_the_lower_one(bill: Bill) -> None:
    assert priced(bill.lines(Case(rate=5.0)), prices.WRITES) == pytest.approx(0.5 * MILLION)
    assert priced(bill.lines(Case(rate=100.0)), prices.WRITES) == pytest.approx(0.1 * MILLION)


def test_eventbridge_scheduler_costs_the_same_at_any_rate() -> None:
    assert total(eventbridge()) == pytest.approx(2.20)


def test_sweephand_costs_less_than_eventbridge_from_the_rate_that_the_page_names(bill: Bill) -> None:
    rate = cost.cheaper_from(bill)
    assert 1.0 < rate < 20.0
    slow, fast = (Case(rate=each, keeps_history=True) for each in (1.0, 20.0))
    assert total(bill.lines(slow)) > total(eventbridge()) > total(bill.lines(fast))
    assert cost.cheaper_from(bill, with_idle=True) > rate
    assert cost.cheaper_from(bill, keeps_history=False) < rate


def test_a_rate_at_which_nothing_is_cheaper_is_infinite(bill: Bill) -> None:
    assert total(scheduler()) == pytest.approx(1.00)
    kept = total(bill.lines(Case(rate=1_000.0, keeps_history=True)))
    assert (cost.cheaper_from(bill, to_webhook=False) == math.inf) == (kept > total(scheduler()))


def test_a_month_with_free_tiers_costs_no_more_than_one_without(bill: Bill) -> None:
    for rate in (0.1, 1.0, 100.0):
        ours, plain, theirs, direct, ours_free, theirs_free = cost.month(bill, rate)
        assert plain < ours
        assert direct < theirs
        assert 0 <= ours_free <= ours
        assert 0 <= theirs_free <= theirs


def idle(parameters: Parameters | None = None, of: Template | None = None) -> list[Line]:
    return Bill(MEASURED, of or template()).idle(parameters)


def test_each_of_five_pollers_sends_three_requests_a_minute_and_two_send_two_fifths_of_that() -> None:
    assert priced(idle(), prices.SQS_REQUESTS) == 5 * 3 * 730 * 60
    assert priced(idle(Parameters(pollers=2)), prices.SQS_REQUESTS) == 2 * 3 * 730 * 60


def test_alarms_cost_ten_cents_a_month_for_each_metric_that_they_read() -> None:
    alarmed = idle(Parameters(has_alarms=True))
    assert priced(alarmed, prices.ALARMS) == 14
    assert total(alarmed) - total(idle()) == pytest.approx(1.40)


def test_a_shard_costs_a_read_each_minute() -> None:
    assert priced(idle(Parameters(shards=4)), prices.READS) - priced(idle(), prices.READS) == 3 * 730 * 60


def test_snapshots_are_billed_by_the_memory_of_their_functions() -> None:
    memory_mb = template().memory_mb("Api") + template().memory_mb("Authorizer")
    found = priced(idle(Parameters(has_snapshots=True)), prices.SNAPSHOT_GB_SECOND)
    assert found == pytest.approx(memory_mb / 1024 * 730 * 3_600)


def test_the_defaults_of_the_template_have_one_shard_no_alarms_and_no_snapshots() -> None:
    assert bills.defaults(template()) == Parameters()


def test_another_default_in_the_template_changes_the_bill() -> None:
    text = FILE.read_text(encoding="utf-8")
    more = text.replace(
        'AlarmTopicArn:\n    Type: String\n    Default: ""', "AlarmTopicArn:\n    Default: arn"
    )
    assert bills.defaults(Template(more)) == Parameters(has_alarms=True)
    bounded = (
        "ScalingConfig: !If [HasPollers, !Ref AWS::NoValue, { MaximumConcurrency: !Ref DeliveryConcurrency }]"
    )
    assert bills.defaults(Template(text.replace(bounded, ""))) == Parameters(pollers=2)


def test_more_memory_of_tick_costs_more(bill: Bill) -> None:
    assert bill.tick_gb_s(256) < bill.tick_gb_s(1_024)


def test_a_longer_retention_of_logs_costs_more() -> None:
    text = FILE.read_text(encoding="utf-8").replace(
        "LogRetentionDays:\n    Type: Number\n    Default: 30", "LogRetentionDays:\n    Default: 365"
    )
    longer = idle(of=Template(text))
    assert priced(longer, prices.LOG_STORAGE) > 10 * priced(idle(), prices.LOG_STORAGE)


def test_a_stack_that_is_switched_off_has_no_pollers_no_wake_ups_and_reads_no_shard() -> None:
    on, off = idle(Parameters(shards=4)), idle(Parameters(shards=4, is_enabled=False))
    assert priced(off, prices.SQS_REQUESTS) == 0
    assert priced(off, prices.INVOCATIONS) == pytest.approx(730 * 60 * MEASURED.idle.invocations)
    assert priced(off, prices.READS) < priced(on, prices.READS)
    assert priced(off, prices.WRITES) == priced(on, prices.WRITES), "the heartbeat goes on"
