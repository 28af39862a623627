"""How one field of a cron expression is written, and which values it names.

References: Debian's crontab(5) for lists, ranges, steps and names; robfig/cron for `?` and for a step after a
single number (`10/20` runs from 10 to the end of the range); cronsim and Quartz for `L`, `LW`, `15W`, `5L`,
`5#2`.
"""

import re
from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final, NamedTuple

from sweephand.schedules.errors import ScheduleError, quoted

_MONTHS: Final = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")

# Left for re to compile and keep when they are first used: importing this must be cheap.
_NUMBER: Final = r"[0-9]{1,9}"
_LAST_WEEKDAY: Final = r"([0-9])L|L([0-9])"
_NTH_WEEKDAY: Final = r"([0-9A-Z]+)#([0-9])"
_NEAREST_WORKDAY: Final = r"([0-9]{1,2})W"


class Kind(Enum):
    """What a day that no list of numbers can name is named by."""

    LAST_DAY = "L"
    LAST_WORKDAY = "LW"
    NEAREST_WORKDAY = "W"
    LAST_WEEKDAY = "5L"
    NTH_WEEKDAY = "#"


class Special(NamedTuple):
    """A day that depends on the month: `value` is a day of month or week, `nth` counts weekdays.

    With LAST_DAY, `value` is how many days it lies before the last one.
    """

    kind: Kind
    value: int = 0
    nth: int = 0


class FieldRule(NamedTuple):
    """One place of an expression: its name in messages, its range, the names it takes and its specials."""

    title: str
    low: int
    high: int
    names: Mapping[str, int] = MappingProxyType({})
    examples: str = ""


SECOND: Final = FieldRule("second", 0, 59)
MINUTE: Final = FieldRule("minute", 0, 59)
HOUR: Final = FieldRule("hour", 0, 23)
DAY_OF_MONTH: Final = FieldRule("day-of-month", 1, 31, examples=", L, LW or 15W")
MONTH: Final = FieldRule("month", 1, 12, {name: at for at, name in enumerate(_MONTHS, 1)}, " or JAN to DEC")
DAY_OF_WEEK: Final = FieldRule(
    "day-of-week",
    0,
    7,
    {name: at for at, name in enumerate(_WEEKDAYS)},
    " (Sunday is 0 or 7), SUN to SAT, 5L or 5#2",
)
#: The years that EventBridge takes.
YEAR: Final = FieldRule("year", 1970, 2199)


class Field(NamedTuple):
    """What a field names: values in order, days that depend on the month, and how it restricts."""

    values: tuple[int, ...]
    specials: tuple[Special, ...]
    begins_with_star: bool
    is_whole: bool


def parse_field(text: str, rule: FieldRule) -> Field:
    """What a field names, Sunday as 0. Raises ScheduleError, quoting the term that cannot be read."""
    values: set[int] = set()
    specials: list[Special] = []
    for term in text.upper().split(","):
        special = _special(term, rule)
        if special is None:
            values.update(_values(term, rule))
        elif special not in specials:
            specials.append(special)
    whole = set(range(rule.low, rule.high + 1))
    if rule is DAY_OF_WEEK:
        values, whole = ({value % 7 for value in each} for each in (values, whole))
    return Field(
        values=tuple(sorted(values)),
        specials=tuple(specials),
        begins_with_star=text[0] in "*?",
        is_whole=values == whole,
    )


def _special(term: str, rule: FieldRule) -> Special | None:
    if rule is DAY_OF_MONTH:
        if term == "L":
            return Special(Kind.LAST_DAY)
        if term == "LW":
            return Special(Kind.LAST_WORKDAY)
        nearest = re.fullmatch(_NEAREST_WORKDAY, term)
        if nearest is not None:
            return Special(Kind.NEAREST_WORKDAY, _number(nearest.group(1), term, rule))
    if rule is DAY_OF_WEEK:
        last = re.fullmatch(_LAST_WEEKDAY, term)
        if last is not None:
            return Special(Kind.LAST_WEEKDAY, _number(last.group(1) or last.group(2), term, rule) % 7)
        nth = re.fullmatch(_NTH_WEEKDAY, term)
        if nth is not None:
            if nth.group(2) not in "12345":
                raise ScheduleError(
                    f"{quoted(term)} in the day-of-week field: expected #1 to #5 after the day"
                )
            return Special(Kind.NTH_WEEKDAY, _number(nth.group(1), term, rule) % 7, int(nth.group(2)))
    return None


def _values(term: str, rule: FieldRule) -> range:
    span, slash, step_text = term.partition("/")
    if slash and (not re.fullmatch(_NUMBER, step_text) or int(step_text) == 0):
        raise ScheduleError(
            f"{quoted(term)} in the {rule.title} field: expected a whole number of at least 1 after the slash"
        )
    step = int(step_text) if slash else 1
    if span in ("*", "?"):
        return range(rule.low, rule.high + 1, step)
    first_text, dash, last_text = span.partition("-")
    first = _number(first_text, term, rule)
    if dash:
        last = _number(last_text, term, rule)
        if last < first:
            raise ScheduleError(
                f"{quoted(term)} in the {rule.title} field: a range may not run backwards; "
                f"expected two ranges with a comma between them{_sunday_hint(last_text, rule)}"
            )
    elif slash:
        # As in robfig/cron; Sunday's other name, 7, is no eighth day for the step to land on.
        last = max(first, 6) if rule is DAY_OF_WEEK else rule.high
    else:
        last = first
    return range(first, last + 1, step)


def _sunday_hint(text: str, rule: FieldRule) -> str:
    return ", or 7 for Sunday" if rule is DAY_OF_WEEK and text in ("SUN", "0") else ""


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
