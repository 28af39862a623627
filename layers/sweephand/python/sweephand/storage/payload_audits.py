"""The position of the payload audit: one item in the Timers table, which tick may write."""

from typing import Final

from pynamodb.attributes import UnicodeAttribute

from sweephand.storage.item import Item
from sweephand.storage.table import ItemKey, Table

#: Not in the partition of the leases: the reader of that partition must know each of its items.
_PLACE: Final[ItemKey] = ("audits", "payloads")


class AuditItem(Item):
    """The position of the audit."""

    reached = UnicodeAttribute()


class DynamoAudits:
    """payload_audit.AuditStore on the Timers table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def position(self) -> str:
        """The position; "" before the first step. One strong read."""
        raw = self._table.get(_PLACE)
        return "" if raw is None else str(AuditItem.read(raw).reached)

    def save_position(self, position: str) -> None:
        """Write the position. One write."""
        self._table.put(AuditItem(*_PLACE, reached=position))
