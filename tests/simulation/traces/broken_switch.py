"""Traces of stacks that go on while they are switched off."""

from collections.abc import Sequence
from typing import Final

from tests.simulation.traces.doctored import Broken, with_
from tests.simulation.traces.stories import NOON, every_minute
from tests.simulation.traces.trace import Mishap


def switched_off(at_s: int, minutes: int) -> Mishap:
    """The deployment that switches the stack off for so long."""
    return Mishap(NOON + at_s * 1_000, f"switched off of {minutes * 60_000} ms", "the stack")


#: Each with a part of the complaint.
BROKEN_SWITCH: Final[Sequence[Broken]] = [
    (every_minute, with_(switched_off(400, 10)), "and the stack was off from"),
]
