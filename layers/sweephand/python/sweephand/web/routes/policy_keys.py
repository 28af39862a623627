"""The operation that lists the values that wait under a policy with `by`."""

from functools import partial
from typing import Annotated, NotRequired

from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.instants import rfc3339
from sweephand.jobs.policy_reader import KeyUse
from sweephand.web.http import cursor
from sweephand.web.http.operation import Operation, Reply, Request, Returns, Services
from sweephand.web.routes.policies import POLICY_PATH, key_of
from sweephand.web.schemas.formats import NextCursor, PageQuery, Time, about, page_query


class PolicyKeyResponse(TypedDict):
    """What waits under one value of a policy with `by`."""

    value: Annotated[str, about("The value that `by` names; empty for jobs that have none.")]
    waiting: Annotated[int, about("How many triggers stand in the lines of the value.")]
    waitingIsExact: Annotated[
        bool, about("False if `waiting` was not counted to its end: at least so many wait.")
    ]
    waitingSince: Annotated[
        Time, about("The time from which on the first of these triggers could have been delivered.")
    ]


class PolicyKeyPage(TypedDict):
    """A page of the values that wait under a policy. It has a `nextCursor` if there may be more."""

    items: Annotated[list[PolicyKeyResponse], about("The values, those first that have waited longest.")]
    nextCursor: NotRequired[NextCursor]


def key_response(use: KeyUse) -> PolicyKeyResponse:
    """What waits under one value."""
    return {
        "value": use.value,
        "waiting": use.waiting,
        "waitingIsExact": use.is_exact,
        "waitingSince": rfc3339(use.waiting_since),
    }


@partial(
    Operation,
    method="GET",
    path=POLICY_PATH + "/keys",
    tag="Flow",
    access="read",
    query=page_query("keys"),
    returns={200: Returns("A page of values", PolicyKeyPage)},
    problems=(404,),
)
def list_policy_keys(services: Services, request: Request[PageQuery, None]) -> Reply:
    """List the values that wait under a policy with `by`.

    Lists those first whose lines have held something for longest without a break of some minutes. A page can
    be short or empty, and a value with a limit above 32 can be on several pages. Call again with the
    nextCursor of the answer, until an answer has none. A policy without `by` has no values.
    """
    page = services.policy_reader.keys(key_of(request), request.query.cursor, request.query.limit)
    return Reply(200, cursor.page_of("keys", page, key_response))
