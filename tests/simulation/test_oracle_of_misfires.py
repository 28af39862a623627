"""A misfire is excused if a sweep recorded it while it was too late, although its timer was put off later."""

import pytest
from tests.simulation.oracle.jobs import SKEW_MS
from tests.simulation.oracle.oracle import judge
from tests.simulation.traces.doctored import of, without
from tests.simulation.traces.stories import NOON, THROUGH, in_order, misfire, put_off
from tests.simulation.traces.trace import Requested, RunStored

#: The window of the story's job.
WINDOW_MS = 120_000


def complaints(*, copied_s: int, late_ms: int) -> list[str]:
    """The oracle's complaints if a sweep recorded the occurrence of 5:00 as a misfire, and it was not run."""
    record = misfire(300, late_ms=late_ms)
    run_of_it = of(RunStored, run_id=record.run_id)
    kept = without(of(Requested, due_s=300), run_of_it)(put_off(copied_s=copied_s))
    return judge(in_order(kept, record), through=THROUGH, calm_at=NOON - 380_000)


def test_a_record_from_before_the_timer_was_put_off_is_believed() -> None:
    assert complaints(copied_s=500, late_ms=WINDOW_MS + 20_000) == []


@pytest.mark.parametrize(
    ("copied_s", "late_ms"),
    [
        # The sweep that recorded the misfire had the copy. Less its wait, the copy was not late.
        (180, WINDOW_MS + 20_000),
        # The occurrence was not late, by any clock.
        (500, WINDOW_MS - 2 * SKEW_MS),
    ],
)
def test_any_other_record_is_not(copied_s: int, late_ms: int) -> None:
    said = complaints(copied_s=copied_s, late_ms=late_ms)
    assert any("no request left for it" in each for each in said)
