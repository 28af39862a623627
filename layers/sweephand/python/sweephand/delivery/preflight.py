"""Whether a request is still wanted, asked by whatever sends it at the last moment before it leaves."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Final

from sweephand.ports import Answer, always

#: Asked in the thread of a request, before a byte of it leaves.
may_send: ContextVar[Callable[[], bool]] = ContextVar("may_send", default=always)

#: What comes of an attempt that was not.
WITHDRAWN: Final = Answer(succeeded=False, error="The attempt was called off.", was_withdrawn=True)


class WithdrawnError(Exception):
    """The request was not wanted any more when it could have been sent."""


def check() -> None:
    """WithdrawnError if the request of this thread is not wanted any more; StoreError: nobody knows."""
    if not may_send.get()():
        raise WithdrawnError
