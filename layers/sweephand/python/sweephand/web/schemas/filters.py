"""How the filter of a call about many jobs is read: it has to name a prefix or labels."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from sweephand.base.errors import Violation
from sweephand.web.http import cursor, json_text
from sweephand.web.http.operation import Parsed
from sweephand.web.schemas.filter_requests import FilterRequest
from sweephand.web.schemas.shapes import check

Document = TypeVar("Document", bound=FilterRequest)

SELECTION_RULE: Final = "Say of which jobs: give a prefix, or labels."


def read_filter(model: type[Document], kind: str, document: Mapping[str, Any]) -> Parsed[Document]:
    """The filter in a document, or what is wrong with it. `kind` is the kind of the call's cursors."""
    filters, violations = check(model, json_text.with_plain_numbers(document))
    if filters is not None:
        if not filters.prefix and not filters.labels:
            violations.append(Violation("", SELECTION_RULE))
        if filters.cursor is not None:
            try:
                cursor.decode(kind, filters.cursor)
            except ValueError as error:
                violations.append(Violation("/cursor", str(error)))
    return Parsed(filters, tuple(violations))
