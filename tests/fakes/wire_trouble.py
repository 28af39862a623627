"""Faults between a process and AWS, for each request.

The SDK retries by itself. So if an answer is lost, the SDK makes the request again, and the caller sees no
error. Another process may act between the two tries.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from botocore.exceptions import ClientError

from sweephand.storage.connect import check_in_time
from sweephand_engine.wire import Handling

#: The number of tries that storage.connect sets: the first try and the SDK's own retries.
TRIES_MAX: Final = 4

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Fate(Handling):
    """The fate of one try of a request, which is decided before the try.

    With `is_lost`, the answer does not arrive and the SDK tries again. `memo` belongs to the code that made
    the fate.
    """

    is_lost: bool = False
    memo: Any = None


class Trouble:
    """A wire without faults. A subclass overrides a method to make faults.

    Both methods may raise the errors of the SDK, let time pass, and let other actors act.
    """

    def before(self, operation: str) -> Fate:
        """Called before a try of an operation such as `PutItem`. If it raises, the try has no effect."""
        del operation
        return Fate()

    def after(self, operation: str, fate: Fate) -> None:
        """Called after AWS has done or refused a try. If it raises, the caller gets that error."""


def as_the_sdk(trouble: Trouble, operation: str, act: Callable[[Fate], Answer]) -> Answer:
    """Make a request with as many tries as the SDK makes. Returns or raises the outcome of the last try.

    `act` is the effect of one try. It is one step: other actors see all of it or nothing.
    """
    for tries_left in reversed(range(TRIES_MAX)):
        fate = trouble.before(operation)
        check_in_time()
        refusal = None
        try:
            answer = act(fate)
        except ClientError as error:
            refusal = error
        trouble.after(operation, fate)
        if fate.is_lost and tries_left:
            continue
        if refusal is not None:
            raise refusal
        return answer
    raise AssertionError("the last try must have an answer")
