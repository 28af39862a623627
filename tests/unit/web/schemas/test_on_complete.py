"""The field `onComplete` of a job."""

from typing import Any

import pytest
from tests.fakes.http_events import READER, TARGET, WRITER, Client
from tests.fakes.world import NOON

from sweephand.targets.reach import EVERY_QUEUE

OWN = "https://sqs.eu-west-1.amazonaws.com/123456789012/own"
QUEUE = "https://sqs.eu-west-1.amazonaws.com/123456789012/ends"
JOB = {"dueTime": "10s", "target": TARGET}


@pytest.mark.parametrize(
    "end",
    [
        TARGET,
        {"type": "sqs", "queueUrl": QUEUE},
        {"type": "job", "name": "next"},
        {"type": "job", "name": "next", "when": "always"},
        {"type": "http", "url": TARGET["url"], "method": None, "headers": {"x-a": "b"}},
    ],
)
def test_on_complete_may_be_a_target_or_another_job(client: Client, end: Any) -> None:
    assert client.put(job={**JOB, "onComplete": end}).status == 201
    shown = client.get().json["onComplete"]
    assert shown == {name: value for name, value in end.items() if value is not None}


@pytest.mark.parametrize(
    ("end", "pointers"),
    [
        (5, ["/onComplete"]),
        ({}, ["/onComplete/type"]),
        ({"type": "pigeon"}, ["/onComplete/type"]),
        ({"type": "http"}, ["/onComplete/url"]),
        ({"type": "http", "url": "http://example.com/"}, ["/onComplete/url"]),
        ({**TARGET, "method": "GET"}, ["/onComplete/method"]),
        ({"type": "sqs", "queueUrl": OWN}, ["/onComplete/queueUrl"]),
        ({"type": "job"}, ["/onComplete/name"]),
        ({"type": "job", "name": ""}, ["/onComplete/name"]),
        ({"type": "job", "name": ".."}, ["/onComplete/name"]),
        ({"type": "job", "name": "a b"}, ["/onComplete/name"]),
        ({"type": "job", "name": "a\n"}, ["/onComplete/name"]),
        ({"type": "job", "name": "x" * 129}, ["/onComplete/name"]),
        ({"type": "job", "name": 5, "when": 5}, ["/onComplete/name", "/onComplete/when"]),
        ({"type": "job", "name": "a", "when": "later"}, ["/onComplete/when"]),
        ({"type": "job", "name": "a", "namespace": "b"}, ["/onComplete/namespace"]),
    ],
)
def test_an_invalid_on_complete_is_refused_by_its_field(end: Any, pointers: list[str]) -> None:
    refused = Client(queues=EVERY_QUEUE._replace(own=[OWN])).put(job={**JOB, "onComplete": end})
    assert (refused.status, refused.pointers) == (422, pointers)


def test_a_target_of_the_type_job_is_refused_as_the_target_of_a_job() -> None:
    refused = Client().put(job={**JOB, "target": {"type": "job", "name": "next"}})
    assert (refused.status, refused.pointers) == (422, ["/target/type"])


def test_a_reader_sees_the_names_of_the_headers_and_not_their_values(client: Client) -> None:
    client.put(job={**JOB, "onComplete": {**TARGET, "headers": {"authorization": "Bearer secret"}}})
    url = "/v1/namespaces/ns/jobs"
    for where in (url, f"{url}/job"):
        assert "Bearer secret" not in str(client.send("GET", where, caller=READER).text)
        assert "authorization" in str(client.send("GET", where, caller=READER).text)
        assert "Bearer secret" in str(client.send("GET", where, caller=WRITER).text)


def test_a_patch_replaces_on_complete_whole_and_null_removes_it(client: Client) -> None:
    client.put(job={**JOB, "onComplete": {**TARGET, "headers": {"x-a": "b"}}})
    url = "/v1/namespaces/ns/jobs/job"
    patched = client.send("PATCH", url, {"onComplete": {"type": "job", "name": "next"}})
    assert patched.json["onComplete"] == {"type": "job", "name": "next"}
    assert "onComplete" not in client.send("PATCH", url, {"onComplete": None}).json


def test_the_run_of_a_chained_trigger_is_listed_and_shown_by_its_name(client: Client) -> None:
    client.put("next", job={**JOB, "dueTime": "1h"})
    client.put(job={**JOB, "onComplete": {"type": "job", "name": "next"}})
    client.world.run_until(NOON + 12_000)
    (run,) = client.send("GET", "/v1/namespaces/ns/jobs/next/runs").json["items"]
    assert run["id"].startswith("chained-")
    assert client.send("GET", f"/v1/namespaces/ns/jobs/next/runs/{run['id']}").json == run
