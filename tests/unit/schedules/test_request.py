"""A request becomes a series, or a refusal that names every field that is wrong."""

import subprocess
import sys

import pytest
from tests.unit.schedules.say import asked, at, said

from sweephand.base.errors import InvalidError
from sweephand.base.instants import HOUR_MS, INSTANT_MAX
from sweephand.base.limits import REPEATS_MAX
from sweephand.schedules import Occurrence, Series
from sweephand.schedules.request import series_of

NOW = at("2026-11-21T07:00:00Z")


def refusals(**fields: object) -> dict[str, str]:
    """Pointer and sentence of each field that a request is refused for."""
    with pytest.raises(InvalidError) as refusal:
        asked(**fields)  # type: ignore[arg-type]
    return {each.pointer: each.detail for each in refusal.value.violations}


def test_a_relative_schedule_is_resolved_against_the_time_of_the_request() -> None:
    series = asked("30 2 * * *", timezone="Europe/Paris", due_time="P1D", ttl="48h", repeats=4)
    assert series == Series(
        "30 2 * * *", "Europe/Paris", NOW, at("2026-11-22T07:00Z"), at("2026-11-24T07:00Z"), 4
    )


def test_the_zone_is_utc_unless_the_timezone_or_the_prefix_says_otherwise() -> None:
    assert asked("@daily").timezone == "UTC"
    assert asked("@daily", timezone="Asia/Tokyo").timezone == "Asia/Tokyo"
    assert asked("TZ=Asia/Tokyo @daily").timezone == "Asia/Tokyo"
    assert asked("TZ=Asia/Tokyo @daily", timezone="Asia/Tokyo").timezone == "Asia/Tokyo"


def test_the_schedule_is_kept_as_it_was_written() -> None:
    assert asked(" CRON_TZ=Asia/Tokyo  30 2 * * mon ").schedule == " CRON_TZ=Asia/Tokyo  30 2 * * mon "


def test_two_zones_are_refused() -> None:
    found = refusals(schedule="TZ=Asia/Tokyo @daily", timezone="Europe/Paris")
    assert list(found) == ["/timezone"]
    assert "'Europe/Paris' conflicts with 'Asia/Tokyo'" in found["/timezone"]


def test_calendar_parts_are_those_of_the_jobs_zone() -> None:
    in_paris = asked("TZ=Europe/Paris @daily", due_time="P5M")
    assert in_paris.due_at is not None
    assert said(in_paris.due_at) == "2027-04-21 06:00"


def test_a_relative_ttl_counts_from_the_due_time_if_there_is_one() -> None:
    assert asked("@every 1h", ttl="2h").ttl_at == at("2026-11-21T09:00Z")
    assert asked("@every 1h", due_time="1h", ttl="2h").ttl_at == at("2026-11-21T10:00Z")


def test_a_due_time_at_most_a_minute_past_counts_as_now() -> None:
    assert asked(due_time="2026-11-21T06:59:00Z").due_at == NOW
    assert asked("0 7 * * *", due_time="2026-11-21T06:59:00Z").next_after(NOW - 1) == Occurrence(NOW, 1)


def test_a_ttl_at_the_first_fire_is_accepted() -> None:
    assert asked("@every 1h", ttl="1h").last_at() == at("2026-11-21T08:00Z")
    assert asked(due_time="1h", ttl="0s").last_at() == at("2026-11-21T08:00Z")


@pytest.mark.parametrize(
    ("fields", "pointer", "part"),
    [
        ({}, "/dueTime", "a dueTime, a schedule, or both"),
        ({"ttl": "1h"}, "/dueTime", "missing"),
        ({"schedule": ""}, "/schedule", "empty schedule"),
        ({"schedule": "60 * * * *"}, "/schedule", "'60'"),
        ({"schedule": "0 0 30 2 *"}, "/schedule", "'30 2 *'"),
        ({"schedule": "@every 999ms"}, "/schedule", "at least 1s"),
        ({"schedule": "@every 999999999h"}, "/schedule", "too long"),
        ({"schedule": "rate(5 minute)"}, "/schedule", "'minute'"),
        ({"schedule": "TZ=Mars/Olympus @daily"}, "/schedule", "'Mars/Olympus'"),
        ({"schedule": "@daily", "timezone": "Mars/Olympus"}, "/timezone", "'Mars/Olympus'"),
        ({"schedule": "@daily", "timezone": "../../etc/passwd"}, "/timezone", "is no time zone"),
        ({"schedule": "@daily", "timezone": ""}, "/timezone", "is no time zone"),
        ({"due_time": "soon"}, "/dueTime", "'soon'"),
        ({"due_time": "2026-11-21T06:58:59Z"}, "/dueTime", "is past"),
        ({"due_time": "2027-02-30T00:00:00Z"}, "/dueTime", "names no instant"),
        ({"due_time": "P9999Y"}, "/dueTime", "too long"),
        ({"due_time": "999999999h"}, "/dueTime", "too long"),
        ({"schedule": "@daily", "ttl": "never"}, "/ttl", "'never'"),
        ({"schedule": "@daily", "ttl": "2026-11-20T00:00:00Z"}, "/ttl", "is past"),
        (
            {"schedule": "@every 1h", "ttl": "59m"},
            "/ttl",
            "first fire at 2026-11-21T08:00:00.000Z",
        ),
        ({"schedule": "@yearly", "ttl": "P1M"}, "/ttl", "first fire at 2027-01-01T00:00:00.000Z"),
        ({"due_time": "1h", "ttl": "2026-11-21T07:30:00Z"}, "/ttl", "before the first fire"),
        ({"schedule": "@daily", "repeats": 0}, "/repeats", "0 is out of range"),
        ({"schedule": "@daily", "repeats": -1}, "/repeats", "from 1 to"),
        ({"schedule": "@daily", "repeats": REPEATS_MAX + 1}, "/repeats", "out of range"),
        ({"due_time": "1h", "repeats": 2}, "/repeats", "fires once"),
        ({"schedule": "@daily", "due_time": "9999-12-31T12:00:00Z"}, "/dueTime", "before the year 10000"),
    ],
)
def test_a_refused_field_says_what_is_allowed(fields: dict[str, object], pointer: str, part: str) -> None:
    found = refusals(**fields)
    assert list(found) == [pointer]
    assert part in found[pointer]
    assert "expected" in found[pointer]


def test_a_schedule_that_has_no_time_left_is_refused() -> None:
    found = refusals(schedule="@yearly", now="9999-11-21T07:00:00Z")
    assert "before the year 10000" in found["/schedule"]


def test_every_field_that_is_wrong_is_named_at_once() -> None:
    found = refusals(schedule="rate(1 days)", timezone="Atlantis", due_time="x", ttl="y", repeats=0)
    assert list(found) == ["/schedule", "/timezone", "/dueTime", "/ttl", "/repeats"]


def test_a_one_off_may_say_that_it_fires_once() -> None:
    assert asked(due_time="1h", repeats=1).repeats == 1


@pytest.mark.parametrize("machine_zone", ["UTC", "Asia/Tokyo", "America/New_York"])
def test_the_zone_of_the_machine_changes_nothing(machine_zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", machine_zone)
    assert answer_of(
        "from tests.unit.schedules.say import asked, fires",
        "print(asked('30 2 * * *', timezone='Europe/Paris', due_time='P5M', ttl='P1Y').to_item())",
        "print(fires('30 2 * * 7L', 'Europe/Paris', '2027-03-01T00:00', 3))",
    ) == (
        "{'schedule': '30 2 * * *', 'timezone': 'Europe/Paris', 'startAt': 1795244400000, "
        "'dueAt': 1808287200000, 'ttlAt': 1839909600000}\n"
        "['2027-03-28 01:00', '2027-04-25 00:30', '2027-05-30 00:30']\n"
    )


def test_importing_the_schedules_imports_neither_pydantic_nor_croniter_nor_an_aws_library() -> None:
    assert (
        answer_of(
            "import sweephand.schedules",
            "heavy = {'pydantic', 'croniter', 'isodate', 'dateutil', 'boto3', 'botocore'}",
            "print(sorted(heavy & set(sys.modules)))",
        )
        == "[]\n"
    )


@pytest.mark.parametrize("function", ["delivery", "wheel", "api"])
def test_no_function_imports_a_library_for_schedules_as_it_starts(function: str) -> None:
    assert (
        answer_of(
            f"import sweephand.runtime.{function}",
            "print(sorted({'croniter', 'isodate'} & set(sys.modules)))",
        )
        == "[]\n"
    )


#: What calculates the occurrences of a schedule. A delivery needs none of them.
_CALCULATING = "{'clock.zones', 'notations.cron', 'notations.parsing', 'timelines'}"
_CALCULATING_LOADED = (
    f"print(sorted(each for each in {_CALCULATING} if f'sweephand.schedules.{{each}}' in sys.modules))"
)


def test_the_delivery_function_starts_without_importing_the_modules_that_calculate_occurrences() -> None:
    assert answer_of("import sweephand.runtime.delivery", _CALCULATING_LOADED) == "[]\n"


def test_a_one_off_needs_no_module_of_a_notation() -> None:
    assert (
        answer_of(
            "from sweephand.schedules import Series",
            "one_off = Series(None, 'Europe/Paris', start_at=0, due_at=1_000)",
            "print(one_off.next_after(999), one_off.next_after(1_000), one_off.last_at())",
            _CALCULATING_LOADED,
        )
        == "Occurrence(due_at=1000, sequence=1, batch_index=0, after_ms=0) None 1000\n[]\n"
    )


@pytest.mark.parametrize("function", ["wheel", "api"])
def test_a_function_that_needs_occurrences_imports_their_modules_at_its_start(function: str) -> None:
    assert (
        answer_of(f"import sweephand.runtime.{function}", _CALCULATING_LOADED)
        == "['clock.zones', 'notations.cron', 'notations.parsing', 'timelines']\n"
    )


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("30 2 * * MON-FRI", []),
        ("0 0 1,L * *", []),
        ("R/PT90S", ["isodate"]),
        ("0 9 * * FRI#2", ["croniter"]),
        ("cron(0 8 15W * ? *)", ["croniter"]),
    ],
)
def test_a_library_is_imported_with_the_first_schedule_that_needs_it(
    schedule: str, expected: list[str]
) -> None:
    assert (
        answer_of(
            "from tests.unit.schedules.say import fires",
            f"fires({schedule!r}, 'Europe/Paris', '2027-03-01T00:00', 3)",
            "print(sorted({'croniter', 'isodate'} & set(sys.modules)))",
        )
        == f"{expected}\n"
    )


def answer_of(*lines: str) -> str:
    """What a program prints in a process of its own: this one has its zone and its imports."""
    program = "\n".join(["import sys", f"sys.path[:0] = {[each for each in sys.path if each]!r}", *lines])
    command = [sys.executable, "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 - our own program


def on_demand(**fields: object) -> Series:
    given: dict[str, object] = {"schedule": None, "timezone": None, "due_time": None, "ttl": None}
    given |= {"repeats": None, "requested_at": NOW, "may_be_on_demand": True}
    return series_of(**{**given, **fields})  # type: ignore[arg-type]


def test_a_job_without_any_time_has_a_series_without_occurrences() -> None:
    series = on_demand()
    assert series.is_on_demand
    assert series.next_after(0) is None
    assert series.last_at() is None
    assert not series.has_ended(INSTANT_MAX)
    ending = on_demand(ttl="PT1H", timezone="Europe/Paris")
    assert (ending.ttl_at, ending.timezone) == (NOW + HOUR_MS, "Europe/Paris")
    assert (ending.has_ended(NOW + HOUR_MS), ending.has_ended(NOW + HOUR_MS + 1)) == (False, True)
    assert ending.last_at() is None


def test_every_field_about_occurrences_is_refused_for_a_job_on_demand() -> None:
    with pytest.raises(InvalidError) as refusal:
        on_demand(repeats=0, dst={"gap": "skip"}, jitter="5m", ttl="soon")
    assert [each.pointer for each in refusal.value.violations] == ["/ttl", "/repeats", "/dst", "/jitter"]


def test_a_series_with_a_time_is_not_on_demand() -> None:
    assert on_demand(due_time="1h") == asked(due_time="1h")
    assert not on_demand(schedule="@daily").is_on_demand


def test_a_series_on_demand_reads_back_as_it_was_stored() -> None:
    for series in (on_demand(), on_demand(ttl="1h", timezone="Europe/Paris")):
        assert Series.from_item(series.to_item()) == series
