"""Random schedules, valid or not: whether any error but a refusal is raised, and which takes longest."""

import gc
import json
import random
from collections import Counter
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
_COLLECTED_EVERY: Final = 1_000
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
_VALUES: Final[tuple[Any, ...]] = (*_TOKENS, "*", "*/5", "1-5", 7, -1, 2.5, None, True, [], {}, "x" * 2_000)
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
    chance = random.Random(seed)  # noqa: S311 - chance for a trial, not for a secret
    verdicts: Counter[str] = Counter()
    failures: list[str] = []
    slowest: list[tuple[float, str]] = []
    # Garbage that is collected while an input is tried mostly comes from other inputs.
    gc.disable()
    try:
        for number, request in enumerate(islice(_requests(chance), inputs)):
            if number % _COLLECTED_EVERY == 0:
                gc.collect()
            after = chance.randint(-(10**12), INSTANT_MAX)
            began_s = process_time()
            try:
                _exercise(request, after)
                verdicts["accepted"] += 1
            except (InvalidError, ScheduleError):
                verdicts["refused"] += 1
            except Exception as error:  # noqa: BLE001 - finding such errors is the purpose
                failures.append(f"{type(error).__name__}: {error} <- {request!r}")
            took_ms = (process_time() - began_s) * 1e3
            if len(slowest) < _SHOWN or took_ms > slowest[-1][0]:
                slowest = nlargest(_SHOWN, [*slowest, (took_ms, _shown(request))])
    finally:
        gc.enable()
    return Fuzzed(verdicts["accepted"], verdicts["refused"], failures, slowest)


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
    assert last_at is None or not coming or coming[0].due_at <= last_at, (
        "the last one is not before the first"
    )
    for _ in islice(series.clock_effects(_NOW, coming[-1].due_at if coming else _NOW), 20):
        pass


def _requests(chance: random.Random) -> Iterator[Mapping[str, Any]]:
    zones = sorted(zone_names())

    def zone() -> str:
        return chance.choice(zones) if chance.random() < 0.8 else _text(chance, zones)  # noqa: PLR2004 - mostly sound

    def moment() -> str:
        return chance.choice(_MOMENTS) if chance.random() < 0.5 else _text(chance, _MOMENTS)  # noqa: PLR2004 - half of them sound

    while True:
        yield {
            "schedule": _schedule(chance, zones),
            "timezone": _maybe(chance, zone),
            "due_time": _maybe(chance, moment),
            "ttl": _maybe(chance, moment),
            "repeats": _maybe(chance, lambda: chance.choice((1, 2, 40, 10**6, 2**53 - 1, 0, -1, 10**400))),
            "dst": _maybe(chance, lambda: _object(chance, ("gap", "overlap", "gaps"), _RULES, 2)),
            "jitter": _maybe(chance, lambda: _text(chance, ("15m", "PT15M", "1d", "1ms"))),
        }


def _maybe(chance: random.Random, make: Callable[[], Any]) -> Any:
    return make() if chance.random() < 0.25 else None  # noqa: PLR2004 - most jobs leave most fields out


def _schedule(chance: random.Random, zones: Sequence[str]) -> Any:
    kinds: tuple[Callable[[], Any], ...] = (
        lambda: None,
        lambda: _object(chance, _NAMES, _VALUES, 6),
        lambda: [_text(chance, _MOMENTS) for _ in range(chance.choice((0, 1, 3, 100, 101)))],
        lambda: _structure(chance, chance.choice((1, 3, 60))),
        lambda: f"CRON_TZ={_text(chance, zones)} {_text(chance, _SCHEDULES)}",
        *(lambda: _cron(chance),) * 2,
        *(lambda: _text(chance, _SCHEDULES),) * 4,
    )
    return chance.choice(kinds)()


def _text(chance: random.Random, sound: Sequence[str]) -> str:
    """A valid text, a text with some changes, or tokens in any order and sometimes very many."""
    kind = chance.randrange(8)
    if kind == 0:
        return "".join(chance.choices(_TOKENS, k=chance.choice((0, 1, 3, 9, 30, 1_100))))
    text = chance.choice(sound)
    for _ in range(chance.choice((0, 1, 1, 2, 5))):
        at = chance.randint(0, len(text))
        match chance.randrange(5):
            case 0:
                text = text[:at] + text[at + 1 :]
            case 1:
                text = text[:at] + chance.choice(_TOKENS) + text[at + 1 :]
            case 2:
                text = text[:at] + chance.choice(_TOKENS) + text[at:]
            case 3:
                text = text[:at] + chance.choice(sound)[at:]
            case _:
                text = text[:at] + text[at : at + 3] * chance.choice((2, 50)) + text[at:]
    return text


def _cron(chance: random.Random) -> str:
    """A cron expression that is mostly valid, and as long as possible."""

    def field(low: int, high: int, *special: str) -> str:
        terms = ["*", f"*/{chance.randint(1, high + 2)}", str(chance.randint(low, high)), *special]
        first = chance.randint(low, high)
        terms.append(f"{first}-{chance.randint(first, high)}/{chance.randint(1, high)}")
        return ",".join(chance.choices(terms, k=chance.choice((1, 1, 2, 40))))

    fields = [field(0, 59), field(0, 23), field(1, 31, "L", "LW", "15W", "31W", "?"), field(1, 12, "FEB")]
    fields.append(field(0, 7, "5L", "L1", "5#5", "MON#1", "?"))
    return " ".join([field(0, 59), *fields] if chance.random() < 0.5 else fields)  # noqa: PLR2004 - as often as not


def _object(
    chance: random.Random, names: Sequence[str], values: Sequence[Any], fields_max: int
) -> dict[str, Any]:
    return {chance.choice(names): chance.choice(values) for _ in range(chance.randint(0, fields_max))}


def _structure(chance: random.Random, depth: int) -> Any:
    value: Any = chance.choice((None, True, 0, -1, 1e300, float("inf"), "", "0 0 * * *", [], {}))
    for _ in range(depth):
        value = [value] if chance.random() < 0.5 else {chance.choice(_NAMES): value}  # noqa: PLR2004 - as often as not
    return value


def _shown(request: Mapping[str, Any]) -> str:
    given = {name: value for name, value in request.items() if value is not None}
    text = ascii(given)
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "..."
