"""Schedules of every notation over HTTP: shown as written, or refused with the name of the wrong part."""

from typing import Any

import pytest
from tests.fakes.http_events import TARGET, Client
from tests.fakes.world import NOON

from sweephand.base.instants import MINUTE_MS

FORMS: list[Any] = [
    "0 30 2 * * MON-FRI",
    "30 2 * * MON-FRI",
    "@daily",
    "@every 90m",
    "rate(5 minutes)",
    "cron(0 10 ? * 6L 2027)",
    "at(2027-03-01T09:00:00)",
    "R4/PT3S",
    "R/2027-01-01T00:00:00Z/P1D",
    "CRON_TZ=Europe/Riga 0 9 * * *",
    {"hour": "3,6,9", "dayOfWeek": "MON-FRI"},
    {"hour": 3, "minute": 30},
    ["2026-12-24T14:00:00Z", "2026-12-24T15:00:00+01:00", "2020-01-01T00:00:00Z"],
]


@pytest.mark.parametrize("schedule", FORMS)
def test_a_job_shows_its_schedule_as_it_was_written(client: Client, schedule: Any) -> None:
    document = {"schedule": schedule, "target": TARGET}
    assert client.put(job=document).status == 201
    shown = client.get().json
    assert shown["schedule"] == schedule
    assert shown["nextRun"] is not None or schedule in ("rate(5 minutes)", "R4/PT3S")
    # The same again changes nothing.
    again = client.put(job=document)
    assert (again.status, again.json["rev"]) == (200, shown["rev"])


@pytest.mark.parametrize("schedule", FORMS)
def test_a_preview_shows_due_times_a_description_and_the_end(schedule: Any) -> None:
    shown = Client().send("POST", "/v1/occurrences", {"schedule": schedule, "limit": 3}).json
    assert set(shown) == {"occurrences", "skipped", "description", "end"}
    assert shown["occurrences"]
    assert shown["description"]


def test_a_schedule_whose_first_fire_is_now_shows_that_fire(client: Client) -> None:
    client.put(job={"schedule": "R2/PT30S", "target": TARGET})
    client.world.run_until(NOON + MINUTE_MS)
    assert client.world.consumers.dues == {NOON, NOON + 30_000}


@pytest.mark.parametrize(
    ("body", "end"),
    [
        ({"schedule": "@daily"}, None),
        ({"schedule": "@daily", "repeats": 2}, "2026-11-23T00:00:00.000Z"),
        ({"schedule": "@daily", "ttl": "36h"}, "2026-11-23T00:00:00.000Z"),
        ({"schedule": "R4/PT3S"}, "2026-11-21T12:00:09.000Z"),
        ({"schedule": "R4/PT3S", "repeats": 3}, "2026-11-21T12:00:06.000Z"),
        ({"schedule": "cron(0 10 ? * 6L 2027)"}, "2027-12-31T10:00:00.000Z"),
        ({"schedule": {"year": 2027, "month": 2, "dayOfMonth": "L"}}, "2027-02-28T00:00:00.000Z"),
        ({"schedule": ["2027-01-01T00:00:00Z", "2026-12-01T00:00:00Z"]}, "2027-01-01T00:00:00.000Z"),
        ({"dueTime": "10s"}, "2026-11-21T12:00:10.000Z"),
    ],
)
def test_a_preview_names_the_end_of_a_series(body: dict[str, Any], end: str | None) -> None:
    assert Client().send("POST", "/v1/occurrences", body).json["end"] == end


def occurrences(schedule: str, after: str, **fields: Any) -> Any:
    body = {"schedule": schedule, "timezone": "Europe/Paris", "after": after, "limit": 2, **fields}
    return Client().send("POST", "/v1/occurrences", body).json


def test_a_preview_lists_the_local_times_that_a_clock_change_drops() -> None:
    shown = occurrences("30 2 * * *", "2027-03-27T12:00:00Z", dst={"gap": "skip"})
    assert [each["local"] for each in shown["occurrences"]] == [
        "2027-03-29T02:30:00.000+02:00",
        "2027-03-30T02:30:00.000+02:00",
    ]
    assert shown["skipped"] == [
        {"utc": "2027-03-28T01:00:00.000Z", "local": "2027-03-28T02:30:00.000", "reason": "gap-skipped"}
    ]


@pytest.mark.parametrize(
    ("overlap", "fires", "skipped"),
    [
        ("first", [("00:30", "+02:00", "overlap-first")], [("01:30", "+01:00", "overlap-skipped")]),
        ("last", [("01:30", "+01:00", "overlap-last")], [("00:30", "+02:00", "overlap-skipped")]),
        ("both", [("00:30", "+02:00", "overlap-first"), ("01:30", "+01:00", "overlap-last")], []),
    ],
)
def test_a_preview_says_which_of_two_equal_local_times_fires(
    overlap: str, fires: list[tuple[str, ...]], skipped: list[tuple[str, ...]]
) -> None:
    shown = occurrences("30 2 * * *", "2027-10-30T12:00:00Z", dst={"overlap": overlap})

    def told(items: list[dict[str, str]]) -> list[tuple[str, ...]]:
        return [
            (each["utc"][11:16], each["local"][-6:], each["reason"]) for each in items if "reason" in each
        ]

    assert told(shown["occurrences"]) == fires
    assert told(shown["skipped"]) == skipped


def test_a_schedule_of_elapsed_time_has_no_reasons_in_its_preview() -> None:
    shown = occurrences("@every 30m", "2027-03-28T00:00:00Z")
    assert all("reason" not in each for each in shown["occurrences"])
    assert shown["skipped"] == []


@pytest.mark.parametrize(
    ("fields", "pointer", "parts"),
    [
        ({"schedule": "@daily", "timezone": "Europe/Atlantis"}, "/timezone", ["'Europe/Atlantis'", "IANA"]),
        ({"schedule": "TZ=Atlantis @daily"}, "/schedule", ["'Atlantis'", "expected"]),
        ({"schedule": "TZ=Asia/Tokyo @daily", "timezone": "UTC"}, "/timezone", ["'UTC'", "'Asia/Tokyo'"]),
        ({"schedule": "60 * * * *"}, "/schedule", ["'60'", "0 to 59"]),
        ({"schedule": "* 24 * * *"}, "/schedule", ["'24'", "0 to 23"]),
        ({"schedule": "0 0 32 * *"}, "/schedule", ["'32'", "1 to 31"]),
        ({"schedule": "0 0 * 13 *"}, "/schedule", ["'13'", "1 to 12"]),
        ({"schedule": "0 0 * * 8"}, "/schedule", ["'8'", "0 to 7"]),
        ({"schedule": {"hour": "24"}}, "/schedule/hour", ["'24'", "0 to 23"]),
        ({"schedule": {"hours": "3"}}, "/schedule/hours", ["'hours'", "dayOfMonth"]),
        ({"schedule": {}}, "/schedule", ["without fields", "expected"]),
        ({"schedule": "cron(0 10 * * * *)"}, "/schedule", ["'*'", "expected ? in one"]),
        ({"schedule": "rate(1 minutes)"}, "/schedule", ["'minutes'", "expected minute"]),
        ({"schedule": "0 0 30 2 *"}, "/schedule", ["'30 2 *'", "expected a day that exists"]),
        ({"schedule": {"dayOfMonth": 31, "month": "6"}}, "/schedule", ["'31'", "expected a day that exists"]),
        ({"schedule": ["2027-02-29T00:00:00Z"]}, "/schedule/0", ["'2027-02-29T00:00:00Z'", "expected"]),
        ({"schedule": "R/2027-02-29T00:00:00Z/P1D"}, "/schedule", ["'2027-02-29T00:00:00Z'", "expected"]),
        ({"schedule": "@every 999ms"}, "/schedule", ["'999ms'", "at least 1s"]),
        ({"schedule": "R/PT0S"}, "/schedule", ["'PT0S'", "at least PT1S"]),
        ({"schedule": "R0/PT1S"}, "/schedule", ["'R0'", "at least 1"]),
        ({"schedule": "@daily", "repeats": 0}, "/repeats", ["at least 1"]),
        ({"schedule": "@daily", "ttl": "1s"}, "/ttl", ["12:00:01.000Z", "before the first fire"]),
        ({"schedule": ["2027-01-01T00:00:00Z"], "ttl": "P1D"}, "/ttl", ["before the first fire"]),
        ({"dueTime": "2026-11-21T11:58:59Z"}, "/dueTime", ["'2026-11-21T11:58:59Z'", "expected"]),
        ({"schedule": "at(2026-11-21T11:58:59)"}, "/schedule", ["'at(2026-11-21T11:58:59)'", "never fires"]),
        ({"schedule": ["2026-11-21T11:59:59Z"]}, "/schedule", ["2026-11-21T11:59:59.000Z", "expected one"]),
        ({"schedule": "R3/2020-01-01/P1D"}, "/schedule", ["'R3/2020-01-01/P1D'", "never fires again"]),
        ({"schedule": "cron(0 0 1 1 ? 2025)"}, "/schedule", ["never fires again", "expected"]),
        ({"schedule": []}, "/schedule", ["empty list", "expected"]),
        ({"schedule": ["2027-01-01T00:00:00Z"] * 3 + ["soon"]}, "/schedule/3", ["'soon'", "expected"]),
        ({"schedule": ["2027-01-01T00:00:00Z"] * 101}, "/schedule", ["101", "at most 100"]),
        ({"schedule": "@every 2562048h"}, "/schedule", ["'2562048h'", "292 years"]),
        ({"schedule": "R/P293Y"}, "/schedule", ["'P293Y'", "292 years"]),
        ({"schedule": "rate(106752 days)"}, "/schedule", ["'106752 days'", "292 years"]),
        ({"dueTime": "9999999999h"}, "/dueTime", ["'9999999999h'", "292 years"]),
        ({"schedule": "@daily", "ttl": "P99999Y"}, "/ttl", ["'P99999Y'", "292 years"]),
        ({"schedule": "R4"}, "/schedule", ["'R4'", "R4/PT3S"]),
        ({"schedule": 5}, "/schedule", ["'5'", "a list of instants"]),
        ({"schedule": True}, "/schedule", ["'True'", "expected"]),
    ],
)
@pytest.mark.parametrize("stored", [True, False])
def test_a_refused_schedule_has_a_pointer_and_a_message_that_says_what_is_allowed(
    client: Client, fields: dict[str, Any], pointer: str, parts: list[str], *, stored: bool
) -> None:
    if stored:
        refused = client.put(job={**fields, "target": TARGET})
    else:
        refused = client.send("POST", "/v1/occurrences", fields)
    assert (refused.status, refused.pointers) == (422, [pointer])
    detail = refused.json["errors"][0]["detail"]
    assert all(part in detail for part in parts), detail


def test_every_bad_part_of_a_schedule_is_reported_together_with_other_bad_fields() -> None:
    schedule = ["x", "2027-01-01T00:00:00Z", 7]
    refused = Client().put(job={"schedule": schedule, "ttl": "y", "retry": {"maxAge": "z"}, "target": TARGET})
    assert refused.status == 422
    assert sorted(refused.pointers) == ["/retry/maxAge", "/schedule/0", "/schedule/2", "/ttl"]
