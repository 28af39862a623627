"""The operations of the API, each with its body and its answer.

`make client-types` writes this module from the OpenAPI document, which says what each field means. Times in
answers are RFC 3339 in UTC. A newer stack may answer with more fields.
"""

from typing import Any, Final

from sweephand_client.http.operation import Operation, Page
from sweephand_client.openapi.calendars import (
    CalendarBriefResponse,
    CalendarDays,
    CalendarPreview,
    CalendarRequest,
    CalendarResponse,
)
from sweephand_client.openapi.job_answers import (
    BackfillResponse,
    BulkWriteResponse,
    ChangeResponse,
    CountResponse,
    ExplainResponse,
    ForecastResponse,
    JobResponse,
    OccurrencesResponse,
    RunResponse,
    TriggerResponse,
    WholeJobResponse,
)
from sweephand_client.openapi.namespaces import NamespaceRequest, NamespaceResponse, NamespaceSummary
from sweephand_client.openapi.policies import (
    PolicyKeyResponse,
    PolicyRequest,
    PolicyResponse,
    WholePolicyResponse,
)
from sweephand_client.openapi.requests import (
    AuditRequest,
    BackfillRequest,
    BulkPauseRequest,
    BulkResumeRequest,
    BulkWriteRequest,
    CancelRunsRequest,
    CompletionRequest,
    FailureRequest,
    JobPatchRequest,
    JobPauseRequest,
    JobRequest,
    KeyRequest,
    KeyRotation,
    PauseRequest,
    PreviewRequest,
    RebuildRequest,
    RedriveRunsRequest,
    ResumeRequest,
    SecretRequest,
    TriggerRequest,
)
from sweephand_client.openapi.run_answers import (
    BatchResponse,
    CallbackResponse,
    ListedBatchResponse,
    NamespaceRunResponse,
    OverviewResponse,
    RedriveResponse,
    StatsResponse,
    WholeRunResponse,
)
from sweephand_client.openapi.stack_answers import (
    AdminChangeResponse,
    AuditResponse,
    HealthResponse,
    KeyResponse,
    MeResponse,
    NamedSecretResponse,
    NewKeyResponse,
    PublicKeysResponse,
    RebuildResponse,
    RotatedKeyResponse,
    SecretsResponse,
)
from sweephand_client.openapi.windows import WindowList, WindowRequest, WindowResponse

PUT_JOB: Final = Operation[JobRequest, JobResponse]("putJob", "PUT", "/v1/namespaces/{namespace}/jobs/{name}")
GET_JOB: Final = Operation[None, WholeJobResponse]("getJob", "GET", "/v1/namespaces/{namespace}/jobs/{name}")
DELETE_JOB: Final = Operation[None, None]("deleteJob", "DELETE", "/v1/namespaces/{namespace}/jobs/{name}")
PATCH_JOB: Final = Operation[JobPatchRequest, JobResponse](
    "patchJob", "PATCH", "/v1/namespaces/{namespace}/jobs/{name}"
)
LIST_JOBS: Final = Operation[None, Page[JobResponse]]("listJobs", "GET", "/v1/namespaces/{namespace}/jobs")
DELETE_JOBS: Final = Operation[None, CountResponse]("deleteJobs", "DELETE", "/v1/namespaces/{namespace}/jobs")
PUT_JOBS: Final = Operation[BulkWriteRequest, BulkWriteResponse](
    "putJobs", "POST", "/v1/namespaces/{namespace}/jobs"
)
PAUSE_JOB: Final = Operation[JobPauseRequest, JobResponse](
    "pauseJob", "POST", "/v1/namespaces/{namespace}/jobs/{name}/pause"
)
RESUME_JOB: Final = Operation[ResumeRequest, JobResponse](
    "resumeJob", "POST", "/v1/namespaces/{namespace}/jobs/{name}/resume"
)
TRIGGER_JOB: Final = Operation[TriggerRequest, TriggerResponse](
    "triggerJob", "POST", "/v1/namespaces/{namespace}/jobs/{name}/trigger"
)
BACKFILL_JOB: Final = Operation[BackfillRequest, BackfillResponse](
    "backfillJob", "POST", "/v1/namespaces/{namespace}/jobs/{name}/backfill"
)
LIST_CHANGES: Final = Operation[None, Page[ChangeResponse]](
    "listChanges", "GET", "/v1/namespaces/{namespace}/jobs/{name}/changes"
)
EXPLAIN_JOB: Final = Operation[None, ExplainResponse](
    "explainJob", "GET", "/v1/namespaces/{namespace}/jobs/{name}/explain"
)
PAUSE_JOBS: Final = Operation[BulkPauseRequest, CountResponse](
    "pauseJobs", "POST", "/v1/namespaces/{namespace}/pause"
)
RESUME_JOBS: Final = Operation[BulkResumeRequest, CountResponse](
    "resumeJobs", "POST", "/v1/namespaces/{namespace}/resume"
)
LIST_OCCURRENCES: Final = Operation[None, OccurrencesResponse](
    "listOccurrences", "GET", "/v1/namespaces/{namespace}/jobs/{name}/occurrences"
)
PREVIEW_OCCURRENCES: Final = Operation[PreviewRequest, OccurrencesResponse](
    "previewOccurrences", "POST", "/v1/occurrences"
)
FORECAST: Final = Operation[None, ForecastResponse]("forecast", "GET", "/v1/namespaces/{namespace}/forecast")
LIST_RUNS: Final = Operation[None, Page[RunResponse]](
    "listRuns", "GET", "/v1/namespaces/{namespace}/jobs/{name}/runs"
)
GET_RUN: Final = Operation[None, WholeRunResponse](
    "getRun", "GET", "/v1/namespaces/{namespace}/jobs/{name}/runs/{runId}"
)
LIST_NAMESPACE_RUNS: Final = Operation[None, Page[NamespaceRunResponse]](
    "listNamespaceRuns", "GET", "/v1/namespaces/{namespace}/runs"
)
SHOW_OVERVIEW: Final = Operation[None, OverviewResponse]("showOverview", "GET", "/v1/overview")
STATS: Final = Operation[None, StatsResponse]("stats", "GET", "/v1/namespaces/{namespace}/stats")
LIST_BATCHES: Final = Operation[None, Page[ListedBatchResponse]](
    "listBatches", "GET", "/v1/namespaces/{namespace}/jobs/{name}/batches"
)
GET_BATCH: Final = Operation[None, BatchResponse](
    "getBatch", "GET", "/v1/namespaces/{namespace}/jobs/{name}/batches/{batchId}"
)
REDRIVE_RUN: Final = Operation[None, RedriveResponse](
    "redriveRun", "POST", "/v1/namespaces/{namespace}/jobs/{name}/runs/{runId}/redrive"
)
REDRIVE_RUNS: Final = Operation[RedriveRunsRequest, CountResponse](
    "redriveRuns", "POST", "/v1/namespaces/{namespace}/redrive"
)
CANCEL_RUNS: Final = Operation[CancelRunsRequest, CountResponse](
    "cancelRuns", "POST", "/v1/namespaces/{namespace}/cancel"
)
HEARTBEAT_RUN: Final = Operation[None, CallbackResponse](
    "heartbeatRun", "POST", "/v1/namespaces/{namespace}/jobs/{name}/runs/{runId}/heartbeat"
)
COMPLETE_RUN: Final = Operation[CompletionRequest, CallbackResponse](
    "completeRun", "POST", "/v1/namespaces/{namespace}/jobs/{name}/runs/{runId}/complete"
)
FAIL_RUN: Final = Operation[FailureRequest, CallbackResponse](
    "failRun", "POST", "/v1/namespaces/{namespace}/jobs/{name}/runs/{runId}/fail"
)
CANCEL_RUN: Final = Operation[None, RunResponse](
    "cancelRun", "POST", "/v1/namespaces/{namespace}/jobs/{name}/runs/{runId}/cancel"
)
PUT_CALENDAR: Final = Operation[CalendarRequest, CalendarResponse](
    "putCalendar", "PUT", "/v1/namespaces/{namespace}/calendars/{calendar}"
)
GET_CALENDAR: Final = Operation[None, CalendarResponse](
    "getCalendar", "GET", "/v1/namespaces/{namespace}/calendars/{calendar}"
)
DELETE_CALENDAR: Final = Operation[None, None](
    "deleteCalendar", "DELETE", "/v1/namespaces/{namespace}/calendars/{calendar}"
)
PREVIEW_CALENDAR: Final = Operation[CalendarRequest, CalendarPreview](
    "previewCalendar", "POST", "/v1/namespaces/{namespace}/calendars/{calendar}/preview"
)
LIST_CALENDAR_DAYS: Final = Operation[None, CalendarDays](
    "listCalendarDays", "GET", "/v1/namespaces/{namespace}/calendars/{calendar}/days"
)
LIST_CALENDARS: Final = Operation[None, Page[CalendarBriefResponse]](
    "listCalendars", "GET", "/v1/namespaces/{namespace}/calendars"
)
PUT_POLICY: Final = Operation[PolicyRequest, PolicyResponse](
    "putPolicy", "PUT", "/v1/namespaces/{namespace}/policies/{policy}"
)
GET_POLICY: Final = Operation[None, WholePolicyResponse](
    "getPolicy", "GET", "/v1/namespaces/{namespace}/policies/{policy}"
)
DELETE_POLICY: Final = Operation[None, None](
    "deletePolicy", "DELETE", "/v1/namespaces/{namespace}/policies/{policy}"
)
PAUSE_POLICY: Final = Operation[PauseRequest, PolicyResponse](
    "pausePolicy", "POST", "/v1/namespaces/{namespace}/policies/{policy}/pause"
)
RESUME_POLICY: Final = Operation[None, PolicyResponse](
    "resumePolicy", "POST", "/v1/namespaces/{namespace}/policies/{policy}/resume"
)
LIST_POLICIES: Final = Operation[None, Page[PolicyResponse]](
    "listPolicies", "GET", "/v1/namespaces/{namespace}/policies"
)
LIST_POLICY_KEYS: Final = Operation[None, Page[PolicyKeyResponse]](
    "listPolicyKeys", "GET", "/v1/namespaces/{namespace}/policies/{policy}/keys"
)
LIST_POLICY_CHANGES: Final = Operation[None, Page[ChangeResponse]](
    "listPolicyChanges", "GET", "/v1/namespaces/{namespace}/policies/{policy}/changes"
)
LIST_NAMESPACES: Final = Operation[None, Page[NamespaceSummary]]("listNamespaces", "GET", "/v1/namespaces")
GET_NAMESPACE: Final = Operation[None, NamespaceResponse]("getNamespace", "GET", "/v1/namespaces/{namespace}")
PUT_NAMESPACE: Final = Operation[NamespaceRequest, NamespaceResponse](
    "putNamespace", "PUT", "/v1/namespaces/{namespace}"
)
PUT_WINDOW: Final = Operation[WindowRequest, WindowResponse](
    "putWindow", "PUT", "/v1/namespaces/{namespace}/windows/{window}"
)
GET_WINDOW: Final = Operation[None, WindowResponse](
    "getWindow", "GET", "/v1/namespaces/{namespace}/windows/{window}"
)
DELETE_WINDOW: Final = Operation[None, None](
    "deleteWindow", "DELETE", "/v1/namespaces/{namespace}/windows/{window}"
)
LIST_WINDOWS: Final = Operation[None, WindowList]("listWindows", "GET", "/v1/namespaces/{namespace}/windows")
SHOW_SIGNING_SECRETS: Final = Operation[None, SecretsResponse](
    "showSigningSecrets", "GET", "/v1/namespaces/{namespace}/signing-secrets"
)
ROTATE_SIGNING_SECRETS: Final = Operation[None, SecretsResponse](
    "rotateSigningSecrets", "POST", "/v1/namespaces/{namespace}/signing-secrets"
)
END_OLD_SIGNING_SECRETS: Final = Operation[None, None](
    "endOldSigningSecrets", "DELETE", "/v1/namespaces/{namespace}/signing-secrets"
)
SHOW_SIGNING_KEYS: Final = Operation[None, PublicKeysResponse](
    "showSigningKeys", "GET", "/v1/namespaces/{namespace}/signing-keys"
)
ROTATE_SIGNING_KEYS: Final = Operation[None, PublicKeysResponse](
    "rotateSigningKeys", "POST", "/v1/namespaces/{namespace}/signing-keys"
)
END_SIGNING_KEYS: Final = Operation[None, None](
    "endSigningKeys", "DELETE", "/v1/namespaces/{namespace}/signing-keys"
)
PUT_SECRET: Final = Operation[SecretRequest, NamedSecretResponse](
    "putSecret", "PUT", "/v1/namespaces/{namespace}/secrets/{secret}"
)
DELETE_SECRET: Final = Operation[None, None](
    "deleteSecret", "DELETE", "/v1/namespaces/{namespace}/secrets/{secret}"
)
LIST_SECRETS: Final = Operation[None, Page[NamedSecretResponse]](
    "listSecrets", "GET", "/v1/namespaces/{namespace}/secrets"
)
MAKE_KEY: Final = Operation[KeyRequest, NewKeyResponse]("makeKey", "POST", "/v1/keys")
LIST_KEYS: Final = Operation[None, Page[KeyResponse]]("listKeys", "GET", "/v1/keys")
ROTATE_KEY: Final = Operation[KeyRotation, RotatedKeyResponse]("rotateKey", "POST", "/v1/keys/{id}/rotate")
REVOKE_KEY: Final = Operation[None, None]("revokeKey", "DELETE", "/v1/keys/{id}")
SHOW_ME: Final = Operation[None, MeResponse]("showMe", "GET", "/v1/me")
LIST_ADMIN_CHANGES: Final = Operation[None, Page[AdminChangeResponse]](
    "listAdminChanges", "GET", "/v1/changes"
)
REBUILD: Final = Operation[RebuildRequest, RebuildResponse]("rebuild", "POST", "/v1/rebuild")
AUDIT: Final = Operation[AuditRequest, AuditResponse]("audit", "POST", "/v1/audit")
SHOW_HEALTH: Final = Operation[None, HealthResponse]("showHealth", "GET", "/v1/health")
SHOW_LIMITS: Final = Operation[None, dict[str, int]]("showLimits", "GET", "/v1/limits")
SHOW_DESCRIPTION: Final = Operation[None, dict[str, Any]]("showDescription", "GET", "/v1/openapi.json")
