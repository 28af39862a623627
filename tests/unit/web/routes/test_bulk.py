"""Bulk calls over HTTP: pause, resume, delete, and writes that the API judges one by one."""

import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from tests.fakes.http_events import JOB, Client

from sweephand.base.errors import UnavailableError
from sweephand.base.limits import BULK_EXAMINED_MAX
from sweephand.base.timing import REQUEST_TIME_LIMIT_MS
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
    stored = client.world.stored("a-2")
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


Result = TypeVar("Result")

JOBS = "/v1/namespaces/ns/jobs"


def named(*names: Any) -> dict[str, Any]:
    return {"jobs": [{"name": name, **JOB} for name in names]}


def test_a_bulk_call_creates_replaces_or_leaves_each_job_as_it_is(client: Client) -> None:
    first = client.send("POST", JOBS, named("a", "b"))
    again = client.send("POST", JOBS, {"jobs": [{"name": "a", **JOB}, {"name": "b", **JOB, "repeats": 2}]})
    assert first.status == again.status == 200
    assert [each["status"] for each in first.json["results"]] == [201, 201]
    assert [each["status"] for each in again.json["results"]] == [200, 200]
    assert again.json["results"][0] == {**first.json["results"][0], "status": 200, "outcome": "unchanged"}
    assert again.json["results"][1]["rev"] != first.json["results"][1]["rev"]


@pytest.mark.parametrize("name", [None, 7, "", "a/b", ".", "x" * 129, [], {"a": 1}])
def test_a_bulk_call_writes_the_other_jobs_when_one_has_an_invalid_name(client: Client, name: Any) -> None:
    results = client.send("POST", JOBS, named("a", name, "b")).json["results"]
    assert [each["status"] for each in results] == [201, 422, 201]
    assert results[1]["name"] == name
    assert [each["pointer"] for each in results[1]["problem"]["errors"]] == ["/name"]


def test_a_bulk_call_writes_the_other_jobs_when_an_item_is_no_job(client: Client) -> None:
    body = {"jobs": [7, {"name": "a", **JOB}, {}, None]}
    results = client.send("POST", JOBS, body).json["results"]
    assert [each["status"] for each in results] == [422, 201, 422, 422]
    assert [each["pointer"] for each in results[0]["problem"]["errors"]] == [""]


def test_a_bulk_call_writes_a_name_that_occurs_twice_once(client: Client) -> None:
    results = client.send("POST", JOBS, named("a", "a")).json["results"]
    assert [each["status"] for each in results] == [201, 422]


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({}, ["/jobs"]),
        ({"jobs": None}, ["/jobs"]),
        ({"jobs": {}}, ["/jobs"]),
        ({"jobs": 7}, ["/jobs"]),
        ({"jobs": []}, ["/jobs"]),
        ({"jobs": [{}] * 101}, ["/jobs"]),
        ({"jobs": [{}], "job": 1}, ["/job"]),
        ([], [""]),
    ],
)
def test_a_body_that_is_no_list_of_jobs_is_refused_as_a_whole(body: Any, pointers: list[str]) -> None:
    refused = Client().send("POST", JOBS, body)
    assert (refused.status, refused.pointers) == (422, pointers)


def test_a_job_for_which_no_time_was_left_is_reported_and_not_written(
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put = client.world.jobs.put

    def slow(job: Any, *rest: Any) -> bool:
        done = put(job, *rest)
        client.world.clock.time += REQUEST_TIME_LIMIT_MS + 1
        return done

    monkeypatch.setattr(client.world.jobs, "put", slow)
    results = client.send("POST", JOBS, named("a", "b")).json["results"]
    assert [each["status"] for each in results] == [201, 503]
    assert client.world.jobs.get(JobKey("ns", "b")) is None
    assert UnavailableError.__name__ not in str(results)


@pytest.mark.parametrize("is_dry", [False, True])
def test_a_job_is_written_on_its_conditions_alone(client: Client, *, is_dry: bool) -> None:
    rev = client.put("known", JOB).json["rev"]
    client.put("changed", JOB)
    client.put("there", JOB)
    conditions = {
        "known": ({"ifMatch": rev}, 200),
        "changed": ({"ifMatch": rev}, 412),
        "there": ({"ifNoneMatch": "*"}, 412),
        "new": ({"ifNoneMatch": "*"}, 201),
        "newer": ({"ifMatch": None, "ifNoneMatch": None}, 201),
        "gone": ({"ifMatch": "*"}, 412),
    }
    jobs = [{"name": name, **JOB, "description": "x", **each} for name, (each, _) in conditions.items()]
    answer = client.send("POST", f"{URL}/jobs", {"jobs": jobs, "dryRun": is_dry}).json
    assert [each["status"] for each in answer["results"]] == [status for _, status in conditions.values()]
    written = {each["name"] for each in answer["results"] if each["status"] != 412 and not is_dry}
    stored = client.send("GET", f"{URL}/jobs").json["items"]
    assert {each["name"] for each in stored if client.get(each["name"]).json.get("description")} == written


@pytest.mark.parametrize(
    "wrong", [{"ifMatch": 1}, {"ifMatch": '"1-a"'}, {"ifNoneMatch": "1-a"}, {"ifNoneMatch": True}]
)
def test_a_condition_that_is_none_is_refused(client: Client, wrong: dict[str, Any]) -> None:
    answer = client.send(
        "POST", f"{URL}/jobs", {"jobs": [{"name": "a", **JOB, **wrong}, {"name": "b", **JOB}]}
    )
    refused, written = answer.json["results"]
    assert [each["pointer"] for each in refused["problem"]["errors"]] == [f"/{name}" for name in wrong]
    assert written["status"] == 201
    assert names(client) == ["b"]


def test_results_have_the_order_of_the_request() -> None:
    with ThreadPoolExecutor(4) as threads:

        def concurrently(tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
            found = [threads.submit(task) for task in reversed(tasks)]
            return [each.result() for each in reversed(found)]

        client = Client(write_concurrently=concurrently)
        names = [f"job-{number}" if number % 3 else f"a/{number}" for number in range(30)]
        results = client.send("POST", JOBS, named(*names)).json["results"]
    assert [each["name"] for each in results] == names
    assert [each["status"] for each in results] == [201 if number % 3 else 422 for number in range(30)]


def test_a_dry_run_answers_what_the_call_would_and_writes_nothing(client: Client) -> None:
    client.put("same", {**JOB, "description": "as it was"})
    client.put("other", JOB)
    before = client.world.jobs.page("ns", "", "", 100)
    jobs = [
        {**JOB, "name": "new"},
        {**JOB, "name": "same", "description": "as it was"},
        {**JOB, "name": "other", "description": "changed"},
        {**JOB, "name": "wrong", "policy": "nowhere"},
        {**JOB, "name": "late", "schedule": "0 9 * * *", "ttl": "1s"},
        {**JOB, "name": "unclear", "schedul": "0 9 * * *"},
    ]
    calls: list[str] = []
    client.world.announce = calls.append
    checked = client.send("POST", f"{URL}/jobs", {"jobs": jobs, "dryRun": True}).json["results"]
    client.world.announce = lambda _: None
    assert [each.get("outcome") for each in checked] == ["created", "unchanged", "replaced", None, None, None]
    assert [each["status"] for each in checked] == [201, 200, 200, 422, 422, 422]
    assert [each["problem"]["errors"][0]["pointer"] for each in checked[3:]] == [
        "/policy",
        "/ttl",
        "/schedul",
    ]
    assert not any("rev" in each for each in checked)
    assert client.world.jobs.page("ns", "", "", 100) == before
    assert {each.partition(" ")[2] for each in calls} <= {"jobs.get", "policies.get", "namespaces.get"}
    written = client.send("POST", f"{URL}/jobs", {"jobs": jobs}).json["results"]
    assert [(each["status"], each.get("outcome")) for each in written] == [
        (each["status"], each.get("outcome")) for each in checked
    ]


def test_a_bulk_write_keeps_each_number_of_data_as_it_was_written() -> None:
    client = Client()
    job = json.dumps({"name": "job", **JOB, "data": ["price"]}).replace('"price"', "1.10")
    assert client.send("POST", f"{URL}/jobs", text=f'{{"jobs": [{job}]}}').status == 200
    assert '"data":[1.10]' in str(client.get().text)
