"""What goes wrong in a seed, how often, and at which call: each kind from a stream of its own.

Swarm testing: some seeds have all kinds at low rates, most have a few at high ones, since one kind of
trouble often hides what another would show.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log
from random import Random
from typing import Final, Literal, TypeAlias

from tests.simulation.processes import Role

from sweephand.instants import MINUTE_MS, SECOND_MS

#: What happens at a call of a port. `throttle`: StoreError before anything was done. `loss`: StoreError
#: after it was done. `part`: StoreError when some entries were accepted. `slow`: a call takes seconds.
CallKind: TypeAlias = Literal[
    "kill", "kill after", "pause", "pause after", "throttle", "loss", "part", "slow"
]

CALL_KINDS: Final[tuple[CallKind, ...]] = (
    "kill",
    "kill after",
    "pause",
    "pause after",
    "throttle",
    "loss",
    "part",
    "slow",
)

#: Every kind of trouble that a seed has or has not, and that can be masked when a seed is shrunk.
KINDS: Final = (
    "kills",
    "pauses",
    "throttles",
    "losses",
    "parts",
    "slowness",
    "outages",
    "skew",
    "copies",
    "delays",
    "missed ticks",
    "double ticks",
    "consumers",
    "raised shards",
    "small pages",
    "outliving sweepers",
    "poison",
)

#: To which kind of trouble a mishap at a call belongs.
TROUBLE_OF: Final[Mapping[CallKind, str]] = {
    "kill": "kills",
    "kill after": "kills",
    "pause": "pauses",
    "pause after": "pauses",
    "throttle": "throttles",
    "loss": "losses",
    "part": "parts",
    "slow": "slowness",
}

#: The rate at a call that a kind has at level 1, by role: those who make few calls are hit more often.
RATES: Final[Mapping[Role, float]] = {"api": 0.04, "tick": 0.02, "sweep": 0.02, "deliver": 0.004}

#: The longest pause of each role (protocol: up to five minutes, the API up to ten).
PAUSE_MAX_MS: Final[Mapping[Role, int]] = {
    "api": 10 * MINUTE_MS,
    "tick": 5 * MINUTE_MS,
    "sweep": 5 * MINUTE_MS,
    "deliver": 5 * MINUTE_MS,
}

#: No call is this far away.
_NO_CALL: Final = 1 << 60

#: A machine's clock is at most so far ahead or behind: two differ by up to 60 s.
SKEW_MAX_MS: Final = 30 * SECOND_MS

#: Chances by which seeds differ in kind.
_ALL_KINDS: Final = 0.3
_KIND: Final = 0.3


def stream(seed: int, name: str) -> Random:
    """A seed's chance for one purpose, the same on every machine and whatever else is drawn."""
    return Random(f"{seed}/{name}")  # noqa: S311 - a simulation has to be repeatable


@dataclass(frozen=True, slots=True)
class Mask:
    """What of a seed is left out when it is run again: to shrink it.

    `troubles` are kinds that do not happen, `actions` the numbers of client actions that are not done,
    `minutes` is when the calm begins at the latest.
    """

    troubles: frozenset[str] = frozenset()
    actions: frozenset[int] = frozenset()
    minutes: int | None = None


NO_MASK: Final = Mask()


@dataclass(frozen=True, slots=True)
class Troubles:
    """The kinds of trouble of a seed, each with its level (1 is usual, 0 is never)."""

    levels: Mapping[str, float]

    @classmethod
    def of(cls, seed: int, mask: Mask) -> "Troubles":
        """The troubles of a seed, without those that are masked."""
        random = stream(seed, "troubles")
        has_all = random.random() < _ALL_KINDS
        levels = {}
        for kind in KINDS:
            is_in = has_all or random.random() < _KIND
            level = (0.4 if has_all else 1.0) * 4 ** random.uniform(-1, 1)
            levels[kind] = level if is_in and kind not in mask.troubles else 0.0
        return cls(levels)

    def __getitem__(self, kind: str) -> float:
        return self.levels[kind]


@dataclass(slots=True)
class CallFaults:
    """At which calls of one role what goes wrong: for each kind, how many calls are between two mishaps."""

    random: Mapping[CallKind, Random]
    rates: Mapping[CallKind, float]
    calls: int = 0
    _next: dict[CallKind, int] = field(default_factory=dict)
    _soonest: int = 0

    @classmethod
    def of(cls, seed: int, role: Role, troubles: Troubles) -> "CallFaults":
        """The faults of a role in a seed."""
        random = {kind: stream(seed, f"{role}/{kind}") for kind in CALL_KINDS}
        rates = {kind: min(RATES[role] * troubles[TROUBLE_OF[kind]], 0.5) for kind in CALL_KINDS}
        faults = cls(random, rates)
        faults._next = {kind: faults._gap(kind) for kind in CALL_KINDS}
        faults._soonest = min(faults._next.values())
        return faults

    def at_next_call(self) -> tuple[CallKind, ...]:
        """What goes wrong at the next call: nothing, as a rule."""
        self.calls += 1
        if self.calls < self._soonest:
            return ()
        kinds = tuple(kind for kind, call in self._next.items() if call <= self.calls)
        for kind in kinds:
            self._next[kind] = self.calls + self._gap(kind)
        self._soonest = min(self._next.values())
        return kinds

    def stop(self) -> None:
        """Let nothing go wrong from now on."""
        self._soonest = _NO_CALL

    def _gap(self, kind: CallKind) -> int:
        rate = self.rates[kind]
        if rate == 0:
            return _NO_CALL
        return 1 + int(log(1 - self.random[kind].random()) / log(1 - rate))
