"""No schedule makes a preview or a write slow, however far its next occurrence is."""

from time import process_time
from typing import Any, Final

import pytest
from tests.fakes.http_events import TARGET, Client
from tests.unit.web.hostile.probe import slowness

#: Schedules that fire rarely or never again, that count far, or that have many parts.
SCHEDULES: Final = (
    "0 0 29 2 *",
    "0 0 0 29 2 MON#5",
    "0 0 0 29 2 * ",
    "59 59 23 31 12 ?",
    "* * * * * *",
    "@every 100000h",
    "R9007199254740991/1970-01-01T00:00:00Z/PT1S",
    "R9007199254740991/1970-01-31T00:00:00/P1M1DT1S",
    "R9007199254740991/2000-02-29/P1Y",
    "cron(0 0 29 2 ? 2096)",
    "cron(0 0 ? 2 2#5 2199)",
    "at(2199-01-01T00:00:00)",
    f"0 0 0 {','.join(f'{1 + n % 31}W' for n in range(200))} * {'1#1,2#5,' * 30}0",
    f"0 0 0 {'1,' * 480}1 * *",
    {"second": "0", "year": "1970-2199/4", "month": "2", "dayOfMonth": "29", "dayOfWeek": "MON"},
)

#: Where the search begins and ends.
SPANS: Final = (
    {"after": "1970-01-01T00:00:00Z"},
    {"after": "9998-12-31T00:00:00Z"},
    {"dueTime": "9990-01-01T00:00:00Z", "dst": {"gap": "shift", "overlap": "both"}},
    {"dueTime": "2030-01-01T00:00:00Z", "jitter": "24h"},
    {"ttl": "9999-12-31T00:00:00Z", "repeats": 2**53 - 1},
)


@pytest.mark.parametrize("schedule", SCHEDULES, ids=lambda each: str(each)[:40])
def test_no_schedule_takes_half_a_second_of_cpu(client: Client, schedule: Any) -> None:
    for span in SPANS:
        for timezone in ("UTC", "Africa/Casablanca", "Australia/Lord_Howe"):
            timing = {"schedule": schedule, "timezone": timezone, **span}
            job = {**timing, "target": TARGET}
            job.pop("after", None)
            began_s = process_time()
            statuses = {
                client.send("POST", "/v1/occurrences", {**timing, "limit": 200}).status,
                client.put(job=job).status,
                client.send("GET", "/v1/namespaces/ns/jobs/job/occurrences?limit=200").status,
            }
            assert statuses <= {200, 201, 404, 422}
            took_s = process_time() - began_s
            assert took_s < 1 or took_s < slowness()  # three requests, and the checks of their answers
