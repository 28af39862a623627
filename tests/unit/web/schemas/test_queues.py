"""The queues that a job may name, and the data that a queue takes, in the answers of the API."""

from typing import Any

import pytest
from tests.fakes.http_events import Answered, Client

from sweephand.base.limits import DATA_BYTES_MAX, SQS_DATA_BYTES_MAX
from sweephand.targets.reach import JobQueues

LISTED = JobQueues(arns=("arn:aws:sqs:eu-west-1:123456789012:sweephand-*",))
RIGHT = "https://sqs.eu-west-1.amazonaws.com/123456789012/sweephand-orders"
WRONG = "https://sqs.eu-west-1.amazonaws.com/123456789012/orders"
HTTP = {"type": "http", "url": "https://example.com/"}


def to(url: str) -> dict[str, Any]:
    return {"type": "sqs", "queueUrl": url}


@pytest.fixture
def client() -> Client:
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
    client: Client, job: dict[str, Any], at: str
) -> None:
    refused = client.put(job={"dueTime": "1h", **job})
    assert (refused.status, refused.pointers) == (422, [at])
    (error,) = refused.json["errors"]
    assert "TargetQueueArns" in error["detail"]
    assert "arn:aws:sqs:eu-west-1:123456789012:orders" in error["detail"]


def test_a_queue_in_the_list_is_accepted_in_every_field_that_names_a_queue(client: Client) -> None:
    job = {"dueTime": "1h", "target": to(RIGHT), "onComplete": to(RIGHT), "deadLetterQueue": RIGHT}
    assert client.put(job=job).status == 201


def test_a_patch_with_a_queue_outside_of_the_list_is_refused(client: Client) -> None:
    assert client.put(job={"dueTime": "1h", "target": HTTP}).status == 201
    refused = patch(client, {"target": to(WRONG)})
    assert (refused.status, refused.pointers) == (422, ["/target/queueUrl"])


def patch(client: Client, fields: dict[str, Any]) -> Answered:
    return client.send("PATCH", "/v1/namespaces/ns/jobs/job", fields)


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
    client: Client, target: dict[str, Any], size: int, status: int
) -> None:
    answer = client.put(job={"dueTime": "1h", "target": target, "data": data_of(size)})
    assert answer.status == status
    if status == 422:
        detail = (
            f"{size} bytes of compact JSON; for a target of type sqs give at most 261120 (sqsDataBytesMax)."
        )
        assert answer.json["errors"] == [{"pointer": "/data", "detail": detail}]


def test_characters_that_a_queue_needs_escaped_count_with_their_escaped_length(client: Client) -> None:
    # Three bytes of UTF-8 each, and six of what is sent instead.
    data = "\uffff" * (SQS_DATA_BYTES_MAX // 4)
    refused = client.put(job={"dueTime": "1h", "target": to(RIGHT), "data": data})
    assert (refused.status, refused.pointers) in [(422, ["/data"]), (413, ["/data"])]
    fits = "\uffff" * ((SQS_DATA_BYTES_MAX - 2) // 6)
    assert client.put(job={"dueTime": "1h", "target": to(RIGHT), "data": fits}).status == 201
    assert client.get().json["data"] == fits


def test_a_patch_to_a_queue_is_refused_if_the_stored_data_is_too_large_for_it(client: Client) -> None:
    job = {"dueTime": "1h", "target": HTTP, "data": data_of(DATA_BYTES_MAX)}
    assert client.put(job=job).status == 201
    refused = patch(client, {"target": to(RIGHT)})
    assert (refused.status, refused.pointers) == (422, ["/data"])
    assert patch(client, {"target": to(RIGHT), "data": 1}).status == 200


def test_data_of_a_trigger_by_hand_that_is_too_large_for_the_queue_is_refused(client: Client) -> None:
    assert client.put(job={"dueTime": "1h", "target": to(RIGHT)}).status == 201
    path = "/v1/namespaces/ns/jobs/job/trigger"
    refused = client.send("POST", path, {"data": data_of(SQS_DATA_BYTES_MAX + 1)})
    assert (refused.status, refused.pointers) == (422, ["/data"])
    assert client.send("POST", path, {"data": data_of(SQS_DATA_BYTES_MAX)}).status == 202


def test_the_limits_of_the_api_include_the_data_that_a_queue_accepts(client: Client) -> None:
    assert client.send("GET", "/v1/limits").json["sqsDataBytesMax"] == 261_120
