"""Reads lists page by page, as iterators."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sweephand_client.http.transport import Query, Transport

#: The most entries that one call looks at.
_PAGE: Final = 200


def pages(
    transport: Transport, name: str, path: Mapping[str, str], query: Query, *, limit: int = _PAGE
) -> Iterator[list[Any]]:
    """The pages of a list, each read when it is asked for. A filtered page may be empty."""
    cursor: str | None = None
    while True:
        answer = transport.call(name, path, query={**query, "limit": limit, "cursor": cursor})
        yield answer.body["items"]
        cursor = answer.body.get("nextCursor")
        if cursor is None:
            return


def items(transport: Transport, name: str, path: Mapping[str, str], query: Query) -> Iterator[Any]:
    """The entries of a list, in the API's order. The next page is read when the last one is used up."""
    for page in pages(transport, name, path, query):
        yield from page


def label_query(labels: Mapping[str, str] | None) -> list[str]:
    """Labels as the query parameters that select by them."""
    return [f"{name}:{value}" for name, value in (labels or {}).items()]
