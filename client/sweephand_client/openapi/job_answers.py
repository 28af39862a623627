"""The answers about jobs and due times.

`make client-types` writes this module from the OpenAPI document, which says what each field means. Times in
answers are RFC 3339 in UTC. A newer stack may answer with more fields.
"""

from decimal import Decimal
from typing import Any, Literal, NotRequired, TypedDict

from sweephand_client.openapi.requests import CatchUpMode, JobState


class OutcomeResponse(TypedDict):
    """The state of a recent run."""

    id: str
    state: Literal["claimed", "running", "retrying", "succeeded", "failed", "skipped", "cancelled"]


class JobHealthResponse(TypedDict):
    """How a job does, by its newest runs that have a record."""

    failing: bool
    failuresInARow: int
    runs: list[OutcomeResponse]


class JobResponse(TypedDict):
    """A job as a list shows it: the fields that the caller wrote, and those that Sweephand sets."""

    namespace: str
    name: str
    rev: str
    state: JobState
    nextRun: str | None
    pausedAt: NotRequired[str]
    pauseReason: NotRequired[str]
    pausedUntil: NotRequired[str]
    resumeCatchup: NotRequired[CatchUpMode]
    onDemand: NotRequired[Literal[True]]
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
    calendar: NotRequired[dict[str, str]]
    target: dict[str, Any]
    retry: NotRequired[dict[str, Any]]
    batch: NotRequired[dict[str, Any]]
    overlap: NotRequired[Literal["allow", "skip", "wait", "waitLatest"]]
    waitLimit: NotRequired[int]
    catchup: NotRequired[dict[str, str]]
    deadLetterQueue: NotRequired[str]
    history: NotRequired[Literal["outcome", "full", "failures"]]
    completion: NotRequired[Literal["sync", "async"]]
    onComplete: NotRequired[dict[str, Any]]
    heartbeatTimeout: NotRequired[str]
    maxRunTime: NotRequired[str]
    alertAfter: NotRequired[str]
    onAlert: NotRequired[dict[str, Any]]
    onError: NotRequired[Literal["continue", "pause"]]
    historyRetention: NotRequired[str]
    retention: NotRequired[str]
    deleteAfterCompletion: NotRequired[bool]
    policy: NotRequired[str]
    priority: NotRequired[Literal["high", "normal", "low"]]
    labels: NotRequired[dict[str, str]]
    description: NotRequired[str]
    health: NotRequired[JobHealthResponse]


class FailureResponse(TypedDict):
    """Why an attempt failed."""

    attempt: int
    reason: str
    responseCode: int | None


class AttemptResponse(TypedDict):
    """An attempt of a run."""

    attempt: int
    startedAt: str
    durationMs: int | None
    responseCode: int | None
    answer: str | None


class RunResponse(TypedDict):
    """The record of delivering one trigger."""

    id: str
    triggerId: str
    state: Literal[
        "claimed",
        "running",
        "retrying",
        "succeeded",
        "failed",
        "skipped",
        "cancelled",
        "scheduled",
        "enqueued",
        "waiting",
    ]
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
    lastFailure: NotRequired[FailureResponse]
    attemptHistory: NotRequired[list[AttemptResponse]]
    result: NotRequired[Any]
    count: NotRequired[int]
    lastDueAt: NotRequired[str]
    traceparent: NotRequired[str]
    traceOrigin: NotRequired[str]


class WholeJobResponse(JobResponse):
    """A job with its data, its last run and the state of its policy."""

    data: NotRequired[Any]
    policyBlock: NotRequired[Literal["paused", "broken", "missing", "off"]]
    lastRun: RunResponse | None


class CountResponse(TypedDict):
    """The result of a bulk call."""

    count: int
    nextCursor: NotRequired[str]


class ViolationResponse(TypedDict):
    """One field that cannot be accepted."""

    pointer: str
    detail: str


class ProblemResponse(TypedDict):
    """A problem document (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    errors: NotRequired[list[ViolationResponse]]


class BulkWriteResult(TypedDict):
    """The result of one job of a bulk write: `rev` if the job was written, else `problem`."""

    name: Any
    status: int
    outcome: NotRequired[Literal["created", "replaced", "unchanged"]]
    rev: NotRequired[str]
    problem: NotRequired[ProblemResponse]


class BulkWriteResponse(TypedDict):
    """The result of each job, in the order of the request."""

    results: list[BulkWriteResult]


class TriggerResponse(TypedDict):
    """A trigger on demand."""

    id: str
    triggerId: str
    dueAt: str
    count: NotRequired[int]
    batchId: NotRequired[str]


class BackfillResponse(TypedDict):
    """The triggers that a backfill makes."""

    count: int
    firstId: str | None
    lastId: str | None


class FieldChangeResponse(TypedDict):
    """A top-level field of a job that was changed."""

    name: str
    before: NotRequired[Any]
    after: NotRequired[Any]


class ChangeResponse(TypedDict):
    """One write of a job."""

    time: str
    who: str
    what: Literal["created", "replaced", "patched", "paused", "resumed", "deleted"]
    reason: str | None
    until: NotRequired[str]
    fields: NotRequired[list[FieldChangeResponse]]


class NearestResponse(TypedDict):
    """The due times around the instant, without the trigger in question."""

    before: str | None
    after: str | None


class ClockChangeResponse(TypedDict):
    """A clock change that has moved or dropped a local time."""

    kind: Literal["gap", "overlap"]
    local: str
    timezone: str
    rule: str


class CalendarDay(TypedDict):
    """A day that is closed, or that is open against the rule of its week."""

    date: str
    isClosed: bool
    reason: str


class CalendarEvidenceResponse(TypedDict):
    """What the calendar has done to the occurrences of a day."""

    name: str | None
    day: CalendarDay
    otherwise: Literal["skip", "next", "previous", "nearest"]
    movedTo: str | None


class JitterResponse(TypedDict):
    """By how much jitter moves the job."""

    seconds: Decimal | float


class StandstillResponse(TypedDict):
    """A span in which the stack delivered nothing."""

    kind: Literal["stopped", "off"]
    since: str
    until: str | None


class LimitResponse(TypedDict):
    """A limit for which triggers wait now."""

    level: Literal["stack", "namespace"]
    triggersPerMinute: int
    takenUntil: str


class EvidenceResponse(TypedDict):
    """What speaks for the verdict."""

    change: NotRequired[ChangeResponse]
    resumed: NotRequired[ChangeResponse]
    clockChange: NotRequired[ClockChangeResponse]
    calendar: NotRequired[CalendarEvidenceResponse]
    jitter: NotRequired[JitterResponse]
    standstill: NotRequired[StandstillResponse]
    policy: NotRequired[str]
    waitsFor: NotRequired[str]
    limit: NotRequired[LimitResponse]


class NextResponse(TypedDict):
    """What happens next."""

    at: str | None
    step: str


class ExplainResponse(TypedDict):
    """Why a job fired at an instant, or did not."""

    at: str
    verdict: Literal[
        "not-created",
        "deleted",
        "expired",
        "paused",
        "on-demand",
        "before-due-time",
        "after-ttl",
        "repeats-used",
        "not-scheduled",
        "calendar",
        "clock-change",
        "jitter",
        "misfire",
        "overlap",
        "window",
        "delivered",
        "running",
        "retrying",
        "failed",
        "cancelled",
        "scheduled",
        "switched-off",
        "stopped",
        "waiting-window",
        "waiting-turn",
        "waiting-policy",
        "waiting-limit",
        "not-swept",
        "enqueued",
        "not-kept",
    ]
    summary: str
    dueAt: str | None
    nearest: NearestResponse
    evidence: EvidenceResponse
    run: NotRequired[RunResponse]
    next: NotRequired[NextResponse]
    history: Literal["kept", "not-kept"]


class OccurrenceResponse(TypedDict):
    """One due time."""

    utc: str
    local: str
    reason: NotRequired[
        Literal["gap-shifted", "overlap-first", "overlap-last", "calendar-moved", "calendar-owed"]
    ]
    movedFrom: NotRequired[CalendarDay]


class SkippedResponse(TypedDict):
    """A time of the schedule that is not a due time, because the clock changes, or by the calendar."""

    utc: str
    local: str
    reason: Literal["gap-skipped", "overlap-skipped", "calendar-skipped", "calendar-fired"]
    day: NotRequired[CalendarDay]


class OccurrencesResponse(TypedDict):
    """Due times in order, and a description of the schedule."""

    occurrences: list[OccurrenceResponse]
    skipped: list[SkippedResponse]
    description: str
    end: str | None


class ForecastBucketResponse(TypedDict):
    """A bucket of a forecast."""

    at: str
    triggers: int


#: How many triggers fall due in each bucket.
ForecastResponse = TypedDict(
    "ForecastResponse",
    {
        "from": str,
        "to": str,
        "bucketSeconds": int,
        "buckets": list[ForecastBucketResponse],
        "jobs": int,
        "paused": int,
        "nextCursor": NotRequired[str],
    },
)
