"""Writing, showing, listing and deleting calendars over HTTP, and jobs that fire on their days."""

import datetime as dt
from contextlib import suppress
from random import Random
from time import process_time
from typing import Any

import pytest
from tests.fakes.http_events import READER, WRITER, Answered, Client
from tests.fakes.probe import slowness

from sweephand.base.errors import InvalidError
from sweephand.base.instants import DAY_MS
from sweephand.base.limits import CALENDAR_ICS_BYTES_MAX
from sweephand.web.calendar_sources import resolved

URL = "/v1/namespaces/ns/calendars/fr"
LIST = "/v1/namespaces/ns/calendars"
FRANCE = {"holidays": [{"country": "FR"}]}
#: The world begins on Saturday 21 November 2026 at noon.
MONTH_END = {
    "schedule": "0 17 L * *",
    "timezone": "Europe/Paris",
    "calendar": {"name": "fr", "otherwise": "previous"},
    "target": {"type": "http", "url": "https://example.com/hook"},
}


def put(to: Client, body: Any = None, url: str = URL, **options: Any) -> Answered:
    return to.send("PUT", url, FRANCE if body is None else body, **options)


def due_times(to: Client, name: str = "job", limit: int = 3) -> list[str]:
    answer = to.send("GET", f"/v1/namespaces/ns/jobs/{name}/occurrences?limit={limit}")
    return [each["local"] for each in answer.json["occurrences"]]


def test_a_put_creates_a_calendar_that_shows_its_next_days_and_a_second_one_changes_nothing(
    client: Client,
) -> None:
    created = put(client)
    assert (created.status, created.json["rev"]) == (201, created.etag.strip('"'))
    assert created.json["holidays"] == [{"country": "FR"}]
    assert created.json["nextDays"][:2] == [
        {"date": "2026-12-25", "isClosed": True, "reason": "Christmas Day"},
        {"date": "2027-01-01", "isClosed": True, "reason": "New Year's Day"},
    ]
    assert (created.json["knownUntil"], created.json["state"]) == ("2041-12-31", "current")
    again = put(client)
    assert (again.status, again.etag) == (200, created.etag)
    assert client.send("GET", URL).json == created.json


def test_open_wins_over_closed_and_both_over_holidays_and_the_weekend(client: Client) -> None:
    put(
        client,
        {
            "weekend": ["SUN"],
            "holidays": [{"country": "FR"}],
            "closed": [{"from": "2026-12-24", "to": "2026-12-31", "note": "works closed"}, "2027-01-04"],
            "open": [{"from": "2026-12-25", "to": None}, "2026-12-27"],
        },
    )
    days = client.send("GET", f"{URL}/days?from=2026-12-24&days=12").json["days"]
    assert [(each["date"][5:], each["isClosed"], each["reason"]) for each in days] == [
        ("12-24", True, "works closed"),
        ("12-25", False, "open"),
        ("12-26", True, "works closed"),
        ("12-27", False, "open"),
        *((f"12-{day}", True, "works closed") for day in (28, 29, 30, 31)),
        ("01-01", True, "New Year's Day"),
        ("01-03", True, "weekend"),
        ("01-04", True, "closed"),
    ]


def test_a_job_fires_on_the_last_business_day_of_each_month(client: Client) -> None:
    put(client, {**FRANCE, "closed": ["2026-12-31"]})
    client.put(job=MONTH_END)
    assert due_times(client) == [
        "2026-11-30T17:00:00.000+01:00",
        "2026-12-30T17:00:00.000+01:00",
        "2027-01-29T17:00:00.000+01:00",
    ]
    assert client.get().json["calendar"] == {"name": "fr", "otherwise": "previous"}


def test_a_one_off_is_moved_too(client: Client) -> None:
    put(client)
    one_off = {"dueTime": "2026-12-25T09:00:00+01:00", "timezone": "Europe/Paris"}
    used = {"calendar": {"name": "fr", "otherwise": "nearest"}, "target": MONTH_END["target"]}
    assert client.put(job={**one_off, **used}).status == 201
    assert due_times(client) == ["2026-12-24T09:00:00.000+01:00"]


def test_a_calendar_knows_days_by_the_moon_as_long_as_the_library_does(client: Client) -> None:
    assert (
        put(client, {"holidays": [{"country": "IN"}, {"country": "FR"}]}).json["knownUntil"] == "2035-12-31"
    )


def test_a_market_and_a_subdivision_have_holidays_of_their_own(client: Client) -> None:
    assert put(client, {"holidays": [{"market": "XNYS"}]}).json["nextDays"][0]["reason"] == "Thanksgiving Day"
    alsace = {"holidays": [{"country": "FR", "subdivision": "57"}]}
    assert [each["date"] for each in put(client, alsace).json["nextDays"]][:2] == ["2026-12-25", "2027-01-01"]
    assert "2027-03-26" in [each["date"] for each in put(client, alsace).json["nextDays"]]


ICS = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//EN
BEGIN:VEVENT
UID:1
SUMMARY:Works outing
DTSTART;VALUE=DATE:20261207
DTEND;VALUE=DATE:20261209
RRULE:FREQ=YEARLY
EXDATE;VALUE=DATE:20281207
END:VEVENT
BEGIN:VEVENT
UID:2
SUMMARY:Called off
STATUS:CANCELLED
DTSTART;VALUE=DATE:20261210
END:VEVENT
END:VCALENDAR
"""


_EVENT = "BEGIN:VEVENT\nUID:{0}\nDTSTART;VALUE=DATE:20261207\n{1}END:VEVENT\n"


def file_of(count: int, rule: str = "") -> str:
    events = "".join(_EVENT.format(number, rule) for number in range(count))
    return f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//test//EN\n{events}END:VCALENDAR\n"


def ruled(rule: str) -> str:
    return file_of(1, f"RRULE:FREQ={rule}\n")


WEEK = "MO,TU,WE,TH,FR,SA,SU"
RECURRING, MANY = file_of(51, "RRULE:FREQ=YEARLY\n"), file_of(501)


def test_an_icalendar_file_closes_whole_days_also_recurring_ones(client: Client) -> None:
    shown = put(client, {"ics": ICS})
    assert shown.status == 201
    assert [(each["date"], each["reason"]) for each in shown.json["nextDays"]][:5] == [
        ("2026-12-07", "Works outing"),
        ("2026-12-08", "Works outing"),
        ("2027-12-07", "Works outing"),
        ("2027-12-08", "Works outing"),
        ("2029-12-07", "Works outing"),
    ]
    assert client.send("GET", URL).json["ics"] == ICS


def test_rules_mean_what_a_library_of_rules_says(client: Client) -> None:
    """Rules of weeks, months and years, with their ends, their exceptions, and a moved day."""
    file = "".join(
        _EVENT.format(number, each)
        for number, each in enumerate(
            [
                "RRULE:FREQ=WEEKLY;INTERVAL=2;UNTIL=20261221T230000Z\nEXDATE;TZID=Europe/Paris:20261221T000000\n",
                "RRULE:FREQ=MONTHLY;BYDAY=MO;BYSETPOS=1;COUNT=3\n",
                "RRULE:FREQ=YEARLY;BYMONTH=12;BYDAY=1MO;UNTIL=20280101\nRDATE;VALUE=DATE:20270203\n",
                "DURATION:P2D\nRRULE:FREQ=YEARLY;COUNT=1\n",
            ]
        )
    )
    moved = "RECURRENCE-ID;VALUE=DATE:20270104\nSEQUENCE:1\n"
    file += _EVENT.format(1, moved).replace("VALUE=DATE:20261207", "VALUE=DATE:20270105")
    shown = put(client, {"ics": f"BEGIN:VCALENDAR\nVERSION:2.0\n{file}END:VCALENDAR\n"})
    assert shown.status == 201
    assert [each["date"] for each in shown.json["nextDays"]] == [
        "2026-12-07", "2026-12-08", "2027-01-05", "2027-02-01", "2027-02-03", "2027-12-06",
    ]  # fmt: skip


EACH_DAY = f"RRULE:FREQ=WEEKLY;BYDAY={WEEK}\n"


def since(day: str, ics: str) -> str:
    return ics.replace("20261207", day)


FIRST = since("19700105", file_of(50, "RRULE:FREQ=YEARLY;BYSETPOS=1;BYYEARDAY=5,-1,6\n"))
DAILY = since("20290101", file_of(1, "N:1\n" * 7_000 + EACH_DAY))
COSTLY = {
    "weekdays of years": since("19700105", file_of(49, "RRULE:FREQ=YEARLY;BYSETPOS=1;BYDAY=MO\n")),
    "days of years": FIRST,
    "rare days": since("20000229", file_of(50, "RRULE:FREQ=MONTHLY;BYDAY=TU;BYMONTHDAY=29;BYMONTH=2\n")),
    "each day": file_of(13, EACH_DAY),
    "each day with a long name": since("20290101", file_of(1, f"SUMMARY:{'a' * 250_000}\n{EACH_DAY}")),
    "each day with many properties": DAILY,
    "all of these": FIRST.removesuffix("END:VCALENDAR\n") + DAILY[DAILY.index("BEGIN:VEVENT") :],
    "a long rule": file_of(1, f"RRULE:FREQ=YEARLY;BYYEARDAY={','.join(['1'] * 7_400)}\n"),
    "many dates": file_of(1, f"RDATE;VALUE=DATE:{','.join(['20261207'] * 7_400)}\n"),
    "many changes": file_of(490, "RECURRENCE-ID;RANGE=THISANDFUTURE;VALUE=DATE:20270104\n"),
    "long days": file_of(500, "DTEND;VALUE=DATE:99991231\n"),
}


@pytest.mark.parametrize("ics", COSTLY.values(), ids=COSTLY)
def test_each_text_of_a_legal_size_is_read_within_a_second_of_cpu(ics: str) -> None:
    assert len(ics) <= CALENDAR_ICS_BYTES_MAX
    assert any(cpu_seconds(ics) < slowness() for _ in range(3))


def cpu_seconds(ics: str) -> float:
    begun = process_time()
    with suppress(InvalidError):
        resolved({"ics": ics}, dt.date(2026, 11, 21))
    return process_time() - begun


@pytest.mark.parametrize(
    ("body", "pointer", "says"),
    [
        ({"weekends": []}, "/weekends", "weekend"),
        ({"weekend": ["SAM"]}, "/weekend/0", "SAT"),
        ({"weekend": "SAT"}, "/weekend", "list"),
        ({"holidays": [{}]}, "/holidays/0", "either a country or a market"),
        ({"holidays": [{"country": "FR", "market": "XNYS"}]}, "/holidays/0", "either a country or a market"),
        ({"holidays": [{"country": "FX"}]}, "/holidays/0/country", "expected a country such as FR"),
        ({"holidays": [{"country": "FR", "subdivision": "75"}]}, "/holidays/0/subdivision", "FR has 57, 6AE"),
        ({"holidays": [{"country": "FR", "categories": ["bank"]}]}, "/holidays/0/categories/0", "public"),
        ({"holidays": [{"market": "NYSX"}]}, "/holidays/0/market", "XNYS"),
        ({"holidays": [{"country": "FR"}] * 11}, "/holidays", "at most 10"),
        ({"holidays": [{"country": "FR"}], "ics": ICS}, "/ics", "not both"),
        ({"ics": "no calendar"}, "/ics", "iCalendar"),
        ({"ics": ICS.replace(";VALUE=DATE:20261207", ":20261207T090000Z")}, "/ics", "time of day"),
        ({"ics": "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nEND:VCALENDAR\r\n"}, "/ics", "no VEVENT"),
        ({"ics": ICS.replace("FREQ=YEARLY", "FREQ=DAILY")}, "/ics", "WEEKLY, MONTHLY, YEARLY"),
        ({"ics": ICS.replace("FREQ=YEARLY", "FREQ=EVER")}, "/ics", "WEEKLY, MONTHLY, YEARLY"),
        ({"ics": ICS.replace("FREQ=YEARLY", "BYDAY=MO")}, "/ics", ""),
        ({"ics": ruled("WEEKLY;BYHOUR=0,1")}, "/ics", "has BYHOUR; expected BYDAY, COUNT"),
        ({"ics": ruled("MONTHLY;BYMINUTE=1")}, "/ics", "has BYMINUTE"),
        ({"ics": ruled("YEARLY;BYSECOND=1")}, "/ics", "has BYSECOND"),
        ({"ics": ruled("YEARLY;BYEASTER=1")}, "/ics", "has BYEASTER"),
        ({"ics": ruled("YEARLY;INTERVAL=0")}, "/ics", "from 1 to 100"),
        ({"ics": ruled("YEARLY;UNTIL=P1D")}, "/ics", "UNTIL that is no date"),
        ({"ics": ruled("YEARLY;BYMONTH=2;BYMONTHDAY=30")}, "/ics", "expected a day of its RRULE"),
        ({"ics": ruled("MONTHLY;BYDAY=99MO")}, "/ics", "iCalendar"),
        ({"ics": ruled("YEARLY").replace("20261207", "19691207")}, "/ics", "from 1970 on"),
        ({"ics": ruled("YEARLY;BYYEARDAY=" + ",".join(["341"] * 401))}, "/ics", "401 values"),
        ({"ics": file_of(13, f"RRULE:FREQ=WEEKLY;BYDAY={WEEK}\n")}, "/ics", "calendarIcsDaysMax"),
        ({"ics": file_of(2, "DTEND;VALUE=DATE:20410101\n")}, "/ics", "calendarIcsDaysMax"),
        ({"ics": file_of(1, "X:1\n" * 7_500)}, "/ics", "calendarIcsValuesMax"),
        ({"ics": file_of(1, "X:" + "," * 7_500 + "\n")}, "/ics", "calendarIcsValuesMax"),
        ({"ics": file_of(1, "DTSTART;VALUE=DATE:20261208\n")}, "/ics", "has DTSTART twice"),
        ({"ics": file_of(1, "DTEND:20261208T120000\n")}, "/ics", "time of day"),
        ({"ics": file_of(1, "DURATION:PT36H\n")}, "/ics", "time of day"),
        ({"ics": file_of(1, "EXDATE;VALUE=TIME:120000\n")}, "/ics", "EXDATE without dates"),
        ({"ics": RECURRING}, "/ics", "at most 50"),
        ({"ics": MANY}, "/ics", "501 events"),
        ({"closed": ["2027-13-01"]}, "/closed/0", "2027-12-24"),
        ({"closed": ["20271224"]}, "/closed/0", "2027-12-24"),
        ({"closed": [20271224]}, "/closed/0", "2027-12-24"),
        ({"closed": [{"to": "2027-12-24"}]}, "/closed/0/from", "2027-12-24"),
        ({"closed": [{"from": "2027-12-24", "to": "2027-12-23"}]}, "/closed/0/to", "after from"),
        ({"closed": [{"from": "2027-12-24", "till": "2027-12-25"}]}, "/closed/0/till", "from, to and note"),
        ({"closed": [{"from": "2027-12-24", "note": "n" * 65}]}, "/closed/0/note", "64"),
        ({"closed": ["2027-12-24"] * 501}, "/closed", "500"),
        ({"closed": [{"from": "2027-01-01", "to": "2027-02-15"}]}, "/closed", "No day from 2027-01-01"),
        ({"ics": file_of(1, "DURATION:P40D\n"), "closed": ["2026-12-01"]}, "/ics", "No day from 2026-12-05"),
        (
            {"ics": ICS, "closed": [{"from": "2027-01-01", "to": "2027-02-15"}]},
            "/closed",
            "No day from 2027-01-01",
        ),
        (
            {"weekend": ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]},
            "/weekend",
            "open day within any 31",
        ),
    ],
)
def test_a_bad_calendar_gets_a_pointer_and_what_would_be_right(
    client: Client, body: Any, pointer: str, says: str
) -> None:
    refused = put(client, body)
    assert refused.status == 422
    assert pointer in refused.pointers
    assert says in " ".join(each["detail"] for each in refused.json["errors"])
    assert client.send("GET", URL).status == 404


@pytest.mark.parametrize(
    ("changed", "pointer", "says"),
    [
        ({"calendar": {"name": "gr"}}, "/calendar/name", "Create the calendar first"),
        ({"calendar": {"name": "fr", "days": "closed", "otherwise": "later"}}, "/calendar/otherwise", "next"),
        ({"calendar": {}}, "/calendar/name", "Required"),
        ({"schedule": "@every 1h"}, "/calendar/otherwise", "elapsed time"),
        ({"schedule": "rate(1 hour)"}, "/calendar/otherwise", "elapsed time"),
        ({"schedule": "R/PT1H"}, "/calendar/otherwise", "elapsed time"),
        ({"schedule": "*/5 9 * * *"}, "/calendar/otherwise", "real time"),
        ({"schedule": "0,30 0-23 * * *"}, "/calendar/otherwise", "48 times a day"),
        ({"schedule": "0 9 * * SUN", "calendar": {"name": "fr"}}, "/calendar", "never falls on a day"),
        (
            {"schedule": None, "dueTime": "2026-12-25T09:00:00Z", "calendar": {"name": "fr"}},
            "/calendar",
            "dueTime",
        ),
        ({"schedule": None}, "/calendar", "fires only on demand"),
    ],
)
def test_a_job_that_no_calendar_suits_is_refused(
    client: Client, changed: dict[str, Any], pointer: str, says: str
) -> None:
    put(client)
    job = {name: each for name, each in {**MONTH_END, **changed}.items() if each is not None}
    refused = client.put(job=job)
    assert (refused.status, refused.pointers) == (422, [pointer])
    assert says in refused.json["errors"][0]["detail"]


def test_a_calendar_in_use_cannot_be_deleted_and_an_unused_one_can(client: Client) -> None:
    put(client)
    client.put(job=MONTH_END)
    refused = client.send("DELETE", URL)
    assert refused.status == 409
    assert "job" in refused.json["detail"]
    client.send("DELETE", "/v1/namespaces/ns/jobs/job")
    assert client.send("DELETE", URL).status == 204
    assert client.send("GET", URL).status == 404
    assert client.send("DELETE", URL).status == 404


def test_preconditions_and_roles(client: Client) -> None:
    first = put(client)
    assert put(client, {}, headers={"if-none-match": "*"}).status == 412
    assert put(client, {}, headers={"if-match": '"other"'}).status == 412
    assert put(client, {}, headers={"if-match": first.etag}).status == 200
    assert put(client, caller=READER).status == 403
    assert put(client, caller=WRITER).status == 200
    assert client.send("GET", URL, caller=READER).status == 200
    assert client.send("DELETE", URL, caller=READER).status == 403


def test_a_preview_writes_nothing_and_shows_what_would_change(client: Client) -> None:
    put(client)
    shown = client.send("POST", f"{URL}/preview", {**FRANCE, "closed": ["2026-12-24"]}, caller=READER)
    assert shown.json["changes"] == [{"date": "2026-12-24", "isClosed": True, "reason": "closed"}]
    assert "2026-12-24" not in [each["date"] for each in client.send("GET", URL).json["nextDays"]]
    assert client.send("POST", "/v1/namespaces/ns/calendars/new/preview", FRANCE).json["changes"] == []


def test_calendars_are_listed_by_name(client: Client) -> None:
    for name in ("b", "a", "c"):
        put(client, {}, url=f"{LIST}/{name}")
    first = client.send("GET", f"{LIST}?limit=2").json
    assert [each["name"] for each in first["items"]] == ["a", "b"]
    rest = client.send("GET", f"{LIST}?cursor={first['nextCursor']}").json
    assert [each["name"] for each in rest["items"]] == ["c"]


def shown(to: Client, **timing: Any) -> Any:
    """What the preview of a schedule says, without what is empty."""
    answer = to.send("POST", "/v1/occurrences", {"namespace": "ns", "timezone": "Europe/Paris", **timing})
    assert answer.status == 200, answer.text
    return answer.json


WORKS_CLOSED = {**FRANCE, "closed": [{"from": "2026-12-28", "to": "2026-12-31", "note": "works closed"}]}


def test_a_moved_due_time_says_from_which_day_it_comes_and_why(client: Client) -> None:
    put(client, WORKS_CLOSED)
    client.put(job=MONTH_END)
    stored = client.send("GET", "/v1/namespaces/ns/jobs/job/occurrences?limit=3").json
    assert [
        (each["local"][:10], each.get("reason"), each.get("movedFrom")) for each in stored["occurrences"]
    ] == [
        ("2026-11-30", None, None),
        (
            "2026-12-24",
            "calendar-moved",
            {"date": "2026-12-31", "isClosed": True, "reason": "works closed"},
        ),
        ("2027-01-29", "calendar-moved", {"date": "2027-01-31", "isClosed": True, "reason": "weekend"}),
    ]
    assert stored["skipped"] == []
    assert stored["description"] == (
        "At 17:00, on the last day of the month, on open days of the calendar fr, "
        "otherwise on the previous one"
    )
    timing = {name: MONTH_END[name] for name in ("schedule", "calendar")}
    assert shown(client, **timing, limit=3) == stored


def test_skipped_days_are_listed_with_their_reasons_in_the_order_of_time(client: Client) -> None:
    put(client, FRANCE)
    answer = shown(
        client,
        schedule="30 2 * * THU,FRI,SUN",
        calendar={"name": "fr"},
        after="2027-03-25T12:00:00Z",
        limit=2,
    )
    assert [each["local"][:10] for each in answer["occurrences"]] == ["2027-03-26", "2027-04-01"]
    assert answer["skipped"] == [
        {
            "utc": "2027-03-28T01:00:00.000Z",
            "local": "2027-03-28T03:00:00.000+02:00",
            "reason": "calendar-skipped",
            "day": {"date": "2027-03-28", "isClosed": True, "reason": "weekend"},
        }
    ]
    assert answer["description"].endswith(", only on open days of the calendar fr")
    on_holidays = shown(
        client, schedule="0 9 * * *", calendar={"name": "fr", "days": "closed"}, after="2026-12-24T12:00:00Z",
        limit=3,
    )  # fmt: skip
    assert [each["local"][:10] for each in on_holidays["occurrences"]] == [
        "2026-12-25", "2026-12-26", "2026-12-27",
    ]  # fmt: skip
    assert on_holidays["skipped"] == []
    monday = shown(
        client, schedule="0 9 * * *", calendar={"name": "fr", "days": "closed"}, after="2026-12-27T12:00:00Z",
        limit=1,
    )["skipped"][0]  # fmt: skip
    assert monday["day"] == {"date": "2026-12-28", "isClosed": False, "reason": "open"}


def test_a_due_time_that_a_change_of_the_calendar_owes_or_has_dropped_says_so(client: Client) -> None:
    world = client.world
    put(client, {**FRANCE, "open": ["2026-11-29"]})
    client.put(job={**MONTH_END, "schedule": "0 9 * * SUN"})
    # What was to fire on Sunday 29 November belongs to the Friday before by the new days.
    world.run_until(world.clock.time + 7 * DAY_MS)
    put(client)
    world.run_until(world.clock.time + 1_000)
    owed = client.send("GET", "/v1/namespaces/ns/jobs/job/occurrences?limit=2").json["occurrences"]
    assert [each.get("reason") for each in owed] == ["calendar-owed", "calendar-moved"]
    assert "movedFrom" not in owed[0]
    world.run_until(world.clock.time + 60_000)
    put(client, {**FRANCE, "open": ["2026-11-29"]})
    world.run_until(world.clock.time + 60_000)
    again = client.send("GET", "/v1/namespaces/ns/jobs/job/occurrences?limit=1").json
    assert [each["local"][:10] for each in again["occurrences"]] == ["2026-12-04"]
    assert [(each["local"][:10], each["reason"]) for each in again["skipped"]] == [
        ("2026-11-29", "calendar-fired")
    ]


@pytest.mark.parametrize(
    ("timing", "pointer", "words"),
    [
        ({"calendar": {"name": "fr"}}, "/namespace", "Give the namespace of the calendar."),
        ({"namespace": "ns"}, "/namespace", "Leave it out, or give a calendar."),
        ({"calendar": {"name": "fr"}, "namespace": "no name"}, "/namespace", ""),
        ({"calendar": {"name": "de"}, "namespace": "ns"}, "/calendar/name", "There is no calendar de"),
        ({"calendar": {"name": "fr", "otherwise": "nxt"}, "namespace": "ns"}, "/calendar/otherwise", "next"),
        (
            {"calendar": {"name": "fr"}, "namespace": "ns", "schedule": "0 9 * * SUN"},
            "/calendar",
            "never falls",
        ),
    ],
)
def test_a_preview_with_a_calendar_that_cannot_be_judged_is_refused_by_its_field(
    client: Client, timing: Any, pointer: str, words: str
) -> None:
    put(client, FRANCE)
    refused = client.send("POST", "/v1/occurrences", {"schedule": "0 9 * * *", **timing})
    assert (refused.status, refused.pointers) == (422, [pointer])
    assert words in refused.json["errors"][0]["detail"]


def test_a_preview_shows_no_calendar_of_a_namespace_that_the_caller_does_not_see(client: Client) -> None:
    put(client, FRANCE, url="/v1/namespaces/other/calendars/fr")
    answers = [
        client.send(
            "POST",
            "/v1/occurrences",
            {"schedule": "@daily", "calendar": {"name": "fr"}, "namespace": namespace},
            caller=READER,
        )
        for namespace in ("other", "nowhere")
    ]
    assert [(each.status, each.pointers) for each in answers] == [(422, ["/namespace"])] * 2
    assert answers[0].json["errors"] == answers[1].json["errors"]


def test_a_forecast_counts_the_days_on_which_jobs_fire(client: Client) -> None:
    put(client, {"closed": ["2026-11-23"]})
    for name, otherwise in (("skips", "skip"), ("moves", "next")):
        calendar = {"name": "fr", "otherwise": otherwise}
        client.put(name, {**MONTH_END, "schedule": "0 9 * * SUN,MON", "calendar": calendar})
    query = "from=2026-11-21T23:00:00Z&to=2026-11-24T23:00:00Z&bucket=24h"
    buckets = client.send("GET", f"/v1/namespaces/ns/forecast?{query}").json["buckets"]
    assert [(each["at"][:10], each["triggers"]) for each in buckets] == [("2026-11-23", 1)]


def test_a_calendar_takes_as_much_as_its_page_promises(client: Client) -> None:
    spans = [{"from": f"2027-01-{1 + day % 28:02d}", "to": None, "note": "é" * 64} for day in range(500)]
    days = [each for each in spans if each["from"] not in ("2027-01-05", "2027-01-06")]
    days += days[: 500 - len(days)]
    events = file_of(500, f"DESCRIPTION:{'a' * 400}\n")
    for body in ({"closed": days}, {"open": spans}, {"ics": events, "closed": days}):
        assert put(client, body).status in (200, 201)
        assert client.send("POST", f"{URL}/preview", body).status == 200
        assert client.send("GET", URL).json["rev"]


def test_a_calendar_has_a_bounded_number_of_values_and_of_bytes(client: Client) -> None:
    refused = put(client, {"closed": [{"from": "2027-01-05"}] * 1_500})
    assert (refused.status, "calendarValuesMax" in str(refused.text)) == (422, True)
    random = Random(1)  # noqa: S311 - a text that does not shrink
    noise = "".join(chr(random.randrange(0x4E00, 0x9FFF)) for _ in range(170_000))
    refused = put(client, {"ics": file_of(1, f"DESCRIPTION:{noise}\n")})
    assert (refused.status, "calendarContentBytesMax" in str(refused.text)) == (422, True)
