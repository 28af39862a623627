"""The bodies of requests, and the values that a query parameter takes.

`make client-types` writes this module from the OpenAPI document, which says what each field means. Times in
answers are RFC 3339 in UTC. A newer stack may answer with more fields.
"""

from decimal import Decimal
from typing import Any, Literal, NotRequired, TypedDict


class ScheduleFields(TypedDict):
    """An object with these fields."""

    second: NotRequired[str | int | None]
    minute: NotRequired[str | int | None]
    hour: NotRequired[str | int | None]
    dayOfMonth: NotRequired[str | int | None]
    month: NotRequired[str | int | None]
    dayOfWeek: NotRequired[str | int | None]
    year: NotRequired[str | int | None]


class Dst(TypedDict):
    """The rule for a fixed local time on a day when the clock changes."""

    gap: NotRequired[Literal["shift", "skip"] | None]
    overlap: NotRequired[Literal["first", "last", "both"] | None]


class JobCalendar(TypedDict):
    """On which days of a calendar a job fires, and what happens to an occurrence on another day."""

    name: str
    days: NotRequired[Literal["open", "closed"] | None]
    otherwise: NotRequired[Literal["skip", "next", "previous", "nearest"] | None]


class SecretRef(TypedDict):
    """The name of a secret of the namespace."""

    secretRef: str


class HttpTarget(TypedDict):
    """An HTTPS endpoint: it receives `data` as the body, signed by Standard Webhooks."""

    type: Literal["http"]
    url: str
    method: NotRequired[Literal["POST", "PUT", "PATCH", "DELETE", "GET"] | None]
    headers: NotRequired[dict[str, str | SecretRef] | None]
    timeout: NotRequired[str | None]
    format: NotRequired[Literal["json", "cloudevents", "cloudevents-binary"] | None]
    signingSecret: NotRequired[SecretRef | None]


class SqsTarget(TypedDict):
    """An SQS queue: each trigger is a message of `data`, with one attribute `sweephand`."""

    type: Literal["sqs"]
    queueUrl: str
    messageGroupId: NotRequired[str | None]
    format: NotRequired[Literal["json", "raw"] | None]
    scheduleArn: NotRequired[str | None]
    roleArn: NotRequired[str | None]


class LambdaTarget(TypedDict):
    """A Lambda function: its event has `data`, and the trigger's names as `sweephand`."""

    type: Literal["lambda"]
    functionArn: str
    invocation: NotRequired[Literal["async", "sync"] | None]
    timeout: NotRequired[str | None]
    format: NotRequired[Literal["json", "raw"] | None]
    scheduleArn: NotRequired[str | None]
    roleArn: NotRequired[str | None]


class SnsTarget(TypedDict):
    """An SNS topic: each trigger is a message of `data`, with one attribute `sweephand`."""

    type: Literal["sns"]
    topicArn: str
    messageGroupId: NotRequired[str | None]
    format: NotRequired[Literal["json", "raw"] | None]
    scheduleArn: NotRequired[str | None]
    roleArn: NotRequired[str | None]


class EventbridgeTarget(TypedDict):
    """An EventBridge bus: the event's detail has `data`, and the trigger's names as `sweephand`."""

    type: Literal["eventbridge"]
    busArn: str
    detailType: NotRequired[str | None]
    source: NotRequired[str | None]
    format: NotRequired[Literal["json", "raw"] | None]
    scheduleArn: NotRequired[str | None]
    roleArn: NotRequired[str | None]


class StepfunctionsTarget(TypedDict):
    """A Step Functions state machine: each trigger starts an execution, named by its id."""

    type: Literal["stepfunctions"]
    stateMachineArn: str
    format: NotRequired[Literal["json", "raw"] | None]
    scheduleArn: NotRequired[str | None]
    roleArn: NotRequired[str | None]


class DefaultTarget(TypedDict):
    """The `defaultTarget` in the settings of the namespace, as it is at each delivery."""

    type: Literal["default"]
    path: NotRequired[str | None]
    method: NotRequired[Literal["POST", "PUT", "PATCH", "DELETE", "GET"] | None]
    headers: NotRequired[dict[str, str | SecretRef] | None]
    timeout: NotRequired[str | None]
    format: NotRequired[Literal["json", "cloudevents", "cloudevents-binary"] | None]
    signingSecret: NotRequired[SecretRef | None]


Target = (
    HttpTarget
    | SqsTarget
    | LambdaTarget
    | SnsTarget
    | EventbridgeTarget
    | StepfunctionsTarget
    | DefaultTarget
)


class RetryRequest(TypedDict):
    """The attempts at a trigger: their number, their delays, and for how long they go on."""

    maxAttempts: NotRequired[int | None]
    maxAge: NotRequired[str | None]
    initialDelay: NotRequired[str | None]
    multiplier: NotRequired[Decimal | float | None]
    maxDelay: NotRequired[str | None]


class BatchRequest(TypedDict):
    """How many triggers each occurrence has, and over which time they are spread."""

    count: int
    window: NotRequired[str | None]


CatchUpMode = Literal["latest", "all", "none"]


class CatchUpRequest(TypedDict):
    """The rule for occurrences that an outage of the stack has made late."""

    mode: NotRequired[CatchUpMode | None]
    window: NotRequired[str | None]


class JobTarget(TypedDict):
    """Another job of the namespace, triggered when a run has ended; its `data` is what is told of the end."""

    type: Literal["job"]
    name: str
    when: NotRequired[Literal["succeeded", "failed", "always"] | None]


EndTarget = (
    HttpTarget
    | SqsTarget
    | LambdaTarget
    | SnsTarget
    | EventbridgeTarget
    | StepfunctionsTarget
    | DefaultTarget
    | JobTarget
)


class JobRequest(TypedDict):
    """A job as the caller writes it."""

    schedule: NotRequired[str | ScheduleFields | list[str] | None]
    timezone: NotRequired[str | None]
    dueTime: NotRequired[str | None]
    ttl: NotRequired[str | None]
    repeats: NotRequired[int | None]
    dst: NotRequired[Dst | None]
    jitter: NotRequired[str | None]
    calendar: NotRequired[JobCalendar | None]
    target: NotRequired[Target | None]
    data: NotRequired[Any]
    retry: NotRequired[RetryRequest | None]
    deadLetterQueue: NotRequired[str | None]
    batch: NotRequired[BatchRequest | None]
    overlap: NotRequired[Literal["allow", "skip", "wait", "waitLatest"] | None]
    waitLimit: NotRequired[int | None]
    catchup: NotRequired[CatchUpRequest | None]
    completion: NotRequired[Literal["sync", "async"] | None]
    heartbeatTimeout: NotRequired[str | None]
    maxRunTime: NotRequired[str | None]
    onComplete: NotRequired[EndTarget | None]
    alertAfter: NotRequired[str | None]
    onAlert: NotRequired[Target | None]
    onError: NotRequired[Literal["continue", "pause"] | None]
    policy: NotRequired[str | None]
    priority: NotRequired[Literal["high", "normal", "low"] | None]
    history: NotRequired[Literal["outcome", "full", "failures"] | None]
    historyRetention: NotRequired[str | None]
    retention: NotRequired[str | None]
    deleteAfterCompletion: NotRequired[bool | None]
    labels: NotRequired[dict[str, str] | None]
    description: NotRequired[str | None]
    eventbridge: NotRequired[str | None]


class JobPatchRequest(JobRequest):
    """The fields of a job that a patch writes."""


class NamedJobRequest(JobRequest):
    """A job and its name."""

    name: str


class BulkJobRequest(JobRequest):
    """An entry of a bulk write: a job, its name, and on which condition it is written."""

    ifMatch: NotRequired[str | None]
    ifNoneMatch: NotRequired[Literal["*"] | None]
    name: str


class BulkWriteRequest(TypedDict):
    """The jobs of a bulk write."""

    jobs: list[NamedJobRequest | BulkJobRequest]
    dryRun: NotRequired[bool]
    reason: NotRequired[str | None]


class PauseRequest(TypedDict):
    """The reason of a pause."""

    reason: NotRequired[str | None]


class JobPauseRequest(PauseRequest):
    """The reason of a pause, and when it ends by itself."""

    until: NotRequired[str | None]
    catchup: NotRequired[CatchUpMode | None]


class ResumeRequest(TypedDict):
    """The options of a resume."""

    catchup: NotRequired[CatchUpMode | None]


class TriggerRequest(TypedDict):
    """The data of a trigger on demand."""

    data: NotRequired[Any]


#: The range of a backfill.
BackfillRequest = TypedDict(
    "BackfillRequest",
    {
        "from": str,
        "to": str,
    },
)


class BulkPauseRequest(PauseRequest):
    """Selects the jobs to pause, and says why and until when."""

    until: NotRequired[str | None]
    catchup: NotRequired[CatchUpMode | None]
    prefix: NotRequired[str | None]
    labels: NotRequired[dict[str, str] | None]
    cursor: NotRequired[str | None]


class BulkResumeRequest(ResumeRequest):
    """Selects the jobs to resume, and says which missed triggers fire."""

    prefix: NotRequired[str | None]
    labels: NotRequired[dict[str, str] | None]
    cursor: NotRequired[str | None]


class PreviewRequest(TypedDict):
    """A schedule that is not stored: `schedule`, `dueTime` or both are required."""

    schedule: NotRequired[str | ScheduleFields | list[str] | None]
    timezone: NotRequired[str | None]
    dueTime: NotRequired[str | None]
    ttl: NotRequired[str | None]
    repeats: NotRequired[int | None]
    dst: NotRequired[Dst | None]
    jitter: NotRequired[str | None]
    calendar: NotRequired[JobCalendar | None]
    after: NotRequired[str | None]
    limit: NotRequired[int | None]
    namespace: NotRequired[str | None]


class RedriveRunsRequest(TypedDict):
    """Selects the failed runs to redrive."""

    prefix: NotRequired[str | None]
    labels: NotRequired[dict[str, str] | None]
    since: NotRequired[str | None]
    until: NotRequired[str | None]
    reason: NotRequired[str | None]
    dryRun: NotRequired[bool]
    cursor: NotRequired[str | None]


class CancelRunsRequest(TypedDict):
    """Selects the runs to cancel."""

    prefix: NotRequired[str | None]
    labels: NotRequired[dict[str, str] | None]
    since: NotRequired[str | None]
    until: NotRequired[str | None]
    reason: NotRequired[str | None]
    dryRun: NotRequired[bool]
    state: NotRequired[Literal["retrying", "running"] | None]
    cursor: NotRequired[str | None]


class CompletionRequest(TypedDict):
    """The callback that completes a run."""

    result: NotRequired[Any]


class FailureRequest(TypedDict):
    """The callback that fails an attempt."""

    reason: NotRequired[str | None]
    retry: NotRequired[bool | None]


class SecretRequest(TypedDict):
    """A secret that jobs of the namespace may name."""

    value: str


Role = Literal["read", "write", "admin"]


class KeyRequest(TypedDict):
    """The API key to make."""

    namespace: str
    role: Role
    expiresIn: NotRequired[str | None]
    description: NotRequired[str | None]
    requestsPerMinute: NotRequired[int | None]
    principal: NotRequired[str | None]


class KeyRotation(TypedDict):
    """How to rotate an API key."""

    overlap: NotRequired[str | None]
    expiresIn: NotRequired[str | None]


class RebuildRequest(TypedDict):
    """Which jobs are armed again, and from when on."""

    namespace: NotRequired[str | None]
    cursor: NotRequired[str | None]
    since: str


class AuditRequest(TypedDict):
    """Which jobs are examined, and whether what was lost is written again."""

    namespace: NotRequired[str | None]
    cursor: NotRequired[str | None]
    dryRun: NotRequired[bool]


NamespaceTarget = HttpTarget | SqsTarget | LambdaTarget | SnsTarget | EventbridgeTarget | StepfunctionsTarget
JobState = Literal["active", "paused", "completed"]
RunFilter = Literal[
    "claimed", "running", "retrying", "succeeded", "failed", "skipped", "cancelled", "waiting"
]
FlaggedRunFilter = Literal["failed", "skipped", "retrying", "running", "claimed"]
