"""A boto3 client of one FIFO queue of SQS. It drops a message whose deduplication id it has seen."""

# ruff: noqa: N803 - the names of the arguments are boto3's

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from tests.fakes.doubles import HandClock

from sweephand.base.instants import Instant
from sweephand.delivery.checked_clients import SqsClients

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

URL: Final = "https://sqs.eu-west-1.amazonaws.com/123456789012/sweephand-work.fifo"

#: SQS accepts but does not deliver a message with the id of one that was sent within this time. That holds
#: also if the first message has been received and deleted (AWS, "Using the message deduplication ID"). moto
#: forgets the id then, so the tests need this fake.
DEDUPLICATION_MS: Final = 300_000


@dataclass
class FifoQueue:
    """One queue. `delivered` has the attributes of the messages that a consumer gets, in order."""

    clock: HandClock
    delivered: list[dict[str, Any]] = field(default_factory=list)
    remembers_ms: int = DEDUPLICATION_MS
    _taken: dict[str, Instant] = field(default_factory=dict)

    @property
    def clients(self) -> SqsClients:
        """Clients for every region, all of this queue."""
        return SqsClients(lambda _: cast("SQSClient", self))

    def send_message(
        self, *, QueueUrl: str, MessageAttributes: Any, MessageDeduplicationId: str, **_: Any
    ) -> None:
        assert QueueUrl == URL
        taken_at = self._taken.get(MessageDeduplicationId)
        if taken_at is not None and self.clock.time - taken_at < self.remembers_ms:
            return
        self._taken[MessageDeduplicationId] = self.clock.time
        self.delivered.append(json.loads(MessageAttributes["sweephand"]["StringValue"]))
