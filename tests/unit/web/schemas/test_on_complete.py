"""The field `onComplete` of a job, and the queues that a job may name."""

from typing import Any

import pytest
from tests.fakes.http_events import READER, TARGET, WRITER, Answered, Client
from tests.fakes.world import NOON

from sweephand.base.limits import DATA_BYTES_MAX, SQS_DATA_BYTES_MAX
from sweephand.targets.reach import EVERY_QUEUE, JobQueues

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
    shown = client.send("GET", f"/v1/namespaces/ns/jobs/next/runs/{run['id']}").json
    assert {name: value for name, value in shown.items() if name != "attemptHistory"} == run


LISTED = JobQueues(arns=("arn:aws:sqs:eu-west-1:123456789012:sweephand-*",))
RIGHT = "https://sqs.eu-west-1.amazonaws.com/123456789012/sweephand-orders"
WRONG = "https://sqs.eu-west-1.amazonaws.com/123456789012/orders"
HTTP = {"type": "http", "url": "https://example.com/"}


def to(url: str) -> dict[str, Any]:
    return {"type": "sqs", "queueUrl": url}


@pytest.fixture
def listing() -> Client:
    return Client(queues=LISTED)


@pytest.mark.parametrize(
    ("job", "at"),
    [
        ({"target": to(WRONG)}, "/target/queueUrl"),
        ({"target": HTTP, "onComplete": to(WRONG)}, "/onComplete/queueUrl"),
        ({"target": HTTP, "deadLetterQueue": WRONG}, "/deadLetterQueue"),
    ],
)
def test_a_queue_outside_of_the_list_is_refused_and_the_refusal_names_the_parameter(
    listing: Client, job: dict[str, Any], at: str
) -> None:
    refused = listing.put(job={"dueTime": "1h", **job})
    assert (refused.status, refused.pointers) == (422, [at])
    (error,) = refused.json["errors"]
    assert "TargetQueueArns" in error["detail"]
    assert "arn:aws:sqs:eu-west-1:123456789012:orders" in error["detail"]


def test_a_queue_in_the_list_is_accepted_in_every_field_that_names_a_queue(listing: Client) -> None:
    job = {"dueTime": "1h", "target": to(RIGHT), "onComplete": to(RIGHT), "deadLetterQueue": RIGHT}
    assert listing.put(job=job).status == 201


def test_a_patch_with_a_queue_outside_of_the_list_is_refused(listing: Client) -> None:
    assert listing.put(job={"dueTime": "1h", "target": HTTP}).status == 201
    refused = patch(listing, {"target": to(WRONG)})
    assert (refused.status, refused.pointers) == (422, ["/target/queueUrl"])


def patch(listing: Client, fields: dict[str, Any]) -> Answered:
    return listing.send("PATCH", "/v1/namespaces/ns/jobs/job", fields)


def data_of(size: int, filler: str = "x") -> str:
    """A string that is so many bytes of JSON."""
    return filler * (size - 2)


@pytest.mark.parametrize(
    ("target", "size", "status"),
    [
        (HTTP, DATA_BYTES_MAX, 201),
        (to(RIGHT), SQS_DATA_BYTES_MAX, 201),
        (to(RIGHT), SQS_DATA_BYTES_MAX + 1, 422),
        (to(RIGHT), DATA_BYTES_MAX, 422),
        (to(RIGHT), DATA_BYTES_MAX + 1, 413),
    ],
)
def test_data_too_large_for_a_queue_is_refused_when_the_job_is_written(
    listing: Client, target: dict[str, Any], size: int, status: int
) -> None:
    answer = listing.put(job={"dueTime": "1h", "target": target, "data": data_of(size)})
    assert answer.status == status
    if status == 422:
        detail = (
            f"{size} bytes of compact JSON; for a target of type sqs give at most 261120 (sqsDataBytesMax)."
        )
        assert answer.json["errors"] == [{"pointer": "/data", "detail": detail}]


def test_characters_that_a_queue_needs_escaped_count_with_their_escaped_length(listing: Client) -> None:
    # Three bytes of UTF-8 each, and six of what is sent instead.
    data = "\uffff" * (SQS_DATA_BYTES_MAX // 4)
    refused = listing.put(job={"dueTime": "1h", "target": to(RIGHT), "data": data})
    assert (refused.status, refused.pointers) in [(422, ["/data"]), (413, ["/data"])]
    fits = "\uffff" * ((SQS_DATA_BYTES_MAX - 2) // 6)
    assert listing.put(job={"dueTime": "1h", "target": to(RIGHT), "data": fits}).status == 201
    assert listing.get().json["data"] == fits


def test_a_patch_to_a_queue_is_refused_if_the_stored_data_is_too_large_for_it(listing: Client) -> None:
    job = {"dueTime": "1h", "target": HTTP, "data": data_of(DATA_BYTES_MAX)}
    assert listing.put(job=job).status == 201
    refused = patch(listing, {"target": to(RIGHT)})
    assert (refused.status, refused.pointers) == (422, ["/data"])
    assert patch(listing, {"target": to(RIGHT), "data": 1}).status == 200


def test_data_of_a_trigger_by_hand_that_is_too_large_for_the_queue_is_refused(listing: Client) -> None:
    assert listing.put(job={"dueTime": "1h", "target": to(RIGHT)}).status == 201
    path = "/v1/namespaces/ns/jobs/job/trigger"
    refused = listing.send("POST", path, {"data": data_of(SQS_DATA_BYTES_MAX + 1)})
    assert (refused.status, refused.pointers) == (422, ["/data"])
    assert listing.send("POST", path, {"data": data_of(SQS_DATA_BYTES_MAX)}).status == 202


def test_the_limits_of_the_api_include_the_data_that_a_queue_accepts(listing: Client) -> None:
    assert listing.send("GET", "/v1/limits").json["sqsDataBytesMax"] == 261_120
