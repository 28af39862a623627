"""The client of SQS in memory, with faults, over the queues of a world."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, cast

from tests.fakes.doubles import Letterbox
from tests.fakes.wire_trouble import Trouble, as_the_sdk

from sweephand.base.instants import SECOND_MS
from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.sqs_queue import SqsQueue
from sweephand.model.policy_names import Lanes
from sweephand.model.trigger import DeadLetter
from sweephand.model.wire import decode
from sweephand.targets.reach import EVERY_QUEUE
from sweephand_engine.sqs.client import Answer, Entry, MemorySqs
from sweephand_engine.wire import Handling

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

DELIVERY_URL: Final = "https://sqs.eu-west-1.amazonaws.com/123456789012/delivery"
DEAD_LETTERS_URL: Final = "https://sqs.eu-west-1.amazonaws.com/123456789012/dead-letters"


class Inbox(Protocol):
    """One queue: it accepts bodies and deletes messages by their receipts."""

    def accept(self, body: str, delay_s: int) -> None:
        """Keep a message, and hold it back for `delay_s` seconds."""
        ...

    def delete(self, receipts: Sequence[str]) -> None:
        """Delete received messages. An unknown receipt has no effect."""
        ...


class FakeSqs(MemorySqs):
    """A client whose `trouble` may raise an error or let other actors act, before and after each try.

    `complaints` keeps the AssertionErrors of malformed requests.
    """

    def __init__(self, inboxes: Mapping[str, Inbox], trouble: Trouble | None = None) -> None:
        super().__init__({url: _Queue(inbox) for url, inbox in inboxes.items()})
        self.trouble = trouble or Trouble()
        self.complaints: list[str] = []

    def _asked(self, operation: str, act: Callable[[Handling], Answer]) -> Answer:
        return as_the_sdk(self.trouble, operation, act)

    def _insist(self, is_so: bool, complaint: str) -> None:  # noqa: FBT001 - like the condition of an assert
        if not is_so:
            self.complaints.append(complaint)
        super()._insist(is_so, complaint)


@dataclass(frozen=True, slots=True)
class _Queue:
    """The queue of an inbox. No code of a world receives messages through the client."""

    inbox: Inbox

    def send(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            self.inbox.accept(entry["MessageBody"], entry.get("DelaySeconds", 0))

    def delete(self, receipts: Sequence[str]) -> None:
        self.inbox.delete(receipts)

    def renewable(self, limit: int, visibility_s: int) -> Sequence[Answer]:
        raise AssertionError(f"nothing is received here: {limit}, {visibility_s}")


@dataclass(frozen=True, slots=True)
class _Deliveries:
    """The delivery queue of a world."""

    box: Letterbox

    def accept(self, body: str, delay_s: int) -> None:
        self.box.send([(decode(body), delay_s * SECOND_MS)])

    def delete(self, receipts: Sequence[str]) -> None:
        self.box.acknowledge(receipts)


@dataclass(frozen=True, slots=True)
class _DeadLetters:
    """The stack's dead-letter queue of a world."""

    box: Letterbox

    def accept(self, body: str, delay_s: int) -> None:
        del delay_s
        fields = json.loads(body)
        self.box.bury([(DeadLetter(fields["message"], fields["reason"]), None)])

    def delete(self, receipts: Sequence[str]) -> None:
        raise AssertionError(f"no code receives dead letters: {receipts}")


def sqs_queue(client: FakeSqs, wait: Callable[[float], None], lanes: Lanes | None = None) -> SqsQueue:
    """The production queue over a fake client, in one thread."""
    return SqsQueue(
        SqsClients(lambda _: cast("SQSClient", client)),
        DELIVERY_URL,
        DEAD_LETTERS_URL,
        wait,
        allow_insecure=False,
        queues=EVERY_QUEUE,
        lanes=lanes,
        concurrently=map,
    )


def queue_over(box: Letterbox, trouble: Trouble | None = None) -> SqsQueue:
    """The production queue over the letterbox of a world."""
    inboxes: Mapping[str, Inbox] = {DELIVERY_URL: _Deliveries(box), DEAD_LETTERS_URL: _DeadLetters(box)}
    return sqs_queue(FakeSqs(inboxes, trouble), lambda _: None)
