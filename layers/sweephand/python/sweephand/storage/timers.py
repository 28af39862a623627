"""How timers are stored in the Timers table, in the order in which they are due: alone or in packs."""

import json
import zlib
from base64 import b64decode
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import accumulate, repeat, takewhile
from typing import Any, Final

from pynamodb.attributes import Attribute, UnicodeAttribute
from pynamodb.constants import BINARY
from pynamodb.expressions.condition import Condition

from sweephand.base.errors import NewerError
from sweephand.base.instants import Instant
from sweephand.base.layouts import NAME, TRUTH, WHOLE, Field, Layout, Part
from sweephand.base.timing import TIMER_RETENTION_MS
from sweephand.model.definition import CATCH_UP_DEFAULT
from sweephand.model.job import JobKey
from sweephand.model.orders import ResumeMessage
from sweephand.model.timer import (
    AwaitedTimer,
    Cursor,
    DeadlineTimer,
    OccurrenceTimer,
    ResumeTimer,
    RetryTimer,
    StoredTimer,
    Timer,
    TimerName,
    TimerPack,
    UnreadTimer,
    WatchTimer,
    bucket_key,
    bucket_of,
    instant_at,
    name_of,
    packs_of,
)
from sweephand.model.trigger import DeadlineMessage, Readable, TriggerMessage
from sweephand.model.watch import WatchMessage
from sweephand.model.wire import decode, encode
from sweephand.model.wire_parts import CATCH_UP, DEMAND, OCCURRENCE, PAYLOAD
from sweephand.schedules import Series
from sweephand.schedules.series import SERIES
from sweephand.storage.item import Item, StoredItem, expiry, fields_of
from sweephand.storage.table import ItemKey, RawItem, Table

_KEY: Final = Part("key", Layout(JobKey, Field("namespace", "n", NAME), Field("name", "j", NAME)))
_REV: Final = Field("rev", "r", NAME)


#: What is stored of an occurrence timer besides its series; its key holds its shard. Names are short, because
#: a page holds up to a thousand timers, and DynamoDB bills reads and writes by the KB.
_LINES: Final = (
    _KEY,
    Field("uid", "u", NAME),
    _REV,
    Part("first", OCCURRENCE),
    Field("armed_at", "a", WHOLE),
    Field("catchup", "c", CATCH_UP.form, CATCH_UP_DEFAULT),
    Field("followed_at", "l", WHOLE, None),
    Field("put_off_to", "b", WHOLE, None),
    Field("demand", "k", DEMAND.form, None),
    Field("payload", "p", PAYLOAD, None),
    Field("may_be_repeated", "f", TRUTH, default=False),
    Field("judged_at", "g", WHOLE, None),
)

#: An occurrence timer that has an item of its own.
OCCURRENCE_TIMER: Final = Layout(OccurrenceTimer, *_LINES, Field("series", "s", SERIES.form))

#: A timer in a pack, whose series are columns of their own.
_PACKED: Final = Layout(OccurrenceTimer, *_LINES)

#: What names a timer in a pack.
_NAMES: Final = Layout(
    TimerName, _KEY, _REV, Field("due_at", "d", WHOLE), Field("batch_index", "i", WHOLE, 0)
).columns

#: In a pack, these numbers are differences.
_AS_DIFFERENCES: Final = ("d", "a", "s")

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
    timers = _timers_of(PackItem.read(raw).columns, shard)
    placed_at = instant_at(key)
    if bucket_of(timers[0].first.at) != placed_at:
        put_off = (timer._replace(put_off_to=placed_at) for timer in timers)
        timers = sorted(put_off, key=lambda timer: timer.sort_key)
    return TimerPack(shard, key, tuple(timers))


def names_in(raw: RawItem) -> set[TimerName]:
    """The names of a pack's timers. It makes no series, so it takes a fraction of the time of read_pack()."""
    return set(_NAMES.read(_as_written(PackItem.read(raw).columns)))


def _columns(timers: Sequence[OccurrenceTimer]) -> dict[str, Any]:
    """The columns of the timers. Those of _AS_DIFFERENCES have differences to the timer before.

    `s` has the number of each timer's series, and `x` the columns of the distinct series.
    """
    numbers: dict[Series, int] = {}
    numbered = [numbers.setdefault(timer.series, len(numbers)) for timer in timers]
    columns = {**_PACKED.columns.write(timers), "s": numbered, "x": SERIES.columns.write(tuple(numbers))}
    return {**columns, **{name: _differences(columns[name]) for name in _AS_DIFFERENCES}}


def _as_written(columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns with the values themselves in place of differences."""
    return {**columns, **{name: list(accumulate(columns[name])) for name in _AS_DIFFERENCES}}


def _timers_of(stored: Mapping[str, Any], shard: int) -> Sequence[OccurrenceTimer]:
    columns = _as_written(stored)
    distinct: Sequence[Series] = SERIES.columns.read(columns["x"])
    series = [distinct[number] for number in columns["s"]]
    count = len(series)
    return _PACKED.from_columns(columns, count, shard=repeat(shard, count), series=series)


def _differences(values: Sequence[int]) -> list[int]:
    """The first value, then how much each one exceeds the one before it."""
    return [after - before for before, after in zip([0, *values], values, strict=False)]


#: The newest version of an item that this code reads. It is raised for a new kind of timer, and when the
#: meaning of an attribute changes. An item has its version in the attribute `v`, and one without it is of
#: version 1. A version that is older than an item copies the item ahead, unread, until a newer version runs
#: again (decision 037).
VERSION: Final = 1

_BUCKET_LENGTH: Final = len(bucket_key(0))


class MessageItem(Item):
    """The timer of a retry, a deadline, a watch or a resume as stored: its message, as a queue carries it."""

    message = UnicodeAttribute(attr_name="m")


class DynamoTimers:
    """ports.TimerStore on the Timers table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def put(self, timers: Sequence[StoredTimer]) -> None:
        """Write timers with distinct keys, 25 to a call."""
        self._table.put_batch([_item(timer) for timer in timers])

    def page(self, shard: int, cursor: Cursor, before: Instant, limit: int) -> Sequence[StoredTimer]:
        """The next timers at the cursor, of one bucket, from one strong query: 1 RRU for each 4 KB."""
        in_range = _between(shard, cursor, before)
        if in_range is None:
            return ()
        items = self._table.query(in_range, limit).items
        bucket = _bucket(items[0]) if items else ""
        of_bucket = takewhile(lambda raw: _bucket(raw) == bucket, items)
        return [_timer(raw) for raw in of_bucket]

    def missing(self, timers: Sequence[AwaitedTimer]) -> Sequence[AwaitedTimer]:
        """Those that are not stored: 1 RRU for each timer, and 1 for each 4 KB of the packs of a bucket.

        The packs of a bucket are read once, and only if one of the bucket's timers has no item of its own.
        """
        places: dict[ItemKey, AwaitedTimer] = {
            (partition(each.shard), each.sort_key): each for each in timers
        }
        for raw in self._table.get_batch(list(places), attributes=("pk", "sk")):
            del places[raw["pk"]["S"], raw["sk"]["S"]]
        by_bucket: dict[tuple[int, Instant], set[TimerName]] = {}
        for each in places.values():
            if isinstance(each, ResumeTimer):
                continue
            by_bucket.setdefault((each.shard, bucket_of(each.due_at)), set()).add(name_of(each))
        looks = [partial(self._not_packed, *place, wanted) for place, wanted in by_bucket.items()]
        lost = dict(zip(by_bucket, self._table.concurrently(looks), strict=True))
        return [
            each
            for each in timers
            if (partition(each.shard), each.sort_key) in places
            and (isinstance(each, ResumeTimer) or name_of(each) in lost[each.shard, bucket_of(each.due_at)])
        ]

    def _not_packed(self, shard: int, bucket_at: Instant, wanted: set[TimerName]) -> set[TimerName]:
        """Those of the names that are in no pack of the bucket; none if a pack cannot be read."""
        low, high = packs_of(bucket_at)
        has_more = True
        while wanted and has_more:
            in_range = (Item.pk == partition(shard)) & Item.sk.between(low, high)
            result = self._table.query(in_range)
            for raw in result.items:
                low = raw["sk"]["S"] + "\0"
                try:
                    wanted = wanted - names_in(raw)
                except Exception:  # noqa: BLE001 - a pack of a newer version, or a damaged one
                    return set()
            has_more = result.has_more
        return wanted


def partition(shard: int) -> str:
    """The partition of a shard's timers."""
    return f"shard#{shard:04d}"


def _between(shard: int, cursor: Cursor, before: Instant) -> Condition | None:
    """The timers of a shard at the cursor, before the bucket of `before`; None if there can be none."""
    # A key with a zero byte behind it sorts directly after the key. A bucket's name sorts before every timer
    # of that bucket, so that the range ends where the bucket of `before` begins.
    low = cursor.key if cursor.is_within_item else cursor.key + "\0"
    high = bucket_key(before)
    if low > high:
        return None
    in_range: Condition = (Item.pk == partition(shard)) & Item.sk.between(low, high)
    return in_range


def _bucket(raw: RawItem) -> str:
    key: str = raw["sk"]["S"]
    return key[:_BUCKET_LENGTH]


class _CopiedItem(Item):
    """An item that is written as it was read, except for its place and its end."""

    def __init__(self, timer: UnreadTimer) -> None:
        self._raw = {
            **{name: _as_sent(value) for name, value in timer.item.items()},
            "sk": {"S": timer.sort_key},
            "expires_at": {"N": str(expiry(timer.due_at + TIMER_RETENTION_MS))},
        }

    def serialize(self, null_check: bool = True) -> dict[str, dict[str, Any]]:  # noqa: ARG002, FBT001, FBT002 - pynamodb's signature
        """The item as the client takes it."""
        return self._raw


def _as_sent(value: Mapping[str, Any]) -> dict[str, Any]:
    """A value as the client takes it. Answers are not parsed, so that binary values were read as base64."""
    [(kind, content)] = value.items()
    match kind:
        case "B":
            return {kind: b64decode(content)}
        case "BS":
            return {kind: [b64decode(each) for each in content]}
        case "L":
            return {kind: [_as_sent(each) for each in content]}
        case "M":
            return {kind: {name: _as_sent(each) for name, each in content.items()}}
    return {kind: content}


def _item(timer: StoredTimer) -> Item:
    if isinstance(timer, UnreadTimer):
        return _CopiedItem(timer)
    place = (partition(timer.shard), timer.sort_key)
    if isinstance(timer, TimerPack):
        return pack_item(timer, place)
    expires_at = expiry(timer.due_at + TIMER_RETENTION_MS)
    if isinstance(timer, OccurrenceTimer):
        return StoredItem(*place, OCCURRENCE_TIMER, timer, expires_at=expires_at)
    return MessageItem(*place, expires_at=expires_at, message=encode(timer.message))


def _timer(raw: RawItem) -> StoredTimer:
    """The timer of an item; an UnreadTimer if this version cannot read the item."""
    key, shard = raw["sk"]["S"], int(raw["pk"]["S"].rpartition("#")[2])
    try:
        timer = _read(raw, shard)
    except NewerError:
        return UnreadTimer(shard, key, raw)
    except Exception as error:  # noqa: BLE001 - an item that cannot be read must not block the shard
        return UnreadTimer(shard, key, raw, repr(error))
    if isinstance(timer, TimerPack) or timer.sort_key == key:
        return timer
    # An older version could not read the timer, and copied it to this place.
    if isinstance(timer, OccurrenceTimer):
        return timer._replace(put_off_to=instant_at(key), stored_key=key)
    return timer._replace(stored_key=key)


def _read(raw: RawItem, shard: int) -> Timer | TimerPack:
    """The pack of an item, or its timer apart from its place. NewerError if a newer version wrote it."""
    version = int(raw.get("v", {"N": "1"})["N"])
    if version > VERSION:
        raise NewerError(f"a timer of version {version}: this code reads {VERSION}")
    if "z" in raw:
        return read_pack(raw, shard)
    if "m" in raw:
        return _of_message(decode(raw["m"]["S"]), shard)
    return OccurrenceTimer(shard, **fields_of(OCCURRENCE_TIMER, raw))


def _of_message(message: Readable, shard: int) -> Timer:
    match message:
        case TriggerMessage():
            return RetryTimer(shard, message)
        case DeadlineMessage():
            return DeadlineTimer(shard, message)
        case WatchMessage():
            return WatchTimer(shard, message)
        case ResumeMessage():
            return ResumeTimer(shard, message)
        case _:
            raise ValueError(f"a timer does not carry a {type(message).__name__}")
