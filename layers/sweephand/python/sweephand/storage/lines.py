"""How the lines of jobs are stored in the Jobs table: one item each, in a partition of its own."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from pynamodb.attributes import UnicodeAttribute

from sweephand.base.layouts import NAME, WHOLE, Field, Layout, list_of, text_of
from sweephand.base.limits import WAIT_LIMIT_MAX
from sweephand.model.job import JobKey
from sweephand.model.line import Holder, Line, StoredLine, place_of
from sweephand.model.trigger import Trigger, TriggerMessage
from sweephand.model.wire import decode, encode
from sweephand.storage.item import FormAttribute, IntegerAttribute, Item, expiry
from sweephand.storage.table import ItemKey, RawItem, Table

_SORT_KEY: Final = "line"

#: An item may have 400 KB.
_TEXT_LENGTH_MAX: Final = 400_000


class _Kept(NamedTuple):
    """Messages of one job's line: triggers that are `short`, and the texts of the `others`.

    Nearly all triggers in a line are first attempts that have waited since they were due. As columns, these
    take about 20 bytes each, so that a thousand fit into an item. The others are stored as a queue carries
    them.
    """

    short: Sequence[Any]
    others: Sequence[str]


#: A first attempt that has waited since it was due. The item has its key and uid.
_SHORT: Final[Layout[dict[str, Any]]] = Layout(
    dict,
    Field("due_at", "d", WHOLE),
    Field("sequence", "q", WHOLE),
    Field("index", "i", WHOLE, 0),
    Field("rev", "r", NAME),
    Field("armed_at", "a", WHOLE),
)

_KEPT: Final = Layout(
    _Kept,
    Field("short", "c", _SHORT.columns, ()),
    Field("others", "m", list_of(text_of(_TEXT_LENGTH_MAX), 0, WAIT_LIMIT_MAX), ()),
).form


class LineItem(Item):
    """A line as stored."""

    uid = UnicodeAttribute()
    version = UnicodeAttribute()
    holder = FormAttribute(_KEPT)
    since = IntegerAttribute()
    waiting = FormAttribute(_KEPT, null=True)
    gone_at = IntegerAttribute(null=True, attr_name="gone")


class DynamoLines:
    """ports.LineStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, key: JobKey) -> StoredLine | None:
        """The line of a job. One strong read: 1 RRU for each 4 KB, which hold about 200 triggers."""
        raw = self._table.get(_key(key))
        return None if raw is None else _line(raw)

    def put(self, stored: StoredLine, replacing: str | None) -> bool:
        """Write the line if the stored version is `replacing`, or if this very line is stored already."""
        absent = LineItem.pk.does_not_exist()
        unchanged = LineItem.version == replacing
        refusal = self._table.put(_item(stored), absent if replacing is None else unchanged)
        if refusal is None or refusal.stored is None:
            return refusal is None
        return _line(refusal.stored).version == stored.version

    def delete(self, stored: StoredLine) -> bool:
        """Remove the line if it is in that version or gone already."""
        absent = LineItem.pk.does_not_exist()
        unchanged = LineItem.version == stored.version
        return self._table.delete(_key(stored.key), absent | unchanged) is None


def _key(key: JobKey) -> ItemKey:
    return f"overlap#{key.namespace}#{key.name}", _SORT_KEY


def _item(stored: StoredLine) -> LineItem:
    holder = stored.line.holder
    assert holder is not None, "a line without a holder is not stored"
    return LineItem(
        *_key(stored.key),
        uid=stored.uid,
        version=stored.version,
        holder=_kept((holder.message,)),
        since=holder.since,
        waiting=_kept(stored.line.waiting) if stored.line.waiting else None,
        gone_at=stored.expires_at,
        expires_at=expiry(stored.expires_at),
    )


def _line(raw: RawItem) -> StoredLine:
    item = LineItem.read(raw)
    _, namespace, name = item.pk.split("#")
    key = JobKey(namespace, name)
    [message] = _messages(item.holder, key, item.uid)
    waiting = () if item.waiting is None else _messages(item.waiting, key, item.uid)
    return StoredLine(key, item.uid, item.version, Line(Holder(message, item.since), waiting), item.gone_at)


def _kept(messages: Sequence[TriggerMessage]) -> _Kept:
    short = tuple(each.trigger for each in messages if _is_short(each))
    return _Kept(short, tuple(encode(each) for each in messages if not _is_short(each)))


def _messages(kept: _Kept, key: JobKey, uid: str) -> tuple[TriggerMessage, ...]:
    """The messages in the order of the line; NewerError as by decode()."""
    messages = [_waiting(Trigger(key, uid, **fields)) for fields in kept.short]
    for text in kept.others:
        message = decode(text)
        assert isinstance(message, TriggerMessage), "a line holds trigger messages only"
        messages.append(message)
    return tuple(sorted(messages, key=place_of))


def _waiting(trigger: Trigger) -> TriggerMessage:
    return TriggerMessage(trigger, not_before=trigger.due_at, is_owed=True)


def _is_short(message: TriggerMessage) -> bool:
    trigger = message.trigger
    return message == _waiting(trigger) and trigger.demand is None and trigger.batch is None
