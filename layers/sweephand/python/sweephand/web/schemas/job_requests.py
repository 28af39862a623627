"""The bodies with the fields of jobs/fields: a schedule to preview, a job, a patch, and a bulk write."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field, WithJsonSchema

from sweephand.base import limits
from sweephand.jobs.fields.registry import BATCH, CATCH_UP, FIELDS, RETRY
from sweephand.jobs.fields.timing import DST, TIMING
from sweephand.targets.registry import either, target_types
from sweephand.web.schemas.field_models import Target, model_of, with_fields
from sweephand.web.schemas.formats import InstantText, Name
from sweephand.web.schemas.shapes import RequestBody


@model_of(DST)
class Dst(RequestBody):
    """The rule for a fixed local time on a day when the clock changes."""


@with_fields(TIMING)
class Timing(RequestBody):
    """The fields that say when a job is due."""


#: A preview needs a due time. Unlike a stored job, it cannot fire on demand.
_IS_TIMED: dict[str, Any] = {
    "anyOf": [
        {"required": ["schedule"], "properties": {"schedule": {"type": ["string", "object", "array"]}}},
        {"required": ["dueTime"], "properties": {"dueTime": {"type": "string"}}},
    ]
}


class PreviewRequest(Timing):
    """A schedule that is not stored: `schedule`, `dueTime` or both are required."""

    model_config = ConfigDict(json_schema_extra=_IS_TIMED)

    after: InstantText | None = Field(
        None,
        description="Only due times after this instant (RFC 3339 with an offset). By default those from now "
        "on. They include a due time at the very instant of the request. With an instant in the past, the "
        "schedule begins at that instant.",
    )
    limit: int | None = Field(
        None,
        ge=1,
        le=limits.OCCURRENCES_MAX,
        description=f"How many due times; 1 to {limits.OCCURRENCES_MAX}, {limits.PAGE_ITEMS_DEFAULT} by "
        "default.",
    )


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


class NamedJobRequest(JobRequest):
    """A job and its name, as an entry of a bulk write."""

    name: Name = Field(description="The job's name.")


#: The API validates each entry by itself. The result of an entry that is not a job is a problem.
_ANY_ENTRY: dict[str, Any] = {"anyOf": [{"$ref": "#/components/schemas/NamedJobRequest"}, {}]}


class BulkWriteRequest(RequestBody):
    """The jobs of a bulk write."""

    jobs: list[Annotated[Any, WithJsonSchema(_ANY_ENTRY)]] = Field(
        min_length=1,
        max_length=limits.JOBS_PER_BULK_MAX,
        description=f"1 to {limits.JOBS_PER_BULK_MAX} jobs, each with its name. No name may occur twice.",
    )
