"""Business days by the library of holidays and by workalendar, for twenty countries, 2024 to 2032."""

import datetime as dt
from itertools import takewhile
from typing import Final

import pytest
from workalendar.registry import registry

from sweephand.base.instants import from_datetime, to_datetime
from sweephand.schedules import Series
from sweephand.schedules.day_rule import DayRule
from sweephand.web.calendar_sources import resolved

YEARS: Final = range(2024, 2033)

ALIKE: Final = ("AT", "BE", "CZ", "DE", "EE", "ES", "FI", "FR", "HR", "LT", "LU", "NO", "PT", "SI")

#: Which days only one of the libraries has, and why: `+` only `holidays`, `-` only workalendar.
DIFFERING: Final = {
    "US": {
        "+ Juneteenth National Independence Day": "a federal holiday since 2021, in workalendar by choice",
        "+ Juneteenth National Independence Day (observed)": "same",
    },
    "IT": {"+ Saint Francis of Assisi, Patron Saint of Italy": "a public holiday again since 2026"},
    "NL": {"- Liberation Day": "a day off in each fifth year alone"},
    "PL": {"+ Christmas Eve": "a public holiday since 2025"},
    "NZ": {"+ Matariki": "a public holiday since 2022"},
    "ZA": {
        "+ National and Provincial Government Elections": "declared for 2024",
        "+ Local Government Elections": "declared for 2026",
    },
}


@pytest.mark.parametrize("country", [*ALIKE, *DIFFERING])
def test_business_days_agree_but_for_what_is_listed(country: str) -> None:
    days = resolved({"holidays": [{"country": country}]}, dt.date(2025, 1, 1))
    begin, end = (from_datetime(dt.datetime(year, 1, 1, tzinfo=dt.UTC)) for year in (2024, 2033))
    series = Series("0 9 * * *", "UTC", begin, days=DayRule(days.closed))
    fired = takewhile(lambda each: each.due_at < end, series.occurrences(begin))
    mine = {to_datetime(each.due_at).date() for each in fired}
    other = registry.get(country)()
    names = {day: name for year in YEARS for day, name in other.holidays(year)}
    every = [dt.date(2024, 1, 1) + dt.timedelta(days=each) for each in range((end - begin) // 86_400_000)]
    theirs = {day for day in every if day.weekday() < 5 and day not in names}
    only_mine = {f"- {names[day]}" for day in mine - theirs}
    only_theirs = {f"+ {days.reasons[day.isoformat()]}" for day in theirs - mine}
    assert only_mine | only_theirs == set(DIFFERING.get(country, {}))
