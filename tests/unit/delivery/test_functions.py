"""Asynchronous invocations of other functions, and the error that a use case gets if one fails."""

import io
import json
import threading
from typing import TYPE_CHECKING, Any, cast

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from sweephand.base import timing
from sweephand.base.concurrency import one_by_one
from sweephand.base.errors import StoreError
from sweephand.delivery.functions import (
    CALL_MS_MAX,
    LambdaApi,
    LambdaDeliveryFunctions,
    LambdaSweepers,
    api_client,
)
from sweephand.runtime.machine import sweep_concurrently

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient


class Lambda:
    """boto3's client. It keeps what it was asked, and throttles from one call on."""

    def __init__(self, throttled_from: int = 99) -> None:
        self.asked: list[dict[str, Any]] = []
        self._throttled_from = throttled_from

    def invoke(self, **asked: Any) -> None:
        if len(self.asked) >= self._throttled_from:
            raise ClientError({"Error": {"Code": "TooManyRequestsException"}}, "Invoke")
        self.asked.append(asked)

    def client(self) -> "LambdaClient":
        return cast("LambdaClient", self)


def test_a_sweep_is_started_for_each_first_shard() -> None:
    aws = Lambda()
    LambdaSweepers("sweep:live", aws.client).start([3, 7])
    assert [each["FunctionName"] for each in aws.asked] == ["sweep:live"] * 2
    assert [each["InvocationType"] for each in aws.asked] == ["Event"] * 2
    assert [json.loads(each["Payload"]) for each in aws.asked] == [{"firstShard": 3}, {"firstShard": 7}]


def test_as_many_functions_are_woken_as_asked_for() -> None:
    aws = Lambda()
    LambdaDeliveryFunctions("deliver:live", one_by_one, aws.client).wake(2)
    assert [json.loads(each["Payload"]) for each in aws.asked] == [{"wakeUp": True, "holdMs": 100}] * 2
    assert [each["InvocationType"] for each in aws.asked] == ["Event"] * 2


def test_a_function_that_lambda_does_not_start_is_an_error_of_a_store() -> None:
    aws = Lambda(throttled_from=1)
    with pytest.raises(StoreError, match="deliver:live was not started"):
        LambdaDeliveryFunctions("deliver:live", one_by_one, aws.client).wake(3)
    assert len(aws.asked) == 1


def test_many_wake_ups_are_sent_by_threads_and_hold_their_functions_for_longer() -> None:
    aws = Lambda(throttled_from=101)
    made: list[str] = []

    def client() -> "LambdaClient":
        made.append(threading.current_thread().name)
        return aws.client()

    LambdaDeliveryFunctions("deliver:live", sweep_concurrently, client).wake(100)
    assert made == [threading.current_thread().name], "threads share one client"
    assert [json.loads(each["Payload"])["holdMs"] for each in aws.asked] == [590] * 100


class Api(Lambda):
    """boto3's client, where a function answers with this."""

    def __init__(self, answer: dict[str, Any] | Exception) -> None:
        super().__init__()
        self._answer = answer

    def invoke(self, **asked: Any) -> Any:
        super().invoke(**asked)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def test_the_answer_of_the_api_function_is_awaited() -> None:
    aws = Api({"Payload": io.BytesIO(b'{"statusCode": 200}')})
    assert LambdaApi("api:live", aws.client).call({"rawPath": "/v1/me"}) == {"statusCode": 200}
    [asked] = aws.asked
    assert (asked["FunctionName"], asked["InvocationType"]) == ("api:live", "RequestResponse")
    assert json.loads(asked["Payload"]) == {"rawPath": "/v1/me"}


@pytest.mark.parametrize(
    "answer",
    [
        {"FunctionError": "Unhandled", "Payload": io.BytesIO(b'{"errorMessage": "timed out"}')},
        ClientError({"Error": {"Code": "TooManyRequestsException"}}, "Invoke"),
        ReadTimeoutError(endpoint_url="https://lambda.eu-west-1.amazonaws.com"),
    ],
    ids=["fault", "throttled", "silent"],
)
def test_an_api_function_that_does_not_answer_is_an_error_of_a_store(answer: Any) -> None:
    with pytest.raises(StoreError, match="api:live did not answer"):
        LambdaApi("api:live", Api(answer).client).call({})


def test_the_sdk_waits_for_a_whole_call_and_repeats_none_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    config: Any = api_client().meta.config
    assert config.read_timeout * 1_000 > timing.API_LIMIT_MS
    assert (config.read_timeout + config.connect_timeout) * 1_000 <= CALL_MS_MAX
    assert config.retries["total_max_attempts"] == 1
