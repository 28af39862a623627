"""Reads the filter of a bulk call. A filter needs a prefix or labels."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from sweephand.base.errors import Violation
from sweephand.web.http import cursor, json_text
from sweephand.web.http.operation import ParsedBody
from sweephand.web.schemas.filter_requests import FilterRequest
from sweephand.web.schemas.shapes import check

AnyFilter = TypeVar("AnyFilter", bound=FilterRequest)

SELECTION_RULE: Final = "Select the jobs: give a prefix, or labels."


def read_filter(model: type[AnyFilter], kind: str, document: Mapping[str, Any]) -> ParsedBody[AnyFilter]:
    """The filter in a body, or its violations. `kind` is the kind of the call's cursors."""
    filters, violations = check(model, json_text.with_plain_numbers(document))
    if filters is not None:
        if not filters.prefix and not filters.labels:
            violations.append(Violation("", SELECTION_RULE))
        if filters.cursor is not None:
            try:
                cursor.decode(kind, filters.cursor)
            except ValueError as error:
                violations.append(Violation("/cursor", str(error)))
    return ParsedBody(filters, tuple(violations))
