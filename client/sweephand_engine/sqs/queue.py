"""A queue of SQS in memory: delays in whole seconds, visibility, groups, and counts of receives.

Messages are kept in a heap by when they become visible, so each call costs the logarithm of their number.
"""

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Any

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.runs.received import Received
from sweephand_engine.journal import Journal, StoredMessage
from sweephand_engine.sqs.client import Answer, Entry


@dataclass(slots=True)
class _Message:
    """A message, with the fields of SendMessage. `visible_at` names its place in the heap."""

    entry: Entry
    sent_at: Instant
    visible_at: Instant
    receives: int = 0


class MemoryQueue:
    """One queue. Several threads may use it at once.

    `now` is the clock of this machine. A message that was received becomes visible again after
    `visibility_ms`, unless it is deleted. The journal keeps every message before it can be received. After a
    start, each message of the journal is visible as soon as its delay is over.
    """

    def __init__(
        self, name: str, now: Callable[[], Instant], visibility_ms: int, journal: Journal | None = None
    ) -> None:
        self._name = name
        self._now = now
        self._visibility_ms = visibility_ms
        self._journal = journal or Journal()
        self._changed = threading.Condition()
        self._is_closed = False
        self._messages = {
            each.number: _Message(json.loads(each.entry), each.sent_at, each.visible_at, each.receives)
            for each in self._journal.messages(name, now())
        }
        self._order = [(each.visible_at, number) for number, each in self._messages.items()]
        heapify(self._order)
        self._next = max(self._messages, default=0) + 1

    def __len__(self) -> int:
        """The number of messages, received ones included."""
        return len(self._messages)

    def send(self, entries: Sequence[Entry]) -> None:
        """As sqs.client.Queue promises."""
        now = self._now()
        made = [_Message(_kept(each), now, now + each.get("DelaySeconds", 0) * SECOND_MS) for each in entries]
        with self._changed:
            first, self._next = self._next, self._next + len(made)
        numbered = dict(enumerate(made, first))
        self._journal.send(
            StoredMessage(self._name, number, each.sent_at, each.visible_at, 0, _text(each.entry))
            for number, each in numbered.items()
        )
        with self._changed:
            self._messages |= numbered
            for number, each in numbered.items():
                heappush(self._order, (each.visible_at, number))
            self._changed.notify_all()

    def delete(self, receipts: Sequence[str]) -> None:
        """As sqs.client.Queue promises. A receipt is the number of its message."""
        numbers = [int(each) for each in receipts if each.isdecimal()]
        with self._changed:
            gone = [number for number in numbers if self._messages.pop(number, None) is not None]
        self._journal.delete(self._name, gone)

    def take(self, limit: int) -> list[Received]:
        """Up to `limit` messages, as soon as one is visible. Only a closed queue returns none."""
        while True:
            with self._changed:
                while not self._is_closed and (wait_ms := self._wait_ms()) != 0:
                    self._changed.wait(None if wait_ms is None else wait_ms / SECOND_MS)
                if self._is_closed:
                    return []
            # Another thread may have received the message meanwhile.
            if received := self.receive(limit):
                return received

    def receive(self, limit: int = 10) -> list[Received]:
        """The messages that are visible now, at most `limit`."""
        with self._changed:
            return [
                Received(str(number), str(number), each.receives, each.entry["MessageBody"])
                for number, each in self._receive(limit, self._visibility_ms)
            ]

    def next_at(self) -> Instant | None:
        """When the next message becomes visible, or did; None if there is none."""
        with self._changed:
            return self._order[0][0] if self._wait_ms() is not None else None

    def renewable(self, limit: int, visibility_s: int) -> Sequence[Answer]:
        """As sqs.client.Queue promises."""
        with self._changed:
            return [
                _described(number, message)
                for number, message in self._receive(limit, visibility_s * SECOND_MS)
            ]

    def expire(self, before: Instant) -> None:
        """Remove the messages that were sent before that instant, as SQS does when their retention ends."""
        with self._changed:
            old = [str(number) for number, each in self._messages.items() if each.sent_at < before]
        self.delete(old)

    def close(self) -> None:
        """Let all threads that wait in `take` return."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def _wait_ms(self) -> int | None:
        """How long no message is visible; None if there is none. Places of former times are dropped."""
        while self._order:
            visible_at, number = self._order[0]
            message = self._messages.get(number)
            if message is not None and message.visible_at == visible_at:
                return max(0, visible_at - self._now())
            heappop(self._order)
        return None

    def _receive(self, limit: int, visibility_ms: int) -> list[tuple[int, _Message]]:
        received: list[tuple[int, _Message]] = []
        while len(received) < limit and self._wait_ms() == 0:
            _, number = heappop(self._order)
            message = self._messages[number]
            message.receives += 1
            message.visible_at = self._now() + visibility_ms
            heappush(self._order, (message.visible_at, number))
            received.append((number, message))
        return received


def _kept(entry: Entry) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name not in ("Id", "DelaySeconds")}


def _text(entry: Entry) -> str:
    return json.dumps(entry, separators=(",", ":"))


def _described(number: int, message: _Message) -> Answer:
    """A received message in the form of ReceiveMessage."""
    entry = message.entry
    group = {"MessageGroupId": entry["MessageGroupId"]} if "MessageGroupId" in entry else {}
    attributes = {"MessageAttributes": entry["MessageAttributes"]} if "MessageAttributes" in entry else {}
    return {
        "Body": entry["MessageBody"],
        "ReceiptHandle": str(number),
        "Attributes": {"SentTimestamp": str(message.sent_at), **group},
        **attributes,
    }
