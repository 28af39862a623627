"""The oracle asks that nothing is swept and nothing is delivered while the stack is switched off."""

from tests.simulation.oracle.switch import REQUESTS_GO_ON_MS
from tests.simulation.traces.broken_switch import switched_off
from tests.simulation.traces.doctored import changed, complaints, of, with_
from tests.simulation.traces.stories import NOON, every_minute
from tests.simulation.traces.trace import CursorStored


def test_what_has_begun_may_end_after_the_stack_is_switched_off() -> None:
    begun = changed(of(CursorStored), tick_began_at=NOON + 299_000)
    is_over = complaints(begun(with_(switched_off(299, 2))(every_minute())))
    assert REQUESTS_GO_ON_MS > 60_000, "a trigger of the story is due within that time"
    assert not any("the stack was off" in each for each in is_over)


def test_a_tick_that_begins_after_the_stack_is_switched_off_sweeps_nothing() -> None:
    begun = changed(of(CursorStored), tick_began_at=NOON + 299_001)
    named = complaints(begun(with_(switched_off(299, 2))(every_minute())))
    assert sum("the cursor of shard 0 moved" in each for each in named) == 2
