"""Sending work messages: the orders to look after a policy, in a queue of their own."""

from contextlib import suppress

from botocore.exceptions import BotoCoreError, ClientError

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import QUEUE_DELAY_MAX_MS
from sweephand.delivery.sqs_clients import SqsClients
from sweephand.model.trigger import NewerMessage
from sweephand.model.wire_work import encode_work
from sweephand.model.work_message import WorkMessage


class SqsWorkQueue:
    """flow_ports.WorkQueue over SQS. Safe to use from many threads at once."""

    def __init__(self, clients: SqsClients, url: str) -> None:
        self._clients = clients
        self._url = url

    def acknowledge(self, receipt: str) -> None:
        """As flow_ports.WorkQueue promises."""
        with suppress(ClientError, BotoCoreError):
            self._clients.client(None).delete_message(QueueUrl=self._url, ReceiptHandle=receipt)

    def send(self, message: WorkMessage | NewerMessage, delay_ms: int) -> None:
        """As flow_ports.WorkQueue promises."""
        assert 0 <= delay_ms <= QUEUE_DELAY_MAX_MS, "a work message waits at most as long as SQS allows"
        try:
            self._clients.client(None).send_message(
                QueueUrl=self._url, MessageBody=encode_work(message), DelaySeconds=delay_ms // SECOND_MS
            )
        except (ClientError, BotoCoreError) as error:
            raise StoreError(f"The work message was not accepted by the queue: {error}") from error
