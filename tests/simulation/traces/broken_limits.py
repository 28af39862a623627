"""Traces of stacks that deliver more triggers than their limit allows."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from tests.simulation.traces.doctored import Broken, with_
from tests.simulation.traces.stories import NOON, every_minute, requested
from tests.simulation.traces.trace import LimitSet, Requested


def herd(size: int, due_s: int = 120) -> list[Requested]:
    """The requests of so many triggers of one job that leave at about one instant."""
    one = requested(due_s)
    return [replace(one, at=one.at + number, trigger_id=f"herd-{number}") for number in range(size)]


#: Each with a part of the complaint.
BROKEN_LIMITS: Final[Sequence[Broken]] = [
    (every_minute, with_(LimitSet(NOON, 5), *herd(40)), "and 5 a minute are allowed"),
]
