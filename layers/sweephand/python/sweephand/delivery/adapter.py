"""What an adapter of a target type is, and what one is made of."""

from typing import NamedTuple, Protocol

from sweephand.delivery.sqs_clients import SqsClients
from sweephand.ports import Answer, Attempt, Clock
from sweephand.targets.queues import Reach


class Stack(NamedTuple):
    """What adapters are made of.

    The SQS clients are here because the delivery queue shares them. An adapter for another service makes its
    own client, when an attempt first needs it.
    """

    clock: Clock
    sqs_clients: SqsClients
    reach: Reach


class Adapter(Protocol):
    """Delivers to the targets of one type. It is safe to use from many threads at once.

    The module that a target type names as its `delivery` has a function `adapter(stack: Stack) -> Adapter`.
    It is called once in a process, before the first attempt at a target of the type.
    """

    def deliver(self, attempt: Attempt) -> Answer:
        """As ports.Targets promises, for a spec of this type that was valid when its job was written."""
        ...
