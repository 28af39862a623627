"""The bodies of requests about flow policies, and of their answers."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict
from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from sweephand.base.instants import rfc3339, rfc3339_or_none
from sweephand.jobs.policy_fields import (
    BREAKER,
    BREAKER_MEANING,
    BY,
    MAX_CONCURRENT,
    PER_MEANING,
    POLICY,
    RATE,
    RATE_LIMIT,
    shown_limits,
)
from sweephand.jobs.policy_reader import PolicyView
from sweephand.web.schemas.field_models import model_of
from sweephand.web.schemas.formats import NextCursor, Time, about
from sweephand.web.schemas.shapes import RequestBody, needs_one_of


@model_of(RATE)
class PolicyRateRequest(RequestBody):
    """How many requests may leave within a time."""


@model_of(BREAKER)
class PolicyBreakerRequest(RequestBody):
    """When triggers wait because the consumer is out of order."""


@model_of(POLICY)
class PolicyRequest(RequestBody):
    """The limits that the triggers of all jobs of a policy share. Give one of them, or both."""

    model_config = ConfigDict(json_schema_extra=needs_one_of(max_concurrent=[None], rate=[None]))


class PolicyRateResponse(TypedDict):
    """How many requests may leave within a time."""

    limit: Annotated[int, about(RATE_LIMIT.meaning)]
    per: Annotated[str, about(f"{PER_MEANING} A Go duration.")]


class PolicyBreakerResponse(TypedDict):
    """When triggers wait because the consumer is out of order."""

    failures: Annotated[int, about("After so many failed attempts in a row triggers wait.")]
    probeAfter: Annotated[
        str, about("While triggers wait, one request leaves after each such time. A Go duration.")
    ]


class PolicyResponse(TypedDict):
    """A flow policy as a list shows it."""

    namespace: Annotated[str, about("The namespace of the policy.")]
    name: Annotated[str, about("The policy's name, unique within its namespace.")]
    rev: Annotated[str, about("The revision. The `ETag` header shows it too.")]
    maxConcurrent: NotRequired[Annotated[int, about(MAX_CONCURRENT.meaning)]]
    rate: NotRequired[
        Annotated[PolicyRateResponse, about("How many requests of the policy's jobs may leave.")]
    ]
    by: NotRequired[Annotated[str, about(BY.meaning)]]
    breaker: NotRequired[Annotated[PolicyBreakerResponse, about(BREAKER_MEANING)]]
    effectiveMaxConcurrent: Annotated[
        int,
        about(
            "How many requests of the policy the stack can have open at once, while it is not paused. It is "
            "less than `maxConcurrent` if the stack may run too few flow functions. Each has ten slots of "
            "the policy at most, or a quarter of a small limit. Asynchronous runs that go on after a 202 "
            "need no function, so `inUse` can be more. Under a policy with `by`, it is what one value can "
            "have open. It is 0 while flow policies are off in the stack."
        ),
    ]
    state: Annotated[
        Literal["active", "paused", "broken"],
        about(
            "`paused`: no request leaves, and what waits stays, until the policy is resumed. `broken`: its "
            "breaker is open. What waits stays until a probe gets an answer."
        ),
    ]
    pausedAt: NotRequired[Annotated[Time, about("When the policy was paused.")]]
    pauseReason: NotRequired[Annotated[str, about("Why the policy was paused, if the caller gave a reason.")]]
    brokenAt: NotRequired[Annotated[Time, about("When the breaker opened, if it is open.")]]
    nextProbeAt: NotRequired[Annotated[Time, about("When the next probe leaves, if the breaker is open.")]]
    createdAt: Annotated[Time, about("When the policy was created.")]
    updatedAt: Annotated[Time, about("When the policy was last written.")]


class WholePolicyResponse(PolicyResponse):
    """A flow policy and how much of it is in use. A policy with `by` has its use for each value alone."""

    inUse: NotRequired[
        Annotated[
            int,
            about(
                "How many slots of the policy are taken now, by asynchronous runs and by functions that "
                "deliver. A function takes up to ten slots at once, and all of them count."
            ),
        ]
    ]
    waiting: NotRequired[
        Annotated[
            int,
            about(
                "How many triggers stand in the policy's lines. A trigger stands there from shortly before "
                "it is due until its request is over. Triggers that were put there together, up to twenty, "
                "all count until the last of them is over."
            ),
        ]
    ]
    waitingIsExact: NotRequired[
        Annotated[bool, about("False if `waiting` was not counted to its end: at least so many wait.")]
    ]
    waitingSince: NotRequired[
        Annotated[
            Time | None,
            about(
                "The time from which on the first of these triggers could have been delivered. Null "
                "if there is none."
            ),
        ]
    ]


class PolicyPage(TypedDict):
    """A page of flow policies in the order of their names. It has a `nextCursor` if there may be more."""

    items: Annotated[list[PolicyResponse], about("The policies, in the order of their names.")]
    nextCursor: NotRequired[NextCursor]


def policy_response(view: PolicyView) -> PolicyResponse:
    """A policy as a list shows it."""
    policy = view.policy
    shown: Any = {
        "namespace": policy.key.namespace,
        "name": policy.key.name,
        "rev": policy.version,
        "effectiveMaxConcurrent": view.effective_max,
        "state": "paused" if policy.paused_at is not None else "active" if policy.probe is None else "broken",
        **({} if policy.paused_at is None else {"pausedAt": rfc3339(policy.paused_at)}),
        **({} if policy.pause_reason is None else {"pauseReason": policy.pause_reason}),
        **({} if policy.broken_at is None else {"brokenAt": rfc3339(policy.broken_at)}),
        **({} if policy.probe_at is None else {"nextProbeAt": rfc3339(policy.probe_at)}),
        "createdAt": rfc3339(policy.created_at),
        "updatedAt": rfc3339(policy.updated_at),
        **shown_limits(policy),
    }
    response: PolicyResponse = shown
    return response


def whole_policy_response(view: PolicyView) -> WholePolicyResponse:
    """A policy with its use, if the view has that."""
    shown: Any = policy_response(view)
    response: WholePolicyResponse = shown
    if (use := view.use) is not None:
        response["inUse"] = use.in_use
        response["waiting"] = use.waiting
        response["waitingIsExact"] = use.is_exact
        response["waitingSince"] = rfc3339_or_none(use.waiting_since)
    return response
