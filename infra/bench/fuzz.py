"""Random schedules, valid or not: whether any error but a refusal is raised, and which takes longest."""

import gc
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from heapq import nlargest
from itertools import islice, pairwise
from time import process_time
from typing import Any, Final

from infra.bench.report import Cell, Figure, Report

from sweephand.base.errors import InvalidError
from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.schedules import ScheduleError, Series
from sweephand.schedules.clock.zones import zone_names
from sweephand.schedules.durations import parse_duration_ms
from sweephand.schedules.request import series_of

#: How much of a function's time one input may take.
_SLOWEST_MS_MAX: Final = 50
_SHOWN: Final = 5
_SHOWN_CHARS: Final = 90
#: 2026-11-21T07:00:00Z.
_NOW: Final[Instant] = 1_795_244_400_000

#: Every special day there is: the most that one expression can make croniter compute.
_SPECIAL_DAYS: Final = ",".join(f"{day}W" for day in range(1, 32))
_SPECIAL_WEEKDAYS: Final = ",".join(f"{day % 7}#{day // 7 + 1}" for day in range(35))

_SCHEDULES: Final = (
    f"0 0 {_SPECIAL_DAYS} * {_SPECIAL_WEEKDAYS}",
    "30 2 * * MON-FRI", "0 30 2 * * *", "*/5 * * * *", "0 0 L,15W,LW * 5#2", "0 0 29 2 */7", "0 0 31W 2,4 5L",
    "@daily", "@every 1h30m", "@every 1500ms", "CRON_TZ=Europe/Riga 0 9 * * *", "TZ=Asia/Beirut @hourly",
    "rate(5 minutes)", "cron(0 10 ? * 6L 2027)", "cron(0 8 L-3 * ? 2026-2199/3)", "at(2027-03-01T09:00:00)",
    "R4/PT3S", "R/2027-01-01T00:00:00Z/P1D", "R/P1Y2M3DT4H5M6S", "R9/2027-01-31/P1M",
)  # fmt: skip
_MOMENTS: Final = (
    "2027-03-01T09:00:00Z", "2027-03-01T10:00:00.123456789+01:00", "9999-12-31T23:59:59Z", "10s", "2h30m",
    "PT2H30M", "P1M", "P292Y", "7d", "0s", "-1s", "2016-12-31T23:59:60Z",
)  # fmt: skip
_TOKENS: Final = (
    *"0123456789*?/,-#LWRPTZYMDHSdhms:.+@=()[]{}\" \t'", "SUN", "feb", "99999999999999999999", "00", "*/",
    "@every ", "rate(", "cron(", "at(", "minutes", "R", "P1", "PT", "TZ=", "CRON_TZ=", "UTC", "Europe/Paris",
    "../x", "\0", "\n", "٣", "²", "\uff11", "µ", "é", "🕰", "\ud800", "\u202e", "e9", "nan", "1_0", "0x1",
)  # fmt: skip
#: Structures that are nested sixty deep.
_DEEP: Final = (json.loads("[" * 60 + "0" + "]" * 60), json.loads('{"hour": ' * 60 + "0" + "}" * 60))
_VALUES: Final[tuple[Any, ...]] = (
    *_TOKENS, *_DEEP, "*", "*/5", "1-5", 7, -1, 2.5, 1e300, float("inf"), None, True, [], {}, "x" * 2_000,
)  # fmt: skip
_RULES: Final[tuple[Any, ...]] = ("shift", "skip", "first", "last", "both", "", None, 1, [], "SKIP")
_NAMES: Final = ("second", "minute", "hour", "dayOfMonth", "month", "dayOfWeek", "year", "Hour", "", "a/b~")


@dataclass(frozen=True, slots=True)
class Fuzzed:
    """The results of the inputs: schedules, refusals, failures, and the inputs that took longest."""

    accepted: int
    refused: int
    failures: Sequence[str]
    #: CPU ms, and the input.
    slowest: Sequence[tuple[float, str]]


def measure(inputs: int) -> Report:
    """Try that many inputs, always the same ones."""
    fuzzed = fuzz(inputs)
    rows: list[Mapping[str, Cell]] = [
        {"the slowest": shown, "CPU ms": Figure(ms, 1, _SLOWEST_MS_MAX)} for ms, shown in fuzzed.slowest
    ]
    return Report(
        title=f"{inputs:,} random inputs: {fuzzed.accepted:,} schedules, {fuzzed.refused:,} refused",
        rows=[*rows, {"the slowest": "inputs that failed", "CPU ms": Figure(len(fuzzed.failures), 0, 0)}],
        notes=(
            "Each is read, and asked for its first occurrences, for one after a random instant up to the",
            "year 9999, for its last one, for what clock changes did to it, and for what a timer carries.",
            *(f"Failed: {each}" for each in fuzzed.failures[:_SHOWN]),
        ),
    )


def fuzz(inputs: int, seed: int = 1) -> Fuzzed:
    """Try so many random inputs. A seed gives the same inputs on every machine."""
    chance = _Chance(seed)
    refused = 0
    failures: list[str] = []
    took: list[tuple[float, str]] = []
    # Garbage that is collected while an input is tried mostly comes from other inputs.
    gc.disable()
    for request in islice(chance.requests(), inputs):
        gc.collect(0)
        after = chance.randint(-(10**12), INSTANT_MAX)
        began_s = process_time()
        try:
            _exercise(request, after)
        except (InvalidError, ScheduleError):
            refused += 1
        except Exception as error:  # noqa: BLE001 - finding such errors is the purpose
            failures.append(f"{type(error).__name__}: {error} <- {request!r}")
        took.append(((process_time() - began_s) * 1e3, _shown(request)))
    gc.enable()
    return Fuzzed(inputs - refused - len(failures), refused, failures, nlargest(_SHOWN, took))


def _exercise(request: Mapping[str, Any], after: Instant) -> None:
    if request["ttl"] is not None:
        with suppress(ScheduleError):
            assert parse_duration_ms(request["ttl"]) >= 0, "a duration counts forward"
    series = series_of(**request, requested_at=_NOW, key="ns/job")
    carried = Series.from_item(json.loads(json.dumps(series.to_item())))
    coming = list(islice(carried.occurrences(_NOW - 1), 5))
    assert coming == list(islice(series.occurrences(_NOW - 1), 5)), "what a timer carries is the series"
    assert all(each.due_at < later.due_at for each, later in pairwise(coming)), "in order"
    later = series.next_after(after)
    assert later is None or later.due_at > after, "strictly after"
    last_at = series.last_at()
    assert last_at is None or not coming or coming[0].due_at <= last_at, "the last is not before the first"
    for _ in islice(series.clock_effects(_NOW, coming[-1].due_at if coming else _NOW), 20):
        pass


class _Chance(random.Random):
    """Random inputs. A seed gives the same ones on every machine."""

    def requests(self) -> Iterator[Mapping[str, Any]]:
        """What a caller might ask for, without an end. Most requests leave most fields out."""
        zones = sorted(zone_names())
        fields: Mapping[str, Callable[[], Any]] = {
            "timezone": lambda: self.choice((*[self.choice(zones)] * 4, self.text(zones))),
            "due_time": lambda: self.choice((self.choice(_MOMENTS), self.text(_MOMENTS))),
            "ttl": lambda: self.choice((self.choice(_MOMENTS), self.text(_MOMENTS))),
            "repeats": lambda: self.choice((1, 2, 40, 10**6, 2**53 - 1, 0, -1, 10**400)),
            "dst": lambda: self.object(("gap", "overlap", "gaps"), _RULES, 2),
            "jitter": lambda: self.text(("15m", "PT15M", "1d", "1ms")),
        }
        schedules: tuple[Callable[[], Any], ...] = (
            lambda: None,
            lambda: self.choice(_VALUES),
            lambda: self.object(_NAMES, _VALUES, 6),
            lambda: [self.text(_MOMENTS) for _ in range(self.choice((0, 1, 3, 100, 101)))],
            lambda: f"CRON_TZ={self.text(zones)} {self.text(_SCHEDULES)}",
            *(self.cron,) * 2,
            *(lambda: self.text(_SCHEDULES),) * 4,
        )
        while True:
            given = {name: make() if self.randrange(4) == 0 else None for name, make in fields.items()}
            yield {"schedule": self.choice(schedules)(), **given}

    def text(self, sound: Sequence[str]) -> str:
        """A valid text, a text with some changes, or tokens in any order and sometimes very many."""
        if self.randrange(8) == 0:
            return "".join(self.choices(_TOKENS, k=self.choice((0, 1, 3, 9, 30, 1_100))))
        text = self.choice(sound)
        for _ in range(self.choice((0, 1, 1, 2, 5))):
            at = self.randint(0, len(text))
            put, rest = self.choice(
                (
                    ("", text[at + 1 :]),
                    (self.choice(_TOKENS), text[at + 1 :]),
                    (self.choice(_TOKENS), text[at:]),
                    ("", self.choice(sound)[at:]),
                    (text[at : at + 3] * self.choice((2, 50)), text[at:]),
                )
            )
            text = text[:at] + put + rest
        return text

    def cron(self) -> str:
        """A cron expression that is mostly valid, and as long as possible."""

        def field(low: int, high: int, *special: str) -> str:
            terms = ["*", f"*/{self.randint(1, high + 2)}", str(self.randint(low, high)), *special]
            first = self.randint(low, high)
            terms.append(f"{first}-{self.randint(first, high)}/{self.randint(1, high)}")
            return ",".join(self.choices(terms, k=self.choice((1, 1, 2, 40))))

        fields = [field(0, 59), field(0, 23), field(1, 31, "L", "LW", "15W", "31W", "?"), field(1, 12, "FEB")]
        fields.append(field(0, 7, "5L", "L1", "5#5", "MON#1", "?"))
        return " ".join([field(0, 59)] * self.randrange(2) + fields)

    def object(self, names: Sequence[str], values: Sequence[Any], fields_max: int) -> dict[str, Any]:
        """An object with some of the names."""
        return {self.choice(names): self.choice(values) for _ in range(self.randint(0, fields_max))}


def _shown(request: Mapping[str, Any]) -> str:
    text = ascii({name: value for name, value in request.items() if value is not None})
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "..."
