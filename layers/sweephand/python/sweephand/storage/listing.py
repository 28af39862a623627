"""Reading several sorted partitions as one sorted list, without reading much more than the page needs."""

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from heapq import heapify, heappop, heappush
from typing import Generic, TypeAlias, TypeVar

from sweephand.base.concurrency import Concurrently, one_by_one

Value = TypeVar("Value")

#: Called with a name and a number n. Returns up to n (name, value) after that name, and whether more may
#: follow.
Fetch: TypeAlias = Callable[[str, int], tuple[Sequence[tuple[str, Value]], bool]]


class Listing(Generic[Value]):
    """One partition: the values that were read and not yet taken, and whether the partition may have more."""

    def __init__(self, fetch: Fetch[Value]) -> None:
        self._fetch = fetch
        self._read: deque[tuple[str, Value]] = deque()
        self._may_have_more = True

    @property
    def is_exhausted(self) -> bool:
        """Whether the partition is known to have no more values."""
        return not self._read and not self._may_have_more

    def peek(self, after: str, share: int) -> str | None:
        """The next name; None if there is none.

        If nothing that was read is left, up to `share` values after `after` are read.
        """
        if not self._read and self._may_have_more:
            found, self._may_have_more = self._fetch(after, share)
            self._read.extend(found)
        return self._read[0][0] if self._read else None

    def pop(self) -> Value:
        """The value of the next name, which is then taken."""
        return self._read.popleft()[1]


def merged(
    listings: Sequence[Listing[Value]], after: str, limit: int, concurrently: Concurrently = one_by_one
) -> tuple[Sequence[Value], str | None]:
    """The first `limit` values of all listings together by name, and the last name if more may follow.

    Names are spread evenly over the partitions. So each listing is first asked for its share of the page and
    two more, `concurrently`. The few listings that hold more of this page are asked again when they run out.
    Each is then asked for its share of what the page still lacks and two more.
    """
    assert limit > 0, "a page has at least one value"

    def share() -> int:
        return (limit - len(values)) // len(listings) + 2

    values: list[Value] = []
    first = concurrently([partial(listing.peek, after, share()) for listing in listings])
    heads = [(name, index) for index, name in enumerate(first) if name is not None]
    heapify(heads)
    while heads:
        name, index = heappop(heads)
        values.append(listings[index].pop())
        if len(values) == limit:
            return values, None if all(each.is_exhausted for each in listings) else name
        following = listings[index].peek(name, share())
        if following is not None:
            heappush(heads, (following, index))
    return values, None
