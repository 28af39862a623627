"""The answers about runs, batches and what was delivered.

`make client-types` writes this module from the OpenAPI document, which says what each field means. Times in
answers are RFC 3339 in UTC. A newer stack may answer with more fields.
"""

from typing import Literal, NotRequired, TypedDict

from sweephand_client.openapi.job_answers import RunResponse


class NeighbourResponse(TypedDict):
    """A run beside another one."""

    id: str
    state: Literal["claimed", "running", "retrying", "succeeded", "failed", "skipped", "cancelled"]
    dueAt: str


class NeighboursResponse(TypedDict):
    """The recorded runs of the same job before and after a run, in due time."""

    before: NeighbourResponse | None
    after: NeighbourResponse | None


class WholeRunResponse(RunResponse):
    """A run that was read alone."""

    neighbours: NotRequired[NeighboursResponse]


class NamespaceRunResponse(RunResponse):
    """A run, with the name of its job."""

    job: str


class LastHourResponse(TypedDict):
    """What deliveries counted in the last hour."""

    attempts: int
    late: int
    maxMs: int | None


class JobStatesResponse(TypedDict):
    """How many jobs are in each state."""

    active: int
    paused: int
    completed: int


class NamespaceOverviewResponse(TypedDict):
    """What is wrong in a namespace."""

    namespace: str
    failed: int
    retrying: int
    skipped: int
    running: int
    failingJobs: int
    newestFailureAt: str | None
    failuresOverTime: list[int]
    lastHour: NotRequired[LastHourResponse]
    waiting: int
    waitingIsExact: bool
    waitingSince: str | None
    pausedPolicies: int
    jobs: NotRequired[JobStatesResponse]
    partial: bool


class OverviewResponse(TypedDict):
    """The namespaces by name."""

    since: str
    heartbeatAt: str | None
    enabled: bool
    items: list[NamespaceOverviewResponse]
    nextCursor: NotRequired[str]


class LatenessClassResponse(TypedDict):
    """The first attempts of one class of lateness."""

    atMostMs: int
    attempts: int


class StatsStepResponse(TypedDict):
    """What was counted in one step."""

    at: str
    succeeded: int
    running: int
    retrying: int
    failed: int
    skipped: int
    faults: int
    p50Ms: int | None
    p99Ms: int | None
    maxMs: int | None
    lateness: list[LatenessClassResponse]


#: What deliveries counted.
StatsResponse = TypedDict(
    "StatsResponse",
    {
        "from": str,
        "to": str,
        "stepSeconds": int,
        "steps": list[StatsStepResponse],
        "nextCursor": NotRequired[str],
    },
)


class BatchEndResponse(TypedDict):
    """How the runs of a batch had ended when all of them were over for the first time."""

    state: Literal["succeeded", "failed"]
    succeeded: int
    failed: int
    cancelled: int


class ListedBatchResponse(TypedDict):
    """A batch in a list."""

    id: str
    dueAt: str
    total: int
    endedAt: str | None
    overran: bool
    end: NotRequired[BatchEndResponse]


class BatchResponse(TypedDict):
    """The progress of a batch."""

    id: str
    dueAt: str
    total: int
    endedAt: str | None
    overran: bool
    end: NotRequired[BatchEndResponse]
    state: Literal["scheduled", "running", "waiting", "succeeded", "failed", "cancelled"]
    succeeded: int
    failed: int
    cancelled: int
    estimatedEndAt: str | None


class RedriveResponse(TypedDict):
    """A run that Sweephand tries again."""

    id: str
    triggerId: str
    attempt: int


class CallbackResponse(TypedDict):
    """The run in the response to a callback of its consumer."""

    id: str
    state: Literal["claimed", "running", "retrying", "succeeded", "failed", "skipped", "cancelled"]
    attempt: int
    heartbeatBy: NotRequired[str]
    runUntil: NotRequired[str]
    answeredAt: NotRequired[str]
