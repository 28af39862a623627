"""The oracle takes what a loss of the Timers table has undone as never written, and nothing else."""

from collections.abc import Callable

import pytest
from tests.simulation.traces.broken_losses import AT_S, BEGUN_ANEW, BROKEN_LOSSES, REBUILT, lost
from tests.simulation.traces.doctored import Doctoring, complaints, with_
from tests.simulation.traces.stories import every_minute
from tests.simulation.traces.trace import Event


@pytest.mark.parametrize(("story", "mutation", "expected"), BROKEN_LOSSES)
def test_a_chain_that_ends_with_the_table_is_named(
    story: Callable[[], list[Event]], mutation: Doctoring, expected: str
) -> None:
    found = complaints(mutation(story()))
    assert any(expected in each for each in found), found


def test_a_rebuild_makes_the_chain_whole_and_cursors_begin_anew() -> None:
    assert complaints(every_minute()) == []
    assert complaints(with_(lost(AT_S), REBUILT, BEGUN_ANEW)(every_minute())) == []
