"""How one field of a cron expression is written, and which values it names.

References: Debian's crontab(5) for lists, ranges, steps and names; robfig/cron for `?` and for a step after a
single number (`10/20` runs from 10 to the end of the range); cronsim and Quartz for `L`, `LW`, `15W`, `5L`,
`5#2`. aws.py changes the rules of the fields to those of EventBridge.
"""

import re
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple

from sweephand.base.errors import ScheduleError
from sweephand.base.names import quoted

_MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")

# re compiles the patterns here when they are first used, so that importing this module stays cheap.
_NUMBER: Final = r"[0-9]{1,9}"


class Kind(Enum):
    """How a field names a day that depends on the month."""

    LAST_DAY = "L"
    LAST_WORKDAY = "LW"
    NEAREST_WORKDAY = "W"
    LAST_WEEKDAY = "5L"
    NTH_WEEKDAY = "#"


class Special(NamedTuple):
    """A day that depends on the month: `value` is a day of month or week, `nth` counts weekdays.

    With LAST_DAY, `value` is the number of days before the last one.
    """

    kind: Kind
    value: int = 0
    nth: int = 0


class FieldRule(NamedTuple):
    """One field: its name in messages, its range, its names, and its special days as patterns."""

    title: str
    low: int
    high: int
    names: Mapping[str, int] = MappingProxyType({})
    examples: str = ""
    specials: Mapping[str, Kind] = MappingProxyType({})
    #: What stands for every value.
    stars: tuple[str, ...] = ("*", "?")
    #: The longest step; None for a step of any length.
    step_max: int | None = None
    #: Whether a range may run over the end of the field (`22-2`).
    wraps: bool = False
    #: Whether a special day is refused in a list.
    stands_alone: bool = False


SECOND: Final = FieldRule("second", 0, 59)
MINUTE: Final = FieldRule("minute", 0, 59)
HOUR: Final = FieldRule("hour", 0, 23)
DAY_OF_MONTH: Final = FieldRule(
    "day-of-month",
    1,
    31,
    examples=", L, LW or 15W",
    specials={"L": Kind.LAST_DAY, "LW": Kind.LAST_WORKDAY, "([0-9]{1,2})W": Kind.NEAREST_WORKDAY},
)
MONTH: Final = FieldRule("month", 1, 12, {name: at for at, name in enumerate(_MONTHS, 1)}, " or JAN to DEC")
DAY_OF_WEEK: Final = FieldRule(
    "day-of-week",
    0,
    7,
    {name: at for at, name in enumerate(WEEKDAYS)},
    " (Sunday is 0 or 7), SUN to SAT, 5L or 5#2",
    {"([0-9])L|L([0-9])": Kind.LAST_WEEKDAY, "([0-9A-Z]+)#([0-9])": Kind.NTH_WEEKDAY},
)
#: The years that EventBridge takes.
YEAR: Final = FieldRule("year", 1970, 2199)


class CronField(NamedTuple):
    """What a field names: values in order, and special days. `is_whole` means that it has every value."""

    values: tuple[int, ...]
    specials: tuple[Special, ...]
    begins_with_star: bool
    is_whole: bool


def parse_field(text: str, rule: FieldRule) -> CronField:
    """What a field names, Sunday as 0. Raises ScheduleError, which quotes the term that cannot be read."""
    values: set[int] = set()
    specials: list[Special] = []
    terms = text.upper().split(",")
    for term in terms:
        special = None if rule.stands_alone and len(terms) > 1 else _special(term, rule)
        if special is None:
            values.update(_values(term, rule))
        elif special not in specials:
            specials.append(special)
    whole = set(range(rule.low, rule.high + 1))
    if rule is DAY_OF_WEEK:
        values, whole = ({value % 7 for value in each} for each in (values, whole))
    return CronField(
        values=tuple(sorted(values)),
        specials=tuple(specials),
        begins_with_star=text.startswith(rule.stars),
        is_whole=values == whole,
    )


def _special(term: str, rule: FieldRule) -> Special | None:
    for pattern, kind in rule.specials.items():
        match = re.fullmatch(pattern, term)
        if match is None:
            continue
        day, nth = ([each for each in match.groups() if each is not None] + ["0", "0"])[:2]
        if kind is Kind.NTH_WEEKDAY and nth not in "12345":
            raise ScheduleError(f"{quoted(term)} in the {rule.title} field: expected #1 to #5 after the day")
        if kind in (Kind.LAST_DAY, Kind.LAST_WORKDAY):
            return Special(kind, int(day))
        value = _number(day, term, rule)
        return Special(kind, value % 7 if rule is DAY_OF_WEEK else value, int(nth))
    return None


def _values(term: str, rule: FieldRule) -> list[int]:
    span, slash, step_text = term.partition("/")
    step = int(step_text) if re.fullmatch(_NUMBER, step_text) else 0
    if slash and not 0 < step <= (rule.step_max or step):
        expected = "at least 1" if rule.step_max is None else f"1 to {rule.step_max}"
        raise ScheduleError(
            f"{quoted(step_text)} in {quoted(term)} in the {rule.title} field: "
            f"expected a whole number of {expected} after the slash"
        )
    first_text, dash, last_text = span.partition("-")
    if span in rule.stars:
        first, last = rule.low, rule.high
    elif dash:
        first, last = (_number(each, term, rule) for each in (first_text, last_text))
    else:
        first = last = _number(span, term, rule)
        if slash:
            # As in robfig/cron. A step never lands on 7: that is Sunday's other name and no eighth day.
            last = max(first, 6) if rule is DAY_OF_WEEK else rule.high
    width = rule.high - rule.low + 1
    if last < first:
        if not rule.wraps:
            hint = ", or 7 for Sunday" if rule is DAY_OF_WEEK and last_text in ("SUN", "0") else ""
            raise ScheduleError(
                f"{quoted(term)} in the {rule.title} field: a range may not run backwards; "
                f"expected two ranges with a comma between them{hint}"
            )
        last += width
    return [(value - rule.low) % width + rule.low for value in range(first, last + 1, step or 1)]


def _number(text: str, term: str, rule: FieldRule) -> int:
    value = rule.names.get(text)
    if value is None and re.fullmatch(_NUMBER, text):
        value = int(text)
    if value is None or not rule.low <= value <= rule.high:
        within = "" if text == term else f" in {quoted(term)}"
        raise ScheduleError(
            f"{quoted(text)}{within} in the {rule.title} field: "
            f"expected {rule.low} to {rule.high}{rule.examples}"
        )
    return value
