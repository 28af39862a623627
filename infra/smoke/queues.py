"""The queues that the checks make, and the messages in them: a consumer that needs no open port."""

import json
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any

_READERS = 8
_SECOND_MS = 1_000


@dataclass(frozen=True)
class Message:
    """A message that arrived. `sent_at` is when SQS took it (epoch ms), whenever it is read."""

    body: str
    names: Mapping[str, Any]
    attributes: Mapping[str, Any]
    sent_at: int

    @property
    def due_at(self) -> int:
        """The due time of its trigger, epoch ms."""
        return round(datetime.fromisoformat(self.names["due"]).timestamp() * _SECOND_MS)


@dataclass(frozen=True)
class Queue:
    """A queue of the account. `client` is boto3's client of SQS."""

    client: Any
    url: str

    def take(self, count: int, within_s: float) -> list[Message]:
        """At least `count` messages, removed from the queue; fewer if no more come in time.

        Several threads read at once, because one receive returns ten messages at most.
        """
        deadline = time.monotonic() + within_s
        taken: list[Message] = []

        def read() -> None:
            while len(taken) < count and time.monotonic() < deadline:
                taken.extend(self._receive())

        readers = min(_READERS, max(1, count // 50))
        with ThreadPoolExecutor(readers) as threads:
            for done in [threads.submit(read) for _ in range(readers)]:
                done.result()
        return taken

    def one(self, within_s: float = 60) -> Message:
        """The next message; TimeoutError if none comes in time."""
        taken = self.take(1, within_s)
        if not taken:
            raise TimeoutError(f"no message came to {self.url} within {within_s:.0f} s")
        return taken[0]

    def rest(self) -> list[Message]:
        """All messages that are there now. Reading ends with the first receive that finds none."""
        taken: list[Message] = []
        while some := self._receive():
            taken.extend(some)
        return taken

    def _receive(self) -> list[Message]:
        answer = self.client.receive_message(
            QueueUrl=self.url,
            MaxNumberOfMessages=10,
            WaitTimeSeconds=1,
            MessageAttributeNames=["All"],
            AttributeNames=["SentTimestamp", "MessageGroupId", "MessageDeduplicationId"],
        )
        found = answer.get("Messages", [])
        if found:
            self.client.delete_message_batch(
                QueueUrl=self.url,
                Entries=[
                    {"Id": str(number), "ReceiptHandle": each["ReceiptHandle"]}
                    for number, each in enumerate(found)
                ],
            )
        return [_message(each) for each in found]


class Queues:
    """Makes queues whose names begin with `prefix`, which begins with sweephand-, and removes them."""

    def __init__(self, client: Any, prefix: str) -> None:
        self._client = client
        self.prefix = prefix
        self._outside = prefix.removeprefix("sweephand-")

    def make(self, purpose: str, *, is_fifo: bool = False) -> Queue:
        """The queue for one purpose. A queue that exists is used again."""
        name = f"{self.prefix}-{purpose}" + (".fifo" if is_fifo else "")
        attributes = {"FifoQueue": "true"} if is_fifo else {}
        url = self._client.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
        return Queue(self._client, url)

    def of_round(self, name: str) -> "Queues":
        """Other queues for checks that run once more. urls() of these queues has them too."""
        return Queues(self._client, f"{self.prefix}-{name}")

    def make_outside(self, purpose: str) -> Queue:
        """A queue whose name does not begin with sweephand-, so that no job may name it by default."""
        return Queue(
            self._client, self._client.create_queue(QueueName=f"{self._outside}-{purpose}")["QueueUrl"]
        )

    def url_of_none(self, purpose: str) -> str:
        """The URL that a queue of this purpose would have if it existed."""
        return self.make("any").url.removesuffix("any") + purpose

    def at(self, url: str) -> Queue:
        """The queue at a URL, for example one of the stack's own."""
        return Queue(self._client, url)

    def urls(self) -> list[str]:
        """The URLs of all queues that were made here, by this program or by one that was killed."""
        found: list[str] = []
        for prefix in (self.prefix, self._outside):
            answer = self._client.list_queues(QueueNamePrefix=f"{prefix}-", MaxResults=1_000)
            found += answer.get("QueueUrls", [])
        return found

    def remove(self, url: str) -> None:
        """Delete a queue with all its messages."""
        self._client.delete_queue(QueueUrl=url)


def _message(found: Mapping[str, Any]) -> Message:
    attributes = {
        name: value.get("StringValue") for name, value in found.get("MessageAttributes", {}).items()
    }
    named = attributes.get("sweephand")
    return Message(
        found["Body"],
        json.loads(named) if named else {},
        {**attributes, **found["Attributes"]},
        int(found["Attributes"]["SentTimestamp"]),
    )
