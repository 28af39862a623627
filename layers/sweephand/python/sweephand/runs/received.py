"""What the delivery function receives, what becomes of it, and what it may acknowledge."""

from collections.abc import Iterable
from typing import NamedTuple

from sweephand.model.trigger import DeadlineMessage, Message, RangeMessage, Trigger
from sweephand.model.watch import WatchMessage
from sweephand.runs.outcome import NOTEWORTHY, Outcome


class Received(NamedTuple):
    """A message as SQS delivered it: the SQS message id, the receipt, and how often SQS has delivered it."""

    id: str
    receipt: str
    receives: int
    body: str


class Handled(NamedTuple):
    """What became of a received message, or of one trigger of a received bundle.

    If `is_done`, the queue need not deliver it again. The rest is for the log: the `error`, and the `trigger`
    that the message carried or was about, with the number of the `attempt`. It has none if nobody could read
    it, or if it stood for many triggers.
    """

    received: Received
    outcome: Outcome
    is_done: bool = True
    error: Exception | None = None
    trigger: Trigger | None = None
    attempt: int = 0

    @property
    def is_noteworthy(self) -> bool:
        """Whether the log has a line for it."""
        return self.error is not None or self.outcome.name in NOTEWORTHY


def named(handled: Handled, message: Message) -> Handled:
    """The same, with the trigger and the attempt of the message, unless it stands for many triggers."""
    if isinstance(message, RangeMessage | WatchMessage):
        return handled
    return handled._replace(trigger=message.trigger, attempt=message.attempt)


def finished(handled: Iterable[Handled]) -> list[Received]:
    """The received messages of which everything is done. They may be acknowledged."""
    return _received(handled, are_finished=True)


def unfinished(handled: Iterable[Handled]) -> list[Received]:
    """The received messages of which something is left. The queue must deliver them again."""
    return _received(handled, are_finished=False)


def _received(handled: Iterable[Handled], *, are_finished: bool) -> list[Received]:
    is_finished: dict[Received, bool] = {}
    for each in handled:
        is_finished[each.received] = each.is_done and is_finished.get(each.received, True)
    return [received for received, is_done in is_finished.items() if is_done is are_finished]


def may_be_given_up(message: Message) -> bool:
    """Whether a message becomes a dead letter when handling it has failed for hours.

    A deadline does not: nothing else would find that a consumer is gone. A check of a watch does not either:
    its alert may be about the very fault.
    """
    return not isinstance(message, DeadlineMessage | WatchMessage)
