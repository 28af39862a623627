"""A FIFO queue of SQS behind boto3's client, as far as it drops what it has taken before."""

# ruff: noqa: N803 - boto3 names its arguments so

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

from tests.fakes.doubles import HandClock

from sweephand.base.instants import Instant
from sweephand.delivery.sqs_clients import SqsClients

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

URL: Final = "https://sqs.eu-west-1.amazonaws.com/123456789012/sweephand-work.fifo"

#: AWS, "Using the message deduplication ID": what has the id of a message that was sent within this time is
#: accepted and not delivered, also when that message has been received and deleted. moto forgets it then.
DEDUPLICATION_MS: Final = 300_000


@dataclass
class FifoQueue:
    """One queue; `delivered` are the attributes of the messages that a consumer gets, in order."""

    clock: HandClock
    delivered: list[dict[str, Any]] = field(default_factory=list)
    remembers_ms: int = DEDUPLICATION_MS
    _taken: dict[str, Instant] = field(default_factory=dict)

    @property
    def clients(self) -> SqsClients:
        """Clients that all talk to this queue."""
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
