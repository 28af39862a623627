"""A boto3 client of SQS in memory. It knows the requests of delivery.sqs_queue."""

# ruff: noqa: N803 - the names of the arguments are boto3's

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, cast

from tests.fakes.doubles import Letterbox
from tests.fakes.wire_trouble import Fate, Trouble, as_the_sdk, failing

from sweephand.base.instants import SECOND_MS
from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.sqs_queue import SqsQueue
from sweephand.model.policy_names import Lanes
from sweephand.model.trigger import DeadLetter
from sweephand.model.wire import decode
from sweephand.targets.reach import EVERY_QUEUE

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

DELIVERY_URL: Final = "https://sqs.eu-west-1.amazonaws.com/123456789012/delivery"
DEAD_LETTERS_URL: Final = "https://sqs.eu-west-1.amazonaws.com/123456789012/dead-letters"

#: AWS's limits: the entries of one call, the bytes of all its entries, and the seconds of a delay.
ENTRIES_MAX: Final = 10
CALL_BYTES_MAX: Final = 1_048_576
DELAY_S_MAX: Final = 900

#: The longest id of an entry that SQS accepts.
#: 1 to 128 letters, digits and marks (API reference of SendMessageBatchRequestEntry).
_GROUP: Final = re.compile(r"[!-~]{1,128}")
_ID_LENGTH_MAX: Final = 80

Entry: TypeAlias = Mapping[str, Any]
Answer: TypeAlias = dict[str, Any]


class Inbox(Protocol):
    """One queue: it accepts bodies and deletes messages by their receipts."""

    def accept(self, body: str, delay_s: int) -> None:
        """Keep a message, and hold it back for `delay_s` seconds."""
        ...

    def delete(self, receipts: Sequence[str]) -> None:
        """Delete received messages. An unknown receipt has no effect."""
        ...


class FakeSqs:
    """A client of the queues of one region, by URL.

    Raises AssertionError for a request that AWS refuses as malformed. `complaints` keeps these errors.
    """

    def __init__(self, inboxes: Mapping[str, Inbox], trouble: Trouble | None = None) -> None:
        self._inboxes = inboxes
        self.trouble = trouble or Trouble()
        self.complaints: list[str] = []

    def send_message_batch(self, *, QueueUrl: str, Entries: Sequence[Entry]) -> Answer:
        """Accept messages. SQS may accept some entries of a call and refuse others."""

        def act(fate: Fate) -> Answer:
            inbox = self._inbox(QueueUrl, "SendMessageBatch")
            self._check(Entries)
            accepted = set(fate.served(len(Entries)))
            for place, entry in enumerate(Entries):
                if place in accepted:
                    inbox.accept(entry["MessageBody"], entry.get("DelaySeconds", 0))
            return _answer(Entries, accepted)

        return as_the_sdk(self.trouble, "SendMessageBatch", act)

    def delete_message_batch(self, *, QueueUrl: str, Entries: Sequence[Entry]) -> Answer:
        """Delete received messages. SQS may process some entries of a call and not others."""

        def act(fate: Fate) -> Answer:
            inbox = self._inbox(QueueUrl, "DeleteMessageBatch")
            self._check_ids(Entries)
            accepted = set(fate.served(len(Entries)))
            inbox.delete([each["ReceiptHandle"] for place, each in enumerate(Entries) if place in accepted])
            return _answer(Entries, accepted)

        return as_the_sdk(self.trouble, "DeleteMessageBatch", act)

    def _inbox(self, url: str, operation: str) -> Inbox:
        inbox = self._inboxes.get(url)
        if inbox is None:
            raise failing("AWS.SimpleQueueService.NonExistentQueue", operation)
        return inbox

    def _check(self, entries: Sequence[Entry]) -> None:
        self._check_ids(entries)
        size = sum(len(each["MessageBody"].encode()) + _attributes_size(each) for each in entries)
        self._insist(size <= CALL_BYTES_MAX, f"BatchRequestTooLong: {size} bytes in one call")
        for entry in entries:
            delay_s = entry.get("DelaySeconds", 0)
            self._insist(bool(entry["MessageBody"]), "a message must not be empty")
            group = entry.get("MessageGroupId", "group")
            self._insist(_GROUP.fullmatch(group) is not None, f"InvalidParameterValue: the group {group}")
            self._insist(
                type(delay_s) is int and 0 <= delay_s <= DELAY_S_MAX,
                f"InvalidParameterValue: a delay of {delay_s} s",
            )

    def _check_ids(self, entries: Sequence[Entry]) -> None:
        ids = [each["Id"] for each in entries]
        self._insist(1 <= len(ids) <= ENTRIES_MAX, f"{len(ids)} entries in one call")
        self._insist(len(set(ids)) == len(ids), f"BatchEntryIdsNotDistinct: {ids}")
        self._insist(all(0 < len(each) <= _ID_LENGTH_MAX for each in ids), f"InvalidBatchEntryId: {ids}")

    def _insist(self, is_so: bool, complaint: str) -> None:  # noqa: FBT001 - like the condition of an assert
        if not is_so:
            self.complaints.append(complaint)
            raise AssertionError(complaint)


def _attributes_size(entry: Entry) -> int:
    attributes: Mapping[str, Mapping[str, str]] = entry.get("MessageAttributes", {})
    return sum(
        len(name.encode()) + len(each["DataType"].encode()) + len(each["StringValue"].encode())
        for name, each in attributes.items()
    )


def _answer(entries: Sequence[Entry], accepted: set[int]) -> Answer:
    answer: Answer = {"Successful": [], "Failed": []}
    for place, entry in enumerate(entries):
        if place in accepted:
            answer["Successful"].append({"Id": entry["Id"]})
        else:
            failure = {"Id": entry["Id"], "Code": "InternalError", "SenderFault": False}
            answer["Failed"].append(failure)
    # boto3 leaves out a list without entries.
    return {name: some for name, some in answer.items() if some}


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
