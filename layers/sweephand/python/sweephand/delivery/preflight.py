"""Whether a request may still be sent, asked just before its first byte leaves."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Final

from sweephand.ports import Answer, always

#: Asked in the thread that sends the request, before a byte of the request leaves.
may_send: ContextVar[Callable[[], bool]] = ContextVar("may_send", default=always)

#: The answer to an attempt that was not sent because its trigger was no longer alive.
WITHDRAWN: Final = Answer(
    succeeded=False, error="The attempt was withdrawn before it was sent.", was_withdrawn=True
)


class WithdrawnError(Exception):
    """The request may no longer be sent. Nothing of it has been sent."""


def check() -> None:
    """Raises WithdrawnError if this thread's request may not be sent, StoreError if that is unknown."""
    if not may_send.get()():
        raise WithdrawnError
