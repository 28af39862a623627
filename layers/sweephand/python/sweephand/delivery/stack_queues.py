"""The other queues of the stack: that of messages about gates, and those whose messages are sent again."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from botocore.exceptions import BotoCoreError, ClientError

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import QUEUE_DELAY_MAX_MS
from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.sqs_queue import ENTRIES_MAX, SqsQueue
from sweephand.model.gate_message import GateMessage, encode_gate_message
from sweephand.model.trigger import NewerMessage

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageTypeDef


class SqsFlowQueue:
    """ports.FlowQueue over SQS. Safe to use from many threads at once."""

    def __init__(self, clients: SqsClients, url: str) -> None:
        self._clients = clients
        self._url = url

    def acknowledge(self, receipt: str) -> None:
        """As ports.FlowQueue promises."""
        with suppress(ClientError, BotoCoreError):
            self._clients.client(None).delete_message(QueueUrl=self._url, ReceiptHandle=receipt)

    def send(self, message: GateMessage | NewerMessage, delay_ms: int) -> None:
        """As ports.FlowQueue promises."""
        assert 0 <= delay_ms <= QUEUE_DELAY_MAX_MS, "a message waits at most as long as SQS allows"
        try:
            self._clients.client(None).send_message(
                QueueUrl=self._url,
                MessageBody=encode_gate_message(message),
                DelaySeconds=delay_ms // SECOND_MS,
            )
        except (ClientError, BotoCoreError) as error:
            raise StoreError(f"The message about a gate was not accepted by the queue: {error}") from error


#: A message that was received, and whose copy could not be sent, can be received again after this.
_VISIBILITY_S: Final = 60


class SqsStackQueues:
    """ports.StackQueues over SQS. `urls` has the URL of each queue by its name."""

    def __init__(self, clients: SqsClients, queue: SqsQueue, urls: Mapping[str, str]) -> None:
        self._clients = clients
        self._queue = queue
        self._urls = {name: url for name, url in urls.items() if url}

    def names(self) -> Sequence[str]:
        """As ports.StackQueues promises."""
        return list(self._urls)

    def renew(self, name: str, delay_ms: int, into: str | None = None) -> Sequence[Instant]:
        """As ports.StackQueues promises: three requests for up to ten messages.

        SQS may overlook messages that it would find if it were asked to wait. A later call finds them.
        """
        url = self._urls[name]
        try:
            answer = self._clients.client(None).receive_message(
                QueueUrl=url,
                MaxNumberOfMessages=ENTRIES_MAX,
                VisibilityTimeout=_VISIBILITY_S,
                MessageSystemAttributeNames=["SentTimestamp", "MessageGroupId"],
                MessageAttributeNames=["All"],
            )
        except (ClientError, BotoCoreError) as error:
            raise StoreError(f"Messages of the queue {url} were not received: {error}") from error
        received = answer.get("Messages", [])
        if received:
            copies = [_copy(each, delay_ms) for each in received]
            self._queue.send_as_is(url if into is None else self._urls[into], copies)
            # A message that is not removed is there twice, which is harmless.
            self._queue.remove(url, [each["ReceiptHandle"] for each in received])
        return [int(each["Attributes"]["SentTimestamp"]) for each in received]


def _copy(message: "MessageTypeDef", delay_ms: int) -> dict[str, Any]:
    """The entry that sends a received message again."""
    fields: dict[str, Any] = {"MessageBody": message["Body"], "DelaySeconds": delay_ms // SECOND_MS}
    if group := message["Attributes"].get("MessageGroupId"):
        fields["MessageGroupId"] = group
    if attributes := message.get("MessageAttributes"):
        fields["MessageAttributes"] = {
            name: {kind: value for kind, value in each.items() if not kind.endswith("ListValues")}
            for name, each in attributes.items()
        }
    return fields
