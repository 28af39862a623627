"""The operations that write, show, list and delete the windows of a namespace."""

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Final, NotRequired

from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.errors import InvalidError
from sweephand.base.instants import Instant, rfc3339
from sweephand.jobs.windows import WINDOW, shown_window
from sweephand.model.window import Then, Window
from sweephand.web.http.operation import (
    Accepts,
    NoQuery,
    Operation,
    Reply,
    Request,
    Returns,
    Services,
    etag,
    parse_if_match,
    requires_absence,
    revision_headers,
)
from sweephand.web.schemas.field_models import model_of
from sweephand.web.schemas.formats import Time, about
from sweephand.web.schemas.shapes import RequestBody, check, given_fields

_MEANINGS: Final = {each.name: each.meaning for each in WINDOW.fields}


@model_of(WINDOW)
class WindowRequest(RequestBody):
    """A window of a namespace. It opens once, or at each occurrence of a schedule."""


WindowResponse = TypedDict(
    "WindowResponse",
    {
        "namespace": Annotated[str, about("The namespace of the window.")],
        "name": Annotated[str, about("The window's name, unique within its namespace.")],
        "rev": Annotated[str, about("The revision of the window. The `ETag` header shows it too.")],
        "from": NotRequired[Annotated[Time, about(_MEANINGS["from"])]],
        "to": NotRequired[Annotated[Time, about(_MEANINGS["to"])]],
        "schedule": NotRequired[Annotated[str, about(_MEANINGS["schedule"])]],
        "timezone": NotRequired[Annotated[str, about(_MEANINGS["timezone"])]],
        "duration": NotRequired[Annotated[str, about(_MEANINGS["duration"])]],
        "then": Annotated[Then, about(_MEANINGS["then"])],
        "spread": Annotated[str, about(_MEANINGS["spread"])],
        "prefix": NotRequired[Annotated[str, about(_MEANINGS["prefix"])]],
        "labels": NotRequired[Annotated[dict[str, str], about(_MEANINGS["labels"])]],
        "isOpen": Annotated[bool, about("Whether the window is open now.")],
        "opensAt": Annotated[
            Time | None, about("When it opened, if it is open; else when it opens next. Null if it is over.")
        ],
        "closesAt": Annotated[Time | None, about("When it closes after `opensAt`. Null if it is over.")],
        "updatedAt": Annotated[Time, about("When the window was last written.")],
        "updatedBy": Annotated[str, about("The id of the key that wrote it.")],
    },
)
WindowResponse.__doc__ = "A window of a namespace, and when it is open."


class WindowList(TypedDict):
    """The windows of a namespace, at most twenty."""

    items: Annotated[list[WindowResponse], about("The windows, in the order of their names.")]


def window_response(namespace: str, window: Window, now: Instant) -> WindowResponse:
    """A window as responses show it."""
    present = window.opening_at(now)
    opening = present or window.next_opening(now)
    shown: Any = {
        "namespace": namespace,
        "name": window.name,
        "rev": window.version,
        **shown_window(window),
        "isOpen": present is not None,
        "opensAt": None if opening is None else rfc3339(opening.opens_at),
        "closesAt": None if opening is None else rfc3339(opening.closes_at),
        "updatedAt": rfc3339(window.updated_at),
        "updatedBy": window.owner,
    }
    response: WindowResponse = shown
    return response


def _read_window(document: Mapping[str, Any], _: Services, __: Instant) -> Mapping[str, Any]:
    given = given_fields(document)
    violations = check(WindowRequest, given)[1]
    if violations:
        raise InvalidError(violations)
    return given


EXAMPLES: Final[Mapping[str, Any]] = {
    "maintenance each night": {
        "schedule": "0 1 * * *",
        "timezone": "Europe/Paris",
        "duration": "2h",
        "spread": "10m",
        "labels": {"uses": "warehouse"},
    },
    "a freeze over Christmas": {"from": "2036-12-23T17:00:00Z", "to": "2037-01-04T06:00:00Z"},
    "no reminders on Sundays": {
        "schedule": "0 0 * * SUN",
        "duration": "23h",
        "then": "skip",
        "prefix": "reminder-",
    },
}
_LIST_PATH: Final = "/v1/namespaces/{namespace}/windows"
_PATH: Final = _LIST_PATH + "/{window}"
_HEADERS: Final = revision_headers("window")


@partial(
    Operation,
    method="PUT",
    path=_PATH,
    tag="Windows",
    access="write",
    accepts=Accepts(WindowRequest, EXAMPLES, _read_window),
    headers=_HEADERS.if_match | _HEADERS.if_none_match,
    returns={
        200: Returns("The window", WindowResponse, _HEADERS.etag),
        201: Returns("The window was created", WindowResponse, _HEADERS.etag),
    },
    problems=(409, 412, 503),
)
def put_window(services: Services, request: Request[NoQuery, Mapping[str, Any]]) -> Reply:
    """Create or replace a window.

    While a window is open, no attempt at a scheduled trigger of its jobs begins. Attempts that have begun go
    on. Triggers by hand, redrives and chained triggers pass. A change is in force within a minute. A
    namespace has at most {windowsMax} windows, of {windowsBytesMax} bytes in all (409).
    """
    written = services.windows.put(
        request.namespace,
        request.path["window"],
        request.body,
        who=request.caller.key_id,
        requested_at=request.requested_at,
        if_match=parse_if_match(request.headers),
        if_absent=requires_absence(request.headers),
    )
    return _reply(request, written.window, 201 if written.outcome == "created" else 200)


@partial(
    Operation,
    method="GET",
    path=_PATH,
    tag="Windows",
    access="read",
    returns={200: Returns("The window", WindowResponse, _HEADERS.etag)},
    problems=(404,),
)
def get_window(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Show a window, and when it is open."""
    return _reply(request, services.windows.get(request.namespace, request.path["window"]))


@partial(
    Operation,
    method="DELETE",
    path=_PATH,
    tag="Windows",
    access="write",
    headers=_HEADERS.if_match,
    returns={204: Returns("The window is deleted")},
    problems=(404, 412, 503),
)
def delete_window(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Delete a window.

    Within a minute it holds no further trigger. What it holds waits until the window would have closed, but
    for a day at most.
    """
    services.windows.delete(
        request.namespace,
        request.path["window"],
        who=request.caller.key_id,
        requested_at=request.requested_at,
        if_match=parse_if_match(request.headers),
    )
    return Reply(204)


@partial(
    Operation,
    method="GET",
    path=_LIST_PATH,
    tag="Windows",
    access="read",
    returns={200: Returns("The windows", WindowList)},
)
def list_windows(services: Services, request: Request[NoQuery, None]) -> Reply:
    """List windows by name.

    The answer has all windows of the namespace.
    """
    windows = services.windows.all(request.namespace)
    items = [window_response(request.namespace, each, request.requested_at) for each in windows]
    return Reply(200, WindowList(items=items))


def _reply(request: Request[Any, Any], window: Window, status: int = 200) -> Reply:
    response = window_response(request.namespace, window, request.requested_at)
    return Reply(status, response, {"etag": etag(window.version)})
