"""The forecast of a namespace over HTTP."""

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.http_events import JOB, TARGET, Client
from tests.fakes.world import NOON

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, rfc3339
from sweephand.base.limits import BULK_EXAMINED_MAX
from sweephand.base.timing import BULK_TIME_LIMIT_MS
from sweephand.jobs import forecast as forecasts
from sweephand.model.job import Job, JobKey
from sweephand.model.page import Page
from sweephand.web.http import cursor

URL = "/v1/namespaces/ns/forecast"


def forecast(client: Client, query: str = "") -> Any:
    answer = client.send("GET", f"{URL}{query}")
    assert answer.status == 200, answer.text
    return answer.json


def page_limits(client: Client, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many jobs each page had room for that was read since; a list that grows."""
    page = client.world.jobs.page
    limits: list[int] = []

    def counted(namespace: str, prefix: str, after: str, limit: int) -> Page[Job]:
        limits.append(limit)
        return page(namespace, prefix, after, limit)

    monkeypatch.setattr(client.world.jobs, "page", counted)
    return limits


def test_a_forecast_counts_the_triggers_of_each_hour_of_the_next_day(client: Client) -> None:
    client.put("hourly", JOB)
    client.put("once", {"dueTime": rfc3339(NOON + 90 * MINUTE_MS), "target": TARGET})
    client.put("mails", {"dueTime": "2h", "target": TARGET, "batch": {"count": 1_000, "window": "2h"}})
    client.put("by-hand", {"target": TARGET})
    found = forecast(client)
    assert (found["from"], found["to"]) == (rfc3339(NOON), rfc3339(NOON + DAY_MS))
    assert (found["bucketSeconds"], found["jobs"], found["paused"]) == (3_600, 4, 0)
    counts = {each["at"]: each["triggers"] for each in found["buckets"]}
    assert len(counts) == 23
    assert [counts[rfc3339(NOON + hour * HOUR_MS)] for hour in (1, 2, 3, 4)] == [2, 501, 501, 1]
    assert "nextCursor" not in found


def test_of_a_job_that_is_paused_until_an_instant_is_due_what_falls_due_from_then_on(client: Client) -> None:
    client.put("a", {**JOB, "schedule": "0 */10 * * * *"})
    pause = "/v1/namespaces/ns/jobs/a/pause"
    client.send("POST", pause, {"until": rfc3339(NOON + 90 * MINUTE_MS)})
    found = forecast(client)
    assert (found["jobs"], found["paused"]) == (1, 0)
    counts = {each["at"]: each["triggers"] for each in found["buckets"]}
    assert [counts.get(rfc3339(NOON + hour * HOUR_MS)) for hour in range(3)] == [None, 3, 6]
    client.send("POST", pause, {"until": rfc3339(NOON + DAY_MS)})
    found = forecast(client)
    assert (found["jobs"], found["paused"], found["buckets"]) == (0, 1, [])


def test_a_paused_job_is_counted_as_paused_and_nothing_of_it_is_due(client: Client) -> None:
    client.put("a", JOB)
    client.put("b", JOB)
    client.send("POST", "/v1/namespaces/ns/jobs/a/pause", {})
    found = forecast(client, "?bucket=24h")
    assert (found["jobs"], found["paused"]) == (1, 1)
    assert [each["triggers"] for each in found["buckets"]] == [23]


def test_a_forecast_is_of_the_jobs_that_prefix_and_labels_select(client: Client) -> None:
    for name, team in (("a-1", "ops"), ("a-2", "web"), ("b-1", "ops")):
        client.put(name, {**JOB, "labels": {"team": team}})
    assert [forecast(client, query)["jobs"] for query in ("", "?prefix=a-", "?label=team:ops&prefix=a-")] == [
        3,
        2,
        1,
    ]


def test_a_forecast_of_many_jobs_comes_in_parts_that_add_up(client: Client) -> None:
    client.put("a", JOB)
    stored = client.world.stored("a")
    for number in range(2 * BULK_EXAMINED_MAX):
        client.world.jobs.put(replace(stored, key=JobKey("ns", f"a-{number:04d}")), None)
    counted = triggers = calls = 0
    query = "?bucket=12h"
    while query:
        found = forecast(client, query)
        counted += found["jobs"]
        triggers += sum(each["triggers"] for each in found["buckets"])
        calls += 1
        query = f"?bucket=12h&cursor={found['nextCursor']}" if "nextCursor" in found else ""
    assert (counted, triggers) == (2 * BULK_EXAMINED_MAX + 1, 23 * (2 * BULK_EXAMINED_MAX + 1))
    assert calls == 3


def test_a_forecast_reads_all_jobs_of_a_call_at_once(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    client.put("a", JOB)
    limits = page_limits(client, monkeypatch)
    assert forecast(client)["jobs"] == 1
    assert limits == [BULK_EXAMINED_MAX]


def test_a_forecast_that_takes_too_long_goes_on_in_the_next_call(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client()
    for name in ("a", "b", "c"):
        client.put(name, JOB)
    page = client.world.jobs.page

    def slow(namespace: str, prefix: str, after: str, limit: int) -> Page[Job]:
        client.world.clock.time += BULK_TIME_LIMIT_MS
        return page(namespace, prefix, after, limit)

    monkeypatch.setattr(client.world.jobs, "page", slow)
    parts = [forecast(client, f"?from={rfc3339(client.world.clock.time)}")]
    while "nextCursor" in parts[-1]:
        parts.append(forecast(client, f"?cursor={parts[-1]['nextCursor']}"))
    assert [part["jobs"] for part in parts] == [1, 1, 1]


def fill(client: Client, schedules: list[str]) -> None:
    """Store a job for each schedule: `a-0000` and so on."""
    client.put("a", JOB)
    stored = client.world.stored("a")
    client.world.jobs.delete(stored)
    for number, schedule in enumerate(schedules):
        job = replace(
            stored,
            key=JobKey("ns", f"a-{number:04d}"),
            series=stored.series._replace(schedule=schedule),
        )
        client.world.jobs.put(job, None)


def parts(client: Client, query: str) -> list[Any]:
    """The answers of all calls for a forecast."""
    found = [forecast(client, f"?{query}")]
    while "nextCursor" in found[-1]:
        found.append(forecast(client, f"?{query}&cursor={found[-1]['nextCursor']}"))
    return found


def test_a_forecast_of_jobs_that_fire_every_second_comes_in_parts_that_add_up(
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fill(client, ["* * * * * *", "@every 1s", "0 * * * *", "17 4 1 1 *"] * 8)
    limits = page_limits(client, monkeypatch)
    found = parts(client, "bucket=1m")
    assert len(found) == len(limits) == 6
    assert sum(part["jobs"] for part in found) == 32
    # What a call cannot count is read once, and then only a few jobs more than a call counts.
    assert limits == [BULK_EXAMINED_MAX] + [100] * 5
    total = Counter({each["at"]: each["triggers"] for each in found[0]["buckets"]})
    for part in found[1:]:
        total.update({each["at"]: each["triggers"] for each in part["buckets"]})
    assert len(total) == 1_440
    assert total[rfc3339(NOON)] == 2 * 8 * 59, "nothing fires at the very start"
    assert total[rfc3339(NOON + HOUR_MS)] == 2 * 8 * 60 + 8


def test_a_further_call_reads_as_many_jobs_as_it_has_time_for(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client()
    fill(client, ["0 * * * *"] * 1_200)
    limits = page_limits(client, monkeypatch)
    assert [part["jobs"] for part in parts(client, "bucket=1h")] == [1_000, 200]
    first, small, large = limits
    assert (first, small) == (BULK_EXAMINED_MAX, 100)
    assert 200 < large <= BULK_EXAMINED_MAX - small


def test_each_call_counts_a_job_however_much_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forecasts, "_WORK_US_MAX", 1)
    client = Client()
    fill(client, ["* * * * * *"] * 3)
    assert [part["jobs"] for part in parts(client, "bucket=1m")] == [1, 1, 1]


@pytest.mark.parametrize("schedule", [f"0 0 0 {'1,' * 480}1 * *", "* * * * * *"], ids=["long", "dense"])
def test_paused_jobs_take_no_time_of_a_forecast(client: Client, schedule: str) -> None:
    fill(client, [schedule] * 500)
    for number in range(500):
        stored = client.world.jobs.get(JobKey("ns", f"a-{number:04d}"))
        assert stored is not None
        client.world.jobs.put(replace(stored, paused_at=NOON, version="2"), stored.version)
    assert [part["paused"] for part in parts(client, "bucket=1m")] == [500]


def test_a_further_call_may_keep_a_span_that_began_some_minutes_ago(client: Client) -> None:
    client.put("b", JOB)
    since = rfc3339(NOON)
    client.world.clock.time += 10 * MINUTE_MS
    query = f"from={since}&to={rfc3339(NOON + DAY_MS)}&bucket=1m"
    assert client.send("GET", f"{URL}?{query}").pointers == ["/from"]
    assert forecast(client, f"?{query}&cursor={cursor.encode('forecast', 'a')}")["jobs"] == 1


@pytest.mark.parametrize(
    ("query", "pointers"),
    [
        (f"from={rfc3339(NOON - HOUR_MS)}", ["/from"]),
        (f"to={rfc3339(NOON)}", ["/to"]),
        (f"to={rfc3339(NOON + 401 * DAY_MS)}&bucket=24h", ["/to"]),
        ("bucket=59s", ["/bucket"]),
        ("bucket=90.5s", ["/bucket"]),
        ("bucket=P1M", ["/bucket"]),
        ("bucket=often", ["/bucket"]),
        (f"bucket=1m&to={rfc3339(NOON + DAY_MS + 1)}", ["/bucket"]),
        ("from=noon", ["/from"]),
        ("label=team", ["/label/0"]),
        ("label=a:1&label=a:2", ["/label"]),
        ("cursor=x", ["/cursor"]),
        ("since=2027-01-01T00:00:00Z", ["/since"]),
    ],
)
def test_a_span_that_no_forecast_can_have_is_refused(client: Client, query: str, pointers: list[str]) -> None:
    refused = client.send("GET", f"{URL}?{query}")
    assert (refused.status, refused.pointers) == (422, pointers)


def test_the_bucket_that_runs_now_may_begin_before_now(client: Client) -> None:
    client.put("hourly", JOB)
    found = forecast(client, f"?from={rfc3339(NOON - HOUR_MS + 1)}&to={rfc3339(NOON + HOUR_MS)}")
    assert [each["triggers"] for each in found["buckets"]] == []
