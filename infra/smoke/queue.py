"""A queue of SQS and the messages in it: a consumer that needs no open port."""

import json
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any

_READERS = 8


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
        return round(datetime.fromisoformat(self.names["due"]).timestamp() * 1_000)

    @property
    def lateness(self) -> str:
        """How late it was, as a check tells it."""
        return f"{self.sent_at - self.due_at} ms after its due time"


@dataclass(frozen=True)
class Queue:
    """A queue of the account. `client` is boto3's client of SQS."""

    client: Any
    url: str

    @property
    def target(self) -> dict[str, str]:
        """The target of a job that sends to this queue."""
        return {"type": "sqs", "queueUrl": self.url}

    def take(self, count: int, within_s: float) -> list[Message]:
        """At least `count` messages, removed from the queue; fewer if no more come in time.

        Several threads read at once, because one receive returns ten messages at most.
        """
        deadline = time.monotonic() + within_s
        taken: list[Message] = []

        def read(_: int) -> None:
            while len(taken) < count and time.monotonic() < deadline:
                taken.extend(self._receive())

        readers = min(_READERS, max(1, count // 50))
        with ThreadPoolExecutor(readers) as threads:
            list(threads.map(read, range(readers)))
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
        handles = [{"Id": str(at), "ReceiptHandle": each["ReceiptHandle"]} for at, each in enumerate(found)]
        if handles:
            self.client.delete_message_batch(QueueUrl=self.url, Entries=handles)
        return [_message(each) for each in found]


def _message(found: Mapping[str, Any]) -> Message:
    given = found.get("MessageAttributes", {})
    attributes = {name: value.get("StringValue") for name, value in given.items()} | found["Attributes"]
    named = json.loads(attributes.get("sweephand") or "{}")
    return Message(found["Body"], named, attributes, int(attributes["SentTimestamp"]))
