"""The items of DynamoDB's tables in the order of their keys, and the limits of an item."""

import json
import re
from base64 import b64decode, b64encode
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from sweephand_engine.dynamo.expressions import Attributes, Range, Value
from sweephand_engine.journal import Journal

#: AWS's limits: bytes of an item, and of the two parts of its key.
ITEM_BYTES_MAX: Final = 400 * 1_024
PARTITION_KEY_BYTES_MAX: Final = 2_048
SORT_KEY_BYTES_MAX: Final = 1_024

#: A whole number as DynamoDB returns it: up to 38 digits, without leading zeros.
_NUMBER: Final = re.compile(r"0|-?[1-9][0-9]{0,37}", re.ASCII)

#: The key of an item: partition key and sort key.
Place: TypeAlias = tuple[str, str]


#: How an item's text says when its time to live is over. Inside of a value, JSON escapes the quotes.
_EXPIRES: Final = re.compile(r'"expires_at":{"N":"([0-9]+)"}')


@dataclass(slots=True)
class _Partition:
    """The items of one partition key, and their sort keys in order. JSON takes a fifth of a dict's memory."""

    keys: list[str] = field(default_factory=list)
    items: dict[str, str] = field(default_factory=dict)


class Tables:
    """Tables that exist as soon as a request names them. Each read makes the item anew.

    `changed` is called for each write with the item before and after it. None stands for no item.
    """

    def __init__(self, changed: Callable[[Attributes | None, Attributes | None], None] | None = None) -> None:
        self._partitions: dict[tuple[str, str], _Partition] = {}
        self._changed = changed

    def get(self, table: str, place: Place) -> Attributes | None:
        """The item of a key. None if it does not exist."""
        return self._read(table, place)

    def _read(self, table: str, place: Place) -> dict[str, Any] | None:
        partition = self._partitions.get((table, place[0]))
        text = partition.items.get(place[1]) if partition else None
        return None if text is None else _item(text)

    def get_stale(self, table: str, place: Place) -> Attributes | None:
        """The item of a key as an eventually consistent read may show it. Here it is never stale."""
        return self.get(table, place)

    def put(self, table: str, item: Attributes) -> None:
        """Store an item in place of the stored one. AWS would not refuse the item: `checked` says so."""
        place = (item["pk"]["S"], item["sk"]["S"])
        before = None if self._changed is None else self._read(table, place)
        self._store(table, place, _JSON.encode(item))
        if self._changed is not None:
            self._changed(before, self._read(table, place))

    def _store(self, table: str, place: Place, text: str) -> None:
        partition = self._partitions.setdefault((table, place[0]), _Partition())
        if place[1] not in partition.items:
            # DynamoDB sorts by the bytes of UTF-8. The order of code points is the same.
            insort(partition.keys, place[1])
        partition.items[place[1]] = text

    def is_short(self, table: str, partition: str, keys: Sequence[str], size_max: int) -> bool:
        """Whether these items of a partition are surely smaller together than so many bytes.

        DynamoDB counts fewer bytes for an item than its JSON has.
        """
        if not keys:
            return True
        items = self._partitions[table, partition].items
        return sum(len(items[key]) for key in keys) < size_max

    def remove(self, table: str, place: Place) -> None:
        """Remove an item, if it exists."""
        before = self.forget(table, place)
        if before is not None and self._changed is not None:
            self._changed(before, None)

    def forget(self, table: str, place: Place) -> Attributes | None:
        """Remove an item as DynamoDB does at the end of its time to live. `changed` is not called."""
        partition = self._partitions.get((table, place[0]))
        before = partition.items.pop(place[1], None) if partition else None
        if partition is None or before is None:
            return None
        del partition.keys[bisect_left(partition.keys, place[1])]
        return _item(before)

    def commit(self) -> None:
        """Called at the end of each request. A subclass may store what the request has written."""

    def keys(self, table: str, asked: Range) -> Sequence[str]:
        """The sort keys of a range, in order."""
        partition = self._partitions.get((table, asked.partition))
        if partition is None:
            return ()
        begin = (bisect_left if asked.with_low else bisect_right)(partition.keys, asked.low)
        end = len(partition.keys)
        if asked.high is not None:
            end = (bisect_right if asked.with_high else bisect_left)(partition.keys, asked.high)
        return partition.keys[begin:end]

    def everything(self, table: str) -> Iterator[Attributes]:
        """All items of a table."""
        for (named, _), partition in self._partitions.items():
            if named == table:
                yield from (_item(partition.items[key]) for key in partition.keys)

    def partitions(self) -> Sequence[tuple[str, str]]:
        """The name of the table and the partition key of each partition."""
        return list(self._partitions)

    def expire(self, table: str, partition: str, now_s: int) -> None:
        """Remove the items of a partition whose time to live ended before `now_s`, in seconds.

        An empty partition is forgotten.
        """
        items = self._partitions[table, partition].items
        ends = {key: end for key, text in items.items() if (end := _EXPIRES.search(text)) is not None}
        old = [key for key, end in ends.items() if int(end[1]) < now_s]
        for key in old:
            self.forget(table, (partition, key))
        if not items:
            del self._partitions[table, partition]


class JournaledTables(Tables):
    """Tables that begin with the items of a journal. What each request writes is kept there."""

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self._journal = journal
        for table, pk, sk, text in journal.items():
            partition = self._partitions.setdefault((table, pk), _Partition())
            partition.keys.append(sk)
            partition.items[sk] = text

    def _store(self, table: str, place: Place, text: str) -> None:
        super()._store(table, place, text)
        self._journal.put(table, *place, text)

    def forget(self, table: str, place: Place) -> Attributes | None:
        """Remove an item as other tables do."""
        before = super().forget(table, place)
        if before is not None:
            self._journal.remove(table, *place)
        return before

    def commit(self) -> None:
        """Keep what the request has written."""
        self._journal.commit()


def place_of(key: Attributes) -> Place:
    """The place that a request's `Key` names."""
    assert key.keys() == {"pk", "sk"}, f"ValidationException: {sorted(key)} is not a key of these tables"
    return _key_text(key["pk"], PARTITION_KEY_BYTES_MAX), _key_text(key["sk"], SORT_KEY_BYTES_MAX)


def key_of(place: Place) -> Attributes:
    """The `Key` of a request for a place."""
    return {"pk": {"S": place[0]}, "sk": {"S": place[1]}}


def checked(item: Attributes) -> Place:
    """The place of an item. Raises AssertionError if AWS would refuse the item."""
    place = (
        _key_text(item.get("pk", {}), PARTITION_KEY_BYTES_MAX),
        _key_text(item.get("sk", {}), SORT_KEY_BYTES_MAX),
    )
    size = size_of(item)
    assert size <= ITEM_BYTES_MAX, f"ValidationException: an item of {size} bytes"
    return place


def copied(item: Attributes) -> dict[str, Any]:
    """A copy of an item, which shares nothing with it that can change."""
    return {name: dict(value) for name, value in item.items()}


def projected(
    item: dict[str, Any], expression: str | None, names: Mapping[str, str] | None
) -> dict[str, Any]:
    """The attributes of an item that a projection names; all of them if there is no projection."""
    if expression is None:
        return item
    assert names is not None, "every attribute has a placeholder"
    wanted = [names[each] for each in expression.split(",")]
    assert sorted(names.values()) == sorted(set(wanted)), "ValidationException: a name is unused or repeated"
    return {name: item[name] for name in wanted if name in item}


def _item(text: str) -> dict[str, Any]:
    item: dict[str, Any] = json.loads(text)
    return item


def _as_read(content: bytes) -> str:
    """Binary as an answer has it: storage.connect does not parse answers, so binary is base64."""
    return b64encode(content).decode()


#: json.dumps would make an encoder for each item.
_JSON: Final = json.JSONEncoder(separators=(",", ":"), default=_as_read)


def size_of(item: Attributes) -> int:
    """The bytes that DynamoDB counts: names and texts in UTF-8, and one byte for two digits of a number."""
    return sum([_length(name) + _value_size(name, value) for name, value in item.items()])


def distinct(places: Sequence[Place], most: int) -> Sequence[Place]:
    """The places of a batch call.

    Raises AssertionError if there are none or too many, or if one occurs twice.
    """
    assert 1 <= len(places) <= most, f"ValidationException: {len(places)} in one batch of 1 to {most}"
    assert len(set(places)) == len(places), "ValidationException: one key twice in a batch"
    return places


def _key_text(value: Mapping[str, Any], bytes_max: int) -> str:
    text: str = value.get("S", "")
    assert len(value) == 1, f"ValidationException: {value} in a key"
    assert 0 < _length(text) <= bytes_max, f"ValidationException: a key of {_length(text)} bytes"
    return text


def _length(text: str) -> int:
    """The bytes of a text in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def _value_size(name: str, value: Value) -> int:
    [(kind, content)] = value.items()
    if kind == "S":
        return _length(content)
    if kind == "NULL":
        assert content is True, f"{name}: NULL is true"
        return 1
    if kind == "B":
        return len(content if isinstance(content, bytes) else b64decode(content))
    assert kind == "N", f"{name}: {kind} is unknown to this client"
    assert _NUMBER.fullmatch(content), f"{name}: {content!r} is not a whole number as DynamoDB stores it"
    return len(content) // 2 + 2
