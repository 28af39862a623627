"""The resources function between CloudFormation, the API function and the log. Both are on loopback."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from tests.fakes.functions import function
from tests.fakes.receiver import Answer, Receiver

from sweephand.base.errors import InvalidError

API: Final = "/2015-03-31/functions/api%3Alive/invocations"
PROPERTIES: Final = {
    "namespace": "ns",
    "name": "mailer",
    "maxConcurrent": "5",
    "headers": {"authorization": "hunter2"},
}
SCHEMAS: Final = {"PolicyRequest": {"properties": {"maxConcurrent": {"type": "integer"}}}}


class Context:
    """What Lambda says of an invocation."""

    aws_request_id = "lambda-1"

    def get_remaining_time_in_millis(self) -> int:
        return 300_000


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """A local AWS with an API function, and where CloudFormation waits for the answer."""
    with Receiver() as receiver:
        settings = {
            "AWS_ENDPOINT_URL": receiver.url(""),
            "AWS_DEFAULT_REGION": "eu-west-1",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "API_FUNCTION": "api:live",
            "TEMPLATE_NAMESPACES": "ns,team-*",
        }
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        yield receiver


def request(receiver: Receiver, **changes: Any) -> dict[str, Any]:
    return {
        "RequestType": "Create",
        "ResponseURL": receiver.url("/answer"),
        "StackId": "arn:aws:cloudformation:eu-west-1:123456789012:stack/orders/1",
        "RequestId": "one",
        "ResourceType": "Custom::SweephandPolicy",
        "LogicalResourceId": "Mailer",
        "ResourceProperties": PROPERTIES,
        **changes,
    }


def answered(receiver: Receiver, **changes: Any) -> Any:
    """What the function tells CloudFormation."""
    function("resources").handler(request(receiver, **changes), Context())
    [delivery] = receiver.deliveries("/answer")
    return json.loads(delivery.body)


def says(status: int, document: Any) -> Answer:
    """An answer of the API function."""
    return Answer(body=json.dumps({"statusCode": status, "body": json.dumps(document)}).encode())


def test_a_policy_is_written_by_the_api_function_for_the_resource_of_the_stack(receiver: Receiver) -> None:
    receiver.answer(API, says(200, {"components": {"schemas": SCHEMAS}}), says(201, {"name": "mailer"}))
    answer = answered(receiver)
    assert (answer["Status"], answer["PhysicalResourceId"]) == ("SUCCESS", "ns/mailer")
    assert answer["Data"] == {"namespace": "ns", "name": "mailer"}
    event = json.loads(receiver.deliveries(API)[1].body)
    assert (event["requestContext"]["http"]["method"], event["rawPath"]) == (
        "PUT",
        "/v1/namespaces/ns/policies/mailer",
    )
    assert json.loads(event["body"])["maxConcurrent"] == 5
    assert event["requestContext"]["authorizer"] == {
        "function": {
            "keyId": "arn:aws:cloudformation:eu-west-1:123456789012:stack/orders/1/Mailer",
            "namespace": "ns",
            "role": "write",
        }
    }


def test_what_the_api_refuses_fails_the_deployment_in_its_words(
    receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    problem = {"detail": "1 field cannot be accepted.", "errors": [{"pointer": "/rate", "detail": "No."}]}
    receiver.answer(API, says(200, {"components": {"schemas": SCHEMAS}}), says(422, problem))
    assert answered(receiver)["Reason"] == "/rate: No."
    [line] = [record for record in caplog.records if record.message == "declared"]
    assert (line.__dict__["refused"], line.__dict__["request_id"]) == ("/rate: No.", "lambda-1")
    assert "hunter2" not in str([vars(record) for record in caplog.records])


def test_an_unexpected_error_is_answered_too_and_its_reason_is_in_the_log(
    receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.answer(API, says(200, {}))
    answer = answered(receiver)
    assert (answer["Status"], answer["Reason"]) == (
        "FAILED",
        "A fault of Sweephand. Its log has the reason.",
    )
    [line] = [record for record in caplog.records if record.message == "the request failed"]
    assert line.exc_info is not None
    assert line.exc_info[0] is KeyError


def test_a_request_whose_answer_would_go_elsewhere_asks_the_api_for_nothing(receiver: Receiver) -> None:
    with pytest.raises(InvalidError, match="/ResponseURL"):
        function("resources").handler(request(receiver, ResponseURL="https://example.com/"), Context())
    assert receiver.deliveries() == []
