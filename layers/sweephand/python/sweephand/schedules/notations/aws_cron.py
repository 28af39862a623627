"""EventBridge Scheduler's `cron(minute hour day-of-month month day-of-week year)`.

Reference: AWS, "Schedule types in EventBridge Scheduler" and "Cron expressions reference", which take their
grammar from Quartz. Days of the week run from 1 = SUN to 7 = SAT. One of the two day fields is `?`. Years run
from 1970 to 2199. A range may run over the end of its field (`22-2`). A step is no longer than its field.
`L`, `W` and `#` stand alone in their field.
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
    WEEKDAYS,
    YEAR,
    CronField,
    FieldRule,
    Kind,
    parse_field,
)


def _rule(rule: FieldRule) -> FieldRule:
    """A field of cron by the rules that all fields of EventBridge share."""
    width = rule.high - rule.low + 1
    return rule._replace(
        stars=("*",), step_max=min(rule.high, width), wraps=rule is not YEAR, stands_alone=True
    )


_RULES: Final = (
    _rule(MINUTE),
    _rule(HOUR),
    _rule(DAY_OF_MONTH)._replace(
        examples=", L, LW, L-3 or 15W",
        specials={**DAY_OF_MONTH.specials, "L-([0-2]?[0-9]|30)": Kind.LAST_DAY},
    ),
    _rule(MONTH),
    _rule(
        FieldRule(
            "day-of-week",
            1,
            7,
            {name: at for at, name in enumerate(WEEKDAYS, 1)},
            " (1 is SUN), SUN to SAT, L, 6L or 6#2",
            {"([1-7]|[A-Z]{3})L": Kind.LAST_WEEKDAY, "([1-7]|[A-Z]{3})#([0-9])": Kind.NTH_WEEKDAY},
        )
    ),
    _rule(YEAR),
)


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
    # L alone is the last day of the week, Saturday.
    last_named = re.sub(r"(?i)(?<![^,])L(?![^,])", "SAT", of_week)
    read = [*texts[:2], _star(of_month), texts[3], _star(last_named), texts[5]]
    minute, hour, day_of_month, month, day_of_week, year = map(parse_field, read, _RULES)
    return cron_of(
        CronFields(
            parse_field("0", SECOND), minute, hour, day_of_month, month, _from_sunday(day_of_week), year
        ),
        f"{quoted(' '.join(texts[2:]))} (day-of-month, month, day-of-week, year)",
    )


def _star(text: str) -> str:
    return "*" if text == "?" else text


def _from_sunday(field: CronField) -> CronField:
    """The days of a week with Sunday as 0, as in cron."""
    return field._replace(
        values=tuple(value - 1 for value in field.values),
        specials=tuple(special._replace(value=special.value - 1) for special in field.specials),
    )
