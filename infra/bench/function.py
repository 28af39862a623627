"""Functions in this process: their real handlers and adapters, and events for them."""

import importlib
import io
import json
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, ParamSpec, TypeVar
from unittest.mock import patch

import boto3
from infra.bench.instant_dynamodb import ENVIRONMENT, InstantDynamoDB, answer_beneath_boto3
from infra.bench.jobs import named, put

from sweephand.model.trigger import Trigger, TriggerMessage
from sweephand.model.wire import encode
from sweephand.runtime.api import services

_P = ParamSpec("_P")
_T = TypeVar("_T")

#: How many messages SQS hands over at once.
BATCH_MAX: Final = 10

#: How many jobs there are. They are due in turn.
_JOBS: Final = 100

_FUNCTIONS: Final = Path(__file__).parents[2] / "functions"
_CONTEXT: Final = SimpleNamespace(aws_request_id="8f507cfc", get_remaining_time_in_millis=lambda: 25_000)


def handler(function: str) -> Callable[[Mapping[str, Any]], Any]:
    """The handler of a function, by its folder. One for each process, since it changes the environment."""
    os.environ |= ENVIRONMENT
    sys.path.insert(0, str(_FUNCTIONS / function))
    handle = importlib.import_module("handler").handler
    return lambda event: handle(event, _CONTEXT)


class Log(io.StringIO):
    """The standard output of this process from now on. A function takes it when it is made."""

    def __init__(self) -> None:
        super().__init__()
        sys.stdout = self

    def of(self, call: Callable[[], object]) -> str:
        """What a call writes."""
        begins_at = self.tell()
        call()
        return self.getvalue()[begins_at:]


class Function:
    """The delivery function, already warm. One per process, since it changes the environment.

    DynamoDB answers at once: either beneath boto3, which then does all its work except the network's, or
    instead of boto3. `history` is that of the jobs, and `url` is their consumer.
    """

    def __init__(self, url: str, history: str, *, has_boto3: bool) -> None:
        self._sequence = 0
        dynamodb = InstantDynamoDB()
        make: Callable[..., Any] = boto3.client

        def client(service: str, **named: Any) -> Any:
            """DynamoDB's stand-in, and real clients of all other services, which no code calls."""
            return dynamodb if service == "dynamodb" else make(service, **named)

        if has_boto3:
            answer_beneath_boto3(dynamodb)
        # The function makes its clients here.
        with nullcontext() if has_boto3 else patch.object(boto3, "client", client):
            self._handler = handler("deliver")
            # A job that was due soon would be sent to a queue at once.
            job = {"schedule": "@every 1h", "history": history, "target": {"type": "http", "url": url}}
            api = services()
            self._jobs = list(put(api.bulk_writer, list(named([job] * _JOBS)), api.clock.now()))
        self.handle(event(self.batch()))

    def batch(self) -> Sequence[TriggerMessage]:
        """Ten triggers due now, each of another job."""
        now = time.time_ns() // 1_000_000
        messages: list[TriggerMessage] = []
        for _ in range(BATCH_MAX):
            job = self._jobs[self._sequence % _JOBS]
            self._sequence += 1
            # No job has two triggers due at one instant.
            due_at = now - self._sequence // _JOBS % 1_000
            trigger = Trigger(job.key, job.uid, job.rev, due_at, self._sequence, armed_at=now)
            messages.append(TriggerMessage(trigger, not_before=due_at))
        return messages

    def handle(self, records: Mapping[str, Any]) -> None:
        """Invoke the function with an event. It must handle all of the event's messages."""
        answer = self._handler(records)
        assert answer == {"batchItemFailures": []}, answer


def alone(task: Callable[_P, _T], *args: _P.args, **named: _P.kwargs) -> _T:
    """The result of a task in a new process.

    The process's standard output, a function's log, is discarded.
    """
    with ProcessPoolExecutor(1, get_context("spawn"), _silence) as process:
        return process.submit(task, *args, **named).result()


def _silence() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def event(messages: Sequence[TriggerMessage]) -> Mapping[str, Any]:
    """The messages as Lambda hands them over."""
    return {
        "Records": [
            {
                "messageId": str(number),
                "receiptHandle": str(number),
                "body": encode(message),
                "attributes": {"ApproximateReceiveCount": "1"},
            }
            for number, message in enumerate(messages)
        ]
    }


def api_event(method: str, path: str, body: Any) -> Mapping[str, Any]:
    """A request of the admin, as an HTTP API of API Gateway hands it to the API (payload format 2.0)."""
    return {
        "version": "2.0",
        "routeKey": "ANY /v1/{proxy+}",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {"content-type": "application/json"},
        "requestContext": {
            "authorizer": {"lambda": {"keyId": "admin", "namespace": "*", "role": "admin"}},
            "http": {"method": method, "path": path, "sourceIp": "127.0.0.1"},
            "requestId": "bench",
            "stage": "$default",
        },
        "body": json.dumps(body),
        "isBase64Encoded": False,
    }
