"""Turns the body of a PUT or a patched job into a definition, or into all its violations."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from sweephand.base.instants import Instant
from sweephand.jobs.fields.field import Object, TargetOf, top_field
from sweephand.jobs.fields.registry import FIELDS
from sweephand.jobs.validation import job_violations, payload_of, payload_violations
from sweephand.model.definition import TARGET_FIELDS, Definition, Payload
from sweephand.targets.default import DEFAULT_TARGET
from sweephand.web.http import json_text
from sweephand.web.http.operation import ParsedBody
from sweephand.web.http.problems import DataTooLargeError
from sweephand.web.schemas.job_requests import JobRequest
from sweephand.web.schemas.job_responses import WholeJobResponse
from sweephand.web.schemas.shapes import check
from sweephand.web.services import Services

#: The fields of a job that a caller cannot write, because Sweephand sets them.
_NOT_WRITABLE: Final = dict.fromkeys(
    WholeJobResponse.__annotations__.keys() - {each.name for each in FIELDS},
    "Sweephand sets this field. Leave it out.",
)

#: The objects of which Sweephand knows every field. A field of null in such an object counts as left out.
_KNOWN_OBJECTS: Final = tuple(each.name for each in FIELDS if isinstance(each.shape, Object | TargetOf))


def read_definition(
    document: Mapping[str, Any], services: Services, requested_at: Instant
) -> ParsedBody[Definition]:
    """The definition in the body of a PUT, or all its violations.

    `document` comes from `json_text.read`. A field of null counts as left out, except for `data`: there null
    is a value. Raises DataTooLargeError for `data` over its limit.
    """
    payload = read_payload(document)
    fields = json_text.with_plain_numbers({name: each for name, each in document.items() if name != "data"})
    return validate_definition(_without_nulls(fields), payload, services, requested_at)


def validate_definition(
    written: Mapping[str, Any],
    payload: Payload | None,
    services: Services,
    requested_at: Instant,
    *,
    asked: Collection[str] | None = None,
) -> ParsedBody[Definition]:
    """The definition of the fields in `written`, or all their violations.

    A job without a target gets that of the type `default`. This function checks the shapes and bounds of the
    fields. `job_violations` checks their rules, and explains `asked`.
    """
    written = {"target": DEFAULT_TARGET, **written}
    # The model does not know the fields of targets. The rules of the target types check their shapes.
    refused = [
        each
        for each in check(JobRequest, written, sentences=_NOT_WRITABLE)[1]
        if top_field(each) not in TARGET_FIELDS
    ]
    rules = job_violations(
        written,
        payload,
        reach=services.reach,
        requested_at=requested_at,
        refused=refused,
        asked=asked,
    )
    if refused or rules:
        return ParsedBody(None, (*refused, *rules))
    return ParsedBody(Definition(written, payload))


def read_payload(document: Mapping[str, Any]) -> Payload | None:
    """The payload of the field `data`. None without that field. Raises DataTooLargeError over its limit."""
    if "data" not in document:
        return None
    payload = payload_of(json_text.write(document["data"]))
    for violation in payload_violations(payload):
        raise DataTooLargeError(violation)
    return payload


def _without_nulls(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are not null. Within the known objects, likewise only the fields that are not null."""
    given = {name: value for name, value in fields.items() if value is not None}
    for name in _KNOWN_OBJECTS:
        if isinstance(given.get(name), dict):
            given[name] = {inner: value for inner, value in given[name].items() if value is not None}
    return given
