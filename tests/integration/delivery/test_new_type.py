"""A target type that an extension adds, through the handlers of the API and the delivery function."""

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, Final

import boto3
import pytest
from tests.fakes import courier
from tests.fakes.engine_fixtures import aws_environment, on_moto
from tests.fakes.engines import Dynamo
from tests.fakes.functions import forget_the_environment, function
from tests.fakes.http_events import WRITER, event_of

from sweephand.targets.registry import registered

__all__ = ["aws_environment", "on_moto"]

CONTEXT: Final = SimpleNamespace(aws_request_id="8f507cfc", get_remaining_time_in_millis=lambda: 90_000)


@pytest.fixture
def queue(on_moto: Dynamo, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The delivery queue of a stack that the functions find in their environment."""
    sqs = boto3.client("sqs")
    url = sqs.create_queue(QueueName="delivery")["QueueUrl"]
    monkeypatch.setenv("JOBS_TABLE", on_moto.jobs_table)
    monkeypatch.setenv("TIMERS_TABLE", on_moto.timers_table)
    monkeypatch.setenv("DELIVERY_QUEUE_URL", url)
    monkeypatch.setenv("DEAD_LETTER_QUEUE_URL", sqs.create_queue(QueueName="dead-letters")["QueueUrl"])
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "test")
    forget_the_environment()
    yield url
    forget_the_environment()


def put(job: dict[str, Any]) -> dict[str, Any]:
    """What the API function answers to a PUT of a job."""
    headers = {"content-type": "application/json"}
    url = "/v1/namespaces/ns/jobs/job"
    answer: dict[str, Any] = function("api").handler(
        event_of("PUT", url, body=json.dumps(job), headers=headers, caller=WRITER), SimpleNamespace()
    )
    return answer


def deliver(queue: str) -> dict[str, Any]:
    """What the delivery function answers to the messages that are in its queue."""
    received = boto3.client("sqs").receive_message(QueueUrl=queue, MessageSystemAttributeNames=["All"])
    records = [
        {
            "messageId": each["MessageId"],
            "receiptHandle": each["ReceiptHandle"],
            "attributes": each["Attributes"],
            "body": each["Body"],
        }
        for each in received["Messages"]
    ]
    answer: dict[str, Any] = function("deliver").handler({"Records": records}, CONTEXT)
    return answer


def test_a_type_that_was_registered_is_validated_and_delivered_to(queue: str) -> None:
    street = courier.new_street()
    job = {"dueTime": "0s", "target": {"type": "courier", "street": street}, "data": "parcel"}
    with registered(courier.TYPE):
        refused = put({**job, "target": {"type": "courier", "street": "nowhere"}})
        assert json.loads(refused["body"])["errors"] == [
            {"pointer": "/target/street", "detail": "Give the name of a street."}
        ]
        assert put(job)["statusCode"] == 201
        assert deliver(queue) == {"batchItemFailures": []}
    assert courier.mail(street) == [b'"parcel"']
    assert put(job)["statusCode"] == 422
