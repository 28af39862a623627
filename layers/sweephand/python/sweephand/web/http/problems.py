"""Turns an error into a status and a problem document (RFC 9457)."""

from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from itertools import islice
from typing import Annotated, Final, NotRequired

from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.errors import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    GoneError,
    InvalidError,
    MalformedError,
    NotFoundError,
    ParameterError,
    PreconditionError,
    QuotaError,
    RateError,
    StoreError,
    SweephandError,
    TooLargeError,
    UnavailableError,
    UnsupportedError,
    Violation,
)
from sweephand.base.instants import SECOND_MS
from sweephand.base.limits import PROBLEM_BYTES_MAX, PROBLEM_ERRORS_MAX
from sweephand.base.names import printable, shortened
from sweephand.base.timing import RECOUNT_AFTER_MS
from sweephand.web.http import json_text
from sweephand.web.schemas.formats import about


class ViolationResponse(TypedDict):
    """One field that cannot be accepted."""

    pointer: Annotated[
        str,
        about(
            "A JSON pointer (RFC 6901) into the body, or a parameter. A very long one is cut, "
            "and ends in an ellipsis."
        ),
    ]
    detail: Annotated[str, about("A sentence that says what is wrong or what would be valid.")]


class ProblemResponse(TypedDict):
    """A problem document (RFC 9457)."""

    type: Annotated[str, about("The kind of problem: `urn:sweephand:problem:…`.")]
    title: Annotated[str, about("The kind of problem in a few words.")]
    status: Annotated[int, about("The HTTP status.")]
    detail: Annotated[str, about("A sentence that says what was wrong with this request.")]
    errors: NotRequired[
        Annotated[
            list[ViolationResponse],
            about(
                "The fields or parameters that cannot be accepted: all of them, unless `detail` "
                "says how many are named. Other problems do not have this list."
            ),
        ]
    ]


class GatewayRefusal(TypedDict):
    """The body with which API Gateway itself refuses a request. It is not a problem document."""

    message: Annotated[str, about("The message of API Gateway, such as `Unauthorized` or `Forbidden`.")]


CONTENT_TYPE: Final = "application/problem+json"

#: A pointer or a sentence is cut at this number of characters. A name that a caller made up can fill a body.
#: The longest pointer of a valid field and the longest sentence of this API are much shorter.
_POINTER_LENGTH_MAX: Final = 512
_SENTENCE_LENGTH_MAX: Final = 1_024

#: Room in a problem for its type, title and detail. A character takes up to six bytes in JSON.
_HEAD_BYTES: Final = 6 * _SENTENCE_LENGTH_MAX + 1_024


class UnauthenticatedError(BadRequestError):
    """A request without a caller for an operation that needs one. The gateway did not call the authorizer."""


class MethodError(BadRequestError):
    """The path has no operation of this method. `allowed` are the methods that it has."""

    def __init__(self, method: str, allowed: Iterable[str]) -> None:
        self.allowed = tuple(sorted(allowed))
        super().__init__(f"This path does not take {method}. It takes {', '.join(self.allowed)}.")


class DataTooLargeError(TooLargeError):
    """`data` is over its limit, while the body is within the limit of bodies."""

    def __init__(self, violation: Violation) -> None:
        super().__init__(violation.detail)
        self.violation = violation


#: The last part of a problem's type and its title, by status.
KINDS: Final[Mapping[int, tuple[str, str]]] = {
    400: ("malformed", "The body cannot be read"),
    401: ("unauthenticated", "No key"),
    403: ("forbidden", "The role does not suffice"),
    404: ("not-found", "Not found"),
    405: ("method", "The path does not take this method"),
    409: ("conflict", "The present state does not allow this"),
    410: ("gone", "The run or its attempt is over"),
    412: ("precondition", "Not in that revision"),
    413: ("too-large", "Larger than a limit"),
    415: ("unsupported", "Not JSON"),
    422: ("invalid", "Fields that cannot be accepted"),
    429: ("quota", "A limit of the namespace or of the key is reached"),
    500: ("internal", "A fault of Sweephand"),
    503: ("unavailable", "Not available at present"),
}
_STATUSES: Final[Mapping[type[SweephandError], int]] = {
    BadRequestError: 400,
    MalformedError: 400,
    UnauthenticatedError: 401,
    ForbiddenError: 403,
    NotFoundError: 404,
    ConflictError: 409,
    GoneError: 410,
    MethodError: 405,
    PreconditionError: 412,
    QuotaError: 429,
    RateError: 429,
    TooLargeError: 413,
    UnsupportedError: 415,
    InvalidError: 422,
    StoreError: 503,
    UnavailableError: 503,
}
_FIXED_DETAILS: Final[Mapping[int, str]] = {
    500: "Sweephand failed to answer this request. Its log has the reason under the request's id.",
    503: "A store did not answer. It may have made the change all the same. You can safely send the request "
    "again. Only a trigger or a backfill then makes new triggers.",
}

#: The detail of a 503 to a request that only reads.
_NOT_READ: Final = "A store did not answer. You can safely send the request again."


def status_of(error: Exception) -> int:
    """The HTTP status of an error: 500 for an error that the table does not have."""
    return next((_STATUSES[kind] for kind in type(error).__mro__ if kind in _STATUSES), 500)


def problem_of(error: Exception, *, reads: bool = False) -> ProblemResponse:
    """The problem document of an error. It hides the message of an unexpected error and of a StoreError.

    A ParameterError is shown: its message is for the operator, and nothing was written. `reads` says whether
    the request only reads, so that no store can have made a change.
    """
    status = status_of(error)
    if isinstance(error, InvalidError):
        errors = _named(error.violations)
        count = len(error.violations)
        number = f"More than {PROBLEM_ERRORS_MAX}" if count > PROBLEM_ERRORS_MAX else str(count)
        detail = f"{number} {'field' if count == 1 else 'fields'} cannot be accepted."
        if count > len(errors):
            detail += f" The first {len(errors)} are named."
        return build_problem(status, detail, errors)
    if isinstance(error, DataTooLargeError):
        return build_problem(status, str(error), _named([error.violation]))
    is_hidden = isinstance(error, StoreError) and not isinstance(error, ParameterError)
    shows_message = isinstance(error, SweephandError) and not is_hidden
    if shows_message and status != HTTPStatus.INTERNAL_SERVER_ERROR:
        return build_problem(status, str(error))
    is_unread = reads and status == HTTPStatus.SERVICE_UNAVAILABLE
    return build_problem(status, _NOT_READ if is_unread else _FIXED_DETAILS[status])


def build_problem(status: int, detail: str, errors: Sequence[ViolationResponse] = ()) -> ProblemResponse:
    """A problem document. Each status has one type. The type is a name (URN), not an address."""
    kind, title = KINDS[status]
    found: ProblemResponse = {
        "type": f"urn:sweephand:problem:{kind}",
        "title": title,
        "status": status,
        "detail": shortened(printable(detail), _SENTENCE_LENGTH_MAX),
    }
    if errors:
        found["errors"] = list(errors)
    return found


def _named(violations: Iterable[Violation]) -> list[ViolationResponse]:
    """The first violations: as many as a problem names, and as have room in it."""
    found: list[ViolationResponse] = []
    room = PROBLEM_BYTES_MAX - _HEAD_BYTES
    for each in islice(violations, PROBLEM_ERRORS_MAX):
        error: ViolationResponse = {
            "pointer": shortened(each.pointer, _POINTER_LENGTH_MAX),
            "detail": shortened(_sentence(each.detail), _SENTENCE_LENGTH_MAX),
        }
        room -= len(json_text.write(error).encode()) + 1  # and a comma
        if room < 0:
            break
        found.append(error)
    return found


def _sentence(text: str) -> str:
    """A detail as a sentence. An escape sequence replaces each character that does not print."""
    text = printable(text)
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", ")", "?")) else ".")


def headers(error: Exception) -> dict[str, str]:
    """The response headers that RFC 9110 requires or suggests for the status of an error."""
    if isinstance(error, MethodError):
        return {"allow": ", ".join(error.allowed)}
    if isinstance(error, UnauthenticatedError):
        return {"www-authenticate": "Bearer"}
    if isinstance(error, QuotaError):
        return {"retry-after": str(RECOUNT_AFTER_MS // SECOND_MS)}
    if isinstance(error, RateError):
        return {"retry-after": str(error.retry_after_s)}
    if status_of(error) == HTTPStatus.SERVICE_UNAVAILABLE:
        return {"retry-after": "5"}
    return {}
