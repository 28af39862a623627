"""What a call of the API is, and whether and when its request is sent again.

If no connection was made, or the stack did nothing, any request may be sent again. After a lost answer, only
a request may that does nothing new the second time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final, Generic, Literal, NamedTuple, NotRequired, TypedDict, TypeVar

from sweephand_client.http.errors import Problem

Item = TypeVar("Item")
Body = TypeVar("Body")
Result = TypeVar("Result")

#: The POST requests that may be sent again although the first one may have been carried out.
_REPEATABLE_POSTS: Final = frozenset(
    {
        "pauseJob",
        "resumeJob",
        "pauseJobs",
        "resumeJobs",
        "pausePolicy",
        "resumePolicy",
        "cancelRun",
        "cancelRuns",
        "heartbeatRun",
        "completeRun",
        "failRun",
        "rebuild",
        "audit",
    }
)

#: Why an attempt failed. `not-sent`: no connection was made. `unanswered`: the request left, and what it did
#: is unknown. `refused`: the stack asked to send it later, and did nothing.
Failure = Literal["not-sent", "unanswered", "refused"]

_GATEWAY: Final = (HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT)

#: How the API says in a 503 that it changed nothing. Any other 503 leaves it open.
_CHANGED_NOTHING: Final = ("othing was written", "was not written", "changed nothing")


class Page(TypedDict, Generic[Item]):
    """A page of a list. It has a `nextCursor` if there may be more."""

    items: list[Item]
    nextCursor: NotRequired[str]


class Operation(NamedTuple, Generic[Body, Result]):
    """A call of the API: its name in the OpenAPI document, and the types of its body and its answer."""

    name: str
    method: str
    path: str

    def reads(self, body: Any) -> bool:
        """Whether the call changes nothing on the stack."""
        is_dry = isinstance(body, Mapping) and body.get("dryRun") is True
        return self.method == "GET" or self.name in {"previewOccurrences", "previewCalendar"} or is_dry

    @property
    def is_about_one(self) -> bool:
        """Whether the path names one thing, so that 404 says that this thing does not exist."""
        return self.path.endswith("}")

    def is_repeatable(self, headers: Mapping[str, str], body: Any) -> bool:
        """Whether a second request does nothing that the first has not done.

        A PUT of a job begins a new series if the job is completed by then. A revision in If-Match prevents
        that. If-None-Match prevents it only if the job stays after its completion.
        """
        if self.reads(body):
            return True
        if self.name != "putJob":
            return self.method != "POST" or self.name in _REPEATABLE_POSTS
        if headers.get("if-match", "*") != "*":
            return True
        stays = not (isinstance(body, Mapping) and body.get("deleteAfterCompletion"))
        return "if-none-match" in headers and stays


@dataclass(frozen=True, slots=True)
class Repetition:
    """How often and for how long a request is sent again. Times are in seconds.

    `waited_max_s` bounds the sum of all waits of one request.
    """

    attempts_max: int = 6
    connects_max: int = 3
    first_s: float = 0.2
    longest_s: float = 5
    waited_max_s: float = 30

    def delay_s(
        self,
        failure: Failure,
        *,
        is_repeatable: bool,
        attempt: int,
        waited_s: float,
        retry_after_s: float | None,
        fraction: float,
    ) -> float | None:
        """How long to wait before the next attempt, or None if there is none.

        `attempt` counts from 1. `fraction` is drawn from 0 to 1: half of each delay is random. A request that
        is not repeatable is sent again only if the stack surely did nothing.
        """
        if failure == "unanswered" and not is_repeatable:
            return None
        if attempt >= (self.connects_max if failure == "not-sent" else self.attempts_max):
            return None
        whole_s = min(self.longest_s, self.first_s * 2 ** (attempt - 1))
        delay_s = whole_s * (1 + fraction) / 2 if retry_after_s is None else retry_after_s
        return delay_s if waited_s + delay_s <= self.waited_max_s else None


def failure_of(problem: Problem) -> Failure | None:
    """What kind of failure an answer is after which the request may be sent again; None for any other answer.

    A 503 of the API says whether it changed nothing. Else a store may have made the change all the same.
    """
    if problem.status == HTTPStatus.TOO_MANY_REQUESTS or changed_nothing(problem):
        return "refused"
    return "unanswered" if problem.status in _GATEWAY else None


def changed_nothing(problem: Problem) -> bool:
    """Whether a problem of the API says that it is worth another try, and that nothing was changed."""
    said = any(each in problem.detail for each in _CHANGED_NOTHING)
    return problem.status == HTTPStatus.SERVICE_UNAVAILABLE and problem.kind == "unavailable" and said


def retry_after_s(text: str | None) -> float | None:
    """The seconds of a Retry-After header. None without it, and for a date, which the API never sends."""
    return float(text) if text is not None and text.strip().isdecimal() else None
