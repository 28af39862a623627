"""The bodies of bulk requests: the filter that selects jobs, and the options of the verb."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field

from sweephand.base import limits
from sweephand.base.names import PREFIX_MEANING, PREFIX_PATTERN
from sweephand.web.schemas.formats import CursorText
from sweephand.web.schemas.request_body import RequestBody
from sweephand.web.schemas.verb_requests import PauseRequest, ResumeRequest

#: A filter needs a prefix or labels.
_NEEDS_A_SELECTION: dict[str, Any] = {
    "anyOf": [
        {"required": ["prefix"], "properties": {"prefix": {"type": "string", "minLength": 1}}},
        {"required": ["labels"], "properties": {"labels": {"type": "object", "minProperties": 1}}},
    ]
}


_Label = Annotated[str, Field(max_length=limits.LABEL_LENGTH_MAX)]


class FilterRequest(RequestBody):
    """Selects the jobs of a bulk call. A prefix or labels are required."""

    model_config = ConfigDict(json_schema_extra=_NEEDS_A_SELECTION)

    prefix: str | None = Field(
        None,
        pattern=PREFIX_PATTERN,
        max_length=limits.NAME_LENGTH_MAX,
        description=PREFIX_MEANING,
    )
    labels: dict[_Label, _Label] | None = Field(
        None,
        max_length=limits.LABELS_MAX,
        description="The labels that the jobs must have: names, each with a text.",
    )
    cursor: CursorText | None = Field(
        None, description="The nextCursor of the previous answer. Leave it out of the first call."
    )


class BulkPauseRequest(FilterRequest, PauseRequest):
    """Selects the jobs to pause, and says why."""


class BulkResumeRequest(FilterRequest, ResumeRequest):
    """Selects the jobs to resume, and says which missed triggers fire."""
