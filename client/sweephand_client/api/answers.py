"""The answers of the API. They are JSON objects as the API sends them, and these types name their fields.

The OpenAPI document of a stack (`/v1/openapi.json`) says what each field means. Times are RFC 3339 in UTC. An
answer of a newer stack may have more fields.
"""

from decimal import Decimal
from typing import Any, NotRequired, TypedDict


class Failure(TypedDict):
    """Why an attempt failed."""

    attempt: int
    reason: str
    responseCode: int | None


class Run(TypedDict):
    """The record of delivering one trigger."""

    id: str
    triggerId: str
    state: str
    dueAt: str
    sequence: int
    attempts: int
    startedAt: str | None
    endedAt: str | None
    latenessMs: int | None
    nextAttemptAt: str | None
    heartbeatBy: NotRequired[str]
    runUntil: NotRequired[str]
    responseCode: int | None
    answer: str | None
    reason: str | None
    skippedFor: NotRequired[str]
    policy: NotRequired[str]
    lastFailure: NotRequired[Failure]
    result: NotRequired[Any]
    count: NotRequired[int]
    lastDueAt: NotRequired[str]


class NamespaceRun(Run):
    """A run, with the name of its job."""

    job: str


class Nearest(TypedDict):
    """The due times around an instant."""

    before: str | None
    after: str | None


class Next(TypedDict):
    """What happens next."""

    at: str | None
    step: str


class Explanation(TypedDict):
    """Why a job fired at an instant, or did not. The OpenAPI document names the fields of `evidence`."""

    at: str
    verdict: str
    summary: str
    dueAt: str | None
    nearest: Nearest
    evidence: dict[str, Any]
    run: NotRequired[Run]
    next: NotRequired[Next]
    history: str


class Job(TypedDict):
    """A job as a list shows it: the fields that the caller wrote, and those that Sweephand sets."""

    namespace: str
    name: str
    rev: str
    state: str
    nextRun: str | None
    pausedAt: NotRequired[str]
    pauseReason: NotRequired[str]
    onDemand: NotRequired[bool]
    createdAt: str
    updatedAt: str
    owner: str
    expiresAt: NotRequired[str]
    schedule: NotRequired[Any]
    timezone: NotRequired[str]
    dueTime: NotRequired[str]
    ttl: NotRequired[str]
    repeats: NotRequired[int]
    dst: NotRequired[dict[str, str]]
    jitter: NotRequired[str]
    target: dict[str, Any]
    retry: NotRequired[dict[str, Any]]
    batch: NotRequired[dict[str, Any]]
    overlap: NotRequired[str]
    waitLimit: NotRequired[int]
    catchup: NotRequired[dict[str, str]]
    deadLetterQueue: NotRequired[str]
    history: NotRequired[str]
    completion: NotRequired[str]
    onComplete: NotRequired[dict[str, Any]]
    heartbeatTimeout: NotRequired[str]
    maxRunTime: NotRequired[str]
    alertAfter: NotRequired[str]
    onAlert: NotRequired[dict[str, Any]]
    onError: NotRequired[str]
    historyRetention: NotRequired[str]
    retention: NotRequired[str]
    deleteAfterCompletion: NotRequired[bool]
    policy: NotRequired[str]
    priority: NotRequired[str]
    labels: NotRequired[dict[str, str]]
    description: NotRequired[str]


class WholeJob(Job):
    """A job with its data, its last run and the state of its policy."""

    data: NotRequired[Any]
    policyBlock: NotRequired[str]
    lastRun: Run | None


class Redriven(TypedDict):
    """A run that Sweephand tries again."""

    id: str
    triggerId: str
    attempt: int


class Triggered(TypedDict):
    """A trigger on demand."""

    id: str
    triggerId: str
    dueAt: str
    count: NotRequired[int]
    batchId: NotRequired[str]


class Backfilled(TypedDict):
    """The triggers that a backfill makes."""

    count: int
    firstId: str | None
    lastId: str | None


class BatchEnd(TypedDict):
    """How the runs of a batch had ended when all of them were over for the first time."""

    state: str
    succeeded: int
    failed: int
    cancelled: int


class ListedBatch(TypedDict):
    """A batch in a list."""

    id: str
    dueAt: str
    total: int
    endedAt: str | None
    overran: bool
    end: NotRequired[BatchEnd]


class Batch(ListedBatch):
    """The progress of a batch."""

    state: str
    succeeded: int
    failed: int
    cancelled: int
    estimatedEndAt: str | None


class Occurrence(TypedDict):
    """One due time."""

    utc: str
    local: str
    reason: NotRequired[str]


class Skipped(TypedDict):
    """A local time of the schedule that is not a due time, because the clock changes."""

    utc: str
    local: str
    reason: str


class Occurrences(TypedDict):
    """Due times in order, and a description of the schedule."""

    occurrences: list[Occurrence]
    skipped: list[Skipped]
    description: str
    end: str | None


class FieldChange(TypedDict):
    """A top-level field of a job that was changed."""

    name: str
    before: NotRequired[Any]
    after: NotRequired[Any]


class Change(TypedDict):
    """One write of a job."""

    time: str
    who: str
    what: str
    reason: str | None
    fields: NotRequired[list[FieldChange]]


class AdminChange(TypedDict):
    """One change of a key, a secret or the settings of a namespace."""

    time: str
    who: str
    what: str
    subject: str
    namespace: str
    name: str | None
    fields: list[FieldChange]
    reason: str | None


class Rate(TypedDict):
    """How many requests may leave within a time."""

    limit: int
    per: str


class Policy(TypedDict):
    """A flow policy as a list shows it."""

    namespace: str
    name: str
    rev: str
    maxConcurrent: NotRequired[int]
    rate: NotRequired[Rate]
    effectiveMaxConcurrent: int
    createdAt: str
    updatedAt: str


class WholePolicy(Policy):
    """A flow policy and how much of it is in use."""

    inUse: int
    waiting: int
    waitingIsExact: bool
    waitingSince: str | None


class Namespace(TypedDict):
    """A namespace in a list."""

    namespace: str


class NamespaceSettings(TypedDict):
    """The settings of a namespace."""

    namespace: str
    rev: NotRequired[str]
    limits: dict[str, Any]
    defaultTarget: NotRequired[dict[str, Any]]
    defaultRetry: NotRequired[dict[str, Any]]
    allowedTargets: NotRequired[dict[str, Any]]
    jobsCounted: NotRequired[int]
    updatedAt: NotRequired[str]
    updatedBy: NotRequired[str]


class Secret(TypedDict):
    """A secret without its value."""

    namespace: str
    name: str
    scheme: str | None
    createdAt: str
    updatedAt: str


class SigningSecret(TypedDict):
    """A signing secret."""

    secret: str
    createdAt: str
    expiresAt: str | None


class PublicKey(TypedDict):
    """A public key that verifies signatures of the scheme `v1a`."""

    key: str
    createdAt: str
    expiresAt: str | None


class Key(TypedDict):
    """An API key, without its secret."""

    id: str
    namespace: str
    role: str
    createdAt: str
    expiresAt: str | None
    description: str | None
    replacedBy: str | None
    principal: str | None
    createdBy: str
    requestsPerMinute: int | None


class NewKey(Key):
    """A new API key. Only this response shows the key itself."""

    key: str | None


class RotatedKey(Key):
    """The new API key of a rotation. Only this response shows the key itself."""

    key: str
    replaces: Key


class Me(TypedDict):
    """What the key or the token of the caller allows."""

    id: str
    namespace: str
    role: str
    expiresAt: str | None
    stats: bool
    version: str


class Health(TypedDict):
    """The age of the heartbeat of the tick function."""

    status: str
    heartbeatAt: str
    heartbeatAgeSeconds: Decimal | int
    enabled: bool
    version: str
    offSince: NotRequired[str]


class BulkResult(TypedDict):
    """The result of one job of a bulk write: `rev` if the job was written, else `problem`."""

    name: Any
    status: int
    rev: NotRequired[str]
    problem: NotRequired[dict[str, Any]]
