"""The consumers of a simulated stack: handlers that a test has mounted, and what goes wrong with requests."""

import json
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import Any, Final, Self, TypeAlias

from sweephand.base.instants import Instant, to_datetime
from sweephand.delivery.http.connections import NoConnectionError
from sweephand_engine.testing.applications import Application, Reply, application
from sweephand_engine.testing.clock import SimulatedClock
from sweephand_engine.testing.loops import Loops

#: The handler of a Lambda function. It gets the event and a context.
Function: TypeAlias = Callable[[Any, Any], Any]

#: The handler of every host without one of its own.
_ANY: Final = "*"


class NoFunctionError(Exception):
    """A test has no Lambda function of that name."""


@dataclass(slots=True)
class Delivery:
    """One request that Sweephand made. `at` is when.

    `status` is the consumer's, and None if no answer came; then `error` says why. For a target of AWS there
    are no headers: `url` is the address of the resource, and `request` is what AWS would have got.
    """

    at: datetime
    namespace: str
    job: str
    due_at: datetime
    attempt: int
    id: str
    type: str
    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes
    request: Mapping[str, Any] = field(default_factory=dict, repr=False)
    status: int | None = None
    error: str | None = None

    @property
    def json(self) -> Any:
        """The body, read as JSON. None if it is empty."""
        return json.loads(self.body or b"null")


@dataclass(frozen=True, slots=True)
class Incident:
    """What happens to the next request.

    With a `status`, that is the answer, and no handler is called. Else the handler is called after `slow_ms`,
    twice if the request `comes_twice`. Its answer may be lost.
    """

    status: int | None = None
    slow_ms: int = 0
    comes_twice: bool = False
    loses_answer: bool = False


@dataclass(slots=True)
class Outage:
    """A time in which no consumer can be reached, or only one host or ARN. It ends with its `with` block."""

    of: str | None
    until: Instant | None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> None:
        """End the outage now."""
        self.until = 0

    def covers(self, name: str, now: Instant) -> bool:
        """Whether a host or ARN cannot be reached at that instant."""
        return (self.until is None or now < self.until) and self.of in (None, name)


class Consumers:
    """The handlers of a test, and the requests that reached them, oldest first."""

    def __init__(self, clock: SimulatedClock) -> None:
        self.deliveries: list[Delivery] = []
        self.incidents: deque[Incident] = deque()
        self.outages: list[Outage] = []
        self.loops = Loops()
        self._clock = clock
        self._applications: dict[str, Application] = {}
        self._functions: dict[str, Function] = {}

    def mount(self, handler: Any) -> None:
        """Let a handler answer every request, or each host's requests as a mapping says."""
        handlers = handler if isinstance(handler, Mapping) else {_ANY: handler}
        self._applications |= {host: application(each, self.loops) for host, each in handlers.items()}

    def mount_function(self, arn: str, handler: Function) -> None:
        """Let a handler answer the invocations of a Lambda function, named by its ARN or its name."""
        self._functions[arn] = handler

    def application(self, host: str) -> Application:
        """What answers the requests of a host. NoConnectionError if nothing does."""
        found = self._applications.get(host) or self._applications.get(_ANY)
        if found is None:
            raise NoConnectionError("the test has mounted no consumer there: deliver_to() does.")
        return found

    def handler(self, arn: str) -> Function:
        """What a Lambda function runs. NoFunctionError if the test has none of that name."""
        name = arn.partition(":function:")[2].partition(":")[0]
        found = self._functions.get(arn) or self._functions.get(name)
        if found is None:
            raise NoFunctionError("The test has no function() of that name")
        return found

    def reach(
        self, delivery: Delivery, name: str, call: Callable[[Delivery], Reply], within_ms: int
    ) -> Reply:
        """The answer to a request to a host or an ARN. It raises what the network would cause."""
        self.deliveries.append(delivery)
        try:
            heard, reply = self._clock.within(within_ms, partial(self._answered, delivery, name, call))
        except TimeoutError:
            delivery.error = "No answer in time"
            raise
        heard.status = reply.status
        return reply

    def _answered(
        self, delivery: Delivery, name: str, call: Callable[[Delivery], Reply]
    ) -> tuple[Delivery, Reply]:
        """The delivery that was answered last, and the answer. The caller may have given up by then."""
        if any(each.covers(name, self._clock.now()) for each in self.outages):
            delivery.error = "Connection refused"
            raise NoConnectionError(delivery.error)
        incident = self.incidents.popleft() if self.incidents else Incident()
        if incident.status is not None:
            return delivery, Reply(incident.status)
        self._clock.wait_until(self._clock.now() + incident.slow_ms)
        if incident.comes_twice:
            copy = replace(delivery, at=to_datetime(self._clock.now()))
            delivery.status = self._called(delivery, call).status
            self.deliveries.append(copy)
            delivery = copy
        reply = self._called(delivery, call)
        if incident.loses_answer:
            delivery.error = "The answer was lost"
            raise ConnectionResetError(delivery.error)
        return delivery, reply

    def _called(self, delivery: Delivery, call: Callable[[Delivery], Reply]) -> Reply:
        """The handler's answer. An error of the handler is a 500."""
        try:
            return call(delivery)
        except (NoConnectionError, NoFunctionError) as error:
            delivery.error = str(error)
            raise
        except Exception as error:  # noqa: BLE001 - a handler may raise anything
            self.note(delivery, error)
            return Reply(500, {}, str(delivery.error).encode(errors="replace"))

    def note(self, delivery: Delivery, error: Exception) -> None:
        """Note an error of a handler. An AssertionError fails the test, too."""
        if isinstance(error, AssertionError):
            self._clock.errors.append(error)
        delivery.error = f"{type(error).__name__}: {error}"
