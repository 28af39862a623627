"""A boto3 client of SQS in memory. It knows the requests of delivery.sqs_queue and delivery.stack_queues.

The client raises AssertionError for a request that AWS refuses as malformed: a mistake of our own.
"""

# ruff: noqa: N803 - the names of the arguments are boto3's

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeAlias

from sweephand_engine.wire import WHOLE, Handling, refusal

#: AWS's limits: the entries of one call, the bytes of all its entries, and the seconds of a delay.
ENTRIES_MAX: Final = 10
CALL_BYTES_MAX: Final = 1_048_576
DELAY_S_MAX: Final = 900

#: 1 to 128 letters, digits and marks (API reference of SendMessageBatchRequestEntry).
_GROUP: Final = re.compile(r"[!-~]{1,128}")

#: The longest id of an entry that SQS accepts.
_ID_LENGTH_MAX: Final = 80

Entry: TypeAlias = Mapping[str, Any]
Answer: TypeAlias = dict[str, Any]


class Queue(Protocol):
    """One queue, as the client needs it."""

    def send(self, entries: Sequence[Entry]) -> None:
        """Keep messages, each with the fields of SendMessage. Hold each back for its `DelaySeconds`."""
        ...

    def delete(self, receipts: Sequence[str]) -> None:
        """Delete received messages. An unknown receipt has no effect."""
        ...

    def renewable(self, limit: int, visibility_s: int) -> Sequence[Answer]:
        """Receive up to `limit` messages, in the form of ReceiveMessage."""
        ...


class MemorySqs:
    """A client of the queues of one region, by URL. Several threads may use it at once."""

    def __init__(self, queues: Mapping[str, Queue]) -> None:
        self._queues = queues

    def send_message(self, *, QueueUrl: str, **entry: Any) -> Answer:
        """Accept a message."""
        self.send_message_batch(QueueUrl=QueueUrl, Entries=[{"Id": "0", **entry}])
        return {}

    def send_message_batch(self, *, QueueUrl: str, Entries: Sequence[Entry]) -> Answer:
        """Accept messages. SQS may accept some entries of a call and refuse others."""

        def act(handling: Handling) -> Answer:
            queue = self._queue(QueueUrl, "SendMessageBatch")
            self._check(Entries)
            accepted = set(handling.served(len(Entries)))
            queue.send([entry for place, entry in enumerate(Entries) if place in accepted])
            return _answer(Entries, accepted)

        return self._asked("SendMessageBatch", act)

    def delete_message(self, *, QueueUrl: str, ReceiptHandle: str) -> Answer:
        """Delete a received message."""
        self.delete_message_batch(QueueUrl=QueueUrl, Entries=[{"Id": "0", "ReceiptHandle": ReceiptHandle}])
        return {}

    def delete_message_batch(self, *, QueueUrl: str, Entries: Sequence[Entry]) -> Answer:
        """Delete received messages. SQS may process some entries of a call and not others."""

        def act(handling: Handling) -> Answer:
            queue = self._queue(QueueUrl, "DeleteMessageBatch")
            self._check_ids(Entries)
            accepted = set(handling.served(len(Entries)))
            queue.delete([each["ReceiptHandle"] for place, each in enumerate(Entries) if place in accepted])
            return _answer(Entries, accepted)

        return self._asked("DeleteMessageBatch", act)

    def receive_message(
        self, *, QueueUrl: str, MaxNumberOfMessages: int, VisibilityTimeout: int, **_: Any
    ) -> Answer:
        """The messages that are visible now, with all attributes."""

        def act(_: Handling) -> Answer:
            queue = self._queue(QueueUrl, "ReceiveMessage")
            return {"Messages": queue.renewable(MaxNumberOfMessages, VisibilityTimeout)}

        return self._asked("ReceiveMessage", act)

    def _asked(self, operation: str, act: Callable[[Handling], Answer]) -> Answer:
        """The answer to a request. A subclass may let requests fail."""
        del operation
        return act(WHOLE)

    def _queue(self, url: str, operation: str) -> Queue:
        queue = self._queues.get(url)
        if queue is None:
            raise refusal("AWS.SimpleQueueService.NonExistentQueue", operation)
        return queue

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
        """Raises AssertionError with the complaint unless it is so. A subclass may keep the complaints."""
        assert is_so, complaint


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
