"""How a pack of timers is stored: one item, whose timers are the rows of deflated JSON columns.

Alone, a timer takes about 250 bytes and pays for 1 KB. Timers of one bucket have most of their values in
common. As columns, equal values stand side by side, so that deflating finds them (decision 037).
"""

import json
import zlib
from base64 import b64decode
from collections.abc import Mapping, Sequence
from itertools import accumulate, repeat
from typing import Any, Final

from pynamodb.attributes import Attribute
from pynamodb.constants import BINARY

from sweephand.base.timing import TIMER_RETENTION_MS
from sweephand.model.definition import CATCH_UP_DEFAULT, CatchUpPolicy
from sweephand.model.job import JobKey
from sweephand.model.timer import OccurrenceTimer, TimerName, TimerPack, bucket_of, instant_at
from sweephand.schedules import Occurrence, Series
from sweephand.storage.item import Item, expiry
from sweephand.storage.table import ItemKey, RawItem

#: The columns that only a pack with a batch has.
_MAY_LACK: Final = frozenset({"i", "o"})

#: Deflating a pack of 100 timers at this level takes about 1 ms. Level 9 saves less than 1%.
_LEVEL: Final = 6


class DeflatedAttribute(Attribute[Any]):
    """A JSON value, deflated (RFC 1950)."""

    attr_type = BINARY

    def serialize(self, value: Any) -> bytes:
        """The bytes as the client takes them."""
        text = json.dumps(value, separators=(",", ":"))
        return zlib.compress(text.encode(), _LEVEL)

    def deserialize(self, value: Any) -> Any:
        """The value. The bytes are read as base64 text, unless botocore has parsed the answer.

        storage/connect.py takes answers as they are, and leaves damaged ones to botocore.
        """
        deflated = b64decode(value, validate=True) if isinstance(value, str) else value
        return json.loads(zlib.decompress(deflated))


class PackItem(Item):
    """A pack as stored. `columns` has one list for each field, as _columns() describes."""

    columns = DeflatedAttribute(attr_name="z")


def pack_item(pack: TimerPack, place: ItemKey) -> PackItem:
    """The item of a pack. It expires when its last timer would."""
    last_at = max(timer.due_at for timer in pack.timers)
    return PackItem(
        *place,
        expires_at=expiry(last_at + TIMER_RETENTION_MS),
        columns=_columns(pack.timers),
    )


def read_pack(raw: RawItem, shard: int) -> TimerPack:
    """The pack of an item. Raises an error of some kind if the item is damaged.

    If an older version has put the pack off, its timers have the item's place as `put_off_to`.
    """
    key = raw["sk"]["S"]
    timers = _timers(PackItem.read(raw).columns, shard)
    placed_at = instant_at(key)
    if bucket_of(timers[0].first.at) != placed_at:
        timers = [timer._replace(put_off_to=placed_at) for timer in timers]
    return TimerPack(shard, key, tuple(sorted(timers, key=lambda timer: timer.sort_key)))


def names_in(raw: RawItem) -> set[TimerName]:
    """The names of a pack's timers. It makes no series, so it takes a tenth of the time of read_pack()."""
    columns = PackItem.read(raw).columns
    [count] = columns["z"]
    namespaces, names, revs, indexes = (_rows(columns, each, count) for each in ("n", "j", "r", "i"))
    found = zip(namespaces, names, revs, _sums(_rows(columns, "d", count)), indexes, strict=True)
    return {TimerName(JobKey(each[0], each[1]), *each[2:]) for each in found}


def _columns(timers: Sequence[OccurrenceTimer]) -> dict[str, list[Any]]:
    """One list for each field of the timers, with a row for each timer.

    A list whose rows are all equal has one row. Instants of `d` and `a` are differences to the row before.
    `s` has each distinct series once, and `x` the number of each timer's series. `i` and `o` have the index
    in its batch and the `after_ms` of each first trigger, if any timer has a batch.
    """
    numbers: dict[Series, int] = {}
    numbered = [numbers.setdefault(timer.series, len(numbers)) for timer in timers]
    columns: dict[str, list[Any]] = {
        "n": [timer.key.namespace for timer in timers],
        "j": [timer.key.name for timer in timers],
        "u": [timer.uid for timer in timers],
        "r": [timer.rev for timer in timers],
        "d": _differences([timer.first.due_at for timer in timers]),
        "q": [timer.first.sequence for timer in timers],
        "a": _differences([timer.armed_at for timer in timers]),
        "x": numbered,
        # The default is empty, because nearly all timers have it.
        "c": [[] if timer.catchup == CATCH_UP_DEFAULT else list(timer.catchup) for timer in timers],
        "l": [timer.followed_at for timer in timers],
    }
    if any(timer.series.batch for timer in timers):
        columns["i"] = [timer.first.batch_index for timer in timers]
        columns["o"] = [timer.first.after_ms for timer in timers]
    merged = {name: rows[:1] if _are_equal(rows) else rows for name, rows in columns.items()}
    return {**merged, "s": [series.to_item() for series in numbers], "z": [len(timers)]}


def _timers(columns: Mapping[str, Sequence[Any]], shard: int) -> list[OccurrenceTimer]:
    series = [Series.from_item(item) for item in columns["s"]]
    [count] = columns["z"]

    def rows(name: str) -> Sequence[Any]:
        return _rows(columns, name, count)

    return [
        OccurrenceTimer(
            shard,
            JobKey(namespace, name),
            uid,
            rev,
            series[number],
            Occurrence(due_at, sequence, index, after_ms),
            armed_at,
            catchup=CatchUpPolicy(*catchup) if catchup else CATCH_UP_DEFAULT,
            followed_at=followed_at,
        )
        for (
            namespace,
            name,
            uid,
            rev,
            number,
            due_at,
            sequence,
            armed_at,
            catchup,
            followed_at,
            index,
            after_ms,
        ) in zip(
            rows("n"),
            rows("j"),
            rows("u"),
            rows("r"),
            rows("x"),
            _sums(rows("d")),
            rows("q"),
            _sums(rows("a")),
            rows("c"),
            rows("l"),
            rows("i"),
            rows("o"),
            strict=True,
        )
    ]


def _rows(columns: Mapping[str, Sequence[Any]], name: str, count: int) -> Sequence[Any]:
    """A column with a row for each of the timers. Without batches, two columns are left out."""
    column = columns.get(name, (0,)) if name in _MAY_LACK else columns[name]
    return list(repeat(column[0], count)) if len(column) == 1 else column


def _are_equal(rows: Sequence[Any]) -> bool:
    return list(rows).count(rows[0]) == len(rows)


def _differences(values: Sequence[int]) -> list[int]:
    """The first value, then how much each one exceeds the one before it."""
    return [after - before for before, after in zip([0, *values], values, strict=False)]


def _sums(differences: Sequence[int]) -> Sequence[int]:
    return list(accumulate(differences))
