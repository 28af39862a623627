"""In some seeds jobs fire only on demand, by hand and in chains."""

from itertools import chain

import pytest
from tests.simulation.oracle.chains import CHAINED
from tests.simulation.traces.trace import Event, Requested, Written
from tests.simulation.workload.conftest import Worlds
from tests.simulation.workload.on_demand import OnDemand, is_on_demand, judged

#: Those among this number of first seeds show all of it.
SEEDS = [seed for seed in range(50) if OnDemand.of(seed).is_on and not OnDemand.of(seed).is_sparse]


@pytest.fixture(scope="module")
def events(events_of: Worlds) -> list[Event]:
    """All events of the seeds with jobs on demand."""
    return list(chain.from_iterable(map(events_of, SEEDS)))


def test_some_seeds_have_jobs_on_demand() -> None:
    assert 250 < sum(OnDemand.of(seed).is_on for seed in range(2_000)) < 450


def test_a_seed_without_jobs_on_demand_has_none(events_of: Worlds) -> None:
    without = next(seed for seed in range(9) if not OnDemand.of(seed).is_on)
    written = [each for each in events_of(without) if isinstance(each, Written)]
    assert written
    assert not [each for each in written if is_on_demand(each.definition)]


def test_jobs_on_demand_fire_only_by_hand_and_in_chains_and_some_have_a_ttl(events: list[Event]) -> None:
    written = [each for each in events if isinstance(each, Written)]
    on_demand = {(each.uid, each.rev) for each in written if is_on_demand(each.definition)}
    kinds = {
        kind
        for each in events
        if isinstance(each, Requested) and (each.uid, each.rev) in on_demand
        for kind in ("-manual-", CHAINED, "-backfill-")
        if kind in each.trigger_id
    }
    assert kinds == {"-manual-", CHAINED}
    assert {"ttl" in each.definition for each in written if is_on_demand(each.definition)} == {True, False}


def test_some_jobs_lose_their_schedule_and_some_jobs_on_demand_get_one(events: list[Event]) -> None:
    written = [each for each in events if isinstance(each, Written)]
    last: dict[str, bool] = {}
    turned = set()
    for each in written:
        now = is_on_demand(each.definition)
        if each.uid in last and last[each.uid] != now:
            turned.add(now)
        last[each.uid] = now
    assert turned == {True, False}


def test_clients_ask_nothing_of_jobs_on_demand_that_the_api_refuses() -> None:
    assert judged({"target": {}, "catchup": {}, "deleteAfterCompletion": True}) == {"target": {}}
    assert judged({"dueTime": "1h", "catchup": {}}) == {"dueTime": "1h", "catchup": {}}
