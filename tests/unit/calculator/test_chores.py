"""What work besides triggers costs: the requests that are counted, and their price."""

from collections import Counter
from collections.abc import Callable

import pytest
from infra.calculator import chores, cost
from tests.fakes.dynamodb import FakeDynamoDB
from tests.fakes.engines import on_fake
from tests.fakes.faults import calls_of
from tests.fakes.time_off import time_off
from tests.fakes.world import NOON, World
from tests.unit.calculator.test_bill import MEASURED

from sweephand.base.instants import DAY_MS, MINUTE_MS
from sweephand.model.counters import Stats
from sweephand.model.timer import StoredTimer, WatchTimer
from sweephand.storage.counters import STATS_PARTITIONS
from sweephand.storage.jobs import LISTING_SHARDS
from sweephand.storage.timers import _item
from sweephand_engine.costs import prices
from sweephand_engine.costs.bill import Bill, Case
from sweephand_engine.costs.prices import total
from sweephand_engine.costs.template import template

BILL = Bill(MEASURED, template())
UNIT_BYTES = 1_024

#: Eight jobs of usual size are read by one query of a page, for two read units.
LISTED = LISTING_SHARDS * 2 / 100


def asked(world: World, task: Callable[[], object]) -> list[str]:
    return [each.removeprefix("before ") for each in calls_of(world, task) if each.startswith("before")]


def hundred_jobs() -> World:
    world = World(shards=1)
    for number in range(100):
        world.put(f"job-{number:02d}", schedule="@every 3h")
    return world


def is_a_unit(timer: StoredTimer) -> bool:
    """A timer is one write unit up to 1 KB."""
    return len(str(_item(timer).serialize())) < UNIT_BYTES


def test_an_audit_of_a_page_of_jobs_makes_the_requests_that_the_page_counts() -> None:
    world = hundred_jobs()
    world.run_until(NOON + 4 * 3_600_000)
    assert asked(world, world.audit_jobs) == [
        # Once for each namespace.
        "policies.page",
        "jobs.page",
        # Once in a call for each shard.
        "leases.state",
        "timers.page",
        # A read unit for each timer, and one for each 4 KB of packs.
        "timers.missing",
        # One query for each job.
        "runs.newest",
    ]
    assert chores.AUDIT_READS == LISTED + 1 + 1


def test_a_rebuild_of_a_page_of_jobs_makes_the_requests_that_the_page_counts() -> None:
    world = hundred_jobs()
    world.lose_timers()
    calls = asked(world, lambda: world.api().rebuilder.rebuild(NOON, namespace="ns"))
    assert calls == ["jobs.page", "leases.raise_shards", "timers.put", *["runs.page"] * 100]
    timers = world.timers.everything()
    assert len(timers) == 100 * chores.REBUILD_WRITES
    assert all(map(is_a_unit, timers))
    assert chores.REBUILD_READS == LISTED + 1


def test_a_check_of_a_watch_makes_the_requests_that_the_page_counts() -> None:
    world = World(shards=1)
    alert = {"type": "http", "url": "https://ops.example/alert"}
    world.put(schedule="@every 3h", alertAfter="10m", onAlert=alert)
    at = NOON + 190 * MINUTE_MS
    world.run_until(at - 3 * MINUTE_MS)
    (before,) = (each for each in world.timers.everything() if isinstance(each, WatchTimer))
    swept = asked(world, lambda: world.run_until(at - MINUTE_MS))
    assert [each for each in swept if each in ("timers.put", "queue.send")] == ["timers.put", "queue.send"]
    assert swept.count("jobs.briefs") == chores.CHECK_WRITES == 1
    assert asked(world, lambda: world.run_until(at + MINUTE_MS, ticking=False)) == ["jobs.get", "runs.page"]
    assert is_a_unit(before)


def test_a_tick_of_a_stack_that_is_off_makes_the_requests_that_the_page_counts() -> None:
    world = World(shards=1)
    world.is_enabled = False
    for number in range(chores.RENEWED_IN_MINUTE + 50):
        world.put(f"job-{number:03d}", dueTime="1m")
    world.tick()
    world.clock.time = NOON + 2 * DAY_MS
    off_since = world.tick().off_since
    assert asked(world, lambda: time_off(world).keep(off_since, None)) == [
        "expiry.set",
        "stack_queues.names",
        # Ten messages at once, and once for each empty queue.
        *["stack_queues.renew"] * (chores.RENEWED_IN_MINUTE // 10 + 4),
    ]


def test_a_call_that_counts_its_deliveries_makes_one_request_more() -> None:
    def calls(*, counts: bool) -> Counter[str]:
        world = World(shards=1)
        world.counts_deliveries = counts
        for number in range(10):
            world.put(f"job-{number}", dueTime="10s")
        world.clock.time = NOON + 10_000
        batch = world.queue.take()
        return Counter(asked(world, lambda: world.deliver(batch)))

    assert calls(counts=True) - calls(counts=False) == Counter({"stats.add": chores.STATS_WRITES})


def test_the_counts_of_some_namespaces_fit_into_a_unit() -> None:
    dynamo = on_fake(FakeDynamoDB())
    counted = Stats(
        Counter({"succeeded": 1_234, "retrying": 12}), Counter({10: 40, 15: 400, 20: 700, 30: 90, 150: 4})
    )
    namespaces = {f"tenant-{number}": counted for number in range(chores.STATS_NAMESPACES)}
    dynamo.stores().stats.add(NOON, 0, namespaces, lambda: True)
    item = dynamo.table("jobs").get(("stats#0", f"{NOON:014d}"))
    assert item is not None
    # AWS counts the names of attributes, texts by bytes, and two digits of a number as a byte, and one more.
    size = sum(
        len(name) + (len(value["S"]) if "S" in value else len(value["N"]) // 2 + 2)
        for name, value in item.items()
    )
    assert UNIT_BYTES / 2 < size <= UNIT_BYTES
    assert 60 * STATS_PARTITIONS * UNIT_BYTES / (4 * UNIT_BYTES) == chores.STATS_READS_OF_HOUR


def test_full_calls_share_the_price_of_a_write() -> None:
    case = Case(rate=100.0)
    added = chores.stats(BILL, case)
    assert added == pytest.approx(BILL.polled(case).calls * prices.WRITES.dollars, rel=0.1)


@pytest.mark.parametrize(
    ("name", "more", "dollars", "of"),
    [
        ("AUDIT_READS", 1, 0.125, chores.audit),
        ("REBUILD_WRITES", 1, 0.625, chores.rebuild),
        ("REBUILD_READS", 1, 0.125, chores.rebuild),
        ("CHECK_WRITES", 1, 0.625, chores.checks),
        ("CHECK_READS", 8, 1.0, chores.checks),
    ],
)
def test_more_units_cost_more(
    monkeypatch: pytest.MonkeyPatch, name: str, more: float, dollars: float, of: Callable[[Bill], float]
) -> None:
    usual = of(BILL)
    monkeypatch.setattr(chores, name, getattr(chores, name) + more)
    assert of(BILL) == pytest.approx(usual + dollars)


def test_messages_of_a_stack_that_is_off_cost_their_requests() -> None:
    kept = chores.kept()
    assert kept["messages"] == pytest.approx(0.3 * 0.40 * 730 / 24 / 4)
    assert kept["queue"] == pytest.approx(30 * 60 * 730 * 0.40 / 1e6)


def test_a_million_events_cost_their_units_requests_and_calls_at_list_price() -> None:
    _, under = MEASURED.batches
    # 0.625 a million writes, 0.125 a million reads, 0.40 and 0.10 a million requests with a group, 0.20 a
    # million calls.
    dollars = 0.2 * 0.625 + 3.0 * 0.125 + 0.2 * 0.50 + 0.05 * 0.20
    assert total(chores.batch(under)) == pytest.approx(dollars)


def test_the_table_has_a_row_for_each_batch_with_its_limit_its_window_and_its_units() -> None:
    without, under = cost._batches(BILL)
    assert without.startswith("| no policy, over 10 s | **0.07** |")
    assert without.endswith("| 0.004 | 0.050 | 0.100 | 0.050 |")
    assert under.startswith("| `maxConcurrent` 20, at once | **0.61** |")


def test_a_flow_function_bills_each_event_a_tenth_of_its_request_if_all_permits_are_in_use() -> None:
    gb = BILL.template.memory_mb("Flow") / 1024
    assert chores.flow_time(BILL) == pytest.approx(1_000_000 * 0.01 * gb * 0.0000133334)
