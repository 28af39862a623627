"""The occurrences of a job, from its definition as the client wrote it: found by trying each minute."""

import datetime as dt
import json
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from importlib import resources
from itertools import count, dropwhile
from math import floor
from typing import Any, Final
from zoneinfo import ZoneInfo

from tests.simulation.oracle.days import LAST_YEAR, Days, FittingCron
from tests.simulation.oracle.naive_cron import Cron, Gap, Overlap, cron_of
from tests.simulation.oracle.naive_moments import end_of_gap, instants_of, length_of, moment_of, moved

MACROS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}

#: The fields of cron by name, from the shortest to the longest.
FIELDS: Final = ("second", "minute", "hour", "dayOfMonth", "month", "dayOfWeek", "year")
TIMES: Final = FIELDS[:3]

#: The fields that a series needs unchanged to keep its start.
TIMING: Final = ("schedule", "dueTime", "timezone")


@dataclass(frozen=True)
class Timing:
    """What a definition asks for, with its relative times resolved.

    The series began with the request at `start_at`. Its occurrences are those after `counted_at`, numbered
    from `counted` on. Each comes `jitter_ms` later than the schedule says, and the bounds hold for the moved
    time. The batch of an occurrence goes on for `window_ms`.
    """

    schedule: Any
    zone_name: str
    gap: Gap
    overlap: Overlap
    start_at: int
    due_at: int | None
    ttl_at: int | None
    repeats: int | None
    counted_at: int | None = None
    counted: int = 0
    jitter_ms: int = 0
    window_ms: int = 0
    days: Days | None = None

    @property
    def counts_from_start(self) -> bool:
        """Whether its times count from its own beginning or dueTime, as those of `@every` do."""
        schedule = _unprefixed(self.schedule)
        counted = isinstance(schedule, str) and re.match(r"@every|rate\(|R\d*/P", schedule)
        return counted is not None and counted is not False

    @property
    def first_at(self) -> int:
        """Return the first instant at which it may fire.

        A calendar may move a one-off to before its dueTime.
        """
        if self.due_at is None:
            return self.start_at + 1
        return min(self.start_at, self.due_at) if self.schedule is None else self.due_at

    @property
    def is_on_demand(self) -> bool:
        """Whether no field says when the job fires."""
        return self.schedule is None and self.due_at is None

    def instants(self) -> Iterator[int]:
        """Return the instants after `counted_at` in ascending order.

        `ttl` and `repeats` are not considered.
        """
        zone = _zone(self.zone_name)
        # A fire may be exactly at a dueTime. Only forms that begin at once fire at the request.
        after = self.first_at - 1
        counted_at = after if self.counted_at is None else self.counted_at
        as_written = max(after, counted_at) - self.jitter_ms
        coming: Iterator[int] = (
            each + self.jitter_ms for each in _coming(self, _unprefixed(self.schedule), zone, as_written)
        )
        if self.days is not None and (self.days.also or self.days.without):
            coming = _amended(coming, self.days, max(after, counted_at))
        return dropwhile(lambda each: each <= counted_at, coming) if self.counted_at is not None else coming

    def local_day(self, instant: int) -> dt.date:
        """Return the day on which an occurrence fires, before jitter, in the zone of the schedule."""
        return _local(instant - self.jitter_ms, _zone(self.zone_name)).date()

    def stands_for(self, date: dt.date) -> dt.date:
        """Return the day of the schedule for which the occurrences of a day stand: the nearest one."""
        if self.days is None:
            return date
        schedule = _unprefixed(self.schedule)
        if schedule is None and self.due_at is not None:
            return _local(self.due_at, _zone(self.zone_name)).date()
        if schedule is None or _is_periodic(schedule):
            return date
        cron = _cron(schedule)
        return next((each for each in self.days.sources(date) if cron.has_date(each)), date)

    def numbered(self) -> Iterator[tuple[int, int]]:
        """Return the occurrences: due time in epoch milliseconds, and number."""
        for due_at, sequence in zip(self.instants(), count(self.counted + 1), strict=False):
            if self.ttl_at is not None and due_at > self.ttl_at:
                return
            if self.repeats is not None and sequence > self.repeats:
                return
            yield due_at, sequence


class Occurrences:
    """The occurrences of a timing. Those that were found are kept."""

    def __init__(self, timing: Timing) -> None:
        self.timing = timing
        self._known: list[tuple[int, int]] = []
        self._coming = timing.numbered()
        self._is_over = False

    def between(self, since: int, until: int) -> list[tuple[int, int]]:
        """Return due times and numbers with `since < due <= until`."""
        self._look(until)
        return self._known[self._place(since) : self._place(until)]

    def next_after(self, instant: int) -> int | None:
        """Return the first due time after an instant, or None."""
        self._look(instant)
        place = self._place(instant)
        return self._known[place][0] if place < len(self._known) else None

    def has_ended(self, reached: int) -> bool:
        """Whether no trigger is left after an instant. A job on demand ends by its `ttl` alone."""
        if self.timing.is_on_demand:
            return self.timing.ttl_at is not None and self.timing.ttl_at < reached
        return self.next_after(reached - self.timing.window_ms) is None

    def has_no_occurrence_left(self, reached: int) -> bool:
        """The same without the batch of the last occurrence."""
        return self.has_ended(reached) if self.timing.is_on_demand else self.next_after(reached) is None

    def number_of(self, due_at: int) -> int | None:
        """Return the number of the occurrence at that instant, or None."""
        found = self.between(due_at - 1, due_at)
        return found[0][1] if found else None

    def counted_through(self, instant: int) -> int:
        """Return the number of the last occurrence up to an instant."""
        self._look(instant)
        place = self._place(instant)
        return self._known[place - 1][1] if place else self.timing.counted

    def _look(self, instant: int) -> None:
        """Find all occurrences up to that instant, and the next one."""
        while not self._is_over and (not self._known or self._known[-1][0] <= instant):
            following = next(self._coming, None)
            if following is None:
                self._is_over = True
            else:
                self._known.append(following)

    def _place(self, instant: int) -> int:
        """Return how many of the found occurrences lie up to an instant."""
        return bisect_right(self._known, instant, key=lambda known: known[0])


def begun(definition: Mapping[str, Any], asked_at: int, jitter_ms: int = 0) -> Timing:
    """Return the timing of a definition that begins a series, by the clock of the request.

    The offset of `jitter` follows from a hash, which this module does not compute: `jitter_ms` is given.
    """
    zone_name = _zone_name(definition)
    dst = definition.get("dst") or {}
    due_at = None
    if definition.get("dueTime") is not None:
        due_at = moment_of(
            definition["dueTime"],
            asked_at=asked_at,
            counted_from=asked_at,
            zone=_zone(zone_name),
            is_last=False,
        )
    return Timing(
        schedule=_read(definition.get("schedule")),
        zone_name=zone_name,
        gap=dst.get("gap", "shift"),
        overlap=dst.get("overlap", "first"),
        start_at=asked_at,
        due_at=due_at,
        ttl_at=_ttl(definition, asked_at, asked_at if due_at is None else due_at),
        repeats=definition.get("repeats"),
        jitter_ms=jitter_ms,
        window_ms=_window_ms(definition),
    )


def _window_ms(definition: Mapping[str, Any]) -> int:
    window = (definition.get("batch") or {}).get("window")
    return 0 if window is None else length_ms(window)


def gone_on(before: Timing, definition: Mapping[str, Any], asked_at: int) -> Timing:
    """Return the timing of an update that changes neither schedule, dueTime nor timezone. It keeps its start.

    A relative `ttl` counts from the dueTime that the earlier request gave, or else from this request.
    """
    dst = definition.get("dst") or {}
    counted_from = asked_at if before.due_at is None else before.due_at
    requested_at = asked_at if before.due_at is None else before.start_at
    return replace(
        before,
        gap=dst.get("gap", "shift"),
        overlap=dst.get("overlap", "first"),
        ttl_at=_ttl(definition, requested_at, counted_from),
        repeats=definition.get("repeats"),
        window_ms=_window_ms(definition),
    )


def patched(
    before: Timing, former: Mapping[str, Any], definition: Mapping[str, Any], asked_at: int
) -> Timing:
    """Return the timing of a PATCH. A relative time that it leaves out keeps its instant."""
    if has_same_timing(former, definition):
        timing = gone_on(before, definition, asked_at)
    else:
        timing = begun(definition, asked_at)
        if before.due_at is not None and former.get("dueTime") == definition.get("dueTime"):
            timing = replace(timing, due_at=before.due_at)
    if former.get("ttl") == definition.get("ttl"):
        timing = replace(timing, ttl_at=before.ttl_at)
    return timing


def counted_on(timing: Timing, asked_at: int, counted: int) -> Timing:
    """Return a series that a PATCH began. It has nothing before the request, and its numbers go on."""
    return replace(timing, counted_at=asked_at - 1, counted=counted)


def counted_from(timing: Timing, as_written: int, counted: int, former_jitter_ms: int = 0) -> Timing:
    """Return the same series after a time of its schedule, before jitter. Its numbers go on from `counted`.

    If less jitter moves a time to before the beginning, the time is part of the series.
    """
    counted_at = as_written + timing.jitter_ms
    start_at = timing.start_at
    if timing.jitter_ms < former_jitter_ms and not timing.counts_from_start:
        start_at = min(start_at, counted_at)
    return replace(timing, start_at=start_at, counted_at=counted_at, counted=counted)


def length_ms(text: str) -> int:
    """Return whole milliseconds of a duration without calendar parts."""
    length = length_of(text)
    return length.days * 86_400_000 + floor(length.elapsed_ms)


def has_same_timing(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether a series goes on from the one definition to the other."""
    return all(one.get(name) == other.get(name) for name in TIMING)


def _coming(timing: Timing, schedule: Any, zone: ZoneInfo, after: int) -> Iterator[int]:
    """Return the instants of a schedule strictly after one. A period begins with its own beginning."""
    if schedule is None:
        once_at = None if timing.due_at is None else _placed(timing.days, timing.due_at, zone)
        return iter([] if once_at is None else [once_at])
    if isinstance(schedule, list):
        return iter(sorted({at for at in map(_absolute, schedule) if at > after}))
    if isinstance(schedule, str):
        for pattern, periodic in PERIODIC:
            if re.match(pattern, schedule):
                return _fitting(timing.days, periodic(timing, schedule, after), zone)
    cron = _cron(schedule)
    if timing.days is not None:
        cron = FittingCron(**vars(cron), days=timing.days)
    return cron.instants(zone, timing.gap, timing.overlap, after)


def _is_periodic(schedule: Any) -> bool:
    return isinstance(schedule, str) and any(re.match(pattern, schedule) for pattern, _ in PERIODIC)


def _fitting(days: Days | None, instants: Iterator[int], zone: ZoneInfo) -> Iterator[int]:
    """Return the instants on days that fit. A calendar moves no period."""
    for each in instants:
        date = _local(each, zone).date()
        if days is not None and date.year > LAST_YEAR:
            return
        if days is None or days.fits_on(date):
            yield each


def _placed(days: Days | None, instant: int, zone: ZoneInfo) -> int | None:
    """Return when a one-off fires on the day that its calendar gives it, at its local time; or None."""
    local = _local(instant, zone)
    date = local.date() if days is None else days.place(local.date())
    if date is None or date == local.date():
        return None if date is None else instant
    wall = dt.datetime.combine(date, local.time())
    shown = instants_of(wall, zone)
    # A gap ends with a whole second.
    return (shown[0] if shown else end_of_gap(wall, zone)) + instant % 1_000


def _local(instant: int, zone: ZoneInfo) -> dt.datetime:
    return dt.datetime.fromtimestamp(instant // 1_000, zone)


def _amended(coming: Iterator[int], days: Days, after: int) -> Iterator[int]:
    """Return the instants with those that the days add, and without those that they remove."""
    also = [each for each in days.also if each > after]
    for each in coming:
        while also and also[0] < each:
            yield also.pop(0)
        if each not in days.without:
            yield each
    yield from also


def _cron(schedule: Any) -> Cron:
    if isinstance(schedule, Mapping):
        return _named(schedule)
    if schedule.startswith("cron("):
        minute, hour, of_month, month, of_week, year = schedule[5:-1].upper().split()
        return Cron("0", minute, hour, of_month, month, of_week, year, sunday=1)
    return cron_of(MACROS.get(schedule, schedule))


def _every(timing: Timing, schedule: str, after: int) -> Iterator[int]:
    """Return the times of a period from the dueTime on, or else from one period after the request."""
    period_ms = length_of(schedule.removeprefix("@every").strip()).elapsed_ms
    if timing.due_at is not None:
        return _periods(timing.due_at, period_ms, 0, after)
    return _periods(timing.start_at, period_ms, 1, after)


def _rate(timing: Timing, schedule: str, _: int) -> Iterator[int]:
    """Return the times of a period from the dueTime on, or else from the request itself."""
    number, unit = schedule[5:-1].split()
    anchor_at = timing.start_at if timing.due_at is None else timing.due_at
    period_ms = length_of(number + unit[0]).elapsed_ms
    return _periods(anchor_at, period_ms, 0, _before_first(timing))


def _periods(anchor_at: int, period_ms: Fraction, first: int, after: int) -> Iterator[int]:
    """Return the periods after an anchor, without those well before `after`."""
    begin = max(first, floor((after - anchor_at) / period_ms) - 2)
    instants = (floor(anchor_at + number * period_ms) for number in count(begin))
    return (each for each in instants if each > after)


def _repetition(timing: Timing, schedule: str, _: int) -> Iterator[int]:
    """Return `R4/PT3S` from the request or dueTime on, `R/2027-01-01T00:00:00Z/P1D` from the given start."""
    times, *start, written = schedule[1:].split("/")
    anchor_at = timing.start_at if timing.due_at is None else timing.due_at
    if start and timing.due_at is None:
        anchor_at = _absolute(start[0])
    numbers: Iterable[int] = range(int(times)) if times else count()
    zone = _zone(timing.zone_name)
    instants = (floor(moved(anchor_at, length_of(written), number, zone)) for number in numbers)
    return (each for each in instants if each > _before_first(timing))


def _before_first(timing: Timing) -> int:
    """Return the schedule's lower bound for a fire at the very request."""
    floor_at = (timing.start_at if timing.due_at is None else timing.due_at) - 1
    return max(floor_at, floor_at if timing.counted_at is None else timing.counted_at) - timing.jitter_ms


def _at(timing: Timing, schedule: str, after: int) -> Iterator[int]:
    """Return one local time, by the rules for fixed times."""
    zone = _zone(timing.zone_name)
    wall = dt.datetime.fromisoformat(schedule[3:-1])
    shown = instants_of(wall, zone)
    if not shown and timing.gap == "shift":
        shown = [end_of_gap(wall, zone)]
    chosen = {"first": shown[:1], "last": shown[-1:], "both": shown}[timing.overlap]
    return (each for each in chosen if each > after)


#: How the forms that are no cron are recognized.
PERIODIC: Final[tuple[tuple[str, Callable[[Timing, str, int], Iterator[int]]], ...]] = (
    ("@every", _every),
    (r"rate\(", _rate),
    (r"at\(", _at),
    (r"R\d*/", _repetition),
)


def _named(schedule: Mapping[str, Any]) -> Cron:
    """Return the cron of fields by name. A missing time field below a given field is 0, any other is `*`."""
    given = [FIELDS.index(name) for name in schedule]

    def value(place: int, name: str) -> str:
        if name in schedule:
            return str(schedule[name]).upper()
        return "0" if name in TIMES and any(coarser > place for coarser in given) else "*"

    second, minute, hour, of_month, month, of_week, year = map(value, count(), FIELDS)
    return Cron(second, minute, hour, of_month, month, of_week, year)


def _read(schedule: Any) -> Any:
    """Return a schedule as JSON has it. A text that holds JSON means that JSON."""
    if isinstance(schedule, str) and schedule.lstrip()[:1] in "{[":
        return json.loads(schedule)
    return schedule


def _unprefixed(schedule: Any) -> Any:
    if isinstance(schedule, str):
        return re.sub(r"^(CRON_TZ|TZ)=\S+\s+", "", schedule.strip())
    return schedule


def _zone_name(definition: Mapping[str, Any]) -> str:
    prefix = re.match(r"(?:CRON_TZ|TZ)=(\S+)", str(definition.get("schedule", "")).strip())
    return prefix[1] if prefix else definition.get("timezone") or "UTC"


def _ttl(definition: Mapping[str, Any], asked_at: int, counted_from: int) -> int | None:
    if definition.get("ttl") is None:
        return None
    zone = _zone(_zone_name(definition))
    return moment_of(definition["ttl"], asked_at=asked_at, counted_from=counted_from, zone=zone, is_last=True)


def _absolute(text: str) -> int:
    return moment_of(text, asked_at=0, counted_from=0, zone=_zone("UTC"), is_last=False)


@lru_cache
def _zone(name: str) -> ZoneInfo:
    """Return the zone of the package, whatever the machine's own files say."""
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as data:
        return ZoneInfo.from_file(data, key=name)
