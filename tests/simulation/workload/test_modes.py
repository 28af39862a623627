"""FIFO queues, slow connections and changes of mode are simulated in some seeds, and judged."""

from itertools import chain

import pytest
from tests.simulation.traces.doctored import complaints, with_
from tests.simulation.traces.stories import NOON
from tests.simulation.traces.stories_of_ends import TRIGGER, silent
from tests.simulation.traces.trace import (
    Dropped,
    Event,
    Requested,
    RunAnswered,
    Written,
)
from tests.simulation.workload.conftest import Worlds
from tests.simulation.workload.modes import Modes
from tests.simulation.world.network import Network
from tests.simulation.world.processes import Scheduler

from sweephand.base.instants import MINUTE_MS

#: This number of first seeds shows all of it.
SEEDS = range(80)


@pytest.fixture(scope="module")
def events(events_of: Worlds) -> list[Event]:
    """All events of the seeds with FIFO queues."""
    return list(chain.from_iterable(events_of(seed) for seed in SEEDS if Modes.of(seed).is_fifo))


def test_some_seeds_have_queues_and_some_slow_connections() -> None:
    modes = [Modes.of(seed) for seed in range(2_000)]
    assert 150 < sum(each.is_fifo for each in modes) < 250
    assert 100 < sum(each.is_slow for each in modes) < 220


def test_a_seed_without_queues_has_none(events_of: Worlds) -> None:
    without = next(seed for seed in range(9) if not Modes.of(seed).is_fifo)
    assert not [each for each in events_of(without) if isinstance(each, Dropped)]


def test_jobs_change_their_mode_and_queues_drop_messages_that_they_have_taken(events: list[Event]) -> None:
    targets = {each.definition["target"]["type"] for each in events if isinstance(each, Written)}
    assert targets == {"http", "sqs"}
    modes = {each.definition.get("completion") for each in events if isinstance(each, Written)}
    assert modes >= {"async", "sync"}
    assert any(isinstance(each, Dropped) for each in events)


def test_some_consumers_report_before_they_have_answered(events: list[Event]) -> None:
    left = {(each.uid, each.trigger_id): each.at for each in events if isinstance(each, Requested)}
    assert left
    reports = {each.asked.verb for each in events if isinstance(each, RunAnswered) and each.error is None}
    assert reports >= {"complete", "fail"}


def test_a_queue_may_drop_the_second_copy_of_an_attempt() -> None:
    again = [each for each in silent() if isinstance(each, Requested) and each.attempt == 2]
    uid, _, _ = TRIGGER.partition("-")
    dropped = Dropped(NOON + 400_000, "job", uid, TRIGGER, 2)
    assert complaints(with_(*again[:1], dropped)(silent())) == complaints(with_(*again[:1])(silent()))


def test_a_queue_remembers_an_id_for_five_minutes() -> None:
    scheduler = Scheduler(NOON)
    network = Network(scheduler, Modes.of(0), 0.0)
    assert not network.drops("one")
    scheduler.run(NOON + 5 * MINUTE_MS - 1)
    assert network.drops("one")
    assert not network.drops("another")
    scheduler.run(NOON + 5 * MINUTE_MS)
    assert not network.drops("one")
