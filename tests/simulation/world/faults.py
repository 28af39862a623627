"""Which faults happen in a seed, how often, and at which call.

Each kind of fault in each process has random numbers of its own. Seeds are tested as a swarm: some have all
kinds at low rates, and most have a few at high rates. One kind of trouble often hides what another would
show.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import log
from random import Random
from typing import Final, Literal, TypeAlias

from sweephand.base.instants import DAY_MS, MINUTE_MS, SECOND_MS

#: The functions that are simulated.
Role: TypeAlias = Literal["api", "tick", "sweep", "deliver"]

#: The faults at a call of a port. `throttle` raises StoreError before the call has an effect, and `loss`
#: after it. `part` raises StoreError after some entries were accepted. `slow` makes the call take seconds.
#: `repeat` applies a write and loses its answer, and the SDK makes the same request again.
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

#: All kinds of trouble. A seed has some of them, and shrinking masks them one by one.
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

#: The kind of trouble to which each fault at a call belongs.
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

#: The rate per call of each kind at level 1, by role. A role that makes few calls has a higher rate.
RATES: Final[Mapping[Role, float]] = {"api": 0.04, "tick": 0.02, "sweep": 0.02, "deliver": 0.006}

#: The API's writes are repeated this many times more often. What others write in between shows only if both
#: happen within seconds.
_REPEATS_OF_API: Final = 3

#: In some seeds one role has most of the trouble, and the others have little: the story of one crash seldom
#: needs two kinds of functions. Mostly tick sweeps by itself.
_FOCUSES: Final[tuple[frozenset[Role], ...]] = (
    frozenset(),
    frozenset(),
    frozenset({"api"}),
    frozenset({"tick", "sweep"}),
    frozenset({"deliver"}),
)
_IN_FOCUS: Final = 5.0
_OUT_OF_FOCUS: Final = 0.25

#: In seeds that last for days or weeks, the deliver role and the queue have this much of their trouble. A
#: held trigger is put back a hundred times a day, so frequent duplicates would fill the world.
_OVER_DAYS: Final = 0.05
_OVER_WEEKS: Final = 0.0015

#: The copies of a held trigger multiply too. So a seed of more than these days has less of that trouble each
#: day.
_DAYS: Final = 4

#: How long a process is paused, at most; each pause uses one of two bounds. The longer one is what the
#: protocol allows: five minutes, and ten for the API. The shorter one is about as long as the guards against
#: a pause: the API's time limit, a lease, the seconds between a read and a request.
PAUSES_MS: Final[Mapping[Role, tuple[int, ...]]] = {
    "api": (10 * MINUTE_MS, 20 * SECOND_MS),
    "tick": (5 * MINUTE_MS, 40 * SECOND_MS),
    "sweep": (5 * MINUTE_MS, 40 * SECOND_MS),
    "deliver": (5 * MINUTE_MS, 10 * SECOND_MS),
}

#: A call number that no process reaches.
_NO_CALL: Final = 1 << 60

#: A sweeper that mostly dies for weeks is behind by more than two weeks. Then timers are lost
#: (docs/recovery.md, "The bound is 14 days").
_RATE_MAX: Final = 0.5
_RATE_OVER_WEEKS_MAX: Final = 0.05

_RANGE: Final = 1 << 64
_BITS: Final = _RANGE - 1

#: How far a machine's clock is ahead or behind, at most. So two clocks differ by up to 60 s.
SKEW_MAX_MS: Final = 30 * SECOND_MS

#: The chance that a seed has all kinds of trouble, and otherwise the chance of each kind.
_ALL_KINDS: Final = 0.3
_KIND: Final = 0.3

#: Seeds from this number on have batches (batches.py), up to those that last for weeks (scenario.py).
FIRST_BATCHED: Final = 7_000_000
FIRST_FOR_WEEKS: Final = 10_000_000

#: One seed in this many has a backlog. Such a seed takes as long as ten others.
_BACKLOGGED: Final = 0.02

#: The share of the seeds in which nothing goes wrong but that one trigger kills functions.
_POISONED: Final = 0.01

#: One seed in this many uses up the protocol's margins between clocks.
_AT_MARGINS: Final = 0.1


def stream(seed: int, name: str) -> Random:
    """Return the random numbers of a seed for one purpose.

    They are the same on every machine, whatever else is drawn.
    """
    return Random(f"{seed}/{name}")  # noqa: S311 - a simulation has to be repeatable


def mixed(*numbers: int) -> int:
    """Return 64 random bits that depend only on those numbers (after SplitMix64)."""
    bits = 0
    for number in numbers:
        bits = (bits ^ number) * 0xBF58476D1CE4E5B9 & _BITS
        bits ^= bits >> 29
    bits = bits * 0x94D049BB133111EB & _BITS
    return bits ^ bits >> 32


def fraction(*numbers: int) -> float:
    """Return a random number from 0 up to 1 that depends only on those numbers."""
    return mixed(*numbers) / _RANGE


def is_at_margins(seed: int) -> bool:
    """Whether a seed uses up the margins between clocks.

    The API's clocks are then as far behind as allowed, all others are as far ahead, and one shard has all
    jobs. Ticks come when the minute of the other clocks begins. Clients write jobs that are due about as far
    ahead as a sweep reads. What a margin keeps apart would otherwise meet once in thousands of seeds.
    """
    return stream(seed, "margins").random() < _AT_MARGINS


def is_backlogged(seed: int) -> bool:
    """Whether slowness is the only trouble of a seed (backlogs.py)."""
    return (
        seed < FIRST_FOR_WEEKS
        and not is_at_margins(seed)
        and stream(seed, "backlogged").random() < _BACKLOGGED
    )


def is_poisoned(seed: int) -> bool:
    """Whether nothing goes wrong in a seed but that a trigger of a bundle kills functions (bundling.py)."""
    return (
        seed < FIRST_FOR_WEEKS
        and not is_at_margins(seed)
        and not is_backlogged(seed)
        and stream(seed, "poisoned").random() < _POISONED
    )


@dataclass(frozen=True, slots=True)
class Mask:
    """What is left out when a seed is run again, to shrink it.

    `troubles` are kinds of trouble that do not happen. `actions` are the numbers of client actions that are
    not done. The calm begins after `minutes` at the latest.
    """

    troubles: frozenset[str] = frozenset()
    actions: frozenset[int] = frozenset()
    minutes: int | None = None


NO_MASK: Final = Mask()


@dataclass(frozen=True, slots=True)
class Troubles:
    """The kinds of trouble of a seed, each with its level: 1 is usual, and 0 is never.

    `delivering` is the factor for the deliver role and the queue. `rate_max` bounds the share of calls at
    which a kind of fault happens.
    """

    levels: Mapping[str, float]
    focus: frozenset[Role] = frozenset()
    delivering: float = 1.0
    rate_max: float = _RATE_MAX

    @classmethod
    def of(cls, seed: int, mask: Mask) -> "Troubles":
        """Return the troubles of a seed, without those that are masked."""
        if is_backlogged(seed) or is_poisoned(seed):
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
        """Return how many times more often than usual calls of a role have faults."""
        usual = self.delivering if role == "deliver" else 1.0
        if not self.focus:
            return usual
        return usual * (_IN_FOCUS if role in self.focus else _OUT_OF_FOCUS)

    def __getitem__(self, kind: str) -> float:
        level = self.levels[kind]
        return level * self.delivering if kind == "copies" else level

    def for_days(self, minutes: int) -> "Troubles":
        """Return the same troubles for a seed that lasts for days, given in minutes."""
        days = minutes * MINUTE_MS / DAY_MS
        return replace(self, delivering=_OVER_DAYS * min(1.0, _DAYS / days))

    def for_weeks(self) -> "Troubles":
        """Return the same troubles for a seed that lasts for weeks."""
        return replace(self, delivering=_OVER_WEEKS, rate_max=_RATE_OVER_WEEKS_MAX)


class RoleFaults:
    """How often each kind of fault happens at calls of one role."""

    def __init__(self, role: Role, troubles: Troubles) -> None:
        usual = RATES[role] * troubles.factor(role)
        often = {"repeat": _REPEATS_OF_API if role == "api" else 1}
        rates = ((kind, usual * often.get(kind, 1) * troubles[TROUBLE_OF[kind]]) for kind in CALL_KINDS)
        # The number of calls between two faults is this factor times the logarithm of a random number.
        self.spans = [(kind, 1 / log(1 - min(rate, troubles.rate_max))) for kind, rate in rates if rate]


class CallFaults:
    """Decides at which calls of one process a fault happens.

    It has random numbers of its own. So if a process or a kind of trouble is left out, nothing changes for
    the others.
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
        """The random numbers of the process."""
        if self._random is None:
            self._random = Random(self.code)  # noqa: S311 - a simulation has to be repeatable
        return self._random

    def at_next_call(self) -> tuple[CallKind, ...]:
        """Return the fault at the next call. There mostly is none."""
        self._calls += 1
        if self._calls < self._soonest:
            return ()
        kinds = tuple(kind for kind, call in self._next.items() if call <= self._calls)
        for kind, span in self._spans:
            if kind in kinds:
                self._next[kind] = self._calls + 1 + int(log(1 - self.random.random()) * span)
        self._soonest = min(self._next.values())
        return kinds
