"""Cron by the names of its fields."""

from itertools import islice
from typing import Any

import pytest
from tests.unit.schedules.say import asked, at, fires

from sweephand.base.errors import InvalidError
from sweephand.base.limits import SCHEDULE_LENGTH_MAX
from sweephand.schedules import ScheduleError, Series
from sweephand.schedules.notations.cron import parse_fields


@pytest.mark.parametrize(
    ("fields", "cron"),
    [
        ({"hour": "3,6,9", "dayOfWeek": "MON-FRI"}, "0 0 3,6,9 * * MON-FRI"),
        # A time field left out below a given one is 0, everything else left out is a star.
        ({"second": "*/20"}, "*/20 * * * * *"),
        ({"minute": "30"}, "0 30 * * * *"),
        ({"hour": "2"}, "0 0 2 * * *"),
        ({"second": "5", "hour": "2"}, "5 0 2 * * *"),
        ({"dayOfMonth": "15W"}, "0 0 0 15W * *"),
        ({"dayOfMonth": "L", "hour": "23", "minute": "59"}, "0 59 23 L * *"),
        ({"month": "JAN,jul", "dayOfMonth": "1"}, "0 0 0 1 1,7 *"),
        ({"month": "2"}, "0 0 0 * 2 *"),
        ({"dayOfWeek": "5#2"}, "0 0 0 * * 5#2"),
        ({"dayOfWeek": "L5", "minute": "10"}, "0 10 0 * * 5L"),
        # Both day fields restricted: either matches.
        ({"dayOfMonth": "1", "dayOfWeek": "MON"}, "0 0 0 1 * MON"),
        ({"hour": 3, "minute": 0}, "0 0 3 * * *"),
        ({"hour": "3", "minute": None}, "0 0 3 * * *"),
    ],
)
def test_named_fields_mean_the_expression_with_the_same_fields(fields: dict[str, Any], cron: str) -> None:
    series = Series(parse_fields(fields), "Europe/Paris", at("2027-01-01T00:00:00Z"))
    plain = Series(cron, "Europe/Paris", at("2027-01-01T00:00:00Z"))
    assert list(islice(series.occurrences(0), 40)) == list(islice(plain.occurrences(0), 40))


def test_a_series_with_a_year_ends_with_it() -> None:
    series = asked({"year": "2027,2028", "dayOfMonth": 29, "month": "2"})
    assert [each.due_at for each in series.occurrences(0)] == [at("2028-02-29")]
    assert series.last_at() == at("2028-02-29")
    with pytest.raises(InvalidError, match="never fires again"):
        asked({"year": "2025"})


def test_fields_that_are_left_out_decide_whether_an_expression_is_a_wildcard() -> None:
    # The hour is a star: it follows real time through the doubled hour.
    every_hour = Series(parse_fields({"minute": "30"}), "Europe/Paris", at("2027-10-30T23:45:00Z"))
    assert [each.due_at for each in islice(every_hour.occurrences(0), 3)] == [
        at("2027-10-31T00:30"),
        at("2027-10-31T01:30"),
        at("2027-10-31T02:30"),
    ]
    at_two = Series(parse_fields({"minute": "30", "hour": "2"}), "Europe/Paris", at("2027-10-30T23:45:00Z"))
    assert [each.due_at for each in islice(at_two.occurrences(0), 2)] == [
        at("2027-10-31T00:30"),
        at("2027-11-01T01:30"),
    ]
    assert fires("0 30 2 * * *", "Europe/Paris", "2027-10-30T23:45:00Z", 1) == ["2027-10-31 00:30"]


def test_named_fields_are_stored_as_an_object_and_read_back_equal() -> None:
    series = asked({"dayOfWeek": "MON-FRI", "hour": 3})
    item = series.to_item()
    assert item["schedule"] == {"hour": "3", "dayOfWeek": "MON-FRI"}
    assert Series.from_item(item) == series
    assert hash(Series.from_item(item)) == hash(series)


@pytest.mark.parametrize(
    ("fields", "pointers"),
    [
        ({}, [""]),
        ({"hour": None}, [""]),
        ({"hour": "25"}, ["/hour"]),
        ({"hour": ""}, ["/hour"]),
        ({"hour": 3.5}, ["/hour"]),
        ({"hour": True}, ["/hour"]),
        ({"hour": ["3"]}, ["/hour"]),
        ({"hour": -1}, ["/hour"]),
        ({"minute": "61", "hour": "25", "day": "1"}, ["/minute", "/hour", "/day"]),
        ({"dayofweek": "MON"}, ["/dayofweek"]),
        ({"a/b~": "MON"}, ["/a~1b~0"]),
        ({"year": "1969"}, ["/year"]),
        ({"dayOfMonth": "30", "month": "2"}, [""]),
        ({"dayOfMonth": "29", "month": "2", "year": "2029"}, [""]),
        ({"hour": ",".join(["3"] * SCHEDULE_LENGTH_MAX)}, ["/hour"]),
        ({"hour": ",".join(["3"] * 400), "minute": ",".join(["3"] * 400)}, [""]),
    ],
)
def test_an_invalid_value_of_named_fields_is_refused_by_its_field(
    fields: dict[str, Any], pointers: list[str]
) -> None:
    with pytest.raises(ScheduleError) as refusal:
        parse_fields(fields)
    faults = getattr(refusal.value, "faults", (refusal.value,))
    assert [each.pointer for each in faults] == pointers
    assert all("expected" in str(each) for each in faults)
