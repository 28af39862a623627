"""What the delivery function receives, what becomes of it, and what it may acknowledge."""

from collections.abc import Iterable
from typing import NamedTuple

from sweephand.runs.outcome import Outcome


class Received(NamedTuple):
    """A message as SQS delivered it: the SQS message id, the receipt, and how often SQS has delivered it."""

    id: str
    receipt: str
    receives: int
    body: str


class Handled(NamedTuple):
    """What became of a received message, or of one trigger of a received bundle.

    If `is_done`, the queue need not deliver it again. `error` is for the log.
    """

    received: Received
    outcome: Outcome
    is_done: bool = True
    error: Exception | None = None


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
