"""Calls that write many jobs are simulated: every answer, lost answers, packs, and production adapters."""

from collections.abc import Sequence
from itertools import chain

import pytest
from tests.simulation.traces.bulk_answers import BulkWriteAnswered, EntryAnswered
from tests.simulation.traces.trace import Event, Mishap, TimerStored, Written
from tests.simulation.workload.bulk_writes import FIRST_TOGETHER, BulkWrites
from tests.simulation.workload.conftest import Worlds
from tests.simulation.workload.quotas import FIRST_WITH_QUOTAS, Quotas
from tests.simulation.world.faults import FIRST_BATCHED

#: This number of first seeds shows all of it.
SEEDS = range(FIRST_TOGETHER, FIRST_TOGETHER + 24)


@pytest.fixture(scope="module")
def worlds(events_of: Worlds) -> list[Sequence[Event]]:
    """The events of each seed."""
    return list(map(events_of, SEEDS))


@pytest.fixture(scope="module")
def answers(worlds: list[Sequence[Event]]) -> list[BulkWriteAnswered]:
    """What every call was answered."""
    return [each for each in chain.from_iterable(worlds) if isinstance(each, BulkWriteAnswered)]


def test_one_usual_seed_in_sixteen_has_such_calls_and_most_seeds_of_their_own_do() -> None:
    assert 80 < sum(BulkWrites.of(seed).is_on for seed in range(2_000)) < 160
    dedicated = [BulkWrites.of(seed) for seed in range(FIRST_TOGETHER, FIRST_TOGETHER + 200)]
    assert sum(each.is_on for each in dedicated) > 160
    assert 10 < sum(each.are_on_wire for each in dedicated) < 60
    assert not BulkWrites.of(FIRST_BATCHED).is_on


def test_calls_are_of_all_sizes_up_to_a_hundred() -> None:
    calls = (BulkWrites.of(seed) for seed in range(FIRST_TOGETHER, FIRST_TOGETHER + 200))
    names = ((each, name) for each in calls for _, action, name in each.asked(0, 1) if action == "write many")
    sizes = [len(each.entries(name, 0)) for each, name in names]
    assert min(sizes) == 2
    assert max(sizes) == 100
    assert sum(size > 8 for size in sizes) < len(sizes) / 5


def test_data_over_the_limit_of_a_namespace_makes_an_entry_invalid() -> None:
    seeds = range(FIRST_WITH_QUOTAS, FIRST_WITH_QUOTAS + 400)
    calls = [BulkWrites.of(seed) for seed in seeds if BulkWrites.of(seed).is_on]
    found = {
        (Quotas.of(each.seed).payload_bytes_max is not None, entry.is_valid)
        for each in calls
        for call in range(3)
        for entry in each.entries(f"call-{call}", 0)
        if entry.name is not None and len(entry.document["data"]) > 2_000 and entry.is_read
    }
    assert found == {(True, False), (False, True)}


def test_a_client_sends_the_same_jobs_whenever_it_sends_a_call_again() -> None:
    calls = BulkWrites.of(next(seed for seed in SEEDS if BulkWrites.of(seed).is_on))
    assert calls.entries("call-1", 0) == calls.entries("call-1", 0) != calls.entries("call-0", 0)


def test_jobs_are_created_replaced_left_as_they_are_refused_and_not_written(
    answers: list[BulkWriteAnswered],
) -> None:
    entries = list(chain.from_iterable(each.entries for each in answers))
    written = set(chain.from_iterable(each.written for each in answers))
    assert any(each.status == 201 for each in entries)
    assert any(each.status == 200 and each.rev in written for each in entries)
    assert any(each.status == 200 and each.rev not in written for each in entries)
    assert any(each.is_refused for each in entries)
    assert any(each.status == 503 for each in entries)


def test_some_names_come_twice_in_one_call(answers: list[BulkWriteAnswered]) -> None:
    def twice(entries: tuple[EntryAnswered, ...]) -> bool:
        names = [each.name for each in entries if each.name is not None]
        return len(set(names)) < len(names)

    assert any(twice(each.entries) for each in answers)


def test_new_jobs_of_one_call_share_packs(worlds: list[Sequence[Event]]) -> None:
    packs: dict[tuple[int, str], set[str]] = {}
    for each in chain.from_iterable(worlds):
        if isinstance(each, TimerStored) and each.entry:
            packs.setdefault((each.shard, each.sort_key), set()).add(each.name)
    assert max(map(len, packs.values())) > 2


def test_some_new_jobs_lose_their_name_to_another_call_and_are_written_over_its_job(
    worlds: list[Sequence[Event]],
) -> None:
    assert sum(map(_lost, worlds)) > 2


def _lost(events: Sequence[Event]) -> int:
    """Return the number of orphans of calls that were answered: timers of jobs that were never written."""
    written = {each.uid for each in events if isinstance(each, Written)}
    orphans = [each for each in events if isinstance(each, TimerStored) and each.uid not in written]
    acknowledged = {
        each.name
        for answer in events
        if isinstance(answer, BulkWriteAnswered)
        for each in answer.entries
        if each.is_acknowledged
    }
    return sum(each.name in acknowledged for each in orphans)


def test_calls_meet_crashes_pauses_and_batches_that_are_answered_in_part(
    worlds: list[Sequence[Event]],
) -> None:
    mishaps = [
        each for each in chain.from_iterable(worlds) if isinstance(each, Mishap) and "api " in each.where
    ]
    kinds = {each.kind.partition(" of ")[0] for each in mishaps}
    assert {"kill", "throttle", "part", "loss", "repeat"} <= kinds
    assert {each.where.partition(" ")[2].partition(" ")[2] for each in mishaps} >= {
        "jobs.get_many",
        "timers.put",
        "jobs.put",
    }
