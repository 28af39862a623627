"""The bodies that write jobs, and how a body becomes a definition or all its violations."""

from collections.abc import Collection, Mapping
from itertools import chain
from typing import Any, Final, Literal

from pydantic import Field

from sweephand.base.errors import InvalidError
from sweephand.base.instants import Instant
from sweephand.jobs.fields.field import Object, TargetOf, top_field
from sweephand.jobs.fields.registry import BATCH, CATCH_UP, FIELDS, RETRY
from sweephand.jobs.fields.timing import CALENDAR, DST, TIMING
from sweephand.jobs.validation import job_violations, payload_of, payload_violations
from sweephand.model.definition import TARGET_FIELDS, Definition, Payload
from sweephand.schedules.notations.cron import CRON_FIELDS
from sweephand.targets.default import DEFAULT_TARGET
from sweephand.targets.registry import either, target_types
from sweephand.web.http import json_text
from sweephand.web.http.operation import Services
from sweephand.web.http.problems import DataTooLargeError
from sweephand.web.schemas.field_models import Target, model_of, with_fields
from sweephand.web.schemas.formats import Name
from sweephand.web.schemas.responses import WholeJobResponse
from sweephand.web.schemas.shapes import RequestBody, check, without_nulls


@model_of(DST)
class Dst(RequestBody):
    """The rule for a fixed local time on a day when the clock changes."""


@model_of(CALENDAR)
class JobCalendar(RequestBody):
    """On which days of a calendar a job fires, and what happens to an occurrence on another day."""


@with_fields(TIMING)
class Timing(RequestBody):
    """The fields that say when a job is due."""


@model_of(RETRY)
class RetryRequest(RequestBody):
    """The attempts at a trigger: their number, their delays, and for how long they go on."""


@model_of(CATCH_UP)
class CatchUpRequest(RequestBody):
    """The rule for occurrences that an outage of the stack has made late."""


@model_of(BATCH)
class BatchRequest(RequestBody):
    """How many triggers each occurrence has, and over which time they are spread."""


@with_fields(FIELDS)
class JobRequest(RequestBody):
    """A job as the caller writes it. A job with neither `schedule` nor `dueTime` fires only on demand."""


class JobPatchRequest(JobRequest):
    """The fields of a job that a patch writes. Null removes a field."""

    target: Target | None = Field(
        None,
        description="Where Sweephand delivers the triggers. A patch replaces the whole target: an object "
        "with "
        f"its type, {either(target_types())}.",
    )


class Precondition(RequestBody):
    """What must hold for an entry of a bulk write to be written."""

    if_match: str | None = Field(
        None,
        pattern=r"^(?:\*|[0-9]+-[0-9a-z]+)$",
        description="The `rev` that the job must have. `*`: only if the job exists.",
    )
    if_none_match: Literal["*"] | None = Field(None, description="`*`: only if the job does not exist.")


class NamedJobRequest(JobRequest):
    """A job and its name."""

    name: Name = Field(description="The job's name.")


class BulkJobRequest(NamedJobRequest, Precondition):
    """An entry of a bulk write: a job, its name, and on which condition it is written."""


#: The fields of a job that a caller cannot write, because Sweephand sets them.
_NOT_WRITABLE: Final = dict.fromkeys(
    WholeJobResponse.__annotations__.keys() - {each.name for each in FIELDS},
    "Sweephand sets this field. Leave it out.",
)


def _names_in(shape: Object | TargetOf) -> frozenset[str]:
    if isinstance(shape, Object):
        return frozenset(each.name for each in shape.fields)
    return frozenset(chain.from_iterable(each.field_names for each in shape.types().values()))


#: The objects within a job whose fields are all known, each with their names. A known field that is null
#: counts as left out.
_KNOWN_OBJECTS: Final = {
    "schedule": frozenset(CRON_FIELDS),
    **{each.name: _names_in(each.shape) for each in FIELDS if isinstance(each.shape, Object | TargetOf)},
}


def read_definition(document: Mapping[str, Any], services: Services, requested_at: Instant) -> Definition:
    """The definition in the body of a PUT.

    `document` comes from `json_text.read`. A field of null counts as left out, except for `data`: there null
    is a value. Raises InvalidError with all violations, and DataTooLargeError for `data` over its limit.
    """
    payload = read_payload(document)
    fields = json_text.with_plain_numbers({name: each for name, each in document.items() if name != "data"})
    given = with_unknown_nulls(_without_inner_nulls(fields), fields)
    return validate_definition(given, payload, services, requested_at)


def validate_definition(
    written: Mapping[str, Any],
    payload: Payload | None,
    services: Services,
    requested_at: Instant,
    *,
    asked: Collection[str] | None = None,
) -> Definition:
    """The definition of the fields in `written`. Raises InvalidError with all their violations.

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
        raise InvalidError([*refused, *rules])
    return Definition(written, payload)


def read_payload(document: Mapping[str, Any]) -> Payload | None:
    """The payload of the field `data`. None without that field. Raises DataTooLargeError over its limit."""
    if "data" not in document:
        return None
    payload = payload_of(json_text.write(document["data"]))
    for violation in payload_violations(payload):
        raise DataTooLargeError(violation)
    return payload


def with_unknown_nulls(given: Mapping[str, Any], fields: Mapping[str, Any]) -> dict[str, Any]:
    """`given`, with the fields of null in `fields` that no job has, also within the known objects.

    They are refused like others: the caller may have meant another.
    """
    known = {each.name for each in FIELDS} | _NOT_WRITABLE.keys()
    found = {**given, **_unknown_nulls(fields, known)}
    for name, inner in _KNOWN_OBJECTS.items():
        if isinstance(fields.get(name), Mapping) and (unknown := _unknown_nulls(fields[name], inner)):
            found[name] = {**found.get(name, {}), **unknown}
    return found


def _unknown_nulls(fields: Mapping[str, Any], known: Collection[str]) -> dict[str, Any]:
    return {name: None for name, value in fields.items() if value is None and name not in known}


def _without_inner_nulls(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are not null. Within the known objects, likewise only the fields that are not null."""
    given = without_nulls(fields)
    for name in _KNOWN_OBJECTS:
        if isinstance(given.get(name), dict):
            given[name] = without_nulls(given[name])
    return given
