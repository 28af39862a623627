"""boto3's client of EventBridge Scheduler, whose calls reach an API in memory without a network."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, Final

import pytest
from botocore.awsrequest import AWSResponse
from botocore.exceptions import ClientError
from tests.fakes.http_events import ADMIN, ONE_REQUEST, Client, event_of

from sweephand.model.api_key import Caller
from sweephand_client import eventbridge
from sweephand_client.profiles import Stack

PLACE: Final = "eu-west-1:123456789012"
_CONTEXT: Final = SimpleNamespace(invoked_function_arn=f"arn:aws:lambda:{PLACE}:function:api")

ROLE: Final = "arn:aws:iam::123456789012:role/deliveries"
FUNCTION: Final = f"arn:aws:lambda:{PLACE}:function:orders"
QUEUE: Final = f"arn:aws:sqs:{PLACE}:orders"
BUS: Final = f"arn:aws:events:{PLACE}:event-bus/orders"


class _Raw:
    def __init__(self, body: str) -> None:
        self._body = body

    def stream(self, *_: object, **__: object) -> Iterator[bytes]:
        yield self._body.encode()


def scheduler_of(api: Client, caller: Caller = ADMIN, **options: Any) -> Any:
    """The client of this caller. `options` are those of boto3."""
    made = eventbridge.client(Stack("http://stack", "the test", key="key"), **options)

    def send(request: Any, **_: Any) -> AWSResponse:
        assert request.headers["Authorization"] in (b"Bearer key", "Bearer key")
        url = "/" + request.url.split("/", 3)[3]
        headers = {
            name: value.decode() if isinstance(value, bytes) else value
            for name, value in request.headers.items()
        }
        event = event_of(request.method, url, body=request.body or None, headers=headers, caller=caller)
        with ONE_REQUEST:
            answer = api.handler(event, _CONTEXT)
        raw: Any = _Raw(answer["body"])
        return AWSResponse(url, answer["statusCode"], answer["headers"], raw)

    made.meta.events.register("before-send.scheduler", send)
    return made


def schedule(name: str = "nightly", **fields: Any) -> dict[str, Any]:
    """The arguments of a call that writes a schedule. Fields of `Target` are merged."""
    target = {"Arn": FUNCTION, "RoleArn": ROLE, "Input": '{"order": 1}'} | fields.pop("Target", {})
    return {
        "Name": name,
        "ScheduleExpression": "cron(0 9 * * ? *)",
        "FlexibleTimeWindow": {"Mode": "OFF"},
        "Target": {key: value for key, value in target.items() if value is not None},
        **fields,
    }


def shown(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what boto3 adds."""
    return {name: value for name, value in answer.items() if name != "ResponseMetadata"}


def refused(call: Any, **arguments: Any) -> tuple[str, str]:
    """The error type and the message of a refused call."""
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    error = caught.value.response["Error"]
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] < 500
    return error["Code"], error["Message"]
