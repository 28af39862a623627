"""How large a seed's world is and how long it lasts, before anything goes wrong."""

from dataclasses import dataclass
from typing import Final

from tests.simulation.faults import is_at_margins, stream

from sweephand.instants import DAY_MS, Instant

#: 2026-11-21T12:00:00Z: when seeds begin, or up to a day later.
BEGIN: Final[Instant] = 1_795_262_400_000

#: A week before the clocks of Europe go forward, and before those of America go back, in 2027.
TRANSITIONS: Final[tuple[Instant, ...]] = (1_806_278_400_000, 1_825_027_200_000)

#: One seed in so many lasts for days.
_SPARSE: Final = 0.03


@dataclass(frozen=True, slots=True)
class Scenario:
    """How large a seed's world is, before anything goes wrong."""

    begins_at: Instant
    minutes: int
    jobs: int
    writes: int
    shards: int
    deliveries_at_once: int
    is_sparse: bool
    is_at_margins: bool

    @classmethod
    def of(cls, seed: int) -> "Scenario":
        """The scenario of a seed."""
        random = stream(seed, "scenario")
        at_margins = is_at_margins(seed)
        is_sparse = random.random() < _SPARSE and not at_margins
        minutes = random.randint(2, 14) * 24 * 60 if is_sparse else random.randint(6, 18)
        jobs = random.randint(3 if at_margins else 1, 4)
        return cls(
            begins_at=(random.choice(TRANSITIONS) if is_sparse else BEGIN) + random.randrange(DAY_MS),
            minutes=minutes,
            jobs=jobs,
            writes=jobs + random.randint(0, 40 if is_sparse else minutes * 2),
            shards=1 if at_margins else random.randint(1, 4),
            deliveries_at_once=random.randint(2, 10),
            is_sparse=is_sparse,
            is_at_margins=at_margins,
        )
