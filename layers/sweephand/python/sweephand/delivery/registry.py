"""Which adapter delivers to which target: that of the target's type."""

from collections.abc import Callable
from importlib import import_module
from threading import Lock

from sweephand.delivery.adapter import Adapter, AwsClients, Stack
from sweephand.delivery.checked_clients import SqsClients
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.secret import ReadValues
from sweephand.ports.clock import Clock
from sweephand.targets.reach import Reach
from sweephand.targets.registry import end_target_types, target_types
from sweephand.targets.target_type import TargetType


class TargetsByType:
    """ports.Targets over every target type. Safe to use from many threads at once."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._adapters: dict[TargetType, Adapter] = {}
        self._lock = Lock()

    def deliver(self, attempt: Attempt) -> Answer:
        """Send the attempt to its target and return the answer.

        A consumer's failure is an answer, not an error.
        """
        name = attempt.spec.get("type")
        adapter = self.adapter(name) if isinstance(name, str) else None
        if adapter is None:
            known = ", ".join(target_types())
            return Answer(succeeded=False, error=f"There is no target type {name!r}. The types are: {known}.")
        return adapter.deliver(attempt)

    def adapter(self, name: str) -> Adapter | None:
        """The adapter of a type, made at the first call; None if no adapter delivers to that name."""
        target_type = end_target_types().get(name)
        if target_type is None or target_type.delivery is None:
            return None
        with self._lock:  # two threads must not make two adapters, each with connections of its own
            if target_type not in self._adapters:
                self._adapters[target_type] = _maker(target_type.delivery)(self._stack)
            return self._adapters[target_type]


def targets(
    clock: Clock, sqs_clients: SqsClients, reach: Reach, read_secrets: ReadValues | None = None
) -> TargetsByType:
    """The targets of a stack. Deliveries go to nothing outside `reach`."""
    return TargetsByType(Stack(clock, sqs_clients, AwsClients(), reach, read_secrets))


def _maker(module: str) -> Callable[[Stack], Adapter]:
    maker: Callable[[Stack], Adapter] = import_module(module).adapter
    return maker


# Lambda gives a function a whole CPU while it starts, and less for its first message. So what most deliveries
# need is imported now. An adapter for a service of AWS makes a client at its first attempt. That takes many
# times as long as the import.
import_module("sweephand.delivery.http.targets")
