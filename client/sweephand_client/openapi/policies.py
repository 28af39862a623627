"""The bodies of calls about policies, and their answers.

`make client-types` writes this module from the OpenAPI document, which says what each field means. Times in
answers are RFC 3339 in UTC. A newer stack may answer with more fields.
"""

from typing import Literal, NotRequired, TypedDict


class PolicyRateRequest(TypedDict):
    """How many requests may leave within a time."""

    limit: int
    per: str


class PolicyBreakerRequest(TypedDict):
    """When triggers wait because the consumer is out of order."""

    failures: int
    probeAfter: str


class PolicyRequest(TypedDict):
    """The limits that the triggers of all jobs of a policy share."""

    maxConcurrent: NotRequired[int | None]
    rate: NotRequired[PolicyRateRequest | None]
    by: NotRequired[str | None]
    breaker: NotRequired[PolicyBreakerRequest | None]


class PolicyRateResponse(TypedDict):
    """How many requests may leave within a time."""

    limit: int
    per: str


class PolicyBreakerResponse(TypedDict):
    """When triggers wait because the consumer is out of order."""

    failures: int
    probeAfter: str


class PolicyResponse(TypedDict):
    """A flow policy as a list shows it."""

    namespace: str
    name: str
    rev: str
    maxConcurrent: NotRequired[int]
    rate: NotRequired[PolicyRateResponse]
    by: NotRequired[str]
    breaker: NotRequired[PolicyBreakerResponse]
    effectiveMaxConcurrent: int
    state: Literal["active", "paused", "broken"]
    pausedAt: NotRequired[str]
    pauseReason: NotRequired[str]
    brokenAt: NotRequired[str]
    nextProbeAt: NotRequired[str]
    createdAt: str
    updatedAt: str


class WholePolicyResponse(PolicyResponse):
    """A flow policy and how much of it is in use."""

    inUse: NotRequired[int]
    waiting: NotRequired[int]
    waitingIsExact: NotRequired[bool]
    waitingSince: NotRequired[str | None]


class PolicyKeyResponse(TypedDict):
    """What waits under one value of a policy with `by`."""

    value: str
    waiting: int
    waitingIsExact: bool
    waitingSince: str
