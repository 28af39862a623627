"""The table of the API's operations that the client calls, and which of them may be sent twice."""

from collections.abc import Mapping
from typing import Final, NamedTuple


class Operation(NamedTuple):
    """A call of the API. `is_repeatable`: a second request does nothing that the first has not done."""

    name: str
    method: str
    path: str
    is_repeatable: bool = True


_NAMESPACE: Final = "/v1/namespaces/{namespace}"
_JOB: Final = _NAMESPACE + "/jobs/{name}"
_RUN: Final = _JOB + "/runs/{runId}"
_POLICY: Final = _NAMESPACE + "/policies/{policy}"

_ALL: Final = (
    Operation("putJob", "PUT", _JOB),
    Operation("getJob", "GET", _JOB),
    Operation("deleteJob", "DELETE", _JOB),
    Operation("patchJob", "PATCH", _JOB),
    Operation("listJobs", "GET", _NAMESPACE + "/jobs"),
    Operation("putJobs", "POST", _NAMESPACE + "/jobs"),
    Operation("deleteJobs", "DELETE", _NAMESPACE + "/jobs"),
    Operation("pauseJob", "POST", _JOB + "/pause"),
    Operation("resumeJob", "POST", _JOB + "/resume"),
    Operation("triggerJob", "POST", _JOB + "/trigger", is_repeatable=False),
    Operation("backfillJob", "POST", _JOB + "/backfill", is_repeatable=False),
    Operation("listChanges", "GET", _JOB + "/changes"),
    Operation("pauseJobs", "POST", _NAMESPACE + "/pause"),
    Operation("resumeJobs", "POST", _NAMESPACE + "/resume"),
    Operation("listOccurrences", "GET", _JOB + "/occurrences"),
    Operation("previewOccurrences", "POST", "/v1/occurrences"),
    Operation("forecast", "GET", _NAMESPACE + "/forecast"),
    Operation("listRuns", "GET", _JOB + "/runs"),
    Operation("getRun", "GET", _RUN),
    Operation("redriveRun", "POST", _RUN + "/redrive"),
    Operation("redriveRuns", "POST", _NAMESPACE + "/redrive"),
    Operation("cancelRun", "POST", _RUN + "/cancel"),
    Operation("listBatches", "GET", _JOB + "/batches"),
    Operation("getBatch", "GET", _JOB + "/batches/{batchId}"),
    Operation("putPolicy", "PUT", _POLICY),
    Operation("getPolicy", "GET", _POLICY),
    Operation("deletePolicy", "DELETE", _POLICY),
    Operation("listPolicies", "GET", _NAMESPACE + "/policies"),
    Operation("listPolicyChanges", "GET", _POLICY + "/changes"),
    Operation("listNamespaces", "GET", "/v1/namespaces"),
    Operation("getNamespace", "GET", _NAMESPACE),
    Operation("putNamespace", "PUT", _NAMESPACE),
    Operation("showSigningSecrets", "GET", _NAMESPACE + "/signing-secrets"),
    Operation("rotateSigningSecrets", "POST", _NAMESPACE + "/signing-secrets", is_repeatable=False),
    Operation("showSigningKeys", "GET", _NAMESPACE + "/signing-keys"),
    Operation("rotateSigningKeys", "POST", _NAMESPACE + "/signing-keys", is_repeatable=False),
    Operation("endSigningKeys", "DELETE", _NAMESPACE + "/signing-keys"),
    Operation("putSecret", "PUT", _NAMESPACE + "/secrets/{secret}"),
    Operation("deleteSecret", "DELETE", _NAMESPACE + "/secrets/{secret}"),
    Operation("listSecrets", "GET", _NAMESPACE + "/secrets"),
    Operation("makeKey", "POST", "/v1/keys", is_repeatable=False),
    Operation("listKeys", "GET", "/v1/keys"),
    Operation("rotateKey", "POST", "/v1/keys/{id}/rotate", is_repeatable=False),
    Operation("revokeKey", "DELETE", "/v1/keys/{id}"),
    Operation("showMe", "GET", "/v1/me"),
    Operation("showHealth", "GET", "/v1/health"),
    Operation("showLimits", "GET", "/v1/limits"),
)

#: Each operation by its name, which is its `operationId` in the OpenAPI document.
OPERATIONS: Final[Mapping[str, Operation]] = {each.name: each for each in _ALL}
