"""The description of a schedule in English."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.schedules.say import asked, at, unhurried

from sweephand.schedules import ScheduleError, Series
from sweephand.schedules.day_rule import DayRule as DayRuleOfCalendar
from sweephand.schedules.notations.cron import parse_cron
from sweephand.schedules.notations.cron_pattern import DayRule, kinds_of
from sweephand.schedules.notations.parsing import read_schedule
from sweephand.web.schemas.schedule_description import describe


@pytest.mark.parametrize(
    ("schedule", "words"),
    [
        ("0 30 2 * * MON-FRI", "At 02:30, Monday through Friday"),
        ("30 2 * * mon-fri", "At 02:30, Monday through Friday"),
        ("@hourly", "Every hour"),
        ("@yearly", "At 00:00, on day 1 of the month, only in January"),
        ("5 0 2 * * *", "At 02:00:05"),
        ("*/15 9-17 * * *", "Every 15 minutes, between 09:00 and 17:59"),
        # A step that does not divide the hour is no period.
        ("*/40 * * * *", "At 0 and 40 minutes past the hour"),
        # Sunday by each of its numbers; EventBridge's week begins with 1.
        ("0 0 * * 0", "At 00:00, only on Sunday"),
        ("0 0 * * 7", "At 00:00, only on Sunday"),
        ("0 0 * * 1-7", "At 00:00"),
        ("cron(0 8 ? * 1 *)", "At 08:00, only on Sunday"),
        ("cron(0 8 ? * 2-6 *)", "At 08:00, Monday through Friday"),
        ("cron(0 8 ? * 6L 2027)", "At 08:00, on the last Friday of the month, only in 2027"),
        ("cron(0 8 ? * 3#2 *)", "At 08:00, on the second Tuesday of the month"),
        ("cron(0 8 ? * L *)", "At 08:00, only on Saturday"),
        ("cron(0 22-1 * * ? *)", "At 00:00, 01:00, 22:00 and 23:00"),
        # Days that depend on the month, alone and together.
        ("0 0 L * *", "At 00:00, on the last day of the month"),
        ("0 0 15W * *", "At 00:00, on the weekday nearest day 15 of the month"),
        ("0 0 * * L5", "At 00:00, on the last Friday of the month"),
        ("0 0 L,15 * *", "At 00:00, on day 15 of the month or on the last day of the month"),
        ("0 0 * * 1,5L", "At 00:00, on Monday or on the last Friday of the month"),
        # Both day fields: either, unless one begins with a star.
        ("0 0 1,15 * MON", "At 00:00, on day 1 and 15 of the month or on Monday"),
        ("0 0 */16 * MON", "At 00:00, on day 1 and 17 of the month, and only on Monday"),
        # One of two restricted fields names every day.
        ("0 9 1-31 * 1", "At 09:00"),
        ("0 9 5 2 0-6", "At 09:00, only in February"),
        ({"hour": 9, "dayOfMonth": "1-31", "dayOfWeek": "MON"}, "At 09:00"),
        ("0 9 */1 * 1", "At 09:00, only on Monday"),
        (
            "0 0 L 2 5#1",
            "At 00:00, on the last day of the month or on the first Friday of the month, only in February",
        ),
        ({"hour": "3,6,9", "dayOfWeek": "MON-FRI"}, "At 03:00, 06:00 and 09:00, Monday through Friday"),
        ({"minute": 30}, "At 30 minutes past the hour"),
        ("@every 1s", "Every second"),
        ("@every 1.5s", "Every 1.5 seconds"),
        ("@every 90m", "Every 1 hour and 30 minutes"),
        ("@every 24h", "Every day"),
        ("rate(1 day)", "Every day"),
        ("rate(5 minutes)", "Every 5 minutes"),
        ("R4/PT3S", "Every 3 seconds, 4 times in all"),
        ("R/P1Y2M3DT4H", "Every 14 months, 3 days and 4 hours"),
        ("R1/2027-01-31T00:00:00Z/P1M", "Every month from 2027-01-31T00:00:00.000Z on, 1 time in all"),
        ("R/2027-01-31/P1M", "Every month from 2027-01-31T00:00:00 on"),
        ("at(2027-03-01T09:00:00)", "Once, at 2027-03-01T09:00:00"),
        (["2027-03-01T09:00:00Z"], "Once, at 2027-03-01T09:00:00.000Z"),
        (["2027-03-01T09:00:00Z", "2027-03-02T09:00:00Z"], "At 2 instants"),
    ],
)
def test_the_description_of_a_schedule_in_english_says_when_it_fires(schedule: Any, words: str) -> None:
    assert describe(asked(schedule)) == words


def test_the_description_of_a_one_off_in_english_is_its_instant() -> None:
    assert describe(asked(due_time="10s")) == "Once, at 2026-11-21T07:00:10.000Z"


fields = [
    st.sampled_from(each.split())
    for each in (
        "* 0 59 */20 1,2 5-9 7/9",
        "* 0 59 */20 */7 1,2 5-9 7/9",
        "* 0 23 */2 */5 1,2 9-17 7/9",
        "* ? 1 31 L LW 15W 1,15W,L */2 5-9 L,LW",
        "* 1 JAN-MAR 2/5 12",
        "* ? 0 7 MON-FRI 5L L5 5#2 1,5L 1#1,2#2 */2 SUN,SAT",
    )
]


@unhurried
@given(st.tuples(*fields))
def test_every_schedule_that_the_parser_accepts_has_a_description_in_english(texts: tuple[str, ...]) -> None:
    expression = " ".join(texts)
    try:
        read_schedule(expression)
    except ScheduleError:
        return
    words = describe(Series(expression, "UTC", at("2026-11-21T07:00Z")))
    assert words[0].isupper()
    assert "day L" not in words
    assert "W" not in words.replace("Wednesday", "")


@given(
    st.sampled_from(["*", "?", "*/1", "1-31", "1-30", "1-29,30-31", "5", "*/2", "L"]),
    st.sampled_from(["*", "?", "*/1", "0-6", "1-7", "1", "1-5", "*/2", "5L"]),
)
def test_words_name_days_exactly_if_not_every_day_matches(of_month: str, of_week: str) -> None:
    fields = parse_cron(f"0 9 {of_month} * {of_week}").fields
    assert fields
    rule = DayRule(fields.day_of_month, fields.day_of_week)
    is_daily = all(len(rule.days_in(kind)) == kind.length for kind in kinds_of(1))
    assert (describe(asked(f"0 9 {of_month} * {of_week}")) == "At 09:00") == is_daily


@pytest.mark.parametrize(
    ("fits", "otherwise", "words"),
    [
        ("open", "skip", "At 09:00, only on open days of the calendar fr"),
        ("closed", "next", "At 09:00, on closed days of the calendar fr, otherwise on the next one"),
        ("open", "nearest", "At 09:00, on open days of the calendar fr, otherwise on the nearest one"),
    ],
)
def test_words_name_the_days_of_a_calendar(fits: Any, otherwise: Any, words: str) -> None:
    days = DayRuleOfCalendar("96,0,", fits, otherwise)
    series = Series("0 9 * * *", "UTC", at("2026-11-21T07:00Z"), days=days)
    assert describe(series, "fr") == words
