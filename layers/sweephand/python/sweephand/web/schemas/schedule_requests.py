"""The fields of a request that say when a job is due, and the body of a preview."""

from typing import Any

from pydantic import ConfigDict, Field

from sweephand.base import limits
from sweephand.jobs.fields.timing import DST, TIMING
from sweephand.web.schemas.field_models import model_of, with_fields
from sweephand.web.schemas.formats import InstantText
from sweephand.web.schemas.request_body import RequestBody


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
