"""The other queues of the stack: messages about gates, and those whose messages are sent again as is."""

import time
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from botocore.exceptions import ClientError
from tests.contract.builders import NOON, trigger_message
from tests.fakes.sqs import Sqs, mocked_sqs, refusal

from sweephand.base.errors import StoreError
from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.sqs_queue import SqsQueue
from sweephand.delivery.stack_queues import SqsFlowQueue, SqsStackQueues
from sweephand.model.gate_message import GateMessage, decode_gate_message
from sweephand.model.wire import encode
from sweephand.targets.reach import EVERY_QUEUE


@pytest.fixture
def sqs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sqs]:
    with mocked_sqs(monkeypatch) as found:
        yield found


def kept(sqs: Sqs, **urls: str) -> SqsStackQueues:
    queue = SqsQueue(
        sqs.clients, "", "", lambda _: None, allow_insecure=False, queues=EVERY_QUEUE, concurrently=map
    )
    return SqsStackQueues(sqs.clients, queue, urls)


def bodies(messages: Sequence[dict[str, Any]]) -> list[str]:
    return sorted(each["Body"] for each in messages)


def test_messages_are_sent_again_as_they_are_and_the_old_ones_removed(sqs: Sqs) -> None:
    url = sqs.queue("delivery")
    attribute: Any = {"reason": {"DataType": "String", "StringValue": "why"}}
    written = {"1": encode(trigger_message()), "2": '{"v": 99, "of": "a newer version"}', "3": "é" * 9}
    sqs.client.send_message(QueueUrl=url, MessageBody=written["1"], MessageGroupId="team")
    sqs.client.send_message(QueueUrl=url, MessageBody=written["2"], MessageAttributes=attribute)
    sqs.client.send_message(QueueUrl=url, MessageBody=written["3"])
    assert len(kept(sqs, delivery=url).renew("delivery", 0)) == 3
    again = {each["Body"]: each for each in sqs.messages(url)}
    assert set(again) == set(written.values())
    assert again[written["1"]]["Attributes"]["MessageGroupId"] == "team"
    assert again[written["2"]]["MessageAttributes"] == attribute
    assert {each["Attributes"]["ApproximateReceiveCount"] for each in again.values()} == {"1"}


def test_a_copy_cannot_be_received_before_its_delay_is_over(sqs: Sqs) -> None:
    url = sqs.queue("delivery")
    sqs.client.send_message(QueueUrl=url, MessageBody="one")
    queues = kept(sqs, delivery=url)
    assert len(queues.renew("delivery", 60_000)) == 1
    assert queues.renew("delivery", 60_000) == []
    attributes: Any = ["ApproximateNumberOfMessagesDelayed"]
    counted = sqs.client.get_queue_attributes(QueueUrl=url, AttributeNames=attributes)["Attributes"]
    assert counted == {"ApproximateNumberOfMessagesDelayed": "1"}


def test_of_each_message_it_is_told_when_it_was_sent(sqs: Sqs) -> None:
    url = sqs.queue("delivery")
    before = int(time.time() * 1_000)
    for number in range(3):
        sqs.client.send_message(QueueUrl=url, MessageBody=str(number))
    sent = kept(sqs, delivery=url).renew("delivery", 0)
    assert len(sent) == 3
    assert all(before <= at <= time.time() * 1_000 for at in sent)


def test_large_messages_are_sent_again_in_calls_that_sqs_takes(sqs: Sqs) -> None:
    url = sqs.queue("delivery")
    large = [f"{number}" + "é" * 100_000 for number in range(6)]
    for body in large:
        sqs.client.send_message(QueueUrl=url, MessageBody=body)
    assert len(kept(sqs, delivery=url).renew("delivery", 0)) == 6
    assert bodies(sqs.messages(url)) == large


def test_the_queues_are_those_that_the_stack_has(sqs: Sqs) -> None:
    assert list(kept(sqs, delivery="d", high="", low="", flow="f").names()) == ["delivery", "flow"]


class Failing:
    """A client of which one operation fails."""

    def __init__(self, client: Any, operation: str) -> None:
        self._client, self._operation = client, operation

    def __getattr__(self, name: str) -> Any:
        if name != self._operation:
            return getattr(self._client, name)

        def fail(**_: Any) -> None:
            raise refusal("InternalError", name)

        return fail


@pytest.mark.parametrize("operation", ["receive_message", "send_message_batch"])
def test_a_message_that_is_not_sent_again_is_not_removed(sqs: Sqs, operation: str) -> None:
    url = sqs.queue("delivery")
    sqs.client.send_message(QueueUrl=url, MessageBody="one")
    client, plain = Failing(sqs.client, operation), sqs.clients
    sqs.clients = SqsClients(lambda _: client)  # type: ignore[arg-type,return-value]
    with pytest.raises(StoreError):
        kept(sqs, delivery=url).renew("delivery", 0)
    sqs.clients = plain
    attributes: Any = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    counted = sqs.client.get_queue_attributes(QueueUrl=url, AttributeNames=attributes)["Attributes"]
    assert sum(int(each) for each in counted.values()) == 1


def test_a_message_that_is_not_removed_is_there_twice(sqs: Sqs) -> None:
    url = sqs.queue("delivery")
    sqs.client.send_message(QueueUrl=url, MessageBody="one")
    client = Failing(sqs.client, "delete_message_batch")
    sqs.clients = SqsClients(lambda _: client)  # type: ignore[arg-type,return-value]
    assert len(kept(sqs, delivery=url).renew("delivery", 0)) == 1
    attributes: Any = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    counted = sqs.client.get_queue_attributes(QueueUrl=url, AttributeNames=attributes)["Attributes"]
    assert counted == {"ApproximateNumberOfMessages": "1", "ApproximateNumberOfMessagesNotVisible": "1"}


URL = "https://sqs.eu-west-1.amazonaws.com/123456789012/flow"
BATON = GateMessage("baton", "ns", "mailer", 3, NOON)


class Client:
    """What SqsFlowQueue calls of a client. It refuses every message while it is `down`."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.down = False

    def send_message(self, **request: Any) -> None:
        if self.down:
            raise ClientError({"Error": {"Code": "InternalError", "Message": "down"}}, "SendMessage")
        self.sent.append(request)


def queue_of(client: Client) -> SqsFlowQueue:
    return SqsFlowQueue(SqsClients(lambda _: client), URL)  # type: ignore[arg-type, return-value] # what is called


@pytest.mark.parametrize(
    ("delay_ms", "delay_s"), [(0, 0), (999, 0), (1_000, 1), (26_999, 26), (900_000, 900)]
)
def test_a_message_about_a_gate_is_sent_with_its_delay_in_whole_seconds(delay_ms: int, delay_s: int) -> None:
    client = Client()
    queue_of(client).send(BATON, delay_ms)
    (request,) = client.sent
    assert (request["QueueUrl"], request["DelaySeconds"]) == (URL, delay_s)
    assert decode_gate_message(request["MessageBody"]) == BATON


@pytest.mark.parametrize("delay_ms", [-1, 900_001])
def test_a_delay_that_sqs_does_not_take_is_a_mistake(delay_ms: int) -> None:
    with pytest.raises(AssertionError):
        queue_of(Client()).send(BATON, delay_ms)


def test_a_refused_message_raises() -> None:
    client = Client()
    client.down = True
    with pytest.raises(StoreError, match="not accepted"):
        queue_of(client).send(BATON, 0)
