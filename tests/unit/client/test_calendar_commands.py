"""The commands about calendars on a stack in memory, where it is 21 November 2026."""

from pathlib import Path

import pytest
from tests.unit.client.conftest import CommandLine

URL = "https://consumer.example/hook"
FRANCE = ("calendar", "put", "fr", "--holidays", "FR")


def rows(text: str) -> list[list[str]]:
    return [line.rstrip().split(maxsplit=3) for line in text.splitlines()]


def test_a_calendar_is_written_by_options_shown_listed_and_deleted(sweephand: CommandLine) -> None:
    words = (
        "--market",
        "XNYS",
        "--weekend",
        "SUN",
        "--closed",
        "2026-12-24..2026-12-31",
        "--open",
        "2026-12-27",
    )
    sweephand.ok(*FRANCE, *words, "--closed", "2027-01-04")
    shown = sweephand.ok("calendar", "get", "fr", "--json").json
    assert {name: shown[name] for name in ("holidays", "weekend", "closed", "open")} == {
        "holidays": [{"country": "FR"}, {"market": "XNYS"}],
        "weekend": ["SUN"],
        "closed": [{"from": "2026-12-24", "to": "2026-12-31"}, "2027-01-04"],
        "open": ["2026-12-27"],
    }
    assert ["2026-12-27", "Sun", "open", "open"] in rows(sweephand.ok("calendar", "get", "fr").out)
    assert sweephand.ok("calendar", "list").out.splitlines()[1].startswith("fr    current")
    sweephand.ok("calendar", "delete", "fr")
    assert sweephand.ok("calendar", "list", "--json").json == []


def test_a_calendar_comes_from_a_file_whose_fields_options_change(
    sweephand: CommandLine, tmp_path: Path
) -> None:
    file = tmp_path / "fr.json"
    file.write_text('{"holidays": [{"country": "FR"}], "weekend": ["SUN"]}')
    sweephand.ok("calendar", "put", "fr", str(file), "--holidays", "FR:57")
    shown = sweephand.ok("calendar", "get", "fr", "--json").json
    assert shown["holidays"] == [{"country": "FR", "subdivision": "57"}]
    assert shown["weekend"] == ["SUN"]


def test_the_events_of_an_icalendar_file_close_days(sweephand: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "works.ics"
    lines = ("BEGIN:VCALENDAR", "VERSION:2.0", "BEGIN:VEVENT", "UID:1", "SUMMARY:Outing")
    file.write_text("\n".join([*lines, "DTSTART;VALUE=DATE:20261207", "END:VEVENT", "END:VCALENDAR", ""]))
    sweephand.ok("calendar", "put", "works", "--ics", str(file))
    found = sweephand.ok("calendar", "days", "works", "--from", "2026-12-07", "--days", "7").out
    assert rows(found) == [
        ["DATE", "DAY", "IS", "REASON"],
        ["2026-12-07", "Mon", "closed", "Outing"],
        ["2026-12-12", "Sat", "closed", "weekend"],
        ["2026-12-13", "Sun", "closed", "weekend"],
    ]


def test_a_dry_run_shows_what_would_change_and_writes_nothing(sweephand: CommandLine) -> None:
    new = sweephand.ok(*FRANCE, "--dry-run").out
    assert "No day of a stored calendar fr changes" in new
    assert ["2026-12-25", "Fri", "closed", "Christmas Day"] in rows(new)
    assert sweephand.ok("calendar", "list", "--json").json == []
    sweephand.ok(*FRANCE)
    changed = sweephand.ok(*FRANCE, "--open", "2026-12-25", "--dry-run")
    assert rows(changed.out)[1:] == [["2026-12-25", "Fri", "open", "open"]]
    assert sweephand.ok("calendar", "get", "fr", "--json").json["nextDays"][0]["isClosed"]
    told = sweephand.ok(*FRANCE, "--open", "2026-12-25", "--dry-run", "--json").json
    assert told["changes"] == [{"date": "2026-12-25", "isClosed": False, "reason": "open"}]
    refused = sweephand.run(*FRANCE, "--dry-run", "--if-absent")
    assert (refused.code, "without" in refused.err) == (2, True)


def test_a_calendar_is_written_only_at_a_revision_or_only_if_it_is_absent(sweephand: CommandLine) -> None:
    rev = sweephand.ok(*FRANCE, "--json").json["rev"]
    assert sweephand.run(*FRANCE, "--if-absent").code == 4
    assert sweephand.run(*FRANCE, "--if-match", "other").code == 4
    assert sweephand.run(*FRANCE, "--if-match", rev).code == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--holidays", "FX"), "expected a country such as FR"),
        (("--holidays", "FR:75"), "FR has 57"),
        (("--market", "NYSX"), "XNYS"),
        (("--weekend", "SAM"), "SAT"),
        (("--closed", "24.12.2027"), "2027-12-24"),
        (("--closed", "2027-12-24..2027-12-23"), "days after from"),
    ],
)
def test_a_bad_option_gets_the_api_s_words(sweephand: CommandLine, words: tuple[str, ...], says: str) -> None:
    refused = sweephand.run("calendar", "put", "fr", *words)
    assert refused.code == 2
    assert says in refused.err


def test_a_job_gets_a_calendar_by_an_option_and_keeps_it_from_being_deleted(sweephand: CommandLine) -> None:
    sweephand.ok(*FRANCE)
    timing = ("-s", "0 17 L * *", "-z", "Europe/Paris", "--url", URL)
    sweephand.ok("job", "schedule", "month-end", *timing, "--calendar", "fr/previous")
    sweephand.ok("job", "schedule", "skips", *timing, "--calendar", "fr")
    job = sweephand.ok("job", "get", "month-end", "--json").json
    assert job["calendar"] == {"name": "fr", "otherwise": "previous"}
    assert sweephand.ok("job", "get", "skips", "--json").json["calendar"] == {"name": "fr"}
    refused = sweephand.run("calendar", "delete", "fr")
    assert refused.code == 4
    assert "month-end" in refused.err
    unknown = sweephand.run("job", "schedule", "other", *timing, "--calendar", "fr/later")
    assert unknown.code == 2
    assert "/calendar/otherwise" in unknown.err
