"""Bulk pause, resume and delete over HTTP."""

from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.http_events import JOB, Client

from sweephand.base.limits import BULK_EXAMINED_MAX
from sweephand.model.job import JobKey

URL = "/v1/namespaces/ns"


def client_with_jobs() -> Client:
    client = Client()
    for name, team in (("a-1", "ops"), ("a-2", "web"), ("b-1", "ops")):
        client.put(name, {**JOB, "labels": {"team": team, "at": "12:00"}})
    return client


def names(client: Client, query: str = "") -> list[str]:
    return [each["name"] for each in client.send("GET", f"{URL}/jobs{query}").json["items"]]


def test_a_bulk_call_pauses_jobs_with_a_reason_and_resumes_them() -> None:
    client = client_with_jobs()
    paused = client.send("POST", f"{URL}/pause", {"labels": {"team": "ops"}, "reason": "the database moves"})
    assert (paused.status, paused.json) == (200, {"count": 2})
    assert names(client, "?state=paused") == ["a-1", "b-1"]
    assert client.get("a-1").json["pauseReason"] == "the database moves"
    resumed = client.send("POST", f"{URL}/resume", {"prefix": "a", "catchup": "none"})
    assert (resumed.status, resumed.json) == (200, {"count": 1})
    assert names(client, "?state=paused") == ["b-1"]


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("prefix=a-", ["b-1"]),
        ("label=team:ops", ["a-2"]),
        ("label=team:ops&label=at:12:00&prefix=a", ["a-2", "b-1"]),
        ("label=team:ops&label=team:ops", ["a-2"]),
        ("prefix=c", ["a-1", "a-2", "b-1"]),
    ],
)
def test_a_bulk_call_deletes_jobs(query: str, left: list[str]) -> None:
    client = client_with_jobs()
    deleted = client.send("DELETE", f"{URL}/jobs?{query}")
    assert (deleted.status, deleted.json) == (200, {"count": 3 - len(left)})
    assert names(client) == left


def test_a_bulk_call_that_is_not_complete_returns_a_cursor() -> None:
    client = client_with_jobs()
    stored = client.world.jobs.get(JobKey("ns", "a-2"))
    assert stored is not None
    for number in range(2 * BULK_EXAMINED_MAX):
        client.world.jobs.put(replace(stored, key=JobKey("ns", f"a-2-{number:04d}")), None)
    cursor: dict[str, str] = {}
    counts = []
    while True:
        answer = client.send("POST", f"{URL}/pause", {"labels": {"team": "ops"}, **cursor}).json
        counts.append(answer["count"])
        if "nextCursor" not in answer:
            break
        cursor = {"cursor": answer["nextCursor"]}
    assert counts == [1, 0, 1]
    first = client.send("DELETE", f"{URL}/jobs?label=team:ops").json
    assert first["count"] == 1
    second = client.send("DELETE", f"{URL}/jobs?label=team:ops&cursor={first['nextCursor']}").json
    assert client.send("DELETE", f"{URL}/jobs?label=team:ops&cursor={second['nextCursor']}").json == {
        "count": 1
    }


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({}, [""]),
        ({"prefix": None, "labels": {}}, [""]),
        ({"prefix": ""}, [""]),
        ({"prefix": "a/b"}, ["/prefix"]),
        ({"labels": {"team": 7}}, ["/labels/team"]),
        ({"prefix": "a", "cursor": "garbage"}, ["/cursor"]),
        ({"prefix": "a", "cursor": "cGF1c2U6YQ", "names": []}, ["/names"]),
        ({"prefix": "a", "reason": 7}, ["/reason"]),
        ([], [""]),
    ],
)
def test_an_empty_or_invalid_filter_is_refused(body: Any, pointers: list[str]) -> None:
    client = client_with_jobs()
    refused = client.send("POST", f"{URL}/pause", body)
    assert (refused.status, refused.pointers) == (422, pointers)
    assert names(client, "?state=paused") == []


@pytest.mark.parametrize(
    ("query", "pointers"),
    [
        ("", [""]),
        ("?prefix=", [""]),
        ("?label=team", ["/label/0"]),
        ("?label=team:a&label=team:b", ["/label"]),
        ("?prefix=a&state=paused", ["/state"]),
        ("?prefix=a&limit=1", ["/limit"]),
        ("?prefix=a&cursor=x", ["/cursor"]),
    ],
)
def test_a_bulk_delete_with_an_empty_or_invalid_filter_deletes_nothing(
    query: str, pointers: list[str]
) -> None:
    client = client_with_jobs()
    refused = client.send("DELETE", f"{URL}/jobs{query}")
    assert (refused.status, refused.pointers) == (422, pointers)
    assert len(names(client)) == 3
