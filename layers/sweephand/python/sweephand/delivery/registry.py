"""Which module delivers to which type of target."""

from collections.abc import Mapping
from typing import Protocol

from sweephand.delivery.http.targets import HttpTargets
from sweephand.delivery.sqs import SqsTargets
from sweephand.delivery.sqs_clients import SqsClients
from sweephand.ports import Answer, Attempt, Clock
from sweephand.targets.queues import JobQueues


class TargetsOfType(Protocol):
    """The consumers behind targets of one type."""

    def deliver(self, attempt: Attempt) -> Answer:
        """As ports.Targets promises, for a spec of this type that was valid when its job was written."""
        ...


class Targets:
    """ports.Targets over every type there is. Safe to use from many threads at once."""

    def __init__(self, by_type: Mapping[str, TargetsOfType]) -> None:
        self._by_type = by_type

    def deliver(self, attempt: Attempt) -> Answer:
        """Hand the trigger over and say what came of it; a consumer's failure is never raised."""
        kind = attempt.spec.get("type")
        targets = self._by_type.get(kind) if isinstance(kind, str) else None
        if targets is None:
            known = " and ".join(self._by_type)
            return Answer(succeeded=False, error=f"There is no target type {kind!r}: there are {known}.")
        return targets.deliver(attempt)


def targets(clock: Clock, clients: SqsClients, *, allow_insecure: bool, queues: JobQueues) -> Targets:
    """The targets of a stack; `allow_insecure` says whether it allows `http`, loopback and local queues."""
    return Targets(
        {
            "http": HttpTargets(clock, allow_insecure=allow_insecure),
            "sqs": SqsTargets(clients, allow_insecure=allow_insecure, queues=queues),
        }
    )
