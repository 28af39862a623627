"""How AWS handles one request of a client in memory, and how it refuses one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from botocore.exceptions import ClientError


@dataclass(frozen=True, slots=True)
class Handling:
    """How AWS handles one request.

    `served` gets the number of entries of a batch and returns the places of those that AWS processes. AWS
    hands back the others. With `breaks_off`, a query returns no items but a key to go on from, although there
    are more.
    """

    served: Callable[[int], Sequence[int]] = range
    breaks_off: bool = False


#: AWS does all that a request asks for.
WHOLE: Final = Handling()


def refusal(code: str, operation: str, message: str = "") -> ClientError:
    """The error that boto3 raises if AWS answers with that code."""
    return ClientError({"Error": {"Code": code, "Message": message}}, operation)
