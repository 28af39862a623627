"""Bulk writes: the API validates and writes each job by itself, and answers in order."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest
from tests.fakes.http_events import JOB, Client

from sweephand.base.errors import UnavailableError
from sweephand.base.timing import REQUEST_TIME_LIMIT_MS
from sweephand.model.job import JobKey

Result = TypeVar("Result")

URL = "/v1/namespaces/ns/jobs"


def named(*names: Any) -> dict[str, Any]:
    return {"jobs": [{"name": name, **JOB} for name in names]}


def test_a_bulk_call_creates_replaces_or_leaves_each_job_as_it_is(client: Client) -> None:
    first = client.send("POST", URL, named("a", "b"))
    again = client.send("POST", URL, {"jobs": [{"name": "a", **JOB}, {"name": "b", **JOB, "repeats": 2}]})
    assert first.status == again.status == 200
    assert [each["status"] for each in first.json["results"]] == [201, 201]
    assert [each["status"] for each in again.json["results"]] == [200, 200]
    assert again.json["results"][0] == {**first.json["results"][0], "status": 200}
    assert again.json["results"][1]["rev"] != first.json["results"][1]["rev"]


@pytest.mark.parametrize("name", [None, 7, "", "a/b", ".", "x" * 129, [], {"a": 1}])
def test_a_bulk_call_writes_the_other_jobs_when_one_has_an_invalid_name(client: Client, name: Any) -> None:
    results = client.send("POST", URL, named("a", name, "b")).json["results"]
    assert [each["status"] for each in results] == [201, 422, 201]
    assert results[1]["name"] == name
    assert [each["pointer"] for each in results[1]["problem"]["errors"]] == ["/name"]


def test_a_bulk_call_writes_the_other_jobs_when_an_item_is_no_job(client: Client) -> None:
    body = {"jobs": [7, {"name": "a", **JOB}, {}, None]}
    results = client.send("POST", URL, body).json["results"]
    assert [each["status"] for each in results] == [422, 201, 422, 422]
    assert [each["pointer"] for each in results[0]["problem"]["errors"]] == [""]


def test_a_bulk_call_writes_a_name_that_occurs_twice_once(client: Client) -> None:
    results = client.send("POST", URL, named("a", "a")).json["results"]
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
    refused = Client().send("POST", URL, body)
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
    results = client.send("POST", URL, named("a", "b")).json["results"]
    assert [each["status"] for each in results] == [201, 503]
    assert client.world.jobs.get(JobKey("ns", "b")) is None
    assert UnavailableError.__name__ not in str(results)


def test_results_have_the_order_of_the_request() -> None:
    with ThreadPoolExecutor(4) as threads:

        def concurrently(tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
            found = [threads.submit(task) for task in reversed(tasks)]
            return [each.result() for each in reversed(found)]

        client = Client(write_concurrently=concurrently)
        names = [f"job-{number}" if number % 3 else f"a/{number}" for number in range(30)]
        results = client.send("POST", URL, named(*names)).json["results"]
    assert [each["name"] for each in results] == names
    assert [each["status"] for each in results] == [201 if number % 3 else 422 for number in range(30)]
