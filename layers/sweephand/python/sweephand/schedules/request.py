"""The series that schedule, timezone, dueTime, ttl, repeats, dst and jitter make, or all that is wrong."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from sweephand.base.errors import InvalidError, ScheduleError, SchedulePartsError, Violation
from sweephand.base.instants import SECOND_MS, Instant, rfc3339
from sweephand.base.limits import JITTER_S_MAX, REPEATS_MAX
from sweephand.base.names import quoted
from sweephand.schedules.clock.dst import DEFAULT, DstRule, read_dst
from sweephand.schedules.clock.zones import UTC, Zone, zone_named
from sweephand.schedules.day_rule import MOVED_DAYS_MAX, DayRule
from sweephand.schedules.durations import offset_ms, parse_duration_ms
from sweephand.schedules.notations.parsing import (
    parse_schedule,
    read_schedule,
    timeline_of,
    why_unmovable,
)
from sweephand.schedules.schedule import InstantList, Schedule, ScheduleInput
from sweephand.schedules.series import Series
from sweephand.schedules.time_points import parse_time_point

#: The reason to refuse a field about occurrences on a job that has none.
IDLE_ON_DEMAND: Final = (
    "without effect on a job that fires only on demand; leave it out, or give a schedule or a dueTime"
)


def series_of(
    *,
    schedule: ScheduleInput | None,
    timezone: str | None,
    due_time: str | None,
    ttl: str | None,
    repeats: int | None,
    requested_at: Instant,
    dst: Mapping[str, Any] | None = None,
    jitter: str | None = None,
    calendar: Mapping[str, Any] | None = None,
    closed: str | None = None,
    key: str | None = None,
    may_be_on_demand: bool = False,
) -> Series:
    """The series that a request asks for. Relative values count from `requested_at`, as semantics.md says.

    `closed` are the closed days of the calendar that is named (schedules/day_rule.py). Without them, the
    calendar does not move anything, and only its fields are judged. `key` names the job, and so its offset in
    the window of `jitter`. Without a key the offset is 0. If `may_be_on_demand` is set, neither `schedule`
    nor `due_time` is required. Without both, the series has no occurrence, and only `timezone` and `ttl` may
    be given.

    Raises InvalidError with a Violation for each field that cannot be accepted: /schedule, /timezone,
    /dueTime, /ttl, /repeats, /dst, /jitter, /calendar, in this order. The same texts and the same instant
    give the same series on any machine.
    """
    reader = _Reader(requested_at)
    kept, zone_name = reader.schedule(schedule)
    zone = reader.zone(timezone, zone_name)
    is_on_demand = may_be_on_demand and schedule is None and due_time is None
    due_at = reader.due(due_time, zone, is_required=schedule is None and not is_on_demand)
    ttl_at = reader.ttl(ttl, zone, due_at)
    if is_on_demand:
        reader.check_idle({"repeats": repeats, "dst": dst, "jitter": jitter, "calendar": calendar})
        reader.give_up_if_violated()
        return Series(None, zone.name, 0, ttl_at=ttl_at)
    reader.check_repeats(repeats, is_one_off=schedule is None)
    rule = reader.dst(dst)
    window_ms = reader.jitter(jitter)
    days = reader.days(calendar, closed, kept)
    reader.give_up_if_violated()
    jitter_ms = 0 if key is None else offset_ms(key, window_ms)
    series = Series(
        kept, zone.name, requested_at, due_at, ttl_at, repeats, dst=rule, jitter_ms=jitter_ms, days=days
    )
    reader.check_first(series)
    reader.give_up_if_violated()
    return series


_Read = TypeVar("_Read")


class _Reader:
    """Reads the fields one after the other, and keeps a violation for each that is wrong."""

    def __init__(self, requested_at: Instant) -> None:
        self._requested_at = requested_at
        self._violations: list[Violation] = []

    def give_up_if_violated(self) -> None:
        if self._violations:
            raise InvalidError(self._violations)

    def schedule(self, written: ScheduleInput | None) -> tuple[Schedule | None, str | None]:
        """The schedule, and the zone that its prefix names."""
        if written is None:
            return None, None
        try:
            schedule = read_schedule(written)
            prefixed = parse_schedule(schedule).zone_name
            if prefixed is not None:
                zone_named(prefixed)
        except SchedulePartsError as parts:
            for fault in parts.faults:
                self._refuse(f"/schedule{fault.pointer}", fault)
            return None, None
        except ScheduleError as fault:
            self._refuse(f"/schedule{fault.pointer}", fault)
            return None, None
        return schedule, prefixed

    def zone(self, name: str | None, prefixed: str | None) -> Zone:
        zone: Zone | None = None
        if name is not None:
            zone = self._read("/timezone", lambda: zone_named(name), None)
        if zone is not None and prefixed is not None and prefixed != zone.name:
            self._refuse(
                "/timezone",
                f"{quoted(zone.name)} conflicts with {quoted(prefixed)} in the schedule; "
                "expected one time zone",
            )
        # After a violation, UTC is used, so that the other fields are still checked.
        return zone or zone_named(prefixed or UTC)

    def due(self, text: str | None, zone: Zone, *, is_required: bool) -> Instant | None:
        if text is None:
            if is_required:
                self._refuse("/dueTime", "missing; expected a dueTime, a schedule, or both")
            return None
        now = self._requested_at
        return self._read(
            "/dueTime", lambda: parse_time_point(text, requested_at=now, counted_from=now, zone=zone), None
        )

    def ttl(self, text: str | None, zone: Zone, due_at: Instant | None) -> Instant | None:
        if text is None:
            return None
        now = self._requested_at
        start_at = now if due_at is None else due_at
        return self._read(
            "/ttl",
            lambda: parse_time_point(
                text, requested_at=now, counted_from=start_at, zone=zone, round_up=False
            ),
            None,
        )

    def check_idle(self, fields: Mapping[str, Any]) -> None:
        """Refuse the fields that would have no effect on a job that fires only on demand."""
        for name, value in fields.items():
            if value is not None:
                self._refuse(f"/{name}", IDLE_ON_DEMAND)

    def check_repeats(self, repeats: int | None, *, is_one_off: bool) -> None:
        if repeats is None:
            return
        if not 1 <= repeats <= REPEATS_MAX:
            self._refuse(
                "/repeats", f"{repeats} is out of range; expected a whole number from 1 to {REPEATS_MAX}"
            )
        elif is_one_off and repeats > 1:
            self._refuse(
                "/repeats", f"{repeats} for a job without a schedule, which fires once; expected a schedule"
            )

    def dst(self, written: Mapping[str, Any] | None) -> DstRule:
        return DEFAULT if written is None else self._read("/dst", lambda: read_dst(written), DEFAULT)

    def jitter(self, text: str | None) -> int:
        return 0 if text is None else self._read("/jitter", lambda: parse_jitter_ms(text), 0)

    def days(
        self, calendar: Mapping[str, Any] | None, closed: str | None, schedule: Schedule | None
    ) -> DayRule | None:
        if calendar is None:
            return None
        otherwise = calendar.get("otherwise", "skip")
        why = None if schedule is None or otherwise == "skip" else why_unmovable(schedule)
        if why is not None:
            self._refuse(
                "/calendar/otherwise",
                f"{quoted(otherwise)} for the schedule {quoted(str(schedule))}: {why}; expected skip",
            )
        return None if closed is None else DayRule(closed, calendar.get("days", "open"), otherwise)

    def check_first(self, series: Series) -> None:
        is_bounded = series.ttl_at is not None or series.repeats is not None
        unbounded = series._replace(ttl_at=None, repeats=None) if is_bounded else series
        first = unbounded.next_after(series.start_at - 1)
        if first is None and series.days is not None and unbounded._replace(days=None).next_after(0):
            self._refuse("/calendar", _why_no_day(series, series.days))
        elif first is None:
            self._refuse("/schedule" if series.due_at is None else "/dueTime", _why_none(series))
        elif series.ttl_at is not None and series.ttl_at < first.due_at:
            self._refuse(
                "/ttl",
                f"ends at {rfc3339(series.ttl_at)}, before the first fire at {rfc3339(first.due_at)}; "
                "expected a later end",
            )

    def _read(self, pointer: str, read: Callable[[], _Read], otherwise: _Read) -> _Read:
        """What `read` returns; `otherwise`, and a violation, if it raises ScheduleError."""
        try:
            return read()
        except ScheduleError as fault:
            self._refuse(pointer + fault.pointer, fault)
            return otherwise

    def _refuse(self, pointer: str, reason: object) -> None:
        self._violations.append(Violation(pointer, str(reason)))


def _why_none(series: Series) -> str:
    """The message that says why a series has no occurrence."""
    if isinstance(series.schedule, InstantList):
        latest, number = rfc3339(series.schedule.instants[-1]), len(series.schedule.instants)
        listed = "the only instant" if number == 1 else f"each of the {number} instants"
        if series.due_at is None:
            return f"{listed} is past, the latest at {latest}; expected one to come"
        return f"comes after {listed} of the schedule, the latest at {latest}; expected it earlier"
    bounded = (series.schedule, series.timezone, series.start_at, series.due_at)
    if series.schedule is not None and timeline_of(*bounded, dst=series.dst).is_finite:
        if series.due_at is None:
            return f"{quoted(str(series.schedule))} never fires again; expected an instant to come"
        return f"the schedule never fires at or after {rfc3339(series.due_at)}; expected it earlier"
    return "nothing fires before the year 10000; expected an earlier first fire"


def _why_no_day(series: Series, days: DayRule) -> str:
    """The message that says why no occurrence falls on a day that fits."""
    fitting = "open" if days.fits == "open" else "closed"
    if days.moves:
        return f"no {fitting} day lies near an occurrence to come; expected one within {MOVED_DAYS_MAX} days"
    what = "dueTime" if series.schedule is None else "schedule"
    return (
        f"the {what} never falls on a day that the calendar has {fitting}; expected another {what}, or "
        "`otherwise` with next, previous or nearest"
    )


def parse_jitter_ms(text: str) -> int:
    """The window in ms, from 1 ms to JITTER_S_MAX seconds. Raises ScheduleError."""
    window_ms = parse_duration_ms(text)
    if not 0 < window_ms <= JITTER_S_MAX * SECOND_MS:
        raise ScheduleError(
            f"{quoted(text)} is out of range; expected more than 0 and at most {JITTER_S_MAX} s"
        )
    return window_ms
