"""How timers are kept in the Timers table: one item each, in the order in which they are due."""

from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, Final

from pynamodb.attributes import UnicodeAttribute

from sweephand.base.instants import Instant
from sweephand.base.timing import TIMER_RETENTION_MS
from sweephand.model.definition import CATCH_UP_DEFAULT, CatchUp
from sweephand.model.job import JobKey
from sweephand.model.run_id import Demand
from sweephand.model.timer import (
    Cursor,
    DeadlineTimer,
    OccurrenceTimer,
    RetryTimer,
    StoredTimer,
    Timer,
    UnreadTimer,
    bucket_key,
    instant_at,
)
from sweephand.model.trigger import (
    DeadlineMessage,
    Failure,
    Redrive,
    Trigger,
    TriggerMessage,
)
from sweephand.schedules import Occurrence, Series
from sweephand.storage.item import IntegerAttribute, Item, JsonAttribute, expiry, payload_item, payload_of
from sweephand.storage.table import RawItem, Table

#: Raised, and then written, for a new kind of timer, and when an attribute means something else than before:
#: an older version leaves such a timer as it is. An item without it is of version 1.
VERSION: Final = 1

_BUCKET_LENGTH: Final = len(bucket_key(0))


#: What timers of every kind have.
_ALWAYS: Final = ("namespace", "name", "uid", "rev", "due_at", "sequence", "armed_at")


class TimerItem(Item):
    """A timer as stored, under short names: a thousand are read at a time, and a write costs by the KB.

    The sort key says of which kind it is as well; the attributes say it for whoever reads. A retry has
    what a trigger message has, an occurrence timer its series, a deadline the owner of an attempt.
    """

    namespace = UnicodeAttribute(attr_name="n")
    name = UnicodeAttribute(attr_name="j")
    uid = UnicodeAttribute(attr_name="u")
    rev = UnicodeAttribute(attr_name="r")
    due_at = IntegerAttribute(attr_name="d")
    sequence = IntegerAttribute(attr_name="q")
    armed_at = IntegerAttribute(attr_name="a")
    series = JsonAttribute(null=True, attr_name="s")
    catchup = JsonAttribute(null=True, attr_name="c")
    followed_at = IntegerAttribute(null=True, attr_name="l")
    index = IntegerAttribute(null=True, attr_name="i")
    not_before = IntegerAttribute(null=True, attr_name="b")
    attempt = IntegerAttribute(null=True, attr_name="t")
    first_attempt_at = IntegerAttribute(null=True, attr_name="f")
    faults = IntegerAttribute(null=True, attr_name="x")
    redrive = JsonAttribute(null=True, attr_name="w")
    owner = UnicodeAttribute(null=True, attr_name="o")
    demand = JsonAttribute(null=True, attr_name="k")
    payload = JsonAttribute(null=True, attr_name="p")
    had_token = IntegerAttribute(null=True, attr_name="h")
    last_failure = JsonAttribute(null=True, attr_name="e")
    version = IntegerAttribute(null=True, attr_name="v")


class DynamoTimers:
    """ports.TimerStore on the Timers table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def put(self, timers: Sequence[StoredTimer]) -> None:
        """Write timers with distinct keys, 25 to a call."""
        self._table.put_batch([_item(timer) for timer in timers])

    def page(self, shard: int, cursor: Cursor, before: Instant, limit: int) -> Sequence[StoredTimer]:
        """The next timers at the cursor, of one bucket, from one strong query: 1 RRU for each 4 KB."""
        # A key and a zero byte is the very next text after it. The bucket of `before` alone sorts ahead
        # of all that lies in it, so that the range ends where that bucket begins.
        low = cursor.key + "\0" if cursor.within is None else cursor.key
        high = bucket_key(before)
        if low > high:
            return ()
        in_range = (TimerItem.pk == partition(shard)) & TimerItem.sk.between(low, high)
        items = self._table.query(in_range, limit).items
        of_bucket = takewhile(lambda raw: _bucket(raw) == _bucket(items[0]), items)
        return [timer for raw in of_bucket for timer in _timers(raw)]


def partition(shard: int) -> str:
    """The partition of a shard's timers."""
    return f"shard#{shard:04d}"


def _bucket(raw: RawItem) -> str:
    key: str = raw["sk"]["S"]
    return key[:_BUCKET_LENGTH]


class _CopiedItem(Item):
    """An item that is written as it was read, but for its place and its end."""

    def __init__(self, timer: UnreadTimer) -> None:
        self._raw = {
            **{name: _as_sent(value) for name, value in timer.item.items()},
            "sk": {"S": timer.sort_key},
            "expires_at": {"N": str(expiry(timer.due_at + TIMER_RETENTION_MS))},
        }

    def serialize(self, null_check: bool = True) -> dict[str, dict[str, Any]]:  # noqa: ARG002, FBT001, FBT002 - as pynamodb has it
        """The item as the client takes it."""
        return self._raw


def _as_sent(value: Mapping[str, Any]) -> dict[str, Any]:
    """A value as the client takes it: an answer is not parsed, so binary values are read as base64."""
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
    expires_at = expiry(timer.due_at + TIMER_RETENTION_MS)
    if isinstance(timer, OccurrenceTimer):
        return TimerItem(
            *place,
            expires_at=expires_at,
            namespace=timer.key.namespace,
            name=timer.key.name,
            uid=timer.uid,
            rev=timer.rev,
            due_at=timer.first.due_at,
            sequence=timer.first.sequence,
            armed_at=timer.armed_at,
            series=timer.series.to_item(),
            # The default is left out: nearly all timers have it.
            catchup=None
            if timer.catchup == CATCH_UP_DEFAULT
            else [timer.catchup.mode, timer.catchup.window_ms],
            followed_at=timer.followed_at,
            not_before=timer.put_off_to,
        )
    message, trigger = timer.message, timer.message.trigger
    item = TimerItem(
        *place,
        expires_at=expires_at,
        namespace=trigger.key.namespace,
        name=trigger.key.name,
        uid=trigger.uid,
        rev=trigger.rev,
        due_at=trigger.due_at,
        sequence=trigger.sequence,
        armed_at=trigger.armed_at,
        index=trigger.index,
        not_before=message.not_before,
        attempt=message.attempt,
        faults=message.faults,
        demand=trigger.demand and list(trigger.demand),
    )
    if isinstance(message, DeadlineMessage):
        item.owner = message.owner
    else:
        item.first_attempt_at = message.first_attempt_at
        item.redrive = message.redrive and list(message.redrive)
        item.payload = payload_item(message.payload)
        item.had_token = 1 if message.had_token else None
        item.last_failure = message.last_failure and list(message.last_failure)
    return item


def _timers(raw: RawItem) -> Iterator[StoredTimer]:
    """The timers of one item: one as yet; whoever reads takes any number."""
    key, shard = raw["sk"]["S"], int(raw["pk"]["S"].rpartition("#")[2])
    try:
        is_newer = _version(raw) > VERSION
        timers = () if is_newer else tuple(_read(raw, shard))
    except Exception as error:  # noqa: BLE001 - whatever it is, the rest of the shard must not wait for it
        yield UnreadTimer(shard, key, raw, repr(error))
        return
    if is_newer:
        yield UnreadTimer(shard, key, raw)
    for timer in timers:
        if timer.sort_key == key:
            yield timer
        elif isinstance(timer, OccurrenceTimer):
            yield timer._replace(put_off_to=instant_at(key), stored_key=key)
        else:
            yield timer._replace(stored_key=key)


def _version(raw: RawItem) -> int:
    return int(raw.get("v", {"N": "1"})["N"])


def _read(raw: RawItem, shard: int) -> Iterator[Timer]:
    item = TimerItem.read(raw)
    missing = [name for name in _ALWAYS if getattr(item, name) is None]
    if missing or (item.series is None and item.attempt is None):
        raise ValueError(f"no timer of any kind: it lacks {missing or 'a series and an attempt'}")
    key = JobKey(item.namespace, item.name)
    if item.series is not None:
        series, first = Series.from_item(item.series), Occurrence(item.due_at, item.sequence)
        yield OccurrenceTimer(
            shard,
            key,
            item.uid,
            item.rev,
            series,
            first,
            item.armed_at,
            catchup=CatchUp(*item.catchup) if item.catchup else CATCH_UP_DEFAULT,
            followed_at=item.followed_at,
            put_off_to=item.not_before,
        )
        return
    trigger = Trigger(
        key,
        item.uid,
        item.rev,
        item.due_at,
        item.sequence,
        item.armed_at,
        item.index,
        Demand(*item.demand) if item.demand else None,
    )
    owner: str | None = item.owner
    if owner is not None:
        message = DeadlineMessage(trigger, item.attempt, owner, shard, item.not_before, item.faults)
        yield DeadlineTimer(shard, message)
        return
    redrive = Redrive(*item.redrive) if item.redrive else None
    yield RetryTimer(
        shard,
        TriggerMessage(
            trigger,
            item.not_before,
            item.attempt,
            item.first_attempt_at,
            item.faults,
            redrive=redrive,
            payload=payload_of(item.payload),
            had_token=bool(item.had_token),
            last_failure=Failure(*item.last_failure) if item.last_failure else None,
        ),
    )
