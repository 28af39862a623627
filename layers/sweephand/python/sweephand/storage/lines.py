"""How the lines of jobs are stored in the Jobs table: one item each, in a partition of its own."""

from typing import Final

from pynamodb.attributes import UnicodeAttribute

from sweephand.model.job import JobKey
from sweephand.model.line import Holder, Line, StoredLine
from sweephand.model.wire import decode_in_line, encode_in_line
from sweephand.storage.item import IntegerAttribute, Item, JsonAttribute, expiry
from sweephand.storage.table import ItemKey, RawItem, Table

_SORT_KEY: Final = "line"


class LineItem(Item):
    """A line as stored.

    A trigger in it is a short list, or a message's text if a list cannot hold all of it.
    """

    uid = UnicodeAttribute()
    version = UnicodeAttribute()
    holder = JsonAttribute()
    since = IntegerAttribute()
    waiting = JsonAttribute(null=True)
    gone_at = IntegerAttribute(null=True, attr_name="gone")


class DynamoLines:
    """ports.LineStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, key: JobKey) -> StoredLine | None:
        """The line of a job. One strong read: 1 RRU for each 4 KB, which hold about 60 triggers."""
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
        holder=encode_in_line(holder.message),
        since=holder.since,
        waiting=[encode_in_line(each) for each in stored.line.waiting] or None,
        gone_at=stored.expires_at,
        expires_at=expiry(stored.expires_at),
    )


def _line(raw: RawItem) -> StoredLine:
    item = LineItem.read(raw)
    _, namespace, name = item.pk.split("#")
    key = JobKey(namespace, name)
    holder = Holder(decode_in_line(item.holder, key, item.uid), item.since)
    waiting = tuple(decode_in_line(each, key, item.uid) for each in item.waiting or ())
    return StoredLine(key, item.uid, item.version, Line(holder, waiting), item.gone_at)
