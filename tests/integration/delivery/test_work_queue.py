"""Sending work messages to SQS."""

from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.contract.builders import NOON

from sweephand.base.errors import StoreError
from sweephand.delivery.sqs_clients import SqsClients
from sweephand.delivery.work_queue import SqsWorkQueue
from sweephand.model.wire_work import decode_work
from sweephand.model.work_message import WorkMessage

URL = "https://sqs.eu-west-1.amazonaws.com/123456789012/flow"
WORK = WorkMessage("ns", "mailer", NOON, clears_mark=True)


class Client:
    """What SqsWorkQueue calls of a client. It refuses every message while it is `down`."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.down = False

    def send_message(self, **request: Any) -> None:
        if self.down:
            raise ClientError({"Error": {"Code": "InternalError", "Message": "down"}}, "SendMessage")
        self.sent.append(request)


def queue_of(client: Client) -> SqsWorkQueue:
    return SqsWorkQueue(SqsClients(lambda _: client), URL)  # type: ignore[arg-type, return-value] # what is called


@pytest.mark.parametrize(
    ("delay_ms", "delay_s"), [(0, 0), (999, 0), (1_000, 1), (26_999, 26), (900_000, 900)]
)
def test_a_work_message_is_sent_with_its_delay_in_whole_seconds(delay_ms: int, delay_s: int) -> None:
    client = Client()
    queue_of(client).send(WORK, delay_ms)
    (request,) = client.sent
    assert (request["QueueUrl"], request["DelaySeconds"]) == (URL, delay_s)
    assert decode_work(request["MessageBody"]) == WORK


@pytest.mark.parametrize("delay_ms", [-1, 900_001])
def test_a_delay_that_sqs_does_not_take_is_a_mistake(delay_ms: int) -> None:
    with pytest.raises(AssertionError):
        queue_of(Client()).send(WORK, delay_ms)


def test_a_refused_message_raises() -> None:
    client = Client()
    client.down = True
    with pytest.raises(StoreError, match="not accepted"):
        queue_of(client).send(WORK, 0)
