"""The errors of the client. Each says what was wrong, and where possible what would be right.

SweephandError is the root. InputError is found before any call. RefusedError is an answer of the API.
StackFailedError is a fault of the stack, and UnreachableError means that no stack answered.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

#: What a person should know about an error whose `may_have_written` is true.
MAY_HAVE_WRITTEN: Final = "The stack may have done what was asked all the same. Look before you try again."


@dataclass(frozen=True, slots=True)
class FieldError:
    """A field that the API does not accept: its JSON pointer into the body, or the name of a parameter."""

    pointer: str
    detail: str


#: The kind of the problem of something that was not deleted because something else was refused.
HELD_BACK: Final = "held-back"


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem document of the API (RFC 9457). The gateway's own refusals have no errors and no kind."""

    status: int
    title: str
    detail: str
    errors: tuple[FieldError, ...] = ()
    kind: str = ""

    def __str__(self) -> str:
        """The problem in words, with a line for each field."""
        lines = [self.detail or self.title]
        lines += [f"  {each.pointer or '(the whole body)'}: {each.detail}" for each in self.errors]
        return "\n".join(lines)


class SweephandError(Exception):
    """The root of all errors of this package."""


class InputError(SweephandError):
    """An argument, a file or a profile cannot be used. No call was made for it."""


class UnreachableError(SweephandError):
    """No stack answered at `url`. Check the address, the network, and that the stack runs.

    `may_have_written` says that a request left and its answer was lost. The stack may have done what it asks.
    """

    def __init__(self, url: str, reason: str, *, may_have_written: bool = False) -> None:
        self.url = url
        self.may_have_written = may_have_written
        super().__init__(f"{url} cannot be reached: {reason}")


class _AnswerError(SweephandError):
    """An answer that is not 2xx. `problem` is what it says.

    `may_have_written`: the stack may have done what was asked all the same, in this attempt or an earlier
    one.
    """

    def __init__(self, problem: Problem, url: str = "", *, may_have_written: bool = False) -> None:
        self.problem = problem
        self.url = url
        self.may_have_written = may_have_written
        super().__init__(str(problem))


class StackFailedError(_AnswerError):
    """The stack could not do what was asked (5xx), also after the repetitions that are safe."""


class RefusedError(_AnswerError):
    """The API refused a request (4xx). A subclass says why."""


class InvalidError(RefusedError):
    """The request cannot be accepted (400, 405, 413, 415, 422). `problem.errors` names the fields."""


class UnauthenticatedError(RefusedError):
    """There is no key or token, or the token is not valid (401). Give another one."""


class ForbiddenError(RefusedError):
    """The key is unknown, was revoked or has expired, or its role does not suffice (403)."""


class NotFoundError(RefusedError):
    """There is no such thing, or the key is for another namespace (404)."""


class ConflictError(RefusedError):
    """The present state does not allow this (409)."""


class GoneError(RefusedError):
    """The run or its attempt is over (410)."""


class PreconditionError(RefusedError):
    """The thing has another revision than the one that the caller gave (412). Read it again."""


class TooManyError(RefusedError):
    """A limit of the namespace or of the gateway is reached (429). Try again later."""


_KINDS: Final[Mapping[int, type[RefusedError]]] = {
    400: InvalidError,
    401: UnauthenticatedError,
    403: ForbiddenError,
    404: NotFoundError,
    405: InvalidError,
    409: ConflictError,
    410: GoneError,
    412: PreconditionError,
    413: InvalidError,
    415: InvalidError,
    422: InvalidError,
    429: TooManyError,
}


def problem_of(status: int, body: Any) -> Problem:
    """The problem that an answer states. `body` is its JSON, or None if it has none.

    The body is the API's problem document or the gateway's `{"message": …}`. Of any other body, only the
    status is told.
    """
    if isinstance(body, Mapping) and isinstance(body.get("detail"), str):
        named = body.get("errors")
        errors = tuple(
            FieldError(str(each.get("pointer", "")), str(each.get("detail", "")))
            for each in (named if isinstance(named, list) else ())
            if isinstance(each, Mapping)
        )
        kind = str(body.get("type", "")).rpartition(":")[2]
        return Problem(status, str(body.get("title", "")), body["detail"], errors, kind)
    said = body.get("message") if isinstance(body, Mapping) else None
    detail = f"The gateway answers {status}: {said}." if said else f"The answer is {status}."
    if said == "Forbidden":
        detail += " The key may be mistyped, expired or revoked."
    return Problem(status, "", detail)


def error_of(
    problem: Problem, url: str = "", *, may_have_written: bool = False
) -> RefusedError | StackFailedError:
    """The error that stands for a problem, by its status."""
    if 400 <= problem.status < 500:  # noqa: PLR2004 - 4xx
        kind = _KINDS.get(problem.status, RefusedError)
        return kind(problem, url, may_have_written=may_have_written)
    return StackFailedError(problem, url, may_have_written=may_have_written)
