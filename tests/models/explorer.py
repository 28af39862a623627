"""Visits every state that a small world can reach, and shows the shortest way to a fault."""

from array import array
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

State = TypeVar("State", bound=Hashable)

STUCK = "no step is possible, and the world is not done"
HOPELESS = "the world cannot be done any more"
TOO_MANY = "too many states"


class Model(Protocol[State]):
    """A world whose steps may come in any order."""

    def start(self) -> State:
        """The state in which the world begins."""

    def steps(self, state: State) -> Iterable[tuple[str, State]]:
        """Each step that is possible now: what happens, and the state after it."""

    def complaint(self, state: State) -> str | None:
        """The promise that this state breaks, or None."""

    def is_done(self, state: State) -> bool:
        """Whether everything that was promised has happened."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The number of states, and the first complaint with the steps that lead to it."""

    states: int
    complaint: str | None = None
    trace: Sequence[str] = ()


class _Visited(Generic[State]):
    """The states that were met, each with the step by which it was met first."""

    def __init__(self, start: State) -> None:
        self.states = [start]
        self._numbers = {start: 0}
        self._first_steps = [(0, "")]
        #: For each state, the states from which a step leads to it.
        self._sources = [array("I")]

    def add(self, source: int, label: str, state: State) -> None:
        number = self._numbers.setdefault(state, len(self.states))
        if number == len(self.states):
            self.states.append(state)
            self._first_steps.append((source, label))
            self._sources.append(array("I"))
        self._sources[number].append(source)

    def trace(self, number: int) -> Sequence[str]:
        labels = []
        while number:
            number, label = self._first_steps[number]
            labels.append(label)
        return labels[::-1]

    def without_way_to(self, ends: list[int]) -> int | None:
        """The first state from which no way leads to one of these."""
        leads = bytearray(len(self.states))
        for end in ends:
            leads[end] = True
        while ends:
            for source in self._sources[ends.pop()]:
                if not leads[source]:
                    leads[source] = True
                    ends.append(source)
        found = leads.find(False)
        return None if found < 0 else found


def explore(model: Model[State], states_max: int = 2_500_000) -> Verdict:
    """What is wrong with a world, if anything is.

    Searches breadth first, so no way to the complaint is shorter than the trace. Three things are wrong: a
    state with a complaint, a state without a step that is not done, and a state from which no way leads to
    the end. A world of more than `states_max` states is judged as too large.
    """
    visited = _Visited(model.start())
    ends: list[int] = []
    number = 0
    while number < len(visited.states):
        state = visited.states[number]
        complaint = model.complaint(state)
        if complaint is None and len(visited.states) > states_max:
            complaint = TOO_MANY
        goes_on = False
        for label, after in () if complaint else model.steps(state):
            if after != state:
                goes_on = True
                visited.add(number, label, after)
        if complaint is None and model.is_done(state):
            ends.append(number)
        elif complaint is None and not goes_on:
            complaint = STUCK
        if complaint is not None:
            return Verdict(len(visited.states), complaint, visited.trace(number))
        number += 1
    lost = visited.without_way_to(ends)
    if lost is not None:
        return Verdict(number, HOPELESS, visited.trace(lost))
    return Verdict(number)
