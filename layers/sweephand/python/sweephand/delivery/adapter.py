"""The adapter of a target type, and the parts of a stack that an adapter is made from."""

from typing import Final, NamedTuple, Protocol

from sweephand.delivery.aws_clients import AwsClients
from sweephand.delivery.checked_clients import SqsClients
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.secret import ReadValues
from sweephand.ports.clock import Clock
from sweephand.targets.reach import Reach

#: The answer to an attempt that was not sent because its trigger was no longer alive.
WITHDRAWN: Final = Answer(
    succeeded=False, error="The attempt was withdrawn before it was sent.", was_withdrawn=True
)


class Stack(NamedTuple):
    """The parts of a stack that adapters are made from.

    The SQS clients are shared with the delivery queue. The clients of AWS's other services are made when an
    attempt first needs one. `read_secrets` reads the secrets that targets
    name; None in a stack without any.
    """

    clock: Clock
    sqs_clients: SqsClients
    aws_clients: AwsClients
    reach: Reach
    read_secrets: ReadValues | None = None


class Adapter(Protocol):
    """Delivers to the targets of one type. It is safe to use from many threads at once.

    Each target type names a module as its `delivery`. That module has a function `adapter(stack: Stack) ->
    Adapter`. A process calls it once, before its first attempt at a target of the type.
    """

    def deliver(self, attempt: Attempt) -> Answer:
        """As ports.Targets promises. The spec is of this type, and was valid when its job was written."""
        ...
