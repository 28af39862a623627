"""Answers to CloudFormation: where they go, what they say, and what happens if they do not arrive."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest
from tests.fakes.receiver import Answer, Receiver

from sweephand.base.errors import InvalidError, StoreError
from sweephand.delivery.cloudformation import answer, check_address

S3: Final = "https://cloudformation-custom-resource-response-euwest1.s3"

STACK: Final = "arn:aws:cloudformation:eu-west-1:123456789012:stack/orders/1"


def request(url: str, **changes: Any) -> dict[str, Any]:
    ids = {"StackId": STACK, "RequestId": "one", "LogicalResourceId": "Nightly"}
    return {"RequestType": "Create", "ResponseURL": url, **ids, **changes}


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as receiver:
        yield receiver


def answered(receiver: Receiver, *, error: Exception | None = None, **changes: Any) -> dict[str, Any]:
    """What CloudFormation gets."""
    answer(request(receiver.url("/answer"), **changes), error, endpoint_url=receiver.url(""))
    told: dict[str, Any] = json.loads(receiver.deliveries("/answer")[-1].body)
    return told


@pytest.mark.parametrize(
    "url",
    [
        f"{S3}.amazonaws.com/arn%3Aaws?X-Amz-Signature=x",
        f"{S3}-eu-west-1.amazonaws.com/arn",
        f"{S3}.eu-south-1.amazonaws.com/arn",
        f"{S3}.dualstack.eu-west-1.amazonaws.com/arn",
        f"{S3}.cn-north-1.amazonaws.com.cn/arn",
    ],
)
def test_an_answer_may_go_to_s3(url: str) -> None:
    check_address(request(url), "")


@pytest.mark.parametrize(
    "url",
    [
        "http" + S3.removeprefix("https") + ".amazonaws.com/arn",
        "https://s3.example.com/arn",
        f"{S3}.amazonaws.com.example.com/arn",
        f"{S3}.amazonaws.com:8443/arn",
        f"{S3}.amazonaws.com@example.com/arn",
        f"https://example.com/{S3}.amazonaws.com",
        "https://169.254.169.254/latest/meta-data",
        "http://127.0.0.1:4566/answer",
        "file:///etc/passwd",
        "",
        None,
        7,
    ],
)
def test_an_answer_goes_nowhere_else(url: Any) -> None:
    with pytest.raises(InvalidError, match="/ResponseURL: Give a presigned https address of S3"):
        answer(request(url))


def test_an_answer_goes_to_the_local_aws_of_the_function_and_to_no_other_port() -> None:
    check_address(request("http://127.0.0.1:4566/answer"), "http://127.0.0.1:4566")
    with pytest.raises(InvalidError):
        check_address(request("http://127.0.0.1:4567/answer"), "http://127.0.0.1:4566")


def test_a_new_resource_that_failed_has_no_id_of_something_that_exists(receiver: Receiver) -> None:
    told = answered(receiver, error=ValueError("because"))
    assert (told["Status"], told["Reason"], told["PhysicalResourceId"]) == ("FAILED", "because", "Nightly")


def test_a_resource_keeps_its_id_if_its_update_failed(receiver: Receiver) -> None:
    told = answered(receiver, error=ValueError("because"), PhysicalResourceId="ns/nightly")
    assert told["PhysicalResourceId"] == "ns/nightly"


def test_an_error_of_any_length_and_alphabet_fits_into_an_answer(receiver: Receiver) -> None:
    told = answered(receiver, error=ValueError("é" * 9_000), PhysicalResourceId="n" * 257)
    assert told["Reason"].endswith("é…")
    assert len(receiver.deliveries()[0].body) <= 4_096


def test_an_answer_follows_no_redirect(receiver: Receiver) -> None:
    receiver.answer("/answer", Answer(307, {"location": receiver.url("/elsewhere")}))
    with pytest.raises(StoreError, match="answered 307"):
        answered(receiver)
    assert [each.path for each in receiver.deliveries()] == ["/answer"]


def test_an_answer_that_was_not_taken_is_sent_again(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    receiver.answer("/answer", Answer(503), Answer(500))
    assert answered(receiver)["Status"] == "SUCCESS"
    assert len(receiver.deliveries("/answer")) == 3
    assert sum(waited) > 0


def test_an_address_that_takes_no_answer_is_an_error_so_that_lambda_asks_again(receiver: Receiver) -> None:
    receiver.answer("/answer", Answer(403))
    with pytest.raises(StoreError, match="answered 403"):
        answered(receiver)
