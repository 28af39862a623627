"""Which jobs a call selects: the filters of bulk calls, and the jobs through which a call goes."""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Final, TypeVar

from pydantic import ConfigDict, Field

from sweephand.base import limits
from sweephand.base.errors import Violation
from sweephand.base.instants import Instant
from sweephand.base.names import NAME_RULE, PREFIX_MEANING, PREFIX_PATTERN
from sweephand.web.http import cursor, json_text
from sweephand.web.http.operation import ParsedBody
from sweephand.web.schemas.formats import CursorText, Name
from sweephand.web.schemas.shapes import RequestBody, check
from sweephand.web.schemas.verb_requests import PauseRequest, ResumeRequest
from sweephand.web.services import Services

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


AnyFilter = TypeVar("AnyFilter", bound=FilterRequest)

SELECTION_RULE: Final = "Select the jobs: give a prefix, or labels."


def filter_reader(
    model: type[AnyFilter], kind: str
) -> Callable[[Mapping[str, Any], Services, Instant], ParsedBody[AnyFilter]]:
    """Reads the filter in a body, or its violations. `kind` is the kind of the call's cursors."""

    def read(document: Mapping[str, Any], _: Services, __: Instant) -> ParsedBody[AnyFilter]:
        filters, violations = check(model, json_text.with_plain_numbers(document))
        if filters is not None:
            violations += _rules(filters, kind)
        return ParsedBody(filters, tuple(violations))

    return read


def _rules(filters: FilterRequest, kind: str) -> list[Violation]:
    found: list[Violation] = []
    if not filters.prefix and not filters.labels:
        found.append(Violation("", SELECTION_RULE))
    if filters.cursor is not None:
        try:
            cursor.decode(kind, filters.cursor)
        except ValueError as error:
            found.append(Violation("/cursor", str(error)))
    return found


class JobWalkRequest(RequestBody):
    """Whose jobs a call goes through, and where it goes on."""

    namespace: Name | None = Field(
        None,
        description="Only the jobs of this namespace. By default those of every listed namespace that the "
        f"key opens. {NAME_RULE}",
    )
    cursor: CursorText | None = Field(
        None, description="The nextCursor of the previous answer. Leave it out of the first call."
    )
