"""Clients of AWS's services that hand each request over instead of sending it."""

import io
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeAlias

from sweephand.delivery.adapter import Service
from sweephand.delivery.checked_clients import UnsentError, may_send

#: Takes a request: the name of its service, its operation, and its fields.
Take: TypeAlias = Callable[[str, str, Mapping[str, Any]], Mapping[str, Any] | None]


class AwsClient:
    """A client of one of AWS's services as boto3 makes it.

    `take` gets each request, with the names of its service and operation. It may return the answer. Without
    one, the request has succeeded.
    """

    def __init__(self, service: Service, take: Take) -> None:
        self._service = service
        self._take = take

    def __getattr__(self, name: str) -> Callable[..., Mapping[str, Any]]:
        """The method that makes a request. Raises UnsentError if the request may no longer be sent."""
        if name != "describe_event_bus" and name not in _ANSWERS:
            raise AttributeError(name)
        return partial(self._ask, name)

    def _ask(self, method: str, /, **request: Any) -> Mapping[str, Any]:
        if not may_send.get()():
            raise UnsentError
        if method == "describe_event_bus":
            return {}
        operation = "".join(word.capitalize() for word in method.split("_"))
        answer = self._take(self._service.name, operation, request)
        return _ANSWERS[method](request) if answer is None else answer


#: What AWS answers to each request of an adapter.
_ANSWERS: Final[Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]]] = {
    "invoke": lambda request: {
        "StatusCode": 202 if request["InvocationType"] == "Event" else 200,
        "Payload": io.BytesIO(b"" if request["InvocationType"] == "Event" else b"null"),
    },
    "publish": lambda _: {},
    "put_events": lambda _: {"FailedEntryCount": 0},
    "send_message": lambda _: {},
    "send_message_batch": lambda request: {"Successful": [{"Id": each["Id"]} for each in request["Entries"]]},
    "start_execution": lambda _: {},
}
