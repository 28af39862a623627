"""What an audit costs: the requests that are counted, and their price."""

import pytest
from infra.bill import audits
from infra.bill.lines import total
from infra.bill.template import template
from infra.bill.triggers import Bill
from tests.fakes.faults import calls_of
from tests.fakes.world import NOON, World
from tests.unit.bill.test_triggers import MEASURED

from sweephand.storage.jobs import LISTING_SHARDS

BILL = Bill(MEASURED, template())


def test_a_page_of_jobs_makes_the_requests_that_the_page_counts() -> None:
    world = World(shards=1)
    for number in range(100):
        world.put(f"job-{number:02d}", schedule="@every 3h")
    world.run_until(NOON + 4 * 3_600_000)
    calls = [each for each in calls_of(world, world.audit_jobs) if each.startswith("before")]
    assert calls == [
        # Once for each namespace.
        "before policies.page",
        "before jobs.page",
        # Once in a call for each shard.
        "before leases.state",
        "before timers.page",
        # A read unit for each timer, and one for each 4 KB of packs.
        "before timers.missing",
        *["before runs.page"] * 100,
    ]
    # Eight jobs of usual size are read by one query of a page, for two read units.
    assert audits.COUNT.reads == LISTING_SHARDS * 2 / 100 + 1 + 1


def test_more_reads_cost_more(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = total(audits.lines(BILL))
    monkeypatch.setattr(audits, "COUNT", audits.COUNT._replace(reads=audits.COUNT.reads + 1))
    assert total(audits.lines(BILL)) == pytest.approx(usual + 0.125)
