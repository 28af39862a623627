"""The operations that write, pause, resume, show, list and delete flow policies."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from sweephand.base.errors import InvalidError
from sweephand.base.instants import Instant
from sweephand.jobs.policy_fields import (
    PolicyLimits,
    limits_of,
    policy_violations,
)
from sweephand.model.policy import Policy
from sweephand.model.policy_names import PolicyKey
from sweephand.web.http import cursor
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
from sweephand.web.routes.changes import ChangePage, change_response
from sweephand.web.routes.pause import PAUSE_EXAMPLES, PauseRequest
from sweephand.web.schemas.formats import PageQuery, page_query
from sweephand.web.schemas.policies import (
    PolicyPage,
    PolicyRequest,
    PolicyResponse,
    WholePolicyResponse,
    policy_response,
    whole_policy_response,
)
from sweephand.web.schemas.shapes import check, given_fields


def _read_policy(document: Mapping[str, Any], _: Services, __: Instant) -> PolicyLimits:
    given = given_fields(document)
    violations = [*check(PolicyRequest, given)[1], *policy_violations(given)]
    if violations:
        raise InvalidError(violations)
    return limits_of(given)


EXAMPLES: Final[Mapping[str, Any]] = {
    "at most 50 at a time": {"maxConcurrent": 50},
    "ten a second": {"rate": {"limit": 10, "per": "1s"}},
    "both": {"maxConcurrent": 5, "rate": {"limit": 1000, "per": "1h"}},
    "two at a time for each customer": {"maxConcurrent": 2, "by": "label:customer"},
    "wait while the consumer is out of order": {
        "maxConcurrent": 50,
        "breaker": {"failures": 10, "probeAfter": "1m"},
    },
}
_LIST_PATH: Final = "/v1/namespaces/{namespace}/policies"
POLICY_PATH: Final = _LIST_PATH + "/{policy}"
_HEADERS: Final = revision_headers("policy")


@partial(
    Operation,
    method="PUT",
    path=POLICY_PATH,
    tag="Flow",
    access="write",
    accepts=Accepts(PolicyRequest, EXAMPLES, _read_policy),
    headers=_HEADERS.if_match | _HEADERS.if_none_match,
    returns={
        200: Returns("The policy was changed, or did not change", PolicyResponse, _HEADERS.etag),
        201: Returns("The policy was created", PolicyResponse, _HEADERS.etag),
    },
    problems=(409, 412, 503),
)
def put_policy(services: Services, request: Request[NoQuery, PolicyLimits]) -> Reply:
    """Create or change a policy.

    A change is in force within seconds. If the limit is lowered, requests that are open are not cut. If the
    limits equal the stored ones, nothing changes. A paused policy stays paused. A policy that was deleted
    opens again. The answer is 409 in a stack whose parameter `FlowPolicies` is not `on`. It is 409, too, for
    another `by` while triggers wait under the policy or requests are open.
    """
    written = services.policy_writer.put(
        key_of(request),
        request.body,
        who=request.caller.key_id,
        requested_at=request.requested_at,
        if_match=parse_if_match(request.headers),
        if_absent=requires_absence(request.headers),
    )
    return _reply(services, written.policy, 201 if written.outcome == "created" else 200)


@partial(
    Operation,
    method="POST",
    path=POLICY_PATH + "/pause",
    tag="Flow",
    access="write",
    accepts=Accepts(PauseRequest, PAUSE_EXAMPLES, required=False),
    headers=_HEADERS.if_match,
    returns={200: Returns("The paused policy", PolicyResponse, _HEADERS.etag)},
    problems=(404, 409, 412, 503),
)
def pause_policy(services: Services, request: Request[NoQuery, PauseRequest]) -> Reply:
    """Pause a policy.

    From two seconds after the answer on, no attempt at its triggers begins. Requests that are open are not
    cut, and asynchronous runs go on. Triggers wait, however long the pause lasts. A policy that is already
    paused does not change: it keeps the time and the reason of its first pause. The answer is 409 in a stack
    whose parameter `FlowPolicies` is not `on`.
    """
    policy = services.policy_writer.pause(
        key_of(request),
        reason=request.body.reason,
        who=request.caller.key_id,
        requested_at=request.requested_at,
        if_match=parse_if_match(request.headers),
    )
    return _reply(services, policy)


@partial(
    Operation,
    method="POST",
    path=POLICY_PATH + "/resume",
    tag="Flow",
    access="write",
    headers=_HEADERS.if_match,
    returns={200: Returns("The resumed policy", PolicyResponse, _HEADERS.etag)},
    problems=(404, 412, 503),
)
def resume_policy(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Resume a paused policy.

    Triggers that wait leave within seconds, as the limit allows. A policy that is not paused does not change.
    """
    policy = services.policy_writer.resume(
        key_of(request),
        who=request.caller.key_id,
        requested_at=request.requested_at,
        if_match=parse_if_match(request.headers),
    )
    return _reply(services, policy)


@partial(
    Operation,
    method="GET",
    path=POLICY_PATH,
    tag="Flow",
    access="read",
    returns={200: Returns("The policy and its use", WholePolicyResponse, _HEADERS.etag)},
    problems=(404,),
)
def get_policy(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Show a policy and its use.

    The numbers of its use are read one after the other, while deliveries go on.
    """
    found = services.policy_reader.get(key_of(request), request.requested_at)
    return Reply(200, whole_policy_response(found), {"etag": etag(found.policy.version)})


@partial(
    Operation,
    method="DELETE",
    path=POLICY_PATH,
    tag="Flow",
    access="write",
    headers=_HEADERS.if_match,
    returns={204: Returns("The policy is deleted")},
    problems=(404, 409, 412, 503),
)
def delete_policy(services: Services, request: Request[NoQuery, None]) -> Reply:
    """Delete a policy.

    The policy closes: it is not shown any more, and no other job may name it. Its limit holds for the jobs
    that name it, and their triggers go on to be delivered. A PUT opens the policy again. Requests that are
    open are not cut. The answer is 409 if the policy is paused: resume it first.
    """
    services.policy_writer.delete(
        key_of(request),
        who=request.caller.key_id,
        requested_at=request.requested_at,
        if_match=parse_if_match(request.headers),
    )
    return Reply(204)


@partial(
    Operation,
    method="GET",
    path=_LIST_PATH,
    tag="Flow",
    access="read",
    query=page_query("policies"),
    returns={200: Returns("A page of policies", PolicyPage)},
)
def list_policies(services: Services, request: Request[PageQuery, None]) -> Reply:
    """List policies by name.

    The list shows policies without their use. A page can be short or empty. Call again with the nextCursor of
    the answer, until an answer has none.
    """
    page = services.policy_reader.page(request.namespace, request.query.cursor, request.query.limit)
    return Reply(200, cursor.page_of("policies", page, policy_response))


@partial(
    Operation,
    method="GET",
    path=POLICY_PATH + "/changes",
    tag="Flow",
    access="read",
    query=page_query("changes"),
    returns={200: Returns("A page of changes", ChangePage)},
    problems=(404,),
)
def list_policy_changes(services: Services, request: Request[PageQuery, None]) -> Reply:
    """List the changes of a policy.

    Lists the newest change first. Sweephand keeps a change for 90 days, also if the policy is deleted.
    """
    page = services.policy_changes.page(key_of(request), request.query.cursor, request.query.limit)
    return Reply(200, cursor.page_of("changes", page, change_response))


def _reply(services: Services, policy: Policy, status: int = 200) -> Reply:
    response = policy_response(services.policy_reader.view(policy))
    return Reply(status, response, {"etag": etag(policy.version)})


def key_of(request: Request[Any, Any]) -> PolicyKey:
    """The policy that a request names."""
    return PolicyKey(request.namespace, request.path["policy"])
