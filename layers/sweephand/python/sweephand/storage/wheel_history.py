"""How the wheel's history is stored: one item of the Jobs table for each event, by when tick found it."""

from collections.abc import Sequence
from typing import Final, cast

from pynamodb.attributes import UnicodeAttribute

from sweephand.base.instants import Instant
from sweephand.base.timing import CHANGE_RETENTION_MS
from sweephand.model.wheel_event import WheelEvent, WheelEventKind
from sweephand.storage.item import IntegerAttribute, Item, expiry
from sweephand.storage.table import Table

#: In the Jobs table, because a rebuild of the wheel begins with an empty Timers table.
_PARTITION: Final = "wheel"


class WheelEventItem(Item):
    """An event as stored. The sort key holds when tick found it."""

    kind = UnicodeAttribute()
    since = IntegerAttribute()
    limit = IntegerAttribute(null=True)


class DynamoWheelHistory:
    """ports.WheelHistory on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def put(self, events: Sequence[WheelEvent]) -> None:
        """Write each event: 1 WRU."""
        for event in events:
            self._table.put(
                WheelEventItem(
                    _PARTITION,
                    f"{event.at:014d}#{event.kind}",
                    kind=event.kind,
                    since=event.since,
                    limit=event.limit or None,
                    expires_at=expiry(event.at + CHANGE_RETENTION_MS),
                )
            )

    def after(self, instant: Instant, limit: int) -> Sequence[WheelEvent]:
        """The first events after an instant, by one query."""
        later = (WheelEventItem.pk == _PARTITION) & (WheelEventItem.sk > f"{instant:014d}$")
        items = [WheelEventItem.read(raw) for raw in self._table.query(later, limit).items]
        return [
            WheelEvent(
                cast("WheelEventKind", item.kind),
                int(item.sk.partition("#")[0]),
                item.since,
                item.limit or 0,
            )
            for item in items
        ]
