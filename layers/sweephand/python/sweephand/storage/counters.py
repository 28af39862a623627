"""How counts of deliveries, and the allowances of the stack and of namespaces, are stored in the Jobs table.

Counts have an item for each minute and partition. An item holds the counts of all namespaces, so that a call
of the delivery function takes one write. Each count is an attribute of its own, to which DynamoDB adds:
`succeeded#{namespace}`, and `150#{namespace}` for first attempts that were late by at most 150 ms. An
allowance has one item.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from sweephand.base.errors import StoreError
from sweephand.base.instants import DAY_MS, SECOND_MS, Instant
from sweephand.base.timing import STATS_RETENTION_MS
from sweephand.model.counters import (
    COUNTED_OUTCOMES,
    US_PER_MS,
    Allowance,
    Slots,
    Stats,
    are_left,
    minute_us_of,
    next_slots,
    no_stats,
    step_us_of,
)
from sweephand.storage import connect
from sweephand.storage.item import IntegerAttribute, Item
from sweephand.storage.table import ItemKey, RawItem, Refusal, Table

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
        expires_at = -(-(minute + STATS_RETENTION_MS) // SECOND_MS)
        with connect.only_while(in_time):
            key = _partition(part % STATS_PARTITIONS), _position(minute)
            self._table.add(key, dict(_attributes(counted)), expires_at)

    def minutes(self, namespace: str, since: Instant, until: Instant) -> Mapping[Instant, Stats]:
        """The minutes of all partitions, with the counts of every namespace: 1 RRU for each 4 KB."""
        found: dict[Instant, Stats] = {}
        for raw in self._items(since, until):
            stats = _stats(raw).get(namespace)
            if stats is not None:
                found.setdefault(int(raw["sk"]["S"]), no_stats()).update(stats)
        return found

    def sums(self, since: Instant, until: Instant) -> Mapping[str, Stats]:
        """The same items as for the minutes of one namespace."""
        found: dict[str, Stats] = {}
        for raw in self._items(since, until):
            for namespace, stats in _stats(raw).items():
                found.setdefault(namespace, no_stats()).update(stats)
        return found

    def _items(self, since: Instant, until: Instant) -> Iterator[RawItem]:
        for partition in range(STATS_PARTITIONS):
            yield from self._items_of(partition, since, until)

    def _items_of(self, partition: int, since: Instant, until: Instant) -> Iterator[RawItem]:
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


def _stats(raw: RawItem) -> Mapping[str, Stats]:
    """The counts of each namespace in an item."""
    found: defaultdict[str, Stats] = defaultdict(no_stats)
    for name, value in raw.items():
        measure, separator, namespace = name.partition("#")
        if not separator:
            continue
        if measure in _OUTCOMES:
            found[namespace].outcomes[_OUTCOMES[measure]] = int(value["N"])
        elif measure.isdecimal():
            found[namespace].lateness[int(measure)] = int(value["N"])
    return found


_SORT_KEY: Final = "minute"

#: Other processes can take slots between a read and a write. After so many tries, the message comes again.
_TRIES_MAX: Final = 20

#: An item is kept for so long after the slots that were taken, at least. If it were removed before, the slots
#: for which triggers wait would be taken again.
_KEPT_MS: Final = 14 * DAY_MS

#: A write that moves the item's end moves it so far beyond those slots. So that is needed once in 14 days.
_RENEWED_MS: Final = 2 * _KEPT_MS


class AllowanceItem(Item):
    """The next free slot, and the limit for which that holds. Without an epoch, it is the first one."""

    next_us = IntegerAttribute(attr_name="next")
    per_minute = IntegerAttribute(attr_name="limit")
    epoch = IntegerAttribute(null=True)


class DynamoAllowances:
    """ports.AllowanceStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, bucket: str) -> Allowance | None:
        """The allowance as it is stored. One strong read."""
        raw = self._table.get(_key(bucket))
        return None if raw is None else _allowance(raw)

    def take(
        self, bucket: str, now: Instant, per_minute: int, count: int, before_us: int | None = None
    ) -> Slots:
        """Take slots by one addition while this minute's allowance is in use, and else by compare-and-set."""
        taken_us = count * step_us_of(per_minute)
        for _ in range(_TRIES_MAX):
            is_in_use = (AllowanceItem.next_us >= minute_us_of(now)) & (
                AllowanceItem.per_minute == per_minute
            )
            if before_us is not None:
                is_in_use &= AllowanceItem.next_us < before_us
            answer = self._table.update(_key(bucket), [AllowanceItem.next_us.add(taken_us)], is_in_use)
            if not isinstance(answer, Refusal):
                self._keep(bucket, AllowanceItem.read(answer), now)
                taken = _allowance(answer)
                return Slots(taken.next_us - taken_us, taken.epoch)
            stored = None if answer.stored is None else _allowance(answer.stored)
            slots = next_slots(stored, now, per_minute)
            if are_left(stored, slots, per_minute, before_us):
                return slots
            next_us = slots.first_us + taken_us
            item = AllowanceItem(
                *_key(bucket),
                next_us=next_us,
                per_minute=per_minute,
                epoch=slots.epoch or None,
                expires_at=_end(next_us, now, _RENEWED_MS),
            )
            if stored is None:
                unchanged = AllowanceItem.pk.does_not_exist()
            else:
                unchanged = (AllowanceItem.next_us == stored.next_us) & (
                    AllowanceItem.per_minute == stored.per_minute
                )
            if self._table.put(item, unchanged) is None:
                return slots
        raise StoreError(f"the allowance {bucket} was changed {_TRIES_MAX} times between a read and a write")

    def _keep(self, bucket: str, item: AllowanceItem, now: Instant) -> None:
        """Move the end of an item if its slots go on for longer than they did when that was written."""
        if (item.expires_at or 0) < _end(item.next_us, now, _KEPT_MS):
            later = [AllowanceItem.expires_at.set(_end(item.next_us, now, _RENEWED_MS))]
            # An item that is gone meanwhile has no end to move.
            self._table.update(_key(bucket), later, AllowanceItem.pk.exists())


def _end(next_us: int, now: Instant, kept_ms: int) -> int:
    """The end of an item that is kept for so long after its slots, and from now on, in whole seconds."""
    return -(-(max(now, next_us // US_PER_MS) + kept_ms) // SECOND_MS)


def _key(bucket: str) -> ItemKey:
    return f"allowance#{bucket}", _SORT_KEY


def _allowance(raw: RawItem) -> Allowance:
    item = AllowanceItem.read(raw)
    return Allowance(item.next_us, item.per_minute, item.epoch or 0)
