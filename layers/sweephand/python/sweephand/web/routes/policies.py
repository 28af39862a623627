"""The operations that write, show, list and delete flow policies."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from sweephand.base.instants import Instant
from sweephand.jobs.policies import PolicyLimits, limits_of, policy_violations
from sweephand.model.policy_names import PolicyKey
from sweephand.web.http import cursor, json_text
from sweephand.web.http.operation import (
    Accepts,
    NoQuery,
    Operation,
    ParsedBody,
    Reply,
    Request,
    Returns,
)
from sweephand.web.http.preconditions import etag, parse_if_match, requires_absence
from sweephand.web.schemas.policy_bodies import (
    PolicyPage,
    PolicyRequest,
    PolicyResponse,
    WholePolicyResponse,
    policy_response,
    whole_policy_response,
)
from sweephand.web.schemas.query import ChangesQuery, PoliciesQuery
from sweephand.web.schemas.responses import ChangePage, change_response
from sweephand.web.schemas.shapes import check
from sweephand.web.services import Services


def _read_policy(document: Mapping[str, Any], _: Services, __: Instant) -> ParsedBody[PolicyLimits]:
    given = {
        name: json_text.with_plain_numbers(value) for name, value in document.items() if value is not None
    }
    violations = [*check(PolicyRequest, given)[1], *policy_violations(given)]
    return ParsedBody(None if violations else limits_of(given), tuple(violations))


EXAMPLES: Final[Mapping[str, Any]] = {
    "at most 50 at a time": {"maxConcurrent": 50},
    "ten a second": {"rate": {"limit": 10, "per": "1s"}},
    "both": {"maxConcurrent": 5, "rate": {"limit": 1000, "per": "1h"}},
}
_LIST_PATH: Final = "/v1/namespaces/{namespace}/policies"
_PATH: Final = _LIST_PATH + "/{policy}"
_ETAG: Final = {"ETag": "The revision of the policy, in double quotes."}
_IF_MATCH: Final = {
    "If-Match": "An ETag: the call writes only if the policy has this revision. `*`: only if it exists."
}
_ABSENT: Final = {"If-None-Match": "`*`: the call writes the policy only if it does not exist."}


@partial(
    Operation,
    method="PUT",
    path=_PATH,
    tag="Flow",
    access="write",
    accepts=Accepts(PolicyRequest, _read_policy, EXAMPLES),
    headers=_IF_MATCH | _ABSENT,
    returns={
        200: Returns("The policy was changed, or did not change", PolicyResponse, _ETAG),
        201: Returns("The policy was created", PolicyResponse, _ETAG),
    },
    problems=(409, 412, 503),
)
def put_policy(services: Services, request: Request[NoQuery, PolicyLimits]) -> Reply:
    """Create or change a policy.

    A change is in force within seconds. If the limit is lowered, requests that are open are not cut. If the
    limits equal the stored ones, nothing changes. The answer is 409 in a stack whose parameter `FlowPolicies`
    is not `on`.
    """
    written = services.policy_writer.put(
        _key(request),
        request.body,
        who=request.caller.key_id,
        requested_at=request.requested_at,
        if_match=parse_if_match(request.headers.get("if-match")),
        if_absent=requires_absence(request.headers.get("if-none-match")),
    )
    response = policy_response(services.policy_reader.view(written.policy))
    status = 201 if written.outcome == "created" else 200
    return Reply(status, response, {"etag": etag(written.policy.version)})


@partial(
    Operation,
    method="GET",
    path=_PATH,
    tag="Flow",
    access="read",
    returns={200: Returns("The policy and its use", WholePolicyResponse, _ETAG)},
    problems=(404,),
)
def get_policy(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Show a policy and its use.

    The numbers of its use are read one after the other, while deliveries go on.
    """
    found = services.policy_reader.get(_key(request), request.requested_at)
    return Reply(200, whole_policy_response(found), {"etag": etag(found.policy.version)})


@partial(
    Operation,
    method="DELETE",
    path=_PATH,
    tag="Flow",
    access="write",
    headers=_IF_MATCH,
    returns={204: Returns("The policy is deleted")},
    problems=(404, 412, 503),
)
def delete_policy(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Delete a policy.

    Jobs may still name the policy. Their triggers wait until a policy of that name is created again, or until
    the job names another policy or none. Requests that are open are not cut.
    """
    services.policy_writer.delete(
        _key(request),
        who=request.caller.key_id,
        requested_at=request.requested_at,
        if_match=parse_if_match(request.headers.get("if-match")),
    )
    return Reply(204)


@partial(
    Operation,
    method="GET",
    path=_LIST_PATH,
    tag="Flow",
    access="read",
    query=PoliciesQuery,
    returns={200: Returns("A page of policies", PolicyPage)},
)
def list_policies(services: Services, request: Request[PoliciesQuery, None]) -> Reply:
    """List policies by name.

    The list shows policies without their use. A page can be short or empty. Call again with the nextCursor of
    the answer, until an answer has none.
    """
    page = services.policy_reader.page(request.namespace, request.query.cursor, request.query.limit)
    response: PolicyPage = {"items": [policy_response(each) for each in page.items]}
    if page.next is not None:
        response["nextCursor"] = cursor.encode("policies", page.next)
    return Reply(200, response)


@partial(
    Operation,
    method="GET",
    path=_PATH + "/changes",
    tag="Flow",
    access="read",
    query=ChangesQuery,
    returns={200: Returns("A page of changes", ChangePage)},
    problems=(404,),
)
def list_policy_changes(services: Services, request: Request[ChangesQuery, None]) -> Reply:
    """List the changes of a policy.

    Lists the newest change first. Sweephand keeps a change for 90 days, also if the policy is deleted.
    """
    page = services.policy_changes.page(_key(request), request.query.cursor, request.query.limit)
    response: ChangePage = {"items": [change_response(each) for each in page.items]}
    if page.next is not None:
        response["nextCursor"] = cursor.encode("changes", page.next)
    return Reply(200, response)


def _key(request: Request[Any, Any]) -> PolicyKey:
    return PolicyKey(request.namespace, request.path["policy"])
