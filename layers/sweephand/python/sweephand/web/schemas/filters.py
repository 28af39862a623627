"""Reads the filter of a bulk call. A filter needs a prefix or labels."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from sweephand.base.errors import Violation
from sweephand.base.instants import Instant
from sweephand.web.http import cursor, json_text
from sweephand.web.http.operation import ParsedBody
from sweephand.web.schemas.filter_requests import FilterRequest
from sweephand.web.schemas.shapes import check
from sweephand.web.services import Services

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
