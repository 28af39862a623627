"""EventBridge Scheduler's `cron(minute hour day-of-month month day-of-week year)`.

Reference: AWS, "Schedule types in EventBridge Scheduler" and "Cron expressions reference", which take their
grammar from Quartz: days of the week from 1 = SUN to 7 = SAT, one of the two day fields `?`, the year from
1970 to 2199, ranges that may run over the end (`22-2`), steps no longer than the field; L, W and # stand
alone in their field.
"""

import re
from typing import Final

from sweephand.schedules.errors import ScheduleError, quoted
from sweephand.schedules.notations.cron import Cron, CronFields, cron_of
from sweephand.schedules.notations.cron_fields import (
    DAY_OF_MONTH,
    HOUR,
    MINUTE,
    MONTH,
    SECOND,
    YEAR,
    Field,
    FieldRule,
    Kind,
    Special,
    parse_field,
)

_DAYS: Final = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_DAY_OF_WEEK: Final = FieldRule(
    "day-of-week",
    1,
    7,
    {name: at for at, name in enumerate(_DAYS, 1)},
    " (1 is SUN), SUN to SAT, L, 6L or 6#2",
)
_RULES: Final = (
    MINUTE,
    HOUR,
    DAY_OF_MONTH._replace(examples=", L, LW, L-3 or 15W"),
    MONTH,
    _DAY_OF_WEEK,
    YEAR,
)
_BEFORE_LAST_MAX: Final = 30
# Left for re to compile and keep when they are first used: importing this must be cheap.
_TERM: Final = r"(\*|[0-9A-Z]+)(?:-([0-9A-Z]+))?(?:/([0-9]{1,4}))?"
_NEAREST_WORKDAY: Final = r"([0-9]{1,2})W"
_BEFORE_LAST: Final = r"L-([0-9]{1,2})"
_LAST_WEEKDAY: Final = r"([1-7]|[A-Z]{3})L"
_NTH_WEEKDAY: Final = r"([1-7]|[A-Z]{3})#([1-5])"


def parse_aws_cron(written: str) -> Cron:
    """The expression between the parentheses. Raises ScheduleError."""
    texts = written.split()
    if len(texts) != len(_RULES):
        raise ScheduleError(
            f"{quoted(written)} in cron() has {len(texts)} {'field' if len(texts) == 1 else 'fields'}; "
            "expected six (minute hour day-of-month month day-of-week year)"
        )
    of_month, of_week = texts[2], texts[4]
    if (of_month == "?") == (of_week == "?"):
        raise ScheduleError(
            f"{quoted(of_month)} as day-of-month and {quoted(of_week)} as day-of-week in cron(): "
            "expected ? in one of the two and not in the other"
        )
    fields = [_field(text.upper(), rule) for text, rule in zip(texts, _RULES, strict=True)]
    minute, hour, day_of_month, month, day_of_week, year = fields
    return cron_of(
        CronFields(
            parse_field("0", SECOND), minute, hour, day_of_month, month, _from_sunday(day_of_week), year
        ),
        f"{quoted(' '.join(texts[2:]))} (day-of-month, month, day-of-week, year)",
    )


def _field(text: str, rule: FieldRule) -> Field:
    if text == "?" and rule.title in ("day-of-month", "day-of-week"):
        text = "*"
    special = _special(text, rule)
    if special is not None:
        return Field((), (special,), begins_with_star=False, is_whole=False)
    values = {value for term in text.split(",") for value in _values(term, rule)}
    return Field(
        tuple(sorted(values)),
        (),
        begins_with_star=text.startswith("*"),
        is_whole=len(values) == rule.high - rule.low + 1,
    )


def _special(text: str, rule: FieldRule) -> Special | None:
    if rule.title == "day-of-month":
        return _special_of_month(text, rule)
    if rule.title == "day-of-week":
        return _special_of_week(text, rule)
    return None


def _special_of_month(text: str, rule: FieldRule) -> Special | None:
    if text == "L":
        return Special(Kind.LAST_DAY)
    if text == "LW":
        return Special(Kind.LAST_WORKDAY)
    before_last = re.fullmatch(_BEFORE_LAST, text)
    if before_last is not None and int(before_last.group(1)) <= _BEFORE_LAST_MAX:
        return Special(Kind.LAST_DAY, int(before_last.group(1)))
    nearest = re.fullmatch(_NEAREST_WORKDAY, text)
    return None if nearest is None else Special(Kind.NEAREST_WORKDAY, _number(nearest.group(1), text, rule))


def _special_of_week(text: str, rule: FieldRule) -> Special | None:
    last = re.fullmatch(_LAST_WEEKDAY, text)
    if last is not None:
        return Special(Kind.LAST_WEEKDAY, _number(last.group(1), text, rule))
    nth = re.fullmatch(_NTH_WEEKDAY, text)
    return (
        None
        if nth is None
        else Special(Kind.NTH_WEEKDAY, _number(nth.group(1), text, rule), int(nth.group(2)))
    )


def _values(term: str, rule: FieldRule) -> list[int]:
    if term == "L" and rule is _DAY_OF_WEEK:
        return [rule.high]  # the last day of the week
    match = re.fullmatch(_TERM, term)
    if match is None or (match.group(1) == "*" and match.group(2) is not None):
        raise _unreadable(term, term, rule)
    first_text, last_text, step_text = match.groups()
    step = 1 if step_text is None else int(step_text)
    width = rule.high - rule.low + 1
    if not 1 <= step <= (width if rule is YEAR else rule.high):
        raise ScheduleError(
            f"{quoted(step_text)} in {quoted(term)} in the {rule.title} field of cron(): "
            f"expected a step of 1 to {width if rule is YEAR else rule.high}"
        )
    first = rule.low if first_text == "*" else _number(first_text, term, rule)
    if last_text is not None:
        last = _number(last_text, term, rule)
    else:
        last = first if step_text is None and first_text != "*" else rule.high
    if last < first:
        if rule is YEAR:
            raise ScheduleError(
                f"{quoted(term)} in the year field of cron(): expected a range that runs forward"
            )
        last += width
    return [(value - rule.low) % width + rule.low for value in range(first, last + 1, step)]


def _number(text: str, term: str, rule: FieldRule) -> int:
    value = rule.names.get(text)
    if value is None and text.isdecimal():
        value = int(text[:9])
    if value is None or not rule.low <= value <= rule.high:
        raise _unreadable(text, term, rule)
    return value


def _unreadable(text: str, term: str, rule: FieldRule) -> ScheduleError:
    within = "" if text == term else f" in {quoted(term)}"
    return ScheduleError(
        f"{quoted(text)}{within} in the {rule.title} field of cron(): "
        f"expected {rule.low} to {rule.high}{rule.examples}"
    )


def _from_sunday(field: Field) -> Field:
    """The days of a week with Sunday as 0, as the rest of this room has them."""
    return field._replace(
        values=tuple(value - 1 for value in field.values),
        specials=tuple(special._replace(value=special.value - 1) for special in field.specials),
    )
