"""Describes a schedule in English.

The library cron-descriptor describes cron expressions, but misreads some. So this module rewrites an
expression before it calls the library: numbers are in order, Sunday is 0, and a step stands only where it
divides its field. If there are several special days, the module asks for each by itself. Otherwise the
library describes `L,15` as "day L" and `1,5L` as "the last Monday and Friday". For `*/2` beside a weekday it
says "or" instead of "and".
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Final

from sweephand.base.instants import SECOND_MS, rfc3339
from sweephand.schedules import Series
from sweephand.schedules.day_rule import Otherwise
from sweephand.schedules.durations import MS_NS, Duration
from sweephand.schedules.notations.aws import At, Rate
from sweephand.schedules.notations.cron import Cron, CronFields
from sweephand.schedules.notations.cron_fields import CronField, Kind, Special
from sweephand.schedules.notations.parsing import Every, parse_schedule
from sweephand.schedules.notations.repetition import Repetition
from sweephand.schedules.schedule import InstantList

_MIDNIGHT: Final = "0 0 0 "
_AT_MIDNIGHT: Final = "At 00:00, "
_UNITS: Final = (("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000), ("second", 1_000))

#: From so many values on, a range or a step describes a field in fewer words than the values.
_RANGE_MIN: Final = 3

#: The first fields of an expression are second, minute and hour.
_TIME_FIELDS: Final = 3


_OTHERWISE: Final[Mapping[Otherwise, str]] = {
    "skip": "",
    "next": ", otherwise on the next one",
    "previous": ", otherwise on the previous one",
    "nearest": ", otherwise on the nearest one",
}


def describe(series: Series, calendar: str | None = None) -> str:
    """A schedule in English, without its time zone and bounds: "At 02:30, Monday through Friday".

    `calendar` names the calendar of the series.
    """
    text, rule = _describe_schedule(series), series.days
    if calendar is None or rule is None:
        return text
    only = "only " if rule.otherwise == "skip" else ""
    return f"{text}, {only}on {rule.fits} days of the calendar {calendar}{_OTHERWISE[rule.otherwise]}"


def _describe_schedule(series: Series) -> str:
    if series.schedule is None:
        if series.due_at is None:
            return "Only on demand"
        return f"Once, at {rfc3339(series.due_at)}"
    match parse_schedule(series.schedule).notation:
        case Cron(fields=CronFields() as fields):
            text = _describe_cron(fields)
        case Every(period_ns=period_ns) | Rate(period_ns=period_ns):
            text = f"Every {_describe_period(Duration(0, 0, period_ns))}"
        case At(wall_s=wall_s):
            text = f"Once, at {_local(wall_s)}"
        case Repetition() as repetition:
            text = _describe_repetition(repetition)
        case InstantList(instants=listed):
            text = f"At {len(listed)} instants" if len(listed) > 1 else f"Once, at {rfc3339(listed[0])}"
        case notation:
            raise AssertionError(f"no description of {type(notation).__name__}")
    return text


def _describe_repetition(repetition: Repetition) -> str:
    text = f"Every {_describe_period(repetition.period)}"
    if repetition.start is not None:
        at = repetition.start.instant_at
        text += f" from {_local(repetition.start.wall_s) if at is None else rfc3339(at)} on"
    return text if repetition.number is None else f"{text}, {_counted(repetition.number, 'time')} in all"


def _describe_period(period: Duration) -> str:
    """A period in words: "month", "hour and 30 minutes", "1.5 seconds"."""
    parts = [(repetition, unit) for unit, repetition in (("month", period.months), ("day", period.days))]
    left_ms, rest_ns = divmod(period.elapsed_ns, MS_NS)
    for unit, unit_ms in _UNITS[:-1]:
        count, left_ms = divmod(left_ms, unit_ms)
        parts.append((count, unit))
    text = [_counted(count, unit) for count, unit in parts if count]
    if left_ms or rest_ns:
        seconds, fraction_ns = divmod(left_ms * MS_NS + rest_ns, SECOND_MS * MS_NS)
        decimals = f".{fraction_ns:09d}".rstrip("0") if fraction_ns else ""
        text.append(f"{seconds}{decimals} {'second' if seconds == 1 and not decimals else 'seconds'}")
    return text[0].removeprefix("1 ") if len(text) == 1 else _joined(text, "and")


def _describe_cron(fields: CronFields) -> str:
    time = " ".join(
        _values_text(field, width) for field, width in zip(fields[:_TIME_FIELDS], (60, 60, 24), strict=True)
    )
    month = _cron_text(fields.month)
    year = "*" if fields.year is None else _cron_text(fields.year)
    of_month, of_week = fields.day_of_month, fields.day_of_week
    either = not (of_month.begins_with_star or of_week.begins_with_star)
    if either and (of_month.is_whole or of_week.is_whole):
        # Either field suffices, and one names every day (`1-31`).
        return _describe_expression(f"{time} * {month} * {year}")
    both = not of_month.is_whole and not of_week.is_whole
    if not both and all(len(_parts(each)) == 1 for each in (of_month, of_week)):
        return _describe_expression(f"{time} {_cron_text(of_month)} {month} {_cron_text(of_week)} {year}")
    days = [
        [_describe_days(f"{item} * * *") for item in _parts(of_month) if item != "*"],
        [_describe_days(f"* * {item} *") for item in _parts(of_week) if item != "*"],
    ]
    if both and not either:
        text = [", and ".join(_joined(each, "or") for each in days)]
    else:
        text = [_joined([item.removeprefix("only ") for each in days for item in each], "or")]
    text += [_describe_days(f"* {month} * *")] if month != "*" else []
    text += [_describe_days(f"* * * {year}")] if year != "*" else []
    return ", ".join([_describe_expression(f"{time} * * * *"), *text])


def _describe_days(days: str) -> str:
    """The description of days alone, without a time."""
    return _describe_expression(_MIDNIGHT + days).removeprefix(_AT_MIDNIGHT)


def _parts(field: CronField) -> list[str]:
    """The parts of a field that the library describes correctly: the values, and each special day alone."""
    values = [_values_text(field)] if field.values else []
    return values + [_special_text(special) for special in field.specials]


def _cron_text(field: CronField) -> str:
    return ",".join(_parts(field))


def _values_text(field: CronField, width: int = 0) -> str:
    values = field.values
    if field.is_whole:
        return "*"
    if len(values) >= _RANGE_MIN:
        step = values[1] - values[0]
        is_even = all(later - each == step for each, later in pairwise(values))
        if is_even and step == 1:
            return f"{values[0]}-{values[-1]}"
        if is_even and width and len(values) * step == width:
            return f"{values[0] or '*'}/{step}"
    return ",".join(map(str, values))


def _special_text(special: Special) -> str:
    match special.kind:
        case Kind.LAST_DAY:
            return f"L-{special.value}" if special.value else "L"
        case Kind.LAST_WORKDAY:
            return "LW"
        case Kind.NEAREST_WORKDAY:
            return f"{special.value}W"
        case Kind.LAST_WEEKDAY:
            return f"{special.value}L"
        case Kind.NTH_WEEKDAY:
            return f"{special.value}#{special.nth}"


@lru_cache(maxsize=1024)
def _describe_expression(expression: str) -> str:
    from cron_descriptor import ExpressionDescriptor, Options  # noqa: PLC0415 - the import takes 0.1 s, and few calls need it

    options = Options(locale_code="en_US", use_24hour_time_format=True)
    text: str = ExpressionDescriptor(expression, options).get_description()
    return text


def _local(wall_s: int) -> str:
    return rfc3339(wall_s * SECOND_MS).removesuffix(".000Z")


def _counted(count: int, unit: str) -> str:
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"


def _joined(texts: Sequence[str], word: str) -> str:
    *most, last = texts
    return f"{', '.join(most)} {word} {last}" if most else last
