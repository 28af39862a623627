"""What a rebuild costs: the requests that are counted, and their price."""

import pytest
from infra.bill import rebuilds
from infra.bill.lines import total
from infra.bill.template import template
from infra.bill.triggers import Bill
from tests.fakes.faults import calls_of
from tests.fakes.world import NOON, World
from tests.unit.bill.test_triggers import MEASURED

from sweephand.storage.jobs import LISTING_SHARDS
from sweephand.storage.timers import _item

BILL = Bill(MEASURED, template())


def test_a_page_of_jobs_makes_the_requests_that_the_page_counts() -> None:
    world = World(shards=1)
    for number in range(100):
        world.put(f"job-{number:02d}", schedule="@every 3h")
    world.lose_timers()
    calls = [
        each
        for each in calls_of(world, lambda: world.repair().rebuilder.rebuild(NOON, namespace="ns"))
        if each.startswith("before")
    ]
    assert calls == [
        "before jobs.page",
        "before leases.raise_shards",
        "before timers.put",
        *["before runs.page"] * 100,
    ]
    assert len(world.timers.everything()) == 100 * rebuilds.COUNT.writes
    # A timer is one write unit up to 1 KB.
    assert all(len(str(_item(each).serialize())) < 1_024 for each in world.timers.everything())
    # Eight jobs of usual size are read by one query of a page, for two read units.
    assert rebuilds.COUNT.reads == LISTING_SHARDS * 2 / 100 + 1


def test_more_timers_cost_more(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = total(rebuilds.lines(BILL))
    monkeypatch.setattr(rebuilds, "COUNT", rebuilds.COUNT._replace(writes=2.0))
    assert total(rebuilds.lines(BILL)) == pytest.approx(usual + 0.625)
