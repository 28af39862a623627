"""Whether a write may still be sent to DynamoDB. Each try is checked, the SDK's own retries included.

Lambda freezes a process that has answered, and may thaw it minutes later. A retry that the SDK then makes
carries a new signature, and DynamoDB would accept it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final

from sweephand.base.errors import StoreError

if TYPE_CHECKING:
    from botocore.hooks import BaseEventHooks

#: The operations that write one item.
_BOUND_OPERATIONS: Final = ("PutItem", "DeleteItem", "UpdateItem")

_in_time: Final[ContextVar[Callable[[], bool] | None]] = ContextVar("in_time", default=None)


class LateError(StoreError):
    """A try of a write was too late and was not sent.

    An earlier try of the same write may have been applied.
    """


@contextmanager
def only_while(in_time: Callable[[], bool]) -> Iterator[None]:
    """Let the writes of this thread be sent only while `in_time()` is true."""
    token = _in_time.set(in_time)
    try:
        yield
    finally:
        _in_time.reset(token)


def check_in_time(**_: object) -> None:
    """Raises LateError if the write that this thread is about to send is too late."""
    in_time = _in_time.get()
    if in_time is not None and not in_time():
        raise LateError("The write was too late, and was not sent.")


def bound(events: "BaseEventHooks") -> None:
    """Have a client check each try. `before-send` is botocore's last event before the connection."""
    for operation in _BOUND_OPERATIONS:
        events.register(f"before-send.dynamodb.{operation}", check_in_time)
