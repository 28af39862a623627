"""The table of the API's operations that the client calls, and which of them may be sent twice."""

from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

#: When a request may be sent again although the first one may have been carried out. `if-conditional`: only
#: with a precondition that the first one, if it was carried out, has made false.
Repeats = Literal["always", "if-conditional", "never"]


class Operation(NamedTuple):
    """A call of the API."""

    name: str
    method: str
    path: str
    repeats: Repeats = "always"

    @property
    def reads(self) -> bool:
        """Whether the call changes nothing on the stack."""
        return self.method == "GET" or self.name == "previewOccurrences"

    @property
    def is_about_one(self) -> bool:
        """Whether the path names one thing, so that 404 says that this thing does not exist."""
        return self.path.endswith("}")

    def is_repeatable(self, headers: Mapping[str, str], body: Any) -> bool:
        """Whether a second request does nothing that the first has not done.

        A PUT of a job begins a new series if the job is completed by then. A revision in If-Match prevents
        that. If-None-Match prevents it only if the job stays after its completion.
        """
        if self.repeats != "if-conditional":
            return self.repeats == "always"
        if headers.get("if-match", "*") != "*":
            return True
        stays = not (isinstance(body, Mapping) and body.get("deleteAfterCompletion"))
        return "if-none-match" in headers and stays


_NAMESPACE: Final = "/v1/namespaces/{namespace}"
_JOB: Final = _NAMESPACE + "/jobs/{name}"
_RUN: Final = _JOB + "/runs/{runId}"
_POLICY: Final = _NAMESPACE + "/policies/{policy}"

_ALL: Final = (
    Operation("putJob", "PUT", _JOB, "if-conditional"),
    Operation("getJob", "GET", _JOB),
    Operation("deleteJob", "DELETE", _JOB),
    Operation("patchJob", "PATCH", _JOB),
    Operation("listJobs", "GET", _NAMESPACE + "/jobs"),
    Operation("putJobs", "POST", _NAMESPACE + "/jobs", "never"),
    Operation("deleteJobs", "DELETE", _NAMESPACE + "/jobs"),
    Operation("pauseJob", "POST", _JOB + "/pause"),
    Operation("resumeJob", "POST", _JOB + "/resume"),
    Operation("triggerJob", "POST", _JOB + "/trigger", "never"),
    Operation("backfillJob", "POST", _JOB + "/backfill", "never"),
    Operation("explainJob", "GET", _JOB + "/explain"),
    Operation("listChanges", "GET", _JOB + "/changes"),
    Operation("pauseJobs", "POST", _NAMESPACE + "/pause"),
    Operation("resumeJobs", "POST", _NAMESPACE + "/resume"),
    Operation("listOccurrences", "GET", _JOB + "/occurrences"),
    Operation("previewOccurrences", "POST", "/v1/occurrences"),
    Operation("forecast", "GET", _NAMESPACE + "/forecast"),
    Operation("stats", "GET", _NAMESPACE + "/stats"),
    Operation("listRuns", "GET", _JOB + "/runs"),
    Operation("listNamespaceRuns", "GET", _NAMESPACE + "/runs"),
    Operation("getRun", "GET", _RUN),
    Operation("redriveRun", "POST", _RUN + "/redrive", "never"),
    Operation("redriveRuns", "POST", _NAMESPACE + "/redrive", "never"),
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
    Operation("rotateSigningSecrets", "POST", _NAMESPACE + "/signing-secrets", "never"),
    Operation("showSigningKeys", "GET", _NAMESPACE + "/signing-keys"),
    Operation("rotateSigningKeys", "POST", _NAMESPACE + "/signing-keys", "never"),
    Operation("endSigningKeys", "DELETE", _NAMESPACE + "/signing-keys"),
    Operation("putSecret", "PUT", _NAMESPACE + "/secrets/{secret}"),
    Operation("deleteSecret", "DELETE", _NAMESPACE + "/secrets/{secret}"),
    Operation("listSecrets", "GET", _NAMESPACE + "/secrets"),
    Operation("makeKey", "POST", "/v1/keys", "never"),
    Operation("listKeys", "GET", "/v1/keys"),
    Operation("rotateKey", "POST", "/v1/keys/{id}/rotate", "never"),
    Operation("revokeKey", "DELETE", "/v1/keys/{id}"),
    Operation("listAdminChanges", "GET", "/v1/changes"),
    Operation("rebuild", "POST", "/v1/rebuild"),
    Operation("audit", "POST", "/v1/audit"),
    Operation("showMe", "GET", "/v1/me"),
    Operation("showHealth", "GET", "/v1/health"),
    Operation("showLimits", "GET", "/v1/limits"),
)

#: Each operation by its name, which is its `operationId` in the OpenAPI document.
OPERATIONS: Final[Mapping[str, Operation]] = {each.name: each for each in _ALL}
