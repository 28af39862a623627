"""The answers about policies, namespaces, keys and the stack.

`make client-types` writes this module from the OpenAPI document, which says what each field means. Times in
answers are RFC 3339 in UTC. A newer stack may answer with more fields.
"""

from decimal import Decimal
from typing import Any, Literal, NotRequired, TypedDict

from sweephand_client.openapi.job_answers import FieldChangeResponse
from sweephand_client.openapi.requests import Role


class CalendarDay(TypedDict):
    """A day that is closed, or that is open against the rule of its week."""

    date: str
    isClosed: bool
    reason: str


class CalendarResponse(TypedDict):
    """A calendar."""

    namespace: str
    name: str
    rev: str
    knownUntil: NotRequired[str]
    source: NotRequired[str]
    state: Literal["current", "following"]
    jobsChanged: int
    createdAt: str
    updatedAt: str
    owner: str
    weekend: NotRequired[list[Literal["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]]]
    holidays: NotRequired[list[dict[str, Any]]]
    ics: NotRequired[str]
    closed: NotRequired[list[Any]]
    open: NotRequired[list[Any]]
    nextDays: list[CalendarDay]


class CalendarPreview(TypedDict):
    """The days that a calendar would have."""

    nextDays: list[CalendarDay]
    changes: list[CalendarDay]
    knownUntil: NotRequired[str]


class CalendarDays(TypedDict):
    """Days of a calendar."""

    days: list[CalendarDay]


class CalendarBriefResponse(TypedDict):
    """A calendar as a list shows it."""

    namespace: str
    name: str
    rev: str
    knownUntil: NotRequired[str]
    source: NotRequired[str]
    state: Literal["current", "following"]
    jobsChanged: int
    createdAt: str
    updatedAt: str
    owner: str


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


class NamespaceSummary(TypedDict):
    """A namespace in a list."""

    namespace: str


class NamespaceLimitsResponse(TypedDict):
    """The limits of a namespace that are set."""

    triggersPerMinute: NotRequired[int]
    jobs: NotRequired[int]
    payload: NotRequired[int]


class AllowedTargetsResponse(TypedDict):
    """Where the HTTP targets of a namespace may be: the lists that are set."""

    hosts: NotRequired[list[str]]
    networks: NotRequired[list[str]]


class NamespaceResponse(TypedDict):
    """The settings of a namespace."""

    namespace: str
    rev: NotRequired[str]
    limits: NamespaceLimitsResponse
    defaultTarget: NotRequired[dict[str, Any]]
    defaultRetry: NotRequired[dict[str, Any]]
    allowedTargets: NotRequired[AllowedTargetsResponse]
    jobsCounted: NotRequired[int]
    updatedAt: NotRequired[str]
    updatedBy: NotRequired[str]


class SecretResponse(TypedDict):
    """A signing secret."""

    secret: str
    createdAt: str
    expiresAt: str | None


class SecretsResponse(TypedDict):
    """The signing secrets that are active, newest first."""

    items: list[SecretResponse]


class PublicKeyResponse(TypedDict):
    """A public key that verifies signatures of the scheme `v1a`."""

    key: str
    createdAt: str
    expiresAt: str | None


class PublicKeysResponse(TypedDict):
    """The public keys of the ed25519 keys that sign now, newest first."""

    items: list[PublicKeyResponse]


class NamedSecretResponse(TypedDict):
    """A secret without its value."""

    namespace: str
    name: str
    scheme: Literal["v1", "v1a"] | None
    createdAt: str
    updatedAt: str


class KeyResponse(TypedDict):
    """An API key, without its secret."""

    id: str
    namespace: str
    role: Role
    createdAt: str
    expiresAt: str | None
    description: str | None
    replacedBy: str | None
    principal: str | None
    createdBy: str
    requestsPerMinute: int | None


class NewKeyResponse(KeyResponse):
    """A new API key."""

    key: str | None


class RotatedKeyResponse(KeyResponse):
    """The new API key of a rotation."""

    key: str
    replaces: KeyResponse


class MeResponse(TypedDict):
    """What the key or the token of the caller allows."""

    id: str
    namespace: str
    role: Role
    expiresAt: str | None
    stats: bool
    version: str


class AdminChangeResponse(TypedDict):
    """One change of a key, a secret or the settings of a namespace."""

    time: str
    who: str
    what: Literal["created", "replaced", "rotated", "revoked", "deleted"]
    subject: Literal["key", "secret", "signing-secret", "signing-key", "settings", "calendar"]
    namespace: str
    name: str | None
    fields: list[FieldChangeResponse]
    reason: str | None


class NotRebuiltResponse(TypedDict):
    """A job that could not be armed again."""

    namespace: str
    name: str
    detail: str


class RebuildResponse(TypedDict):
    """What one call of a rebuild has done."""

    jobs: int
    timers: int
    runs: int
    failed: list[NotRebuiltResponse]
    nextCursor: NotRequired[str]


class LostTimerResponse(TypedDict):
    """A job whose timer was lost."""

    namespace: str
    name: str
    dueAt: str


class LostRunResponse(TypedDict):
    """A run that would not have ended by itself."""

    namespace: str
    name: str
    runId: str
    dueAt: str


class NotAuditedResponse(TypedDict):
    """A job that could not be examined."""

    namespace: str
    name: str
    detail: str


class AuditResponse(TypedDict):
    """What one call of an audit has found."""

    jobs: int
    late: int
    timers: list[LostTimerResponse]
    runs: list[LostRunResponse]
    failed: list[NotAuditedResponse]
    written: int
    kept: int
    nextCursor: NotRequired[str]


class HealthResponse(TypedDict):
    """The age of the heartbeat of the tick function."""

    status: Literal["ok"]
    heartbeatAt: str
    heartbeatAgeSeconds: Decimal | float
    enabled: bool
    version: str
    offSince: NotRequired[str]
