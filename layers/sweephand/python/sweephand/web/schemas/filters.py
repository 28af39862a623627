"""How the filter of a call about many jobs is read: it has to name a prefix or labels."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from sweephand.base.errors import Violation
from sweephand.web.http import cursor, json_text
from sweephand.web.http.operation import Taken
from sweephand.web.schemas.filter_requests import FilterDocument
from sweephand.web.schemas.shapes import check

Document = TypeVar("Document", bound=FilterDocument)

RULE: Final = "Say of which jobs: give a prefix, or labels."


def read_filter(model: type[Document], kind: str, document: Mapping[str, Any]) -> Taken[Document]:
    """The filter in a document, or what is wrong with it. `kind` is the kind of the call's cursors."""
    found, violations = check(model, json_text.plain(document))
    if found is not None:
        if not found.prefix and not found.labels:
            violations.append(Violation("", RULE))
        if found.cursor is not None:
            try:
                cursor.decode(kind, found.cursor)
            except ValueError as error:
                violations.append(Violation("/cursor", str(error)))
    return Taken(found, tuple(violations))
