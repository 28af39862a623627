"""How sorted partitions are read as one list without reading much more than is asked for. Pure."""

from collections import deque
from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from typing import Generic, TypeAlias, TypeVar

Value = TypeVar("Value")

#: Asked with a name and a number: up to so many (name, value) after that name, and whether more may follow.
Ask: TypeAlias = Callable[[str, int], tuple[Sequence[tuple[str, Value]], bool]]


class Listing(Generic[Value]):
    """One partition: what was read of it and not yet taken, and whether it may have more."""

    def __init__(self, ask: Ask[Value]) -> None:
        self._ask = ask
        self._read: deque[tuple[str, Value]] = deque()
        self._may_have_more = True

    @property
    def is_spent(self) -> bool:
        """Whether it is known to have nothing left."""
        return not self._read and not self._may_have_more

    def head(self, after: str, share: int) -> str | None:
        """The next name, if any; where nothing that was read is left, `share` after `after` are read."""
        if not self._read and self._may_have_more:
            found, self._may_have_more = self._ask(after, share)
            self._read.extend(found)
        return self._read[0][0] if self._read else None

    def take(self) -> Value:
        """The value of the head."""
        return self._read.popleft()[1]


def merged(listings: Sequence[Listing[Value]], after: str, limit: int) -> tuple[Sequence[Value], str | None]:
    """The first `limit` values by name of all listings together, and the last name if more may follow.

    Names are spread evenly, so each listing is first asked for its share and two; the few that hold
    more of this page are asked again when they run out.
    """
    assert limit > 0, "a page has room for something"
    share = limit // len(listings) + 2
    first = ((listing.head(after, share), index) for index, listing in enumerate(listings))
    heads = [(name, index) for name, index in first if name is not None]
    heapify(heads)
    values: list[Value] = []
    while heads:
        name, index = heappop(heads)
        values.append(listings[index].take())
        if len(values) == limit:
            return values, None if all(each.is_spent for each in listings) else name
        following = listings[index].head(name, share)
        if following is not None:
            heappush(heads, (following, index))
    return values, None
