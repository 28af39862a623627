"""What goes wrong in a seed, how often, and at which call: by chance of its own for each kind and process.

Swarm testing: some seeds have all kinds at low rates, most have a few at high ones, since one kind of
trouble often hides what another would show.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import log
from random import Random
from typing import Final, Literal, TypeAlias

from sweephand.base.instants import MINUTE_MS, SECOND_MS

#: The functions that are simulated.
Role: TypeAlias = Literal["api", "tick", "sweep", "deliver"]

#: What happens at a call of a port. `throttle`: StoreError before anything was done. `loss`: StoreError
#: after it was done. `part`: StoreError when some entries were accepted. `slow`: a call takes seconds.
#: `repeat`: a store's write is done, its answer is lost, and the SDK makes the same request again.
CallKind: TypeAlias = Literal[
    "kill", "kill after", "pause", "pause after", "throttle", "loss", "part", "slow", "repeat"
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
    "repeat",
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
    "shortages",
    "throttled writes",
    "stumbles",
    "slow stores",
    "repeats",
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
    "repeat": "repeats",
}

#: The rate at a call that a kind has at level 1, by role: those who make few calls are hit more often.
RATES: Final[Mapping[Role, float]] = {"api": 0.04, "tick": 0.02, "sweep": 0.02, "deliver": 0.006}

#: The API repeats so many times more: what others write meanwhile shows only if both happen within seconds.
_REPEATS_OF_API: Final = 3

#: In some seeds one kind of function has most of the trouble, and the others little: a story of one crash is
#: seldom about two kinds. Tick sweeps by itself as a rule.
_FOCUSES: Final[tuple[frozenset[Role], ...]] = (
    frozenset(),
    frozenset(),
    frozenset({"api"}),
    frozenset({"tick", "sweep"}),
    frozenset({"deliver"}),
)
_IN_FOCUS: Final = 5.0
_OUT_OF_FOCUS: Final = 0.25

#: Over days delivering and the queue have so much of it: what a paused job holds is put back a hundred times
#: a day, and if one mishap in ten doubled it, it would fill the world.
_OVER_DAYS: Final = 0.05
_OVER_WEEKS: Final = 0.0015

#: How long a process is paused at most, one bound or the other: as long as the protocol lets it be (five
#: minutes, the API ten), or about as long as what shall keep a pause from doing harm: the API's patience,
#: a lease, the seconds around a read and a request.
PAUSES_MS: Final[Mapping[Role, tuple[int, ...]]] = {
    "api": (10 * MINUTE_MS, 20 * SECOND_MS),
    "tick": (5 * MINUTE_MS, 40 * SECOND_MS),
    "sweep": (5 * MINUTE_MS, 40 * SECOND_MS),
    "deliver": (5 * MINUTE_MS, 10 * SECOND_MS),
}

#: No call is this far away.
_NO_CALL: Final = 1 << 60

_RATE_MAX: Final = 0.5

_RANGE: Final = 1 << 64
_BITS: Final = _RANGE - 1

#: A machine's clock is at most so far ahead or behind: two differ by up to 60 s.
SKEW_MAX_MS: Final = 30 * SECOND_MS

#: Chances by which seeds differ in kind.
_ALL_KINDS: Final = 0.3
_KIND: Final = 0.3

#: The seeds from this one on last for weeks (scenario.py).
FIRST_FOR_WEEKS: Final = 10_000_000

#: One seed in so many has a backlog. It takes as long as ten others.
_BACKLOGGED: Final = 0.02

#: One seed in so many asks of the protocol's margins all that they allow for.
_AT_MARGINS: Final = 0.1


def stream(seed: int, name: str) -> Random:
    """A seed's chance for one purpose, the same on every machine and whatever else is drawn."""
    return Random(f"{seed}/{name}")  # noqa: S311 - a simulation has to be repeatable


def mixed(*numbers: int) -> int:
    """64 bits of chance that hang on nothing but those numbers (after SplitMix64)."""
    bits = 0
    for number in numbers:
        bits = (bits ^ number) * 0xBF58476D1CE4E5B9 & _BITS
        bits ^= bits >> 29
    bits = bits * 0x94D049BB133111EB & _BITS
    return bits ^ bits >> 32


def fraction(*numbers: int) -> float:
    """From 0 up to 1, likewise."""
    return mixed(*numbers) / _RANGE


def is_at_margins(seed: int) -> bool:
    """Whether the API's clocks are as far behind as may be, all others ahead, and one shard has all jobs.

    In such a seed ticks come when the others' minute begins, and clients ask for what is due about as far
    ahead as a sweep reads: what a margin keeps apart would otherwise meet once in thousands of seeds.
    """
    return stream(seed, "margins").random() < _AT_MARGINS


def is_backlogged(seed: int) -> bool:
    """Whether nothing goes wrong in a seed but that time is short (backlogs.py)."""
    return (
        seed < FIRST_FOR_WEEKS
        and not is_at_margins(seed)
        and stream(seed, "backlogged").random() < _BACKLOGGED
    )


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
    """The kinds of trouble of a seed, each with its level (1 is usual, 0 is never).

    `delivering` is by how much delivering and the queue have less of it than is usual.
    """

    levels: Mapping[str, float]
    focus: frozenset[Role] = frozenset()
    delivering: float = 1.0

    @classmethod
    def of(cls, seed: int, mask: Mask) -> "Troubles":
        """The troubles of a seed, without those that are masked."""
        if is_backlogged(seed):
            return cls(dict.fromkeys(KINDS, 0.0))
        random = stream(seed, "troubles")
        has_all = random.random() < _ALL_KINDS
        levels = {}
        for kind in KINDS:
            is_in = has_all or random.random() < _KIND
            level = (0.4 if has_all else 1.0) * 4 ** random.uniform(-1, 1)
            if kind == "skew" and is_at_margins(seed):
                is_in = True
            levels[kind] = level if is_in and kind not in mask.troubles else 0.0
        return cls(levels, stream(seed, "focus").choice(_FOCUSES))

    def factor(self, role: Role) -> float:
        """How much more often calls of that role go wrong than is usual."""
        usual = self.delivering if role == "deliver" else 1.0
        if not self.focus:
            return usual
        return usual * (_IN_FOCUS if role in self.focus else _OUT_OF_FOCUS)

    def __getitem__(self, kind: str) -> float:
        level = self.levels[kind]
        return level * self.delivering if kind == "copies" else level

    def for_days(self) -> "Troubles":
        """The same troubles for a seed that lasts for days."""
        return replace(self, delivering=_OVER_DAYS)

    def for_weeks(self) -> "Troubles":
        """The same troubles for a seed that lasts for weeks."""
        return replace(self, delivering=_OVER_WEEKS)


class RoleFaults:
    """How often what goes wrong at a call of one role."""

    def __init__(self, role: Role, troubles: Troubles) -> None:
        usual = RATES[role] * troubles.factor(role)
        often = {"repeat": _REPEATS_OF_API if role == "api" else 1}
        rates = ((kind, usual * often.get(kind, 1) * troubles[TROUBLE_OF[kind]]) for kind in CALL_KINDS)
        # By this a logarithm of chance becomes the number of calls between two mishaps.
        self.spans = [(kind, 1 / log(1 - min(rate, _RATE_MAX))) for kind, rate in rates if rate]


class CallFaults:
    """At which calls of one process what goes wrong, by its own chance.

    So leaving out another process, or another kind of trouble, changes nothing here.
    """

    __slots__ = ("_calls", "_next", "_random", "_soonest", "_spans", "code")

    def __init__(self, code: int, role: RoleFaults) -> None:
        self.code = code
        self._random: Random | None = None
        self._spans = role.spans
        self._calls = 0
        self._next = {
            kind: 1 + int(log(1 - fraction(code, number)) * span)
            for number, (kind, span) in enumerate(role.spans)
        }
        self._soonest = min(self._next.values(), default=_NO_CALL)

    @property
    def random(self) -> Random:
        """The process's own chance."""
        if self._random is None:
            self._random = Random(self.code)  # noqa: S311 - a simulation has to be repeatable
        return self._random

    def at_next_call(self) -> tuple[CallKind, ...]:
        """What goes wrong at the next call: nothing, as a rule."""
        self._calls += 1
        if self._calls < self._soonest:
            return ()
        kinds = tuple(kind for kind, call in self._next.items() if call <= self._calls)
        for kind, span in self._spans:
            if kind in kinds:
                self._next[kind] = self._calls + 1 + int(log(1 - self.random.random()) * span)
        self._soonest = min(self._next.values())
        return kinds
