"""Shrinks a seed: leaves out troubles, actions and minutes for as long as it still fails."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from tests.simulation.world.faults import KINDS, NO_MASK, Mask

#: Whether a seed still fails with a mask.
Fails = Callable[[Mask], bool]

#: How many runs shrinking may take: a few seconds.
RUNS_MAX: Final = 250

_MINUTES: Final = (1, 2, 3, 5, 8, 12)


@dataclass(slots=True)
class _Trying:
    """Counts the runs, and keeps the smallest mask that still fails."""

    fails: Fails
    best: Mask = NO_MASK
    runs: int = 0

    def try_(self, mask: Mask) -> bool:
        """Keep this mask if the seed still fails with it, and return whether it does."""
        if self.runs >= RUNS_MAX or mask == self.best:
            return False
        self.runs += 1
        if not self.fails(mask):
            return False
        self.best = mask
        return True


def shrunk(fails: Fails, actions: int) -> Mask:
    """Return the largest mask found with which the seed still fails. Its plan has that many `actions`."""
    trying = _Trying(fails)
    while True:
        before = trying.best
        _leave_out_minutes(trying)
        _leave_out_actions(trying, actions)
        for kind in KINDS:
            trying.try_(replace(trying.best, troubles=trying.best.troubles | {kind}))
        if trying.best == before:
            return trying.best


def _leave_out_minutes(trying: _Trying) -> None:
    for minutes in _MINUTES:
        if trying.best.minutes is not None and minutes >= trying.best.minutes:
            return
        if trying.try_(replace(trying.best, minutes=minutes)):
            return


def _leave_out_actions(trying: _Trying, actions: int) -> None:
    """Leave out halves of the actions, quarters and so on down to single ones, the last ones first."""
    size = actions
    while size >= 1:
        for some in _blocks(actions, size):
            if not some <= trying.best.actions:
                trying.try_(replace(trying.best, actions=trying.best.actions | some))
        size //= 2


def _blocks(count: int, size: int) -> Iterator[frozenset[int]]:
    for end in range(count, 0, -size):
        yield frozenset(range(max(0, end - size), end))
