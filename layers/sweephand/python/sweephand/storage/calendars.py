"""How calendars are stored in the Jobs table: an item that each write of a job reads, and a large one."""

from typing import Final

from sweephand.base.layouts import NAME, SENTENCE, WHOLE, Field, Layout, text_of
from sweephand.model.calendar import Calendar, CalendarContent, CalendarKey
from sweephand.model.change import AdminChange
from sweephand.model.page import Page
from sweephand.storage.changes import file, records
from sweephand.storage.item import FormAttribute, IntegerAttribute, Item, StoredItem, fields_of
from sweephand.storage.table import ItemKey, RawItem, Table, VersionedItem, put_version
from sweephand.storage.timers import DeflatedAttribute

#: More than the text of any closed days has.
_CLOSED_LENGTH_MAX: Final = 65_536

#: A calendar as stored. Its key holds the namespace and the name.
_CALENDAR: Final = Layout(
    Calendar,
    Field("version", "version", NAME),
    Field("closed", "closed", text_of(_CLOSED_LENGTH_MAX)),
    Field("created_at", "created", WHOLE),
    Field("updated_at", "updated", WHOLE),
    Field("owner", "owner", SENTENCE),
    Field("known_until", "until", NAME, None),
    Field("source", "source", SENTENCE, None),
    Field("reached", "reached", SENTENCE, None),
    Field("followed", "followed", WHOLE, 0),
)


class ContentItem(VersionedItem):
    """What a calendar was written as, and the reasons of its days."""

    written = DeflatedAttribute()
    reasons = DeflatedAttribute()


class FollowedItem(VersionedItem):
    """What a function notes whose jobs follow a calendar."""

    reached = FormAttribute(SENTENCE)
    followed = IntegerAttribute()


class DynamoCalendars:
    """ports.CalendarStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, key: CalendarKey) -> Calendar | None:
        """The calendar. One strong read: usually 1 RRU."""
        raw = self._table.get(_calendar_key(key))
        return None if raw is None else _calendar(raw)

    def content(self, key: CalendarKey) -> CalendarContent | None:
        """The content. One strong read: 1 RRU for each 4 KB, deflated."""
        raw = self._table.get(_content_key(key))
        if raw is None:
            return None
        item = ContentItem.read(raw)
        return CalendarContent(item.version, item.written, item.reasons)

    def put(
        self, calendar: Calendar, content: CalendarContent, replacing: str | None, change: AdminChange
    ) -> bool:
        """Write both items and the records of the change in one transaction."""
        item = StoredItem(*_calendar_key(calendar.key), _CALENDAR, calendar)
        large = ContentItem(
            *_content_key(calendar.key),
            version=content.version,
            written=dict(content.written),
            reasons=dict(content.reasons),
        )
        return put_version(self._table, item, calendar.version, replacing, [(large, None), *records(change)])

    def delete(self, calendar: Calendar, change: AdminChange) -> bool:
        """Record the removal, and remove both items if they are in this version."""
        file(self._table, change)
        refusal = self._table.delete(_calendar_key(calendar.key), VersionedItem.version == calendar.version)
        if refusal is not None and refusal.stored is not None:
            return False
        self._table.delete(_content_key(calendar.key), VersionedItem.version == calendar.version)
        return True

    def page(self, namespace: str, after: str, limit: int) -> Page[Calendar]:
        """Up to `limit` calendars by name, without their contents."""
        # No name begins with a space, and the bound of a query must not be empty.
        beyond = Item.sk > (after or " ")
        result = self._table.query((Item.pk == _partition(namespace)) & beyond, limit)
        found = tuple(map(_calendar, result.items))
        return Page(found, found[-1].key.name if result.has_more and found else None)

    def follow(self, calendar: Calendar, reached: str | None, more: int) -> None:
        """Note it by one update, if the calendar is in that version."""
        place = FollowedItem.reached
        actions = [
            place.remove() if reached is None else place.set(reached),
            FollowedItem.followed.add(more),
        ]
        self._table.update(_calendar_key(calendar.key), actions, VersionedItem.version == calendar.version)


def _partition(namespace: str) -> str:
    return f"calendars#{namespace}"


def _calendar_key(key: CalendarKey) -> ItemKey:
    return _partition(key.namespace), key.name


def _content_key(key: CalendarKey) -> ItemKey:
    return f"calendarcontents#{key.namespace}", key.name


def _calendar(raw: RawItem) -> Calendar:
    _, namespace = raw["pk"]["S"].split("#")
    return Calendar(key=CalendarKey(namespace, raw["sk"]["S"]), **fields_of(_CALENDAR, raw))
