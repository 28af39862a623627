"""How many triggers a minute a seed's stack and its namespace may deliver. Only some seeds have such limits.

The random numbers of this module are its own, and so are its seeds, so that other seeds stay what they are.
"""

from dataclasses import dataclass
from typing import Final

from tests.simulation.workload.lanes import also_has
from tests.simulation.world.faults import SKEW_MAX_MS, stream

from sweephand.base.instants import MINUTE_MS

#: These seeds have limits. From the second on, the limit of the namespace is changed while triggers wait.
FIRST_LIMITED: Final = 3_100_000
FIRST_CHANGED: Final = 3_150_000
_AFTER_LIMITED: Final = 3_200_000

#: So has this share of the seeds with lanes.
_WITH_LANES: Final = 1 / 3

#: The limits until the calm. They are so low that most seeds exceed them.
_PER_MINUTE: Final = (3, 5, 8, 12, 20)

#: How often the limit is changed, when after the beginning of a seed, and how long processes take to know it.
_CHANGES: Final = (1, 2, 3)
_CHANGED_MS: Final = (MINUTE_MS, 12 * MINUTE_MS)
KNOWN_MS: Final = MINUTE_MS

#: By a clock that is behind, a minute may last for so long after a change.
_BEGUN_MS: Final = MINUTE_MS + SKEW_MAX_MS

#: In the calm the operator raises both, so that what waits is delivered soon.
CALM_PER_MINUTE: Final = 2_000


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a seed, in triggers a minute; 0 stands for none.

    `changes` are when after the beginning the limit of the namespace is changed, and to what.
    """

    stack: int = 0
    namespace: int = 0
    changes: tuple[tuple[int, int], ...] = ()
    seed: int = 0

    @classmethod
    def of(cls, seed: int) -> "Limits":
        """Return those of a seed."""
        if not (FIRST_LIMITED <= seed < _AFTER_LIMITED or also_has(seed, "limits", _WITH_LANES)):
            return cls()
        random = stream(seed, "limits")
        stack, namespace = (random.choice(_PER_MINUTE) for _ in range(2))
        if FIRST_CHANGED <= seed < _AFTER_LIMITED:
            times = sorted(random.randrange(*_CHANGED_MS) for _ in range(random.choice(_CHANGES)))
            return cls(0, namespace, tuple((at, random.choice(_PER_MINUTE)) for at in times), seed)
        return random.choice((cls(stack), cls(0, namespace), cls(stack, namespace)))

    def known(self, process: str, after_ms: int) -> int:
        """Return the limit of the namespace that a process knows so long after the beginning."""
        known = self.namespace
        for number, (changed_ms, per_minute) in enumerate(self.changes):
            learns_ms = stream(self.seed, f"limits/{process}/{number}").randrange(KNOWN_MS)
            if after_ms >= changed_ms + learns_ms:
                known = per_minute
        return known

    @property
    def allowed(self) -> list[tuple[int, int]]:
        """Return from when after the beginning on how many triggers a minute may leave, after each change.

        While processes know two limits, that is the larger one. That holds up to the end of the minute in
        which the last process learns of the change.
        """
        found, now = list[tuple[int, int]](), self.namespace
        for number, (at, per_minute) in enumerate(self.changes):
            known_ms = at + KNOWN_MS + _BEGUN_MS
            following = self.changes[number + 1][0] if number + 1 < len(self.changes) else known_ms
            found.append((at, max(now, per_minute)))
            if known_ms <= following:
                found.append((known_ms, per_minute))
            now = per_minute
        return found

    @property
    def least(self) -> int:
        """The lower of the two limits; 0 if there is none."""
        return min((each for each in (self.stack, self.namespace) if each), default=0)

    @property
    def in_calm(self) -> "Limits":
        """The limits when the calm has begun."""
        stack, namespace = (CALM_PER_MINUTE if each else 0 for each in (self.stack, self.namespace))
        return Limits(stack, namespace)
