"""Seeds with slow stores, backlogs in every shard, and timers that fail once are simulated."""

from tests.simulation.simulation import run
from tests.simulation.traces.trace import (
    CursorStored,
    Mishap,
    Requested,
    TimerStored,
)
from tests.simulation.workload.backlogs import Backlog
from tests.simulation.workload.conftest import Worlds
from tests.simulation.world.faults import NO_MASK, Troubles, is_backlogged

SEEDS = [seed for seed in range(400) if is_backlogged(seed)]


def test_a_few_seeds_have_a_backlog_and_no_trouble_beside_it() -> None:
    assert 4 <= len(SEEDS) <= 16
    backlogs = [Backlog.of(seed) for seed in SEEDS]
    assert {each.slow_ports for each in backlogs if each} == {
        ("queue",),
        ("timers", "leases", "jobs", "runs", "queue"),
    }
    assert {each.sweepers_max for each in backlogs if each} == {1, 4}
    kinds = {each.kind.split(" of ")[0] for each in run(SEEDS[0]).events if isinstance(each, Mishap)}
    assert {"no ticks", "slowness"} <= kinds <= {"no ticks", "slowness", "time limit"}


def test_where_there_is_a_backlog_every_shard_has_much_to_do_and_all_of_it_is_done() -> None:
    result = run(SEEDS[0])
    assert not result.complaints
    cursors = [each for each in result.events if isinstance(each, CursorStored)]
    assert len({each.shard for each in cursors}) >= 2
    late = [each for each in result.events if isinstance(each, Requested) and each.at > each.due_at + 60_000]
    assert len(late) > 100


def test_in_some_seeds_stores_are_slow_and_timers_fail_to_expand_once(events_of: Worlds) -> None:
    kinds: set[str] = set()
    put_off = 0
    for seed in range(30):
        troubles = Troubles.of(seed, NO_MASK)
        if not (troubles["stumbles"] or troubles["slow stores"]):
            continue
        events = events_of(seed)
        kinds |= {each.kind.split(" of ")[0] for each in events if isinstance(each, Mishap)}
        put_off += sum(isinstance(each, TimerStored) and each.put_off_by_ms > 0 for each in events)
    assert {"slowness", "stumble"} <= kinds
    assert put_off
