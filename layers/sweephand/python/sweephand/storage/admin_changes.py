"""How the trail of admins is stored in the Jobs table.

A change is two items: one for its namespace, and one for the whole stack. They are written together with what
they record, so no change lacks its record.
"""

from typing import Final, get_args

from sweephand.base.instants import Instant
from sweephand.base.layouts import NAME, SENTENCE, Field, Layout, choice_of
from sweephand.base.timing import CHANGE_RETENTION_MS
from sweephand.model.admin_change import AdminChange, AdminSubject, AdminVerb
from sweephand.model.api_key import EVERY_NAMESPACE
from sweephand.model.page import Page
from sweephand.storage.changes import FIELD_CHANGES
from sweephand.storage.item import Item, StoredItem, expiry, fields_of
from sweephand.storage.table import Expression, RawItem, Table

_WHOLE_STACK: Final = "adminchanges"


#: A change as stored. The sort key is its position.
_CHANGE: Final = Layout(
    AdminChange,
    Field("who", "who", SENTENCE),
    Field("what", "what", choice_of(*get_args(AdminVerb))),
    Field("subject", "subject", choice_of(*get_args(AdminSubject))),
    Field("namespace", "namespace", NAME),
    Field("name", "name", SENTENCE),
    Field("fields", "fields", FIELD_CHANGES, ()),
    Field("reason", "reason", SENTENCE, None),
)


class DynamoAdminChanges:
    """ports.AdminChangeStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def page(self, namespace: str | None, before: str, limit: int, since: Instant = 0) -> Page[AdminChange]:
        """Up to `limit` changes, newest first, by a query that runs backwards."""
        in_trail = Item.pk == (_WHOLE_STACK if namespace is None else _partition(namespace))
        condition = in_trail & (Item.sk < before) if before else in_trail
        result = self._table.query(condition, limit, backwards=True)
        changes = tuple(map(_change, result.items))
        asked = tuple(each for each in changes if each.at >= since)
        has_more = result.has_more and len(asked) == len(changes)
        return Page(asked, asked[-1].position if has_more else None)


def records(*changes: AdminChange) -> list[tuple[Item, Expression | None]]:
    """The writes of changes, for a transaction with what they record. Writing them again is harmless."""
    return [
        (_item(partition, change), None)
        for change in changes
        for partition in (
            _WHOLE_STACK,
            *([] if change.namespace == EVERY_NAMESPACE else [_partition(change.namespace)]),
        )
    ]


def file(table: Table, change: AdminChange) -> None:
    """Record a removal by itself, before it is made."""
    for item, _ in records(change):
        table.put(item)


def _partition(namespace: str) -> str:
    return f"adminchanges#{namespace}"


def _item(partition: str, change: AdminChange) -> StoredItem:
    expires_at = expiry(change.at + CHANGE_RETENTION_MS)
    return StoredItem(partition, change.position, _CHANGE, change, expires_at=expires_at)


def _change(raw: RawItem) -> AdminChange:
    at, _, version = raw["sk"]["S"].partition("#")
    return AdminChange(int(at), version=version, **fields_of(_CHANGE, raw))
