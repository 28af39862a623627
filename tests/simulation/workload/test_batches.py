"""Which seeds have batches, and that batches are updated and paused in their middle."""

from collections import defaultdict

from tests.simulation.simulation import Result, run
from tests.simulation.traces.trace import Requested, TimerStored, Written
from tests.simulation.workload.batches import Batches
from tests.simulation.world.faults import FIRST_BATCHED, FIRST_FOR_WEEKS

#: Seeds in which clients change jobs in the middle of long batches.
SEEDS = [FIRST_BATCHED + each for each in (7, 9, 12, 17)]


def test_a_tenth_of_the_usual_seeds_has_batches() -> None:
    assert 120 < sum(Batches.of(seed).is_on for seed in range(2_000, 4_000)) < 240
    assert sum(Batches.of(seed).is_on for seed in range(FIRST_BATCHED, FIRST_BATCHED + 100)) > 90
    assert not any(Batches.of(seed).is_on for seed in (*range(2_000), FIRST_FOR_WEEKS))


def spans_of(result: Result) -> dict[tuple[str, int], tuple[int, int]]:
    """When the first and the last request of each batch left."""
    found: dict[tuple[str, int], list[int]] = defaultdict(list)
    for each in result.events:
        if isinstance(each, Requested) and not each.is_on_demand:
            found[each.uid, each.due_at].append(each.at)
    return {batch: (min(times), max(times)) for batch, times in found.items() if len(times) > 1}


def test_batches_span_buckets_and_jobs_change_in_their_middle() -> None:
    results = [run(seed) for seed in SEEDS]
    assert not [each.complaints for each in results if each.complaints]
    events = [each for result in results for each in result.events]
    indexes = [each.index for each in events if isinstance(each, Requested)]
    assert max(indexes) > 30
    changed = [
        write
        for result in results
        for (uid, _), (first, last) in spans_of(result).items()
        for write in result.events
        if isinstance(write, Written) and write.uid == uid and first < write.at < last
    ]
    assert {each.verb for each in changed} >= {"patch", "pause", "replace"}
    timers = [each for each in events if isinstance(each, TimerStored) and each.kind == "occurrence"]
    assert any(each.put_off_by_ms for each in timers)
