"""How far the audit of payloads has come: one item in the Timers table, which tick may write."""

from typing import Final

from pynamodb.attributes import UnicodeAttribute

from sweephand.storage.item import Item
from sweephand.storage.table import ItemKey, Table

#: Apart from the leases: what reads those knows each item of their partition.
_PLACE: Final[ItemKey] = ("audits", "payloads")


class AuditItem(Item):
    """The position of the audit."""

    reached = UnicodeAttribute()


class DynamoAudits:
    """jobs.audit.AuditStore on the Timers table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def reached(self) -> str:
        """The position; "" before the first step. One strong read."""
        raw = self._table.get(_PLACE)
        return "" if raw is None else str(AuditItem.read(raw).reached)

    def reach(self, position: str) -> None:
        """Write the position. One write."""
        self._table.put(AuditItem(*_PLACE, reached=position))
