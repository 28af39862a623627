"""How counts of deliveries are stored in the Jobs table: an item for each minute and partition.

An item holds the counts of all namespaces, so that a call of the delivery function takes one write. Each
count is an attribute of its own, to which DynamoDB adds: `succeeded#{namespace}`, and `150#{namespace}` for
first attempts that were late by at most 150 ms.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from pynamodb.expressions.operand import Path

from sweephand.base.instants import Instant
from sweephand.base.timing import STATS_RETENTION_MS
from sweephand.model.stats import COUNTED_OUTCOMES, Stats, no_stats
from sweephand.storage import connect
from sweephand.storage.item import Item, expiry
from sweephand.storage.table import RawItem, Table

#: The partitions that a minute is spread over. DynamoDB takes 1,000 units of writes a second in each. A write
#: takes a unit for each KB of the item. So this is enough for 5,000 calls a second that add to items of 3 KB.
STATS_PARTITIONS: Final = 16

_OUTCOMES: Final = {str(each): each for each in COUNTED_OUTCOMES}


class StatsItem(Item):
    """The counts of a minute as stored. The sort key holds when the minute begins."""


class DynamoStats:
    """ports.StatsStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def add(
        self, minute: Instant, part: int, counted: Mapping[str, Stats], in_time: Callable[[], bool]
    ) -> None:
        """Add counts by one update: a WRU for each KB of the item."""
        expires = Path("expires_at").set(expiry(minute + STATS_RETENTION_MS))
        actions = [expires, *(Path([name]).add(count) for name, count in _attributes(counted))]
        with connect.only_while(in_time):
            self._table.add((_partition(part % STATS_PARTITIONS), _position(minute)), actions)

    def minutes(self, namespace: str, since: Instant, until: Instant) -> Mapping[Instant, Stats]:
        """The minutes of all partitions, with the counts of every namespace: 1 RRU for each 4 KB."""
        found: dict[Instant, Stats] = {}
        for partition in range(STATS_PARTITIONS):
            for raw in self._items(partition, since, until):
                stats = _stats(raw, namespace)
                if not stats.are_empty:
                    found.setdefault(int(raw["sk"]["S"]), no_stats()).update(stats)
        return found

    def _items(self, partition: int, since: Instant, until: Instant) -> Iterator[RawItem]:
        low, high, has_more = _position(since), _position(until - 1), since < until
        while has_more:
            in_range = StatsItem.sk.between(low, high)
            items, has_more = self._table.query((StatsItem.pk == _partition(partition)) & in_range)
            yield from items
            # Sorts after the last item, and before every later minute.
            low = f"{items[-1]['sk']['S']}$" if items else high
            has_more = has_more and low < high


def _partition(partition: int) -> str:
    return f"stats#{partition}"


def _position(instant: Instant) -> str:
    return f"{instant:014d}"


def _attributes(counted: Mapping[str, Stats]) -> Iterator[tuple[str, int]]:
    """The name of each count in an item, and what to add. No namespace has a `#`."""
    for namespace, stats in counted.items():
        for outcome, count in stats.outcomes.items():
            yield f"{outcome}#{namespace}", count
        for bound, count in stats.lateness.items():
            yield f"{bound}#{namespace}", count


def _stats(raw: RawItem, namespace: str) -> Stats:
    found = no_stats()
    for name, value in raw.items():
        measure, separator, counted = name.partition("#")
        if not separator or counted != namespace:
            continue
        if measure in _OUTCOMES:
            found.outcomes[_OUTCOMES[measure]] = int(value["N"])
        elif measure.isdecimal():
            found.lateness[int(measure)] = int(value["N"])
    return found
