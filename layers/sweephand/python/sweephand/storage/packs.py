"""How a pack of timers is stored: one item, whose timers are the rows of deflated JSON columns.

Alone, a timer takes about 250 bytes and pays for 1 KB. Timers of one bucket have most of their values in
common. As columns, equal values stand side by side, so that deflating finds them (decision 037).
"""

import json
import zlib
from base64 import b64decode
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate
from typing import Any, Final

from pynamodb.attributes import Attribute
from pynamodb.constants import BINARY

from sweephand.base.layouts import NAME, TRUTH, WHOLE, Field, Form, Layout, Part
from sweephand.base.timing import TIMER_RETENTION_MS
from sweephand.model.definition import CATCH_UP_DEFAULT
from sweephand.model.job import JobKey
from sweephand.model.timer import OccurrenceTimer, TimerName, TimerPack, bucket_of, instant_at
from sweephand.model.wire_parts import CATCH_UP, DEMAND, OCCURRENCE, PAYLOAD, SERIES
from sweephand.schedules import Series
from sweephand.storage.item import Item, expiry
from sweephand.storage.table import ItemKey, RawItem

_KEY: Final = Part("key", Layout(JobKey, Field("namespace", "n", NAME), Field("name", "j", NAME)))
_REV: Final = Field("rev", "r", NAME)


def _lines(series: Form) -> Iterable[Field | Part]:
    """What is stored of an occurrence timer, whose series has that form; its key holds its shard.

    Names are short, because a page holds up to a thousand timers, and DynamoDB bills reads and writes by the
    KB.
    """
    return (
        _KEY,
        Field("uid", "u", NAME),
        _REV,
        Part("first", OCCURRENCE),
        Field("armed_at", "a", WHOLE),
        Field("series", "s", series),
        Field("catchup", "c", CATCH_UP.form, CATCH_UP_DEFAULT),
        Field("followed_at", "l", WHOLE, None),
        Field("put_off_to", "b", WHOLE, None),
        Field("demand", "k", DEMAND.form, None),
        Field("payload", "p", PAYLOAD, None),
        Field("may_be_repeated", "f", TRUTH, default=False),
        Field("judged_at", "g", WHOLE, None),
    )


#: An occurrence timer that has an item of its own.
OCCURRENCE_TIMER: Final = Layout(OccurrenceTimer, *_lines(SERIES))

#: What names a timer in a pack.
_NAMES: Final = Layout(dict, _KEY, _REV, Part("first", OCCURRENCE)).columns

#: In a pack, these fields are differences.
_AS_DIFFERENCES: Final = ("d", "a")

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
    """A pack as stored. `columns` has its timers, as _columns() describes."""

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
    """The names of a pack's timers. It makes no series, so it takes a fraction of the time of read_pack()."""
    return {
        TimerName(fields["key"], fields["rev"], fields["first"].due_at, fields["first"].batch_index)
        for fields in _NAMES.read(_with_instants(PackItem.read(raw).columns))
    }


def _columns(timers: Sequence[OccurrenceTimer]) -> dict[str, Any]:
    """The columns of the timers. Instants of `d` and `a` are differences to the timer before.

    `s` has the number of each timer's series, and `x` has each distinct series once.
    """
    numbers: dict[Series, int] = {}
    for timer in timers:
        numbers.setdefault(timer.series, len(numbers))
    numbered = WHOLE._replace(write=numbers.__getitem__)
    columns = Layout(OccurrenceTimer, *_lines(numbered)).columns.write(timers)
    for name in _AS_DIFFERENCES:
        columns[name] = _differences(columns[name])
    return {**columns, "x": [series.to_item() for series in numbers]}


def _with_instants(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns with the instants themselves in place of differences."""
    return {**columns, **{name: list(accumulate(columns[name])) for name in _AS_DIFFERENCES}}


def _timers(columns: Mapping[str, Any], shard: int) -> Sequence[OccurrenceTimer]:
    series = [Series.from_item(each) for each in columns["x"]]
    numbered = WHOLE._replace(read=series.__getitem__)
    layout = Layout(partial(OccurrenceTimer, shard), *_lines(numbered))
    found: Sequence[OccurrenceTimer] = layout.columns.read(_with_instants(columns))
    return found


def _differences(values: Sequence[int]) -> list[int]:
    """The first value, then how much each one exceeds the one before it."""
    return [after - before for before, after in zip([0, *values], values, strict=False)]
