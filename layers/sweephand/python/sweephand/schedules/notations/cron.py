"""Cron by position with five or six fields, cron by the names of the fields, and robfig's macros.

References: Debian's cron(8) and crontab(5) for matching and for clock changes; robfig/cron for the six fields
(seconds first) and the macros; cronsim as the oracle for five fields. semantics.md decides where they differ.

A fixed expression fires once for each local time that it names, unless its job asks for another rule. If the
local time is in a gap of less than three hours, the expression fires as the gap ends, once for the whole gap.
If the local time comes twice, the expression fires the first time. An expression whose minute or hour field
begins with a star follows real time: it fires exactly as often as the clock shows a matching time.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from sweephand.base.errors import ScheduleError, SchedulePartsError, pointer
from sweephand.base.limits import PROBLEM_ERRORS_MAX, SCHEDULE_LENGTH_MAX
from sweephand.base.names import quoted, suggestion
from sweephand.schedules.clock.fitting_days import FittingDays
from sweephand.schedules.clock.wall_timeline import Pattern, WallTimeline
from sweephand.schedules.notations import cron_fields
from sweephand.schedules.notations.cron_fields import CronField, FieldRule, parse_field
from sweephand.schedules.notations.cron_pattern import DayRule, TimesOfDay, WallPattern
from sweephand.schedules.schedule import NamedFields
from sweephand.schedules.timeline import Beginning

MACROS: Final = {
    "@yearly": "0 0 0 1 1 *",
    "@annually": "0 0 0 1 1 *",
    "@monthly": "0 0 0 1 * *",
    "@weekly": "0 0 0 * * 0",
    "@daily": "0 0 0 * * *",
    "@midnight": "0 0 0 * * *",
    "@hourly": "0 0 * * * *",
}

#: The fields by the names that semantics.md gives them. Cron itself has this order and no year.
_RULES: Final[Mapping[str, FieldRule]] = {
    "second": cron_fields.SECOND,
    "minute": cron_fields.MINUTE,
    "hour": cron_fields.HOUR,
    "dayOfMonth": cron_fields.DAY_OF_MONTH,
    "month": cron_fields.MONTH,
    "dayOfWeek": cron_fields.DAY_OF_WEEK,
    "year": cron_fields.YEAR,
}
_DAY_FIELDS: Final = ("dayOfMonth", "month", "dayOfWeek", "year")
_TIME_FIELDS: Final = ("second", "minute", "hour")
_CRON_RULES: Final = tuple(_RULES.values())[:-1]

#: The names of the fields of an object.
CRON_FIELDS: Final = tuple(_RULES)
_NAMES: Final = ", ".join(CRON_FIELDS)


class CronFields(NamedTuple):
    """The fields of an expression, whatever its notation. Without `year` it matches in every year."""

    second: CronField
    minute: CronField
    hour: CronField
    day_of_month: CronField
    month: CronField
    day_of_week: CronField
    year: CronField | None = None


class Cron(NamedTuple):
    """An expression that has been read: which wall times match, and whether it follows real time.

    `fields` is None for local times that come from another notation.
    """

    pattern: Pattern
    is_wildcard: bool
    fields: CronFields | None = None

    def timeline(self, beginning: Beginning) -> WallTimeline:
        """The matches in the zone, after the floor of the beginning."""
        rule = None if self.is_wildcard else beginning.dst
        pattern = self.pattern if beginning.days is None else FittingDays(self.pattern, beginning.days)
        return WallTimeline(pattern, beginning.zone, beginning.floor_at, rule)


def cron_of(fields: CronFields, days: str) -> Cron:
    """The expression of these fields. Raises ScheduleError, which quotes `days`, if its days never come."""
    pattern = WallPattern(
        TimesOfDay(fields.hour.values, fields.minute.values, fields.second.values),
        DayRule(fields.day_of_month, fields.day_of_week),
        fields.month.values,
        None if fields.year is None or fields.year.is_whole else fields.year.values,
    )
    if not pattern.ever_matches():
        raise ScheduleError(f"{days} never comes; expected a day that exists in one of its months")
    return Cron(
        pattern,
        is_wildcard=fields.minute.begins_with_star or fields.hour.begins_with_star,
        fields=fields,
    )


def parse_cron(text: str) -> Cron:
    """The expression of five or six fields. Raises ScheduleError, also if it can never match."""
    texts = text.split()
    if len(texts) == len(_CRON_RULES) - 1:
        texts.insert(0, "0")
    if len(texts) != len(_CRON_RULES):
        raise ScheduleError(
            f"{quoted(text)} has {len(texts)} {'field' if len(texts) == 1 else 'fields'}; expected five "
            "(minute hour day-of-month month day-of-week) or six (second first)"
        )
    fields = [parse_field(each, rule) for each, rule in zip(texts, _CRON_RULES, strict=True)]
    return cron_of(CronFields(*fields), f"{quoted(' '.join(texts[3:]))} (day-of-month, month, day-of-week)")


def cron_of_names(fields: NamedFields) -> Cron:
    """The expression that fields by name make. Raises ScheduleError.

    Each field is written as in cron with six fields. A time field that is left out below a given one is 0.
    Every other field that is left out is `*`. APScheduler's cron trigger does the same.
    """
    given, names = dict(fields.given), list(_RULES)
    highest = max(names.index(name) for name in given)

    def text_of(name: str) -> str:
        is_zero = name in _TIME_FIELDS and names.index(name) < highest
        return given.get(name) or ("0" if is_zero else "*")

    days = ", ".join(f"{name} {quoted(text_of(name))}" for name in _DAY_FIELDS)
    return cron_of(CronFields(*(parse_field(text_of(name), rule) for name, rule in _RULES.items())), days)


def parse_fields(written: Mapping[str, object]) -> NamedFields:
    """The fields of an object.

    Raises SchedulePartsError, which names the fields that cannot be read: one more than a problem names.
    """
    lengths = [len(each) for each in map(written.get, _RULES) if isinstance(each, str)]
    # A field that is too long by itself is refused at its own name, and is not read either.
    if sum(each for each in lengths if each <= SCHEDULE_LENGTH_MAX) > SCHEDULE_LENGTH_MAX:
        raise ScheduleError(
            f"fields that are too long together; expected at most {SCHEDULE_LENGTH_MAX} characters"
        )
    texts: dict[str, str] = {}
    faults: list[ScheduleError] = []
    for name, value in written.items():
        try:
            if value is not None or name not in _RULES:
                texts[name] = _read(name, value)
        except ScheduleError as fault:
            faults.append(ScheduleError(str(fault), pointer(name)))
            if len(faults) > PROBLEM_ERRORS_MAX:
                break
    if faults:
        raise SchedulePartsError(faults)
    if not texts:
        raise ScheduleError(f"an object without fields; expected at least one of {_NAMES}")
    fields = NamedFields(tuple((name, texts[name]) for name in _RULES if name in texts))
    cron_of_names(fields)  # so that days which never come are refused
    return fields


def _read(name: str, value: object) -> str:
    rule = _RULES.get(name)
    if rule is None:
        raise ScheduleError(
            f"{quoted(name)} is no field of a schedule; expected {_NAMES}.{suggestion(name, _RULES)}"
        )
    text = str(value) if type(value) is int else value
    if not isinstance(text, str) or not 0 < len(text) <= SCHEDULE_LENGTH_MAX:
        raise ScheduleError(f"{quoted(str(value))} as the {rule.title} field: expected text such as '3,6,9'")
    parse_field(text, rule)
    return text
