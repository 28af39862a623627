"""The tables of docs/schedules.md agree with the code, and more rows do, at transitions of the zone data."""

import datetime as dt
import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

import pytest
from tests.unit.schedules.say import at

from sweephand.base.instants import DAY_MS, Instant
from sweephand.schedules import Series
from sweephand.schedules.clock.dst import read_dst
from sweephand.schedules.clock.zones import zone_named

PAGE = Path(__file__).parents[4] / "docs" / "schedules.md"
_ROW = re.compile(
    r"\| ([A-Z]\w+/\w+) \| (\d{4}-\d\d-\d\d) \| (\d\d:\d\d) to (\d\d:\d\d)[^|]* \| `([^`]+)`([^|]*) \|(.*)\|"
)


def rows(text: str, rules: list[dict[str, str]]) -> list[tuple[re.Match[str], dict[str, str], str]]:
    """Each row with each rule of its columns, and what the column says."""
    found = []
    for match in filter(None, map(_ROW.fullmatch, text.splitlines())):
        columns = [column.strip() for column in match.group(7).split("|")]
        if len(columns) == len(rules):
            found += [(match, rule, column) for rule, column in zip(rules, columns, strict=True)]
    return found


GAP_RULES = [{"gap": "shift"}, {"gap": "skip"}]
OVERLAP_RULES = [{"overlap": "first"}, {"overlap": "last"}, {"overlap": "both"}]
_SHOWN = PAGE.read_text("utf-8")
#: Rows as those of the page, for other zones and other fields.
_MORE = Path(__file__).with_name("clock_changes.md").read_text("utf-8")
GAPS = rows(_SHOWN + _MORE, GAP_RULES)
OVERLAPS = rows(_SHOWN + _MORE, OVERLAP_RULES)


@pytest.mark.parametrize(("row", "rule", "said"), GAPS + OVERLAPS)
def test_each_row_of_the_documented_table_says_when_its_schedule_fires(
    row: re.Match[str], rule: dict[str, str], said: str
) -> None:
    zone, day, _before, _after, schedule, only, _ = row.groups()
    begins_at = at(day) - 2 * DAY_MS
    series = Series(schedule, zone, begins_at, ttl_at=begins_at + 4 * DAY_MS, dst=read_dst(rule))
    fired = [on_the_wall(zone, each.due_at) for each in series.occurrences(begins_at)]
    that_day = [shown[11:] for shown in fired if shown.startswith(day)]
    if only:
        that_day = [shown for shown in that_day if shown.startswith(only.split()[-1])]
    assert ", ".join(that_day) == ("" if said == "-" else said)


@pytest.mark.parametrize("row", [row for row, *_ in (GAPS + OVERLAPS)])
def test_the_clock_of_each_row_of_the_documented_table_changes_on_that_day(row: re.Match[str]) -> None:
    zone, day, before, after = row.groups()[:4]
    noon_at = at(day) + DAY_MS // 2
    assert (before.replace("24:00", "00:00"), after) in set(changes(zone, noon_at))


def test_the_rows_show_all_rules_at_both_transitions_of_at_least_six_zones_and_the_page_of_two() -> None:
    for rules in (GAP_RULES, OVERLAP_RULES):
        assert len({row.group(1) for row, *_ in rows(_SHOWN, rules)}) == 2
    for table in (GAPS, OVERLAPS):
        assert {
            "America/New_York", "America/Santiago", "Asia/Beirut", "Australia/Lord_Howe", "Europe/Dublin",
            "Pacific/Apia",
        } <= {row.group(1) for row, *_ in table}  # fmt: skip


def changes(zone: str, near_at: Instant) -> Iterator[tuple[str, str]]:
    """What the clock shows at each transition within two days of an instant, before it and after it."""
    spans = takewhile(
        lambda span: span.start_s < (near_at + 2 * DAY_MS) // 1000,
        zone_named(zone).offset_periods((near_at - 2 * DAY_MS) // 1000),
    )
    ends_s = None
    for span in spans:
        if ends_s is not None:
            yield wall(ends_s)[11:], wall(span.start_s + span.offset_s)[11:]
        ends_s = span.end_s + span.offset_s


def on_the_wall(zone: str, instant: Instant) -> str:
    offset_s = zone_named(zone).offset_at(instant // 1000)
    sign = "-" if offset_s < 0 else "+"
    return f"{wall(instant // 1000 + offset_s)} {sign}{wall(abs(offset_s))[11:]}"


def wall(wall_s: int) -> str:
    return (dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=wall_s)).strftime("%Y-%m-%d %H:%M")
