"""Cron with five and six fields, and robfig's macros: which instants match in a zone, DST included.

References: Debian's cron(8) and crontab(5) for matching and for clock changes; robfig/cron for the six fields
(seconds first) and the macros; cronsim as the oracle for five fields. semantics.md decides where they differ.

A fixed expression fires once for each local time that it names, unless its job asks for another rule. If the
local time is in a gap of less than three hours, the expression fires as the gap ends, once for the whole gap.
If the local time comes twice, the expression fires the first time. An expression whose minute or hour field
begins with a star follows real time: it fires exactly as often as the clock shows a matching time.
"""

from typing import Final, NamedTuple

from sweephand.schedules.clock.wall_pattern import Pattern, TimesOfDay, WallPattern
from sweephand.schedules.clock.wall_timeline import WallTimeline
from sweephand.schedules.errors import ScheduleError, quoted
from sweephand.schedules.notations import cron_fields
from sweephand.schedules.notations.cron_days import DayRule
from sweephand.schedules.notations.cron_fields import CronField, parse_field
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

_FIELDS: Final = (
    cron_fields.SECOND,
    cron_fields.MINUTE,
    cron_fields.HOUR,
    cron_fields.DAY_OF_MONTH,
    cron_fields.MONTH,
    cron_fields.DAY_OF_WEEK,
)


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
        return WallTimeline(self.pattern, beginning.zone, beginning.floor_at, rule)


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
    if len(texts) == len(_FIELDS) - 1:
        texts.insert(0, "0")
    if len(texts) != len(_FIELDS):
        raise ScheduleError(
            f"{quoted(text)} has {len(texts)} {'field' if len(texts) == 1 else 'fields'}; expected five "
            "(minute hour day-of-month month day-of-week) or six (second first)"
        )
    fields = [parse_field(each, rule) for each, rule in zip(texts, _FIELDS, strict=True)]
    return cron_of(CronFields(*fields), f"{quoted(' '.join(texts[3:]))} (day-of-month, month, day-of-week)")
