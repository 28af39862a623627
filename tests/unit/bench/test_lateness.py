"""The lateness benchmark attributes each trigger to the tick that reached it."""

from infra.bench.consumer import Arrival
from infra.bench.lateness import PHASES_MS, Tick, by_phase, reaching

from sweephand.base.instants import MINUTE_MS

NOON = 1_795_262_400_000


def test_a_trigger_is_attributed_to_the_first_tick_that_reads_as_far_as_its_due_time() -> None:
    woken = [Tick(NOON + 5, 0), Tick(NOON + MINUTE_MS + 59_800, 59_800)]
    assert reaching(woken, NOON + 3 * MINUTE_MS - 1) == woken[0]
    assert reaching(woken, NOON + 3 * MINUTE_MS) == woken[1]
    assert reaching(woken, NOON + 4 * MINUTE_MS) is None


def test_lateness_is_reported_for_each_phase_of_the_tick() -> None:
    woken = [Tick(NOON, 0), Tick(NOON + MINUTE_MS + 20_000, 20_000)]
    dues = [NOON + 2 * MINUTE_MS, NOON + 3 * MINUTE_MS]
    arrivals = [
        Arrival(str(due_at), "ns", "job", 1, due_at, due_at + late_ms)
        for due_at, late_ms in zip(dues, (7, 700), strict=True)
    ]
    found = by_phase({("job", due_at) for due_at in dues}, arrivals, woken)
    assert {phase_ms: each.max_ms for phase_ms, each in found.items()} == {0: 7, 20_000: 700}


def test_the_phases_include_a_tick_that_starts_after_the_end_of_its_minute() -> None:
    last, slipped = PHASES_MS.index(59_800), PHASES_MS.index(60_300)
    assert slipped == last + 1
    assert PHASES_MS[0] == 0
