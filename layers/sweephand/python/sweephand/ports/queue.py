"""The ports through which triggers travel: the delivery queue, the consumers and the delivery functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sweephand.base.instants import Instant
    from sweephand.model.attempt import Answer, Attempt
    from sweephand.model.trigger import DeadLetter, Sendable


class Queue(Protocol):
    """The delivery queue. It may deliver messages twice and in any order, and it loses none."""

    def send(self, messages: Sequence[tuple[Sendable, int]]) -> None:
        """Send any number of messages, each with a delay in ms (0 to 900,000, rounded down to seconds).

        Refused entries are sent again. Returns when the queue has accepted every message. After a StoreError,
        it may have accepted any of them.
        """
        ...

    def acknowledge(self, receipts: Sequence[str]) -> None:
        """Remove received messages from the queue; if that fails, they come again, which is harmless."""
        ...

    def bury(self, dead_letters: Sequence[tuple[DeadLetter, str | None]]) -> None:
        """Send dead letters, each to the queue of that URL (None: the stack's own), as send() does."""
        ...


class StackQueues(Protocol):
    """The queues in which messages of the stack wait. No message is read, so newer versions' are kept too."""

    def names(self) -> Sequence[str]:
        """The names of the queues, always in the same order."""
        ...

    def renew(self, name: str, delay_ms: int, into: str | None = None) -> Sequence[Instant]:
        """Receive some messages of a queue, send each again as it is with that delay, and remove the old one.

        They go into the same queue, or into that of the name `into`.

        Returns when each of them had been sent; nothing if the queue was found empty. A message is removed
        only when its copy has been accepted. So a crash leaves two of it, and loses none. StoreError: any of
        the messages may be there twice.
        """
        ...


class Targets(Protocol):
    """The consumers' side: one module for each target type, behind one registry."""

    def deliver(self, attempt: Attempt) -> Answer:
        """Make the request within its timeout and return what came of it. A failing consumer raises no error.

        If `may_send` returns False, the unused connection is kept for the next attempt. `may_send` is not
        called if no connection is made.
        """
        ...


class DeliveryFunctions(Protocol):
    """The functions that deliver. Lambda starts them for messages; this port starts them in advance."""

    def wake(self, count: int) -> None:
        """Have that many delivery functions run at once for a moment, without waiting for any of them.

        Lambda takes idle functions first, and starts others for the rest. A wake-up delivers nothing.
        StoreError: fewer were woken.
        """
        ...
