"""The operation that patches a job: it applies a merge patch (RFC 7396) to the stored definition."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from sweephand.base.errors import InvalidError, Violation, pointer
from sweephand.base.instants import Instant
from sweephand.jobs.read import view
from sweephand.jobs.write import Patch
from sweephand.model.definition import TARGET_FIELDS, Definition
from sweephand.web.http import json_text
from sweephand.web.http.operation import (
    Accepts,
    NoQuery,
    Operation,
    ParsedBody,
    Reply,
    Request,
    Returns,
)
from sweephand.web.http.preconditions import etag
from sweephand.web.routes.jobs import (
    ETAG,
    IF_MATCH,
    JOB_PATH,
    expected_revision,
)
from sweephand.web.schemas.definition import read_payload, validate_definition
from sweephand.web.schemas.job_requests import JobPatchRequest
from sweephand.web.schemas.job_responses import JobResponse, job_response
from sweephand.web.services import Services

#: Fields that a patch replaces whole. Half of an old target and half of a new one make no valid target.
_REPLACED_WHOLE: Final = frozenset({"data", "schedule", *TARGET_FIELDS})
_TIME_FIELDS: Final = frozenset({"schedule", "timezone", "dueTime", "ttl", "repeats"})


def _read(document: Mapping[str, Any], services: Services, requested_at: Instant) -> ParsedBody[Patch]:
    payload = read_payload(document) if document.get("data") is not None else None
    fields = json_text.with_plain_numbers({name: each for name, each in document.items() if name != "data"})

    def patch(before: Definition) -> Definition:
        parsed = validate_definition(
            _patched_fields(before.written, fields),
            payload if "data" in document else before.payload,
            services,
            requested_at,
            asked=fields.keys(),
        )
        if parsed.value is None:
            raise InvalidError(_relevant_violations(parsed.violations, fields))
        return parsed.value

    return ParsedBody(patch)


@partial(
    Operation,
    method="PATCH",
    path=JOB_PATH,
    tag="Jobs",
    access="write",
    accepts=Accepts(
        JobPatchRequest,
        _read,
        {
            "another hour": {"schedule": "0 30 3 * * MON-FRI"},
            "no labels, fewer attempts": {"labels": None, "retry": {"maxAttempts": 3}},
        },
        types=("application/merge-patch+json", "application/json"),
        limit="bodyBytesMax",
    ),
    headers=IF_MATCH,
    returns={200: Returns("The job as it is now", JobResponse, ETAG)},
    problems=(404, 412, 503),
)
def patch_job(services: Services, request: Request[NoQuery, Patch]) -> Reply:
    """Patch a job: write some of its fields.

    Applies a merge patch (RFC 7396). A field that you leave out keeps its value, and null removes a field.
    `data`, `schedule`, `target`, `onComplete` and `onAlert` are replaced whole. The API validates the result
    like the body of a PUT. Occurrences before the patch still count towards `repeats`. A relative time that
    you leave out keeps its first instant. A paused job stays paused. A patch that changes nothing makes no
    revision.
    """
    written = services.writer.patch(
        request.key,
        request.body,
        caller=request.caller.key_id,
        requested_at=request.requested_at,
        if_match=expected_revision(services, request),
    )
    job = written.job
    response = job_response(view(job, request.requested_at), request.caller)
    return Reply(200, response, {"etag": etag(job.rev)})


def apply_merge_patch(target: Any, patch: Any) -> Any:
    """The JSON value `target` after a merge patch (RFC 7396).

    Null removes a field. An object merges into the stored one. Any other value replaces the stored one.
    """
    if not isinstance(patch, Mapping):
        return patch
    found = dict(target) if isinstance(target, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = apply_merge_patch(found.get(name), value)
    return found


def _relevant_violations(violations: Sequence[Violation], fields: Mapping[str, Any]) -> Sequence[Violation]:
    """The violations with which the API refuses a patch.

    A time field that the patch leaves out keeps the instant that it had when the job was written. So its
    violations are left out, unless there are no others.
    """
    kept = {pointer(name) for name in _TIME_FIELDS - fields.keys()}
    return [each for each in violations if each.pointer not in kept] or violations


def _patched_fields(before: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in before.items() if name not in _REPLACED_WHOLE & fields.keys()}
    found: dict[str, Any] = apply_merge_patch(kept, fields)
    return found
