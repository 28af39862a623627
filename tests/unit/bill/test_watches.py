"""What a check of a watch costs: the requests that are counted, and their price."""

import pytest
from infra.bill import watches
from infra.bill.lines import total
from infra.bill.template import template
from infra.bill.triggers import Bill
from tests.fakes.faults import calls_of
from tests.fakes.world import NOON, World
from tests.unit.bill.test_triggers import MEASURED

from sweephand.model.timer import WatchTimer
from sweephand.storage.timers import _item

BILL = Bill(MEASURED, template())
MINUTE = 60_000


def watched() -> World:
    world = World(shards=1)
    alert = {"type": "http", "url": "https://ops.example/alert"}
    world.put(schedule="@every 3h", alertAfter="10m", onAlert=alert)
    return world


def test_a_check_makes_the_requests_that_the_page_counts() -> None:
    world = watched()
    at = NOON + 190 * MINUTE
    world.run_until(at - 3 * MINUTE)
    (before,) = (each for each in world.timers.everything() if isinstance(each, WatchTimer))
    swept = calls_of(world, lambda: world.run_until(at - MINUTE))
    assert [each for each in swept if each in ("before timers.put", "before queue.send")] == [
        "before timers.put",
        "before queue.send",
    ]
    assert swept.count("before jobs.briefs") == 1
    checked = calls_of(world, lambda: world.run_until(at + MINUTE, ticking=False))
    assert [each for each in checked if each.startswith("before")] == [
        "before jobs.get",
        "before runs.page",
    ]
    # A timer is one write unit up to 1 KB.
    assert len(str(_item(before).serialize())) < 1_024


def test_more_reads_cost_more(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = total(watches.lines(BILL))
    monkeypatch.setattr(watches, "COUNT", watches.COUNT._replace(reads=watches.COUNT.reads + 8))
    assert total(watches.lines(BILL)) == pytest.approx(usual + 1.0)


def test_a_month_has_as_many_checks_as_minutes() -> None:
    assert float(watches.month(BILL, 1)) == pytest.approx(total(watches.lines(BILL)) * 0.0438, abs=0.01)
