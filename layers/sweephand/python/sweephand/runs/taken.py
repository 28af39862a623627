"""The messages that one invocation of the delivery function handles, those of a bundle each by itself."""

from threading import Lock
from typing import NamedTuple

from sweephand.base.instants import Instant
from sweephand.base.timing import EARLY_WAIT_MAX_MS
from sweephand.model.job import JobKey
from sweephand.model.trigger import BundleMessage, Message, RangeMessage, TriggerMessage
from sweephand.model.watch import WatchMessage
from sweephand.runs.received import Received
from sweephand.runs.shared_reads import ReadGroup


class Taken(NamedTuple):
    """A message that is to be handled in this invocation; of a bundle, one of its triggers.

    If it may begin within `wait_max_ms`, the function waits for that. Otherwise the message is sent again.
    """

    received: Received
    message: Message
    wait_max_ms: int = EARLY_WAIT_MAX_MS

    @property
    def receives(self) -> int:
        """How many functions have received the message, this one included.

        All others ended without handling it.
        """
        message = self.message
        return message.crashes + 1 if isinstance(message, TriggerMessage) else self.received.receives

    def is_awaited(self, now: Instant) -> bool:
        """Whether it is a trigger that the function delivers, after it has waited if need be."""
        return isinstance(self.message, TriggerMessage) and self.message.not_before - now < self.wait_max_ms


class Entry:
    """A message in the order of due times. A trigger has the read of its job, which a group shares.

    `mates` are the triggers of its group, itself included, when all of them are there.
    """

    def __init__(
        self, taken: Taken, group: ReadGroup | None = None, mates: "list[Entry] | None" = None
    ) -> None:
        self.taken = taken
        self.group = group
        self.mates = [] if mates is None else mates
        self._turn = Lock()

    def begin(self) -> bool:
        """Whether the caller is the first thread that asks. That one handles the message."""
        return self._turn.acquire(blocking=False)


def singles_of(bundle: BundleMessage, receives: int) -> list[TriggerMessage]:
    """The triggers of a bundle that was received so often, each with the crashes that this may stand for."""
    return [message._replace(crashes=message.crashes + receives - 1) for message in bundle.triggers]


def with_crashes(message: Message, received: Received) -> Message:
    """The message with the crashes that SQS has counted, so that copies of the message carry them."""
    if received.receives > 1 and isinstance(message, TriggerMessage):
        return message._replace(crashes=message.crashes + received.receives - 1)
    return message


def key_of(message: Message) -> JobKey:
    """The job of a message."""
    return message.key if isinstance(message, RangeMessage | WatchMessage) else message.trigger.key


def not_before(message: Message, now: Instant) -> Instant:
    """When the message may be handled. A range may be split at any time."""
    return now if isinstance(message, RangeMessage) else message.not_before
