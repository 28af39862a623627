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


def settled(handled: Iterable[Handled]) -> list[Received]:
    """The received messages of which everything is done. They may be acknowledged."""
    return _received(handled, are_settled=True)


def unsettled(handled: Iterable[Handled]) -> list[Received]:
    """The received messages of which something is left. The queue must deliver them again."""
    return _received(handled, are_settled=False)


def _received(handled: Iterable[Handled], *, are_settled: bool) -> list[Received]:
    is_settled: dict[Received, bool] = {}
    for each in handled:
        is_settled[each.received] = each.is_done and is_settled.get(each.received, True)
    return [received for received, is_done in is_settled.items() if is_done is are_settled]
