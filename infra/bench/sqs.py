"""A queue in memory instead of SQS: fast at any depth. It counts every request that SQS would bill."""

import heapq
from itertools import count
from threading import Lock
from typing import Any

from infra.bench.meter import Meter

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.ports.clock import Clock
from sweephand.runs.received import Received

#: How many messages one of Lambda's pollers receives, and deletes, at once.
BATCH_MAX = 10


class CountedSqs:
    """Stands in for the SQS client of one queue, and for the poller that reads it for Lambda.

    The poller finds full batches as long as ten messages are visible, as SQS does under load. Many threads
    may send and receive.
    """

    def __init__(self, clock: Clock, meter: Meter) -> None:
        self._clock = clock
        self._meter = meter
        self._waiting: list[tuple[Instant, int, str]] = []
        self._numbers = count()
        self._lock = Lock()

    def send_message_batch(self, *, QueueUrl: str, Entries: list[dict[str, Any]]) -> dict[str, Any]:  # noqa: ARG002, N803 - as boto3 names them
        """Accept all entries."""
        self._meter.sqs_request(sum(len(entry["MessageBody"]) for entry in Entries))
        self._meter.add(sends=1, messages=len(Entries))
        now = self._clock.now()
        with self._lock:
            for entry in Entries:
                visible_at = now + entry.get("DelaySeconds", 0) * SECOND_MS
                heapq.heappush(self._waiting, (visible_at, next(self._numbers), entry["MessageBody"]))
        return {"Successful": [{"Id": entry["Id"]} for entry in Entries]}

    def send_message(self, *, QueueUrl: str, MessageBody: str, DelaySeconds: int) -> None:  # noqa: N803 - same
        """Accept a message."""
        entry = {"Id": "0", "MessageBody": MessageBody, "DelaySeconds": DelaySeconds}
        self.send_message_batch(QueueUrl=QueueUrl, Entries=[entry])

    def next_at(self) -> Instant | None:
        """When the next message becomes visible, or became so; None if there is none."""
        return self._waiting[0][0] if self._waiting else None

    def receive(self, at_most: int = BATCH_MAX) -> list[Received]:
        """Up to so many visible messages, by one request."""
        now = self._clock.now()
        batch: list[Received] = []
        with self._lock:
            while self._waiting and self._waiting[0][0] <= now and len(batch) < at_most:
                _, number, body = heapq.heappop(self._waiting)
                batch.append(Received(str(number), str(number), 1, body))
        self._meter.sqs_request(sum(len(each.body) for each in batch))
        return batch

    def delete(self) -> None:
        """Remove the received messages, by one request."""
        self._meter.sqs_request()
