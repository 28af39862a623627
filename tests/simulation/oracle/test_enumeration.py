"""The oracle's own enumeration equals production's, whose tables are in unit/schedules."""

import datetime as dt
from collections.abc import Iterable
from itertools import islice, takewhile
from random import Random
from typing import Any

import pytest
from tests.simulation.oracle.enumeration import Occurrences, begun, counted_from, gone_on

from sweephand.base.errors import InvalidError
from sweephand.base.instants import DAY_MS, HOUR_MS, rfc3339
from sweephand.schedules import Series
from sweephand.schedules.request import series_of

NOON = 1_795_262_400_000  # 2026-11-21T12:00:00Z


def at(text: str) -> int:
    return round(dt.datetime.fromisoformat(text).timestamp() * 1_000)


def dues(definition: dict[str, Any], asked_at: str, number: int) -> list[str]:
    """Return the first due times of a definition, to the second and in UTC."""
    return [rfc3339(due_at)[:19] for due_at, _ in islice(begun(definition, at(asked_at)).numbered(), number)]


def test_jitter_moves_every_time_within_the_bounds() -> None:
    hourly = begun({"schedule": "@hourly", "ttl": "2h"}, NOON + 60_000, jitter_ms=120_000)
    assert [due_at for due_at, _ in hourly.numbered()] == [NOON + 120_000 + n * HOUR_MS for n in range(2)]
    once = begun({"dueTime": "10s"}, NOON, jitter_ms=5_000)
    assert list(once.numbered()) == [(NOON + 15_000, 1)]


def test_a_put_that_changes_only_bounds_keeps_the_start_and_counts_from_1() -> None:
    first = begun({"schedule": "@every 45s"}, NOON)
    second = {"schedule": "@every 45s", "repeats": 2}
    timing = counted_from(gone_on(first, second, NOON + 100_000), NOON + 100_000, 0)
    assert list(timing.numbered()) == [(NOON + 135_000, 1), (NOON + 180_000, 2)]


def test_a_patch_continues_the_count() -> None:
    first = begun({"schedule": "@every 45s", "repeats": 9}, NOON)
    timing = gone_on(first, {"schedule": "@every 45s", "repeats": 3}, NOON + 100_000)
    assert Occurrences(timing).between(NOON + 100_000, NOON + DAY_MS) == [(NOON + 135_000, 3)]


def test_occurrences_are_found_by_instant_by_number_and_by_range() -> None:
    occurrences = Occurrences(begun({"schedule": "@every 1s", "ttl": "5s"}, NOON))
    assert occurrences.next_after(NOON + 2_500) == NOON + 3_000
    assert occurrences.number_of(NOON + 2_000) == 2
    assert occurrences.number_of(NOON + 2_001) is None
    assert occurrences.next_after(NOON + 5_000) is None
    assert occurrences.counted_through(NOON + HOUR_MS) == 5
    assert occurrences.between(NOON + 3_000, NOON + 4_000) == [(NOON + 4_000, 4)]


ZONES = (
    *("UTC", "Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Europe/Dublin"),
    *("America/Santiago", "Asia/Beirut", "Africa/Cairo", "Asia/Kolkata"),
)
DAYS_OF_MONTH = ("*", "*", "*", "?", "L", "LW", "15W", "31W", "1W", "L,15", "1-7", "*/9", "31", "13")
DAYS_OF_WEEK = (
    "*",
    "*",
    "*",
    "?",
    "5L",
    "L5",
    "MON-FRI",
    "fri#2",
    "5#5",
    "sun",
    "5-7",
    "6/1",
    "1,3#2",
    "*/2",
)
EVERY = ("1s", "17s", "61s", "1m30s", "1.5s", "2h", "1h0m0.25s", "1.0005s", "25h", "3.333s")
MOMENTS = (
    "0s",
    "20s",
    "1.5s",
    "90s",
    "2h30m",
    "270s",
    "1d",
    "PT2H30M",
    "P1M",
    "P1DT2H",
    "P1W",
    "PT1S",
    "30d",
)
MACROS = ("@yearly", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")

AWS_DAYS_OF_MONTH = ("*", "L", "15W", "LW", "1-7", "31", "*/3")
AWS_DAYS_OF_WEEK = ("*", "6L", "2#1", "MON-FRI", "1", "SUN", "L", "7", "2-6", "3,5")
UNITS = ("minute", "minutes", "hours", "days")
TIMES = ("", "1", "3", "7", "40")
PERIODS = ("PT3S", "PT1H", "P1D", "P1M", "P1W", "P1DT1H", "PT90M", "PT36H")

#: Before the spring and the autumn of most zones, and between.
STARTS = tuple(at(each) for each in ("2026-03-27", "2026-04-03", "2026-10-02", "2026-10-23", "2026-11-21"))


class Definitions:
    """Random definitions, requested at random instants around clock changes."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311 - a test has to be repeatable

    def one(self) -> tuple[dict[str, Any], int]:
        chance = self.random.random
        asked_at = self.random.choice(STARTS) + self.random.randrange(3 * DAY_MS)
        schedule = self.schedule() if chance() < 0.5 else self.form(asked_at)
        fields: dict[str, Any] = {"schedule": schedule, "timezone": self.random.choice((None, *ZONES))}
        if schedule is None or chance() < 0.3:
            fields["dueTime"] = self.moment(asked_at)
        if chance() < 0.3:
            fields["ttl"] = self.moment(asked_at)
        if schedule is not None and chance() < 0.3:
            fields["repeats"] = self.random.randint(1, 5)
        if chance() < 0.4:
            gap, overlap = (
                self.random.choice(("shift", "skip")),
                self.random.choice(("first", "last", "both")),
            )
            fields["dst"] = {"gap": gap, "overlap": overlap}
        if chance() < 0.2:
            fields["jitter"] = self.random.choice(("30s", "PT15M", "PT2H", "1d"))
        return {name: value for name, value in fields.items() if value is not None}, asked_at

    def schedule(self) -> str | None:
        chance = self.random.random()
        if chance < 0.1:
            return None
        if chance < 0.3:
            return f"@every {self.random.choice(EVERY)}"
        if chance < 0.35:
            return self.random.choice(MACROS)
        days = (self.random.choice(DAYS_OF_MONTH), self.field(1, 12), self.random.choice(DAYS_OF_WEEK))
        fields = [self.field(0, 59), self.field(0, 23), *days]
        return " ".join([self.field(0, 59), *fields] if chance > 0.7 else fields)

    def form(self, asked_at: int) -> Any:
        """Return a schedule that is written neither as Unix cron nor as `@every`."""
        return self.random.choice((self.aws, self.repetition, self.named, self.listed))(asked_at)

    def aws(self, asked_at: int) -> str:
        choice = self.random.choice
        days = choice((f"{choice(AWS_DAYS_OF_MONTH)} {{}} ?", f"? {{}} {choice(AWS_DAYS_OF_WEEK)}"))
        days = days.format(choice(("*", "*", "3,10,11", "MAR")))
        cron = f"cron({self.field(0, 59)} {self.field(0, 23)} {days} {choice(('*', '2027', '2026-2028'))})"
        once = rfc3339(asked_at + self.random.randrange(20 * DAY_MS))[:19]
        return choice((cron, cron, f"at({once})", f"rate({choice((1, 5, 90))} {choice(UNITS)})"))

    def repetition(self, asked_at: int) -> str:
        start = rfc3339(asked_at + self.random.randrange(-40 * DAY_MS, 9 * DAY_MS)) + "/"
        return f"R{self.random.choice(TIMES)}/{self.random.choice(('', start))}{self.random.choice(PERIODS)}"

    def named(self, _: int) -> dict[str, str]:
        values = {
            "second": self.field(0, 59),
            "minute": self.field(0, 59),
            "hour": self.field(0, 23),
            "dayOfMonth": self.random.choice(DAYS_OF_MONTH),
            "month": self.field(1, 12),
            "dayOfWeek": self.random.choice(DAYS_OF_WEEK),
            "year": self.random.choice(("*", "2027", "2026-2028")),
        }
        return {name: values[name] for name in self.random.sample(list(values), self.random.randint(1, 4))}

    def listed(self, asked_at: int) -> list[str]:
        number = self.random.randint(1, 6)
        return [rfc3339(asked_at + self.random.randrange(-DAY_MS, 10 * DAY_MS)) for _ in range(number)]

    def field(self, low: int, high: int) -> str:
        one, other = sorted((self.random.randint(low, high), self.random.randint(low, high)))
        return self.random.choice(
            ("*", "*", f"*/{1 + one}", f"{one}", f"{other}", f"{one},{other}", f"{one}-{other}", f"{one}/7")
        )

    def moment(self, asked_at: int) -> str:
        past_or_future = self.random.choice((0, -30_000, -60_000, 1, self.random.randrange(30 * DAY_MS)))
        return self.random.choice((*MOMENTS, *[rfc3339(asked_at + past_or_future)] * 8))


def series(definition: dict[str, Any], asked_at: int) -> Series | None:
    """Return production's series of a definition, or None if production refuses it."""
    names = {"schedule": "schedule", "timezone": "timezone", "due_time": "dueTime", "ttl": "ttl"}
    fields: dict[str, Any] = {name: definition.get(written) for name, written in names.items()}
    fields |= {name: definition.get(name) for name in ("repeats", "dst", "jitter")}
    try:
        return series_of(**fields, requested_at=asked_at, key="ns/job")
    except InvalidError:
        return None


def first(found: Iterable[tuple[int, ...]], end: int) -> list[tuple[int, int]]:
    """Return due times and numbers up to an instant, or the first thousand."""
    return [(each[0], each[1]) for each in takewhile(lambda each: each[0] <= end, islice(found, 1_000))]


def stretch(definition: dict[str, Any], asked_at: int) -> int:
    """Return the instant up to which the comparison goes, since the oracle is slow."""
    schedule = definition.get("schedule", "")
    days = 3 if str(schedule).startswith("@every") else 20
    return asked_at + days * DAY_MS


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(0, 600, 20))
def test_production_enumerates_the_same(seed: int) -> None:
    for each in range(seed, seed + 20):
        definition, asked_at = Definitions(each).one()
        theirs = series(definition, asked_at)
        if theirs is None:
            continue
        end = stretch(definition, asked_at)
        expected = first(begun(definition, asked_at, theirs.jitter_ms).numbered(), end)
        assert first(theirs.occurrences(0), end) == expected, (each, definition, asked_at)
