"""What can go wrong between a process and AWS, request by request; by itself, nothing does.

The SDK retries by itself, so that an answer which gets lost is no error yet: the request is made once more,
by which time somebody else may have been there.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from botocore.exceptions import ClientError

from sweephand.storage.time_limit import check_in_time

#: As storage.connect sets it: the first try and the SDK's own retries.
TRIES_MAX: Final = 4

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of one try of a request, decided when it leaves.

    `served` says of so many entries of a batch which are dealt with, by their places; the others are handed
    back. `is_lost`: its answer does not arrive, and the SDK asks again. `breaks_off`: a query comes back
    empty, with a key to go on from, though there is more. `memo` is its giver's own.
    """

    served: Callable[[int], Sequence[int]] = range
    is_lost: bool = False
    breaks_off: bool = False
    memo: Any = None


class Trouble:
    """A wire on which everything arrives; whoever wants it otherwise overrides a method.

    Both may raise what the SDK raises, and may let time pass and others act.
    """

    def before(self, operation: str) -> Fate:
        """A try is about to leave: `PutItem`. What raises here has done nothing."""
        del operation
        return Fate()

    def after(self, operation: str, fate: Fate) -> None:
        """What it asked for is done, or refused; what raises here is an error all the same."""


def as_the_sdk(trouble: Trouble, operation: str, act: Callable[[Fate], Answer]) -> Answer:
    """The answer to a request, or AWS's refusal, of the last of as many tries as the SDK makes.

    `act` is what one try does in the world: one step, which nobody sees half of.
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
    raise AssertionError("the last try has an answer")


def failing(code: str, operation: str) -> ClientError:
    """What boto3 raises for an answer of AWS with that code."""
    return ClientError({"Error": {"Code": code, "Message": "as the test asks"}}, operation)
