"""Times as people write them, in the zone that they mean."""

import datetime as dt
from zoneinfo import ZoneInfo

import pytest

from sweephand_client.commands.times import Times, read_zone
from sweephand_client.http.errors import InputError

PARIS = ZoneInfo("Europe/Paris")
#: 12:00 in Paris, on the day after clocks went back.
NOW = dt.datetime(2026, 10, 26, 11, tzinfo=dt.UTC)
TIMES = Times(NOW, PARIS)

SAME = [
    ("now", "2026-10-26T11:00:00.000Z"),
    ("2026-10-24", "2026-10-23T22:00:00.000Z"),
    ("2026-10-24 19:28", "2026-10-24T17:28:00.000Z"),
    ("2026-10-24T19:28:05", "2026-10-24T17:28:05.000Z"),
    ("yesterday", "2026-10-24T22:00:00.000Z"),
    ("yesterday 18:00", "2026-10-25T17:00:00.000Z"),
    ("today", "2026-10-25T23:00:00.000Z"),
    ("tomorrow 06:30", "2026-10-27T05:30:00.000Z"),
    # Clocks show 02:30 twice on that day, and never on the day in March.
    ("2026-10-25 02:30", "2026-10-25T00:30:00.000Z"),
    ("2026-03-29 02:30", "2026-03-29T01:30:00.000Z"),
]


@pytest.mark.parametrize(("text", "instant"), SAME)
def test_a_day_means_the_same_in_both_directions(text: str, instant: str) -> None:
    assert (TIMES.past(text), TIMES.ahead(f" {text} ")) == (instant, instant)
    assert TIMES.due(text) == instant


@pytest.mark.parametrize(
    ("text", "past", "ahead"),
    [
        ("1h", "2026-10-26T10:00:00.000Z", "2026-10-26T12:00:00.000Z"),
        ("1d12h", "2026-10-24T23:00:00.000Z", "2026-10-27T23:00:00.000Z"),
        ("90s", "2026-10-26T10:58:30.000Z", "2026-10-26T11:01:30.000Z"),
        ("250ms", "2026-10-26T10:59:59.750Z", "2026-10-26T11:00:00.250Z"),
        ("02:30", "2026-10-26T01:30:00.000Z", "2026-10-27T01:30:00.000Z"),
        ("23:59:30", "2026-10-25T22:59:30.000Z", "2026-10-26T22:59:30.000Z"),
        ("12:00", "2026-10-26T11:00:00.000Z", "2026-10-27T11:00:00.000Z"),
    ],
)
def test_a_length_and_a_time_of_day_lie_in_the_direction_that_is_meant(
    text: str, past: str, ahead: str
) -> None:
    assert (TIMES.past(text), TIMES.ahead(text)) == (past, ahead)


@pytest.mark.parametrize("text", ["1h", "PT2H", "10s", "soon", ""])
def test_the_api_reads_what_is_no_time_on_a_wall(text: str) -> None:
    assert TIMES.due(text) == text


@pytest.mark.parametrize(
    "text", ["", "soon", "1", "1x", "25:00", "2026-13-01", "9" * 12 + "d", "tomorrow at six", "-1h", "1h ago"]
)
def test_a_text_that_is_no_time_is_refused_with_the_forms(text: str) -> None:
    for read in (TIMES.past, TIMES.ahead):
        with pytest.raises(InputError, match=r"is no time\. Give one such as 1h, 02:30, yesterday 18:00"):
            read(text)


@pytest.mark.parametrize(
    "text", ["2026-10-24T19:28:05Z", "2026-10-24T19:28:05.1+09:00", "9999-12-31T23:59:59-12:00"]
)
def test_a_time_with_an_offset_stays_as_it_is_written(text: str) -> None:
    assert (TIMES.past(text), TIMES.ahead(text), TIMES.due(text)) == (text, text, text)


@pytest.mark.parametrize("text", ["9" * 5 + "d", "0001-01-01"])
def test_a_time_beyond_the_calendar_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no time"):
        Times(dt.datetime(1, 1, 2, tzinfo=dt.UTC), PARIS).past(text)


def test_without_a_zone_the_clock_of_the_machine_counts() -> None:
    local = dt.datetime(2026, 10, 24, 19, 28).astimezone()
    assert dt.datetime.fromisoformat(Times(NOW).past("2026-10-24 19:28")) == local


@pytest.mark.parametrize("name", ["Europe/Pariss", "", "../etc/passwd", "Europe", "a\0b"])
def test_an_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="There is no time zone"):
        read_zone(name)


def test_no_zone_is_that_of_the_machine() -> None:
    assert read_zone(None) is None
    assert str(read_zone("Europe/Paris")) == "Europe/Paris"
