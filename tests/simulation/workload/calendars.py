"""Calendars of a seed: what clients write into them and when, and the jobs that fire on their days.

The random numbers of this module are its own, and so are its seeds, so that other seeds stay what they are.
"""

import datetime as dt
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any, Final
from unittest.mock import patch

from tests.simulation.workload.scenario import FIRST_WITH_CALENDARS as FIRST_WITH_CALENDARS  # noqa: PLC0414 - again
from tests.simulation.workload.scenario import Scenario, has_calendars
from tests.simulation.world.faults import stream

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Instant
from sweephand.jobs import calendar_follow
from sweephand.model.calendar import CalendarKey

#: The actions of clients, by their names in verbs.ACTIONS.
PUT_CALENDAR: Final = "put calendar"
REMOVE_CALENDAR: Final = "remove calendar"

#: The share of definitions that name a calendar, and of patches that leave theirs as it is.
_NAMED: Final = 0.9
_KEPT: Final = 0.4

#: Most jobs name the first one.
_NAMES: Final = ("works", "works", "works", "shop")

#: Schedules whose times a calendar can move to another day.
_MOVABLE: Final[tuple[dict[str, Any], ...]] = (
    {"schedule": "0 9 * * *"},
    {"schedule": "0 9 * * *", "repeats": 4},
    {"schedule": "0 0,6,12,18 * * *"},
    {"schedule": "0 17 L * *"},
    {"schedule": "0 9 * * MON"},
    {"schedule": "0 0 12 * * WED,SUN", "timezone": "Europe/Paris"},
    {"schedule": "30 2 * * *", "timezone": "Europe/Paris"},
    {"schedule": "30 2 * * *", "timezone": "Europe/Paris", "dst": {"overlap": "both", "gap": "skip"}},
    {"schedule": "0 0 9 * * MON-FRI", "timezone": "Australia/Lord_Howe"},
    {"schedule": "@daily"},
    {"schedule": "59 23 * * *", "timezone": "America/New_York"},
    {"schedule": "cron(0 8 ? * 2-6 *)", "timezone": "America/Santiago"},
    {"schedule": {"hour": "6,21", "dayOfWeek": "TUE,THU"}},
    {"schedule": "0 9 * * *", "jitter": "2h"},
)

#: Schedules of real time, which it can only thin out.
_UNMOVABLE: Final[tuple[dict[str, Any], ...]] = (
    {"schedule": "@hourly"},
    {"schedule": "@every 5h"},
    {"schedule": "15 */6 * * *", "timezone": "America/New_York"},
)

#: When one-offs are due that a calendar moves, and how many jobs are such.
_ONE_OFFS: Final[tuple[dict[str, Any], ...]] = (
    {"dueTime": "20h"},
    {"dueTime": "50h", "timezone": "Australia/Lord_Howe"},
    {"dueTime": "P3DT1H", "timezone": "Europe/Paris", "jitter": "2h"},
    {"dueTime": "P5D"},
)
_ONCE: Final = 1 / 8

_OTHERWISES: Final = ("skip", "next", "next", "previous", "previous", "nearest")
_WEEKENDS: Final = ((), (), ("SUN",), ("SAT", "SUN"), ("SAT", "SUN"), ("WED",))

#: Hours at which many of these jobs fire, in UTC.
_BUSY_HOURS: Final = (0, 1, 6, 8, 9, 9, 9, 12, 17, 18)

#: How often calendars change, and the longest span of days that one closes. So rows of closed days are short.
_CHANGES: Final = (3, 12)
_SPAN_DAYS_MAX: Final = 4

#: The share of changes that another one follows within seconds, and of changes about when jobs fire.
_FOLLOWED: Final = 0.4
_AT_BUSY_HOURS: Final = 0.4
_REMOVED: Final = 0.1
_APART_MS: Final = (500, 25 * SECOND_MS, 10 * MINUTE_MS)


#: How many jobs one message makes follow.
_PAGES: Final = (1, 1, 2, 100)


@dataclass(frozen=True, slots=True)
class Calendars:
    """The calendars of a seed."""

    seed: int
    are_on: bool = False
    begins_at: Instant = 0
    minutes: int = 0

    @classmethod
    def of(cls, seed: int) -> "Calendars":
        """Return those of a seed."""
        if not has_calendars(seed):
            return cls(seed)
        scenario = Scenario.of(seed)
        return cls(seed, are_on=True, begins_at=scenario.begins_at, minutes=scenario.minutes)

    def added(self, written: dict[str, Any], number: int) -> dict[str, Any]:
        """Return the definition of a job that step `number` writes, mostly with a calendar."""
        random = stream(self.seed, f"calendars/{number}")
        if not self.are_on or random.random() >= _NAMED:
            return written
        kept = {name: value for name, value in written.items() if name not in _TIMING}
        once = stream(self.seed, f"calendars/once/{number}")
        if once.random() < _ONCE:
            return kept | once.choice(_ONE_OFFS) | {"calendar": _used(once)}
        if random.random() < 1 / 6:
            return kept | random.choice(_UNMOVABLE) | {"calendar": {"name": random.choice(_NAMES)}}
        return kept | random.choice(_MOVABLE) | {"calendar": _used(random)}

    def patched(self, written: dict[str, Any], number: int) -> dict[str, Any]:
        """Return a patched definition, mostly with another calendar, with another use of it, or without."""
        random = stream(self.seed, f"calendars/patch/{number}")
        if not self.are_on or random.random() < _KEPT:
            return written
        if random.random() < 1 / 4:
            return {name: value for name, value in written.items() if name != "calendar"}
        return written | {"calendar": _used(random)}

    def content(self, number: int) -> dict[str, Any]:
        """Return what step `number` writes into a calendar."""
        random = stream(self.seed, f"calendars/content/{number}")
        return {
            "weekend": list(random.choice(_WEEKENDS)),
            "closed": [self._span(random) for _ in range(random.randint(0, 4))],
            "open": [self._date(random) for _ in range(random.randint(0, 2))],
        }

    def _span(self, random: Random) -> Any:
        first = self._date(random)
        if random.random() < 1 / 2:
            return first
        length = dt.timedelta(days=random.randrange(_SPAN_DAYS_MAX))
        return {"from": first, "to": (dt.date.fromisoformat(first) + length).isoformat()}

    def _date(self, random: Random) -> str:
        day = random.randrange(-3, self.minutes // (24 * 60) + 5)
        at = dt.datetime.fromtimestamp((self.begins_at + day * DAY_MS) // SECOND_MS, dt.UTC)
        return at.date().isoformat()

    @contextmanager
    def bounds(self) -> Iterator[None]:
        """Let few jobs fill a page of those that follow."""
        with ExitStack() as stack:
            if self.are_on:
                page = stream(self.seed, "calendars/page").choice(_PAGES)
                stack.enter_context(patch.object(calendar_follow, "_PAGE_MAX", page))
            yield

    def key(self, name: str) -> CalendarKey:
        """Return the calendar that a step is about."""
        return CalendarKey("ns", name)

    def asked(self, _: list[str], begins_at: Instant, ends_at: Instant) -> list[tuple[Instant, str, str]]:
        """Return when clients do what with which calendar."""
        if not self.are_on:
            return []
        random = stream(self.seed, "calendars/asked")
        found = [(begins_at + random.randrange(SECOND_MS), PUT_CALENDAR, name) for name in sorted({*_NAMES})]
        for _change in range(random.randint(*_CHANGES)):
            at, name = random.randrange(begins_at, ends_at), random.choice(_NAMES)
            if random.random() < _AT_BUSY_HOURS:
                at += random.choice(_BUSY_HOURS) * HOUR_MS - at % DAY_MS
                at += random.randrange(-30, 10) * SECOND_MS
            if random.random() < _REMOVED:
                found.append((at, REMOVE_CALENDAR, name))
            else:
                found.append((at, PUT_CALENDAR, name))
            while random.random() < _FOLLOWED:
                at += random.randrange(random.choice(_APART_MS))
                found.append((at, PUT_CALENDAR, name))
        return sorted((min(max(at, begins_at), ends_at), action, name) for at, action, name in found)


#: The fields that say when a job fires.
_TIMING: Final = frozenset({"schedule", "timezone", "dueTime", "ttl", "repeats", "dst", "jitter"})


def _used(random: Random) -> dict[str, Any]:
    used: dict[str, Any] = {"name": random.choice(_NAMES)}
    if (otherwise := random.choice(_OTHERWISES)) != "skip" or random.random() < 1 / 2:
        used["otherwise"] = otherwise
    if random.random() < 1 / 8:
        used["days"] = "closed"
    return used
