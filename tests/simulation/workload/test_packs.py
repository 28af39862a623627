"""Which seeds have full packs, and that their sweepers stop within packs and within chunks."""

from tests.simulation.simulation import Result, run
from tests.simulation.traces.trace import CursorStored, TimerStored
from tests.simulation.workload.packs import FIRST_CROWDED, Packs

CROWDED = [seed for seed in range(FIRST_CROWDED, FIRST_CROWDED + 9) if Packs.of(seed).are_crowded][:3]


def test_some_seeds_have_a_crowd_of_jobs() -> None:
    found = [Packs.of(seed) for seed in range(2_000)]
    assert 120 < sum(each.are_crowded for each in found) < 240


def test_most_seeds_from_the_first_crowded_one_on_have_a_crowd_of_jobs() -> None:
    found = [Packs.of(seed) for seed in range(FIRST_CROWDED, FIRST_CROWDED + 200)]
    assert sum(each.are_crowded for each in found) > 150


def stops_within_packs(result: Result) -> int:
    return sum(isinstance(each, CursorStored) and each.entry != "" for each in result.events)


def test_a_crowd_fills_packs_and_turns_end_within_them() -> None:
    results = [run(seed) for seed in CROWDED]
    assert not [each.complaints for each in results if each.complaints]
    timers = [each for result in results for each in result.events if isinstance(each, TimerStored)]
    assert sum(each.entry != "" for each in timers) > len(timers) / 4
    assert sum(map(stops_within_packs, results)) > 20
