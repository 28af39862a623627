"""What keeping costs while the stack is switched off: the requests that are counted, and their price."""

import pytest
from infra.bill import keeping
from infra.bill.lines import total
from tests.fakes.faults import calls_of
from tests.fakes.time_off import keep
from tests.fakes.world import NOON, World

from sweephand.base.instants import DAY_MS
from sweephand.storage.jobs import LISTING_SHARDS


def test_a_round_makes_the_requests_that_the_page_counts() -> None:
    world = World(shards=1)
    world.namespaces.enlist("ns")
    for number in range(100):
        world.put(f"job-{number:02d}", schedule="@every 3h")
    world.is_enabled = False
    for number in range(20):
        world.trigger(f"job-{number:02d}")
    world.clock.time = NOON + 6 * DAY_MS
    before = len(world.queue.waiting)
    assert before == 20
    calls = [each for each in calls_of(world, lambda: keep(world, NOON)) if each.startswith("before")]
    assert calls == [
        "before keep_rounds.get",
        "before keep_rounds.put",
        "before leases.state",
        "before timers.ending",
        *["before timers.keep"] * 100,
        "before kept_queues.names",
        # Once for each empty queue, and once more for the one that has messages.
        *["before kept_queues.renew"] * (4 + 2),
        "before namespaces.page",
        "before policies.page",
        "before namespaces.page",
        "before jobs.page",
        *["before runs.page"] * 100,
        "before payloads.page",
        "before keep_rounds.put",
    ]
    # Eight jobs of usual size are read by one query of a page, for two read units.
    assert keeping.COUNT.job_reads == LISTING_SHARDS * 2 / 100 + 1


def test_a_timer_is_written_in_every_second_round() -> None:
    world = World(shards=1)
    world.put(dueTime="1h")
    world.is_enabled = False
    written = []
    for number in range(8):
        world.clock.time = NOON + (6 + 4 * number) * DAY_MS
        kept = keep(world, NOON)
        assert kept is not None
        written.append(kept.timers)
    assert written == [1, 0] * 4
    assert keeping.COUNT.timer_writes == sum(written) / len(written)


def test_more_requests_cost_more(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = total(keeping.of_messages())
    monkeypatch.setattr(keeping, "COUNT", keeping.COUNT._replace(message_requests=6 / 10))
    assert total(keeping.of_messages()) == pytest.approx(2 * usual)
