"""The resources function: it writes jobs, policies and calendars that templates of CloudFormation declare.

It calls the API function, which checks, words and records what it writes. The caller of the API is the
resource of the stack. So what the resource has made has it as owner, and a creation that failed deletes
nothing of others (decision 222).
"""

from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from http import HTTPStatus
from typing import Any, Final, NamedTuple, TypeAlias

from sweephand.access.authentication import OWN_FUNCTION
from sweephand.base.errors import InvalidError, StoreError, SweephandError, Violation
from sweephand.base.instants import SECOND_MS
from sweephand.base.names import is_name
from sweephand.delivery.cloudformation import ANSWER_MS_MAX, answer, check_address
from sweephand.delivery.functions import CALL_MS_MAX, LambdaApi
from sweephand.model.api_key import Caller
from sweephand.ports.clock import Clock
from sweephand.runtime.declared import KINDS, Resource, declared, typed
from sweephand.runtime.machine import SystemClock
from sweephand.runtime.settings import Settings
from sweephand.web.http import json_text

#: A request of CloudFormation, or an event of the API function.
Event: TypeAlias = Mapping[str, Any]

_TRIES_MAX: Final = 3


class RefusedError(SweephandError):
    """The API did not do what a template asks for. The message is the API's own."""


class Written(NamedTuple):
    """What CloudFormation is told of a resource: its physical id, and what `Fn::GetAtt` reads."""

    physical_id: str | None = None
    attributes: Mapping[str, str] = {}


class Resources:
    """Does what CloudFormation asks for, by calls of the API function.

    `namespaces` are the patterns of the namespaces that templates may write.
    """

    def __init__(self, *, call: Callable[[Event], Event], clock: Clock, namespaces: Sequence[str]) -> None:
        self._call = call
        self._clock = clock
        self._namespaces = namespaces

    def handle(self, event: Event, time_left_ms: Callable[[], int]) -> Written:
        """Create, change or delete a resource. A repeated request ends as the first one did.

        A new resource is refused if the API has something of its name that this resource did not make. Raises
        InvalidError and RefusedError. After a RefusedError the API may have done what was asked.
        """
        api = _Api(self._call, self._clock, event, time_left_ms)
        if event["RequestType"] == "Delete":
            self._delete(api, event)
            return Written()
        wanted = declared(event["ResourceType"], event["ResourceProperties"])
        self._check_namespace(wanted)
        named = api.get(wanted, "/v1/openapi.json")["components"]["schemas"]
        shown = api.put(wanted, typed(wanted.fields, named[wanted.kind.body], named))
        self._remove_leftover(api, event, wanted)
        attributes = {"namespace": wanted.namespace, "name": wanted.name}
        if "nextRun" in shown:
            attributes["nextRun"] = shown["nextRun"] or ""
        return Written(wanted.id, attributes)

    def _delete(self, api: "_Api", event: Event) -> None:
        """Delete what has the physical id. Without one of ours, delete what a killed creation has left."""
        kind = KINDS.get(event["ResourceType"])
        namespace, _, name = event["PhysicalResourceId"].partition("/")
        if kind is not None and is_name(namespace) and is_name(name):
            known = Resource(kind, namespace, name, {})
            self._check_namespace(known)
            api.delete(known)
        else:
            self._delete_own(api, event["ResourceType"], event["ResourceProperties"])

    def _remove_leftover(self, api: "_Api", event: Event, wanted: Resource) -> None:
        """Delete what a killed change of the name has left. CloudFormation does not know of it.

        Its rollback names it as the former properties, while the resource has another id.
        """
        former = event.get("OldResourceProperties")
        kept = (wanted.id, event.get("PhysicalResourceId"))
        if former is not None:
            self._delete_own(api, event["ResourceType"], former, but=kept)

    def _delete_own(
        self, api: "_Api", kind: str, properties: Mapping[str, Any], but: Sequence[str | None] = ()
    ) -> None:
        """Delete what the properties name if this resource has made it, and if its id is none of `but`."""
        try:
            found = declared(kind, properties)
            self._check_namespace(found)
        except InvalidError:
            return  # it was refused before anything was made
        if found.id not in but and api.owns(found):
            api.delete(found)

    def _check_namespace(self, resource: Resource) -> None:
        if not any(fnmatchcase(resource.namespace, each) for each in self._namespaces):
            allowed = ", ".join(self._namespaces)
            detail = f"The parameter TemplateNamespaces allows templates to write {allowed} alone."
            raise InvalidError([Violation("/namespace", detail)])


class _Api:
    """The API, called for the resource of a stack, three times at most while it does not answer."""

    def __init__(
        self, call: Callable[[Event], Event], clock: Clock, event: Event, time_left_ms: Callable[[], int]
    ) -> None:
        self._call = call
        self._clock = clock
        self._event = event
        self._time_left_ms = time_left_ms
        self._who = f"{event['StackId']}/{event['LogicalResourceId']}"

    def get(self, of: Resource, path: str) -> Any:
        return _done(*self._ask("GET", of, path))

    def put(self, wanted: Resource, fields: Mapping[str, Any]) -> Any:
        """Write a resource, and return what the API shows of it. A new one takes the place of no other."""
        is_new = self._event.get("PhysicalResourceId") != wanted.id
        body = json_text.write(fields)
        absent = {"if-none-match": "*"} if is_new else {}
        status, shown = self._ask("PUT", wanted, wanted.path, body, absent)
        if status == HTTPStatus.PRECONDITION_FAILED and self.owns(wanted):
            status, shown = self._ask("PUT", wanted, wanted.path, body)
        return _done(status, shown)

    def delete(self, resource: Resource) -> None:
        """Delete a resource that may be gone already."""
        status, shown = self._ask("DELETE", resource, resource.path)
        if status != HTTPStatus.NOT_FOUND:
            _done(status, shown)

    def owns(self, resource: Resource) -> bool:
        """Whether the resource exists and this one of the stack has made it."""
        is_policy = resource.kind.path == "policies"
        status, shown = self._ask("GET", resource, f"{resource.path}/changes" if is_policy else resource.path)
        if status == HTTPStatus.NOT_FOUND:
            return False
        found = _done(status, shown)
        makers = [each["who"] for each in found["items"] if each["what"] == "created"] if is_policy else []
        return bool(self._who == (makers[0] if makers else found.get("owner")))

    def _ask(
        self, method: str, of: Resource, path: str, body: str | None = None, headers: Mapping[str, str] = {}
    ) -> tuple[int, Any]:
        """The status and the document of an answer. Raises RefusedError if there is none."""
        caller = Caller(self._who, of.namespace, "write")
        event = {
            "version": "2.0",
            "rawPath": path,
            "rawQueryString": "",
            "headers": {"content-type": "application/json", **headers},
            "requestContext": {
                "authorizer": {OWN_FUNCTION: caller.context},
                "http": {"method": method, "path": path},
                "requestId": self._event["RequestId"],
                "stage": "$default",
            },
            "body": body,
            "isBase64Encoded": False,
        }
        refused = RefusedError()
        for tries in range(_TRIES_MAX):
            self._clock.wait_until(self._clock.now() + tries * SECOND_MS)
            if self._time_left_ms() < CALL_MS_MAX + ANSWER_MS_MAX:
                raise RefusedError("The API did not answer in time. Deploy again.")
            try:
                said = self._call(event)
            except StoreError as error:
                refused = RefusedError(str(error))
                continue
            status, text = said["statusCode"], said.get("body")
            document = json_text.read(text) if text else {}
            if status != HTTPStatus.SERVICE_UNAVAILABLE:
                return status, document
            refused = RefusedError(_words(document))
        raise refused


def _done(status: int, document: Any) -> Any:
    """The document of an answer. RefusedError with the words of a problem."""
    if status >= HTTPStatus.BAD_REQUEST:
        raise RefusedError(_words(document))
    return document


def _words(problem: Mapping[str, Any]) -> str:
    """What a problem says: of each field that it names, or of the request."""
    errors = [f"{each['pointer']}: {each['detail']}" for each in problem.get("errors", ())]
    return "; ".join(errors) or str(problem["detail"])


def handle(event: Event, time_left_ms: Callable[[], int]) -> Exception | None:
    """Answer a request of CloudFormation, and return the error that the answer gave.

    Raises if the answer cannot be sent. Then Lambda repeats the request.
    """
    settings = Settings.read()
    check_address(event, settings.endpoint_url)
    error: Exception | None = None
    written = Written()
    try:
        resources = Resources(
            call=LambdaApi(settings.api_function).call,
            clock=SystemClock(),
            namespaces=settings.template_namespaces,
        )
        written = resources.handle(event, time_left_ms)
    except Exception as caught:  # noqa: BLE001 - CloudFormation would wait for its answer until its time-out
        error = caught
    is_known = error is None or isinstance(error, SweephandError)
    answer(
        event,
        error if is_known else RefusedError("A fault of Sweephand. Its log has the reason."),
        written.attributes,
        physical_id=written.physical_id,
        endpoint_url=settings.endpoint_url,
    )
    return error
