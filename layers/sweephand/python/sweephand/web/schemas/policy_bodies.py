"""The body of the call that writes a flow policy, and the responses that show policies."""

from typing import Annotated, Any, NotRequired

from pydantic import ConfigDict, Field
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.instants import rfc3339
from sweephand.jobs.policies import MAX_CONCURRENT, PER_MEANING, POLICY, RATE, RATE_LIMIT
from sweephand.jobs.policy_reader import PolicyView
from sweephand.schedules import duration_text
from sweephand.web.schemas.field_models import model_of
from sweephand.web.schemas.run_responses import NextCursor, Time, time_or_none
from sweephand.web.schemas.shapes import RequestBody


@model_of(RATE)
class PolicyRateRequest(RequestBody):
    """How many requests may leave within a time."""


#: A policy without any limit is none.
_HAS_A_LIMIT: dict[str, Any] = {
    "anyOf": [
        {"required": ["maxConcurrent"], "properties": {"maxConcurrent": {"type": "integer"}}},
        {"required": ["rate"], "properties": {"rate": {"type": "object"}}},
    ]
}


@model_of(POLICY)
class PolicyRequest(RequestBody):
    """The limits that the triggers of all jobs of a policy share. Give one of them, or both."""

    model_config = ConfigDict(json_schema_extra=_HAS_A_LIMIT)


class PolicyRateResponse(TypedDict):
    """How many requests may leave within a time."""

    limit: Annotated[int, Field(description=RATE_LIMIT.meaning)]
    per: Annotated[str, Field(description=f"{PER_MEANING} A Go duration.")]


class PolicyResponse(TypedDict):
    """A flow policy as a list shows it."""

    namespace: Annotated[str, Field(description="The namespace of the policy.")]
    name: Annotated[str, Field(description="The policy's name, unique within its namespace.")]
    rev: Annotated[str, Field(description="The revision. The `ETag` header shows it too.")]
    maxConcurrent: NotRequired[Annotated[int, Field(description=MAX_CONCURRENT.meaning)]]
    rate: NotRequired[
        Annotated[PolicyRateResponse, Field(description="How many requests of the policy's jobs may leave.")]
    ]
    effectiveMaxConcurrent: Annotated[
        int,
        Field(
            description="How many requests of the policy the stack can have open at once. It is less than "
            "`maxConcurrent` if the stack may run too few flow functions. Asynchronous runs that go on after "
            "a 202 need no function, so `inUse` can be more. It is 0 while flow policies are off in the "
            "stack."
        ),
    ]
    createdAt: Annotated[Time, Field(description="When the policy was created.")]
    updatedAt: Annotated[Time, Field(description="When the policy was last written.")]


class WholePolicyResponse(PolicyResponse):
    """A flow policy and how much of it is in use."""

    inUse: Annotated[
        int,
        Field(
            description="How many permits are taken now, by asynchronous runs and by functions that deliver. "
            "A function takes up to ten permits at once, and all of them count."
        ),
    ]
    waiting: Annotated[
        int,
        Field(
            description="How many triggers that are due stand in the policy's line. A trigger stands there "
            "until its request is over. Triggers that were put there together, up to a hundred, all count "
            "until the last of them is over."
        ),
    ]
    waitingIsExact: Annotated[
        bool, Field(description="False if `waiting` was not counted to its end: at least so many wait.")
    ]
    waitingSince: Annotated[
        Time | None,
        Field(
            description="The time from which on the first of these triggers could have been delivered. Null "
            "if there is none."
        ),
    ]


class PolicyPage(TypedDict):
    """A page of flow policies in the order of their names. It has a `nextCursor` if there may be more."""

    items: Annotated[list[PolicyResponse], Field(description="The policies, in the order of their names.")]
    nextCursor: NotRequired[NextCursor]


def policy_response(view: PolicyView) -> PolicyResponse:
    """A policy as a list shows it."""
    policy = view.policy
    response: PolicyResponse = {
        "namespace": policy.key.namespace,
        "name": policy.key.name,
        "rev": policy.version,
        "effectiveMaxConcurrent": view.effective_max,
        "createdAt": rfc3339(policy.created_at),
        "updatedAt": rfc3339(policy.updated_at),
    }
    if policy.concurrent_max is not None:
        response["maxConcurrent"] = policy.concurrent_max
    if policy.rate is not None:
        response["rate"] = {"limit": policy.rate.limit, "per": duration_text(policy.rate.per_ms)}
    return response


def whole_policy_response(view: PolicyView) -> WholePolicyResponse:
    """A policy with its use, which the view must have."""
    use = view.use
    assert use is not None, "a policy that is read alone has its use"
    return {
        **policy_response(view),
        "inUse": use.in_use,
        "waiting": use.waiting,
        "waitingIsExact": use.is_exact,
        "waitingSince": time_or_none(use.waiting_since),
    }
