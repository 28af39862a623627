"""How large a seed's world is and how long it lasts, before any fault happens."""

from dataclasses import dataclass
from typing import Final

from tests.simulation.world.faults import FIRST_FOR_WEEKS as FIRST_FOR_WEEKS  # noqa: PLC0414 - said again
from tests.simulation.world.faults import is_at_margins, is_backlogged, is_poisoned, stream

from sweephand.base.instants import DAY_MS, Instant

#: 2026-11-21T12:00:00Z: seeds begin then, or up to a day later.
BEGIN: Final[Instant] = 1_795_262_400_000

#: A week before Europe's clocks go forward, and a week before America's go back, in 2027.
TRANSITIONS: Final[tuple[Instant, ...]] = (1_806_278_400_000, 1_825_027_200_000)

#: One seed in this many lasts for days.
_SPARSE: Final = 0.03

#: One seed in this many lasts for weeks, and all seeds from FIRST_FOR_WEEKS on do.
_FOR_WEEKS: Final = 0.01

#: How many days they last.
_DAYS: Final = (20, 40, 80)

#: Most of these seeds have calendars (calendars.py), so they last for days.
FIRST_WITH_CALENDARS: Final = 3_900_000
_AFTER_CALENDARS: Final = 4_000_000
_CALENDAR_DAYS: Final = (2, 9)


def is_for_weeks(seed: int) -> bool:
    """Whether a seed lasts longer than any record is kept, so that DynamoDB removes items."""
    is_drawn = stream(seed, "lasts for weeks").random() < _FOR_WEEKS and not is_at_margins(seed)
    return seed >= FIRST_FOR_WEEKS or (is_drawn and not is_backlogged(seed))


def has_calendars(seed: int) -> bool:
    """Whether jobs of a seed fire on the days of calendars."""
    is_other = is_at_margins(seed) or is_backlogged(seed) or is_poisoned(seed)
    return FIRST_WITH_CALENDARS <= seed < _AFTER_CALENDARS and not is_other


@dataclass(frozen=True, slots=True)
class Scenario:
    """How large a seed's world is, before any fault happens. A seed that lasts for weeks is sparse, too."""

    begins_at: Instant
    minutes: int
    jobs: int
    writes: int
    shards: int
    deliveries_at_once: int
    is_sparse: bool
    is_at_margins: bool
    is_for_weeks: bool = False

    @classmethod
    def of(cls, seed: int) -> "Scenario":
        """Return the scenario of a seed."""
        random = stream(seed, "scenario")
        if is_for_weeks(seed):
            return cls(
                begins_at=random.choice(TRANSITIONS) + random.randrange(DAY_MS),
                minutes=random.choice(_DAYS) * 24 * 60 + random.randrange(24 * 60),
                jobs=random.randint(1, 2),
                writes=0,
                shards=random.randint(1, 2),
                deliveries_at_once=random.randint(2, 10),
                is_sparse=True,
                is_at_margins=False,
                is_for_weeks=True,
            )
        if has_calendars(seed):
            jobs = random.randint(1, 4)
            return cls(
                begins_at=random.choice((BEGIN, *TRANSITIONS)) + random.randrange(3 * DAY_MS),
                minutes=random.randint(*_CALENDAR_DAYS) * 24 * 60 + random.randrange(24 * 60),
                jobs=jobs,
                writes=jobs + random.randint(0, 25),
                shards=random.randint(1, 3),
                deliveries_at_once=random.randint(2, 10),
                is_sparse=True,
                is_at_margins=False,
            )
        at_margins = is_at_margins(seed)
        is_sparse = random.random() < _SPARSE and not at_margins and not is_backlogged(seed)
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
