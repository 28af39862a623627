"""Asynchronous invocations of other functions, and the error that a use case gets if one fails."""

import json
import threading
from typing import TYPE_CHECKING, Any, cast

import pytest
from botocore.exceptions import ClientError

from sweephand.base.concurrency import one_by_one
from sweephand.base.errors import StoreError
from sweephand.delivery.functions import LambdaDeliveryFunctions, LambdaSweepers
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
