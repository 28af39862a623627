"""What counting deliveries costs: the requests that are counted, and their price."""

from collections import Counter

import pytest
from infra.bench import prices
from infra.bill import stats
from infra.bill.lines import total
from infra.bill.template import template
from infra.bill.triggers import Bill, Case
from tests.fakes.dynamodb import FakeDynamoDB
from tests.fakes.engines import on_fake
from tests.fakes.faults import calls_of
from tests.fakes.world import NOON, World
from tests.unit.bill.test_triggers import MEASURED

from sweephand.model.stats import Stats
from sweephand.storage.stats import STATS_PARTITIONS

BILL = Bill(MEASURED, template())
UNIT_BYTES = 1_024


def test_a_call_makes_one_request_more() -> None:
    def calls(*, counts: bool) -> Counter[str]:
        world = World(shards=1)
        world.counts_deliveries = counts
        for number in range(10):
            world.put(f"job-{number}", dueTime="10s")
        world.clock.time = NOON + 10_000
        batch = world.queue.take()
        made = calls_of(world, lambda: world.deliver(batch))
        return Counter(each for each in made if each.startswith("before"))

    assert calls(counts=True) - calls(counts=False) == Counter({"before stats.add": stats.WRITES_OF_CALL})


def test_the_counts_of_some_namespaces_fit_into_a_unit() -> None:
    dynamo = on_fake(FakeDynamoDB())
    counted = Stats(
        Counter({"succeeded": 1_234, "retrying": 12}), Counter({10: 40, 15: 400, 20: 700, 30: 90, 150: 4})
    )
    namespaces = {f"tenant-{number}": counted for number in range(stats.NAMESPACES_OF_UNIT)}
    dynamo.stores().stats.add(NOON, 0, namespaces, lambda: True)
    item = dynamo.table("jobs").get(("stats#0", f"{NOON:014d}"))
    assert item is not None
    # AWS counts the names of attributes, texts by bytes, and two digits of a number as a byte, and one more.
    size = sum(
        len(name) + (len(value["S"]) if "S" in value else len(value["N"]) // 2 + 2)
        for name, value in item.items()
    )
    assert UNIT_BYTES / 2 < size <= UNIT_BYTES
    minutes_of_hour = 60 * STATS_PARTITIONS
    assert minutes_of_hour * UNIT_BYTES / (4 * UNIT_BYTES) == stats.READS_OF_HOUR


def test_full_calls_share_the_price_of_a_write() -> None:
    case = Case(rate=100.0)
    added = total(stats.lines(BILL, case))
    assert added == pytest.approx(BILL.polled(case).calls * prices.WRITES.dollars, rel=0.1)
