"""Traces of stacks in which a trigger of high priority waits for others."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from tests.simulation.oracle.lanes import LATE_MS_MAX
from tests.simulation.traces.doctored import Broken, changed, later, of, with_
from tests.simulation.traces.stories import every_minute
from tests.simulation.traces.trace import Event, Requested, Written

#: The trigger that is late, after noon.
_DUE_S: Final = 480


def delayed(by_ms: int, **fields: Any) -> list[Event]:
    """The story of a job with these fields, of which one trigger leaves so much later."""
    definition = {"schedule": "@every 60s", "data": '"x"', **fields}
    events = changed(of(Written), definition=definition)(every_minute())
    return later(of(Requested, due_s=_DUE_S), by_ms)(events)


#: Each with a part of the complaint.
BROKEN_LANES: Final[Sequence[Broken]] = [
    (partial(delayed, LATE_MS_MAX, priority="high"), with_(), "of high priority, left"),
]
