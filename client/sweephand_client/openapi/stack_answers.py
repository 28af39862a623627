"""The answers about keys and the stack.

`make client-types` writes this module from the OpenAPI document, which says what each field means. Times in
answers are RFC 3339 in UTC. A newer stack may answer with more fields.
"""

from decimal import Decimal
from typing import Literal, NotRequired, TypedDict

from sweephand_client.openapi.job_answers import FieldChangeResponse
from sweephand_client.openapi.requests import Role


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
    """One change of a key, a secret, a calendar, a window, or settings of a namespace."""

    time: str
    who: str
    what: Literal["created", "replaced", "rotated", "revoked", "deleted"]
    subject: Literal["key", "secret", "signing-secret", "signing-key", "settings", "calendar", "window"]
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
