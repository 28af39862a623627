"""What the methods of the client share: answers in parts, lists as iterators, labels, and preconditions."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sweephand_client.http.operation import Body, Item, Operation, Page, Result
from sweephand_client.http.transport import Query, Transport
from sweephand_client.openapi.job_answers import CountResponse

#: The most entries that one call looks at.
_PAGE: Final = 200


class Calls:
    """The base of all groups of methods. They call one stack."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _parts(
        self,
        operation: Operation[Body, Result],
        path: Mapping[str, str] | None = None,
        *,
        query: Query | None = None,
        body: Body | None = None,
    ) -> Iterator[Result]:
        """The answers of as many calls as it takes. Each call is made when its answer is asked for.

        A call goes on at the `nextCursor` of the one before, in the span (`from`, `to`) that the first one
        chose: by now another one would be chosen.
        """
        given: Any = body or query or {}
        while True:
            sent = {"query": given} if body is None else {"body": given}
            part: Any = self._transport.call(operation, path, **sent)
            yield part
            if part.get("nextCursor") is None:
                return
            span = {name: part[name] for name in ("from", "to") if name in part}
            given = {**given, **span, "cursor": part["nextCursor"]}

    def _count(
        self,
        operation: Operation[Body, CountResponse],
        namespace: str,
        *,
        query: Query | None = None,
        body: Body | None = None,
    ) -> int:
        """The sum of the counts of bulk calls."""
        parts = self._parts(operation, {"namespace": namespace}, query=query, body=body)
        return sum(each["count"] for each in parts)

    def _pages(
        self,
        operation: Operation[None, Page[Item]],
        path: Mapping[str, str] | None = None,
        query: Query | None = None,
        limit: int | None = None,
    ) -> Iterator[list[Item]]:
        """The pages of a list, each read when it is asked for. A filtered page may be empty."""
        for page in self._parts(
            operation, path, query={**(query or {}), "limit": min(limit or _PAGE, _PAGE)}
        ):
            yield page["items"]

    def _items(
        self,
        operation: Operation[None, Page[Item]],
        path: Mapping[str, str] | None = None,
        query: Query | None = None,
        limit: int | None = None,
    ) -> Iterator[Item]:
        """The entries of a list, in the API's order. The client asks for each page when it needs it.

        A call looks at `limit` entries, if that is given.
        """
        for page in self._pages(operation, path, query, limit):
            yield from page


def label_query(labels: Mapping[str, str] | None) -> list[str]:
    """Labels as the query parameters that select by them."""
    return [f"{name}:{value}" for name, value in (labels or {}).items()]


def preconditions(if_match: str | None, *, if_absent: bool = False) -> dict[str, str]:
    """The headers by which a write needs this revision, any revision (`*`), or that nothing is stored.

    The API answers 412 if the precondition does not hold. Without arguments there is no precondition.
    """
    found = {}
    if if_match is not None:
        found["if-match"] = "*" if if_match == "*" else f'"{if_match}"'
    if if_absent:
        found["if-none-match"] = "*"
    return found


def job_path(namespace: str, name: str) -> dict[str, str]:
    """The parts of the path of a job."""
    return {"namespace": namespace, "name": name}
