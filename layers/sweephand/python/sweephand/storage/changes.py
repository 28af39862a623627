"""How changes are stored in the Jobs table: one item each, by time, under the key of what was changed."""

from typing import Final, get_args

from sweephand.base.instants import Instant
from sweephand.base.layouts import ANY, NAME, SENTENCE, WHOLE, Field, Layout, choice_of, list_of
from sweephand.base.names import EVERY_NAMESPACE
from sweephand.base.timing import CHANGE_RETENTION_MS
from sweephand.model.change import (
    AdminChange,
    AdminSubject,
    AdminVerb,
    Change,
    ChangeKind,
    FieldChange,
    Former,
)
from sweephand.model.definition import CATCH_UP_DEFAULT
from sweephand.model.job import JobKey
from sweephand.model.page import Page
from sweephand.model.policy_names import PolicyKey
from sweephand.model.wire_parts import CATCH_UP, SERIES
from sweephand.storage.item import Item, StoredItem, expiry, fields_of
from sweephand.storage.table import Expression, RawItem, Table

#: More fields than any object has whose changes are kept.
_FIELDS_MAX: Final = 1_000

_FIELD_CHANGE: Final = Layout(
    FieldChange, Field("name", "n", SENTENCE), Field("values", "v", list_of(ANY, 2, 2), None)
)

#: The fields of a change.
FIELD_CHANGES: Final = list_of(_FIELD_CHANGE.form, 0, _FIELDS_MAX)

_FORMER: Final = Layout(
    Former,
    Field("rev", "r", NAME),
    Field("series", "s", SERIES),
    Field("catchup", "c", CATCH_UP.form, CATCH_UP_DEFAULT),
    Field("alert_after_ms", "a", WHOLE, None),
)

_FIELDS: Final = (
    Field("who", "who", SENTENCE),
    Field("what", "what", choice_of(*get_args(ChangeKind))),
    Field("reason", "reason", SENTENCE, None),
    Field("fields", "fields", FIELD_CHANGES, None),
    Field("former", "former", _FORMER.form, None),
    Field("until", "until", WHOLE, None),
)

#: A change as its job or policy carries it.
CHANGE: Final = Layout(Change, Field("at", "at", WHOLE), Field("version", "version", NAME), *_FIELDS)

#: A change as stored. The sort key holds when the change was made, and by which write.
_FILED: Final = Layout(Change, *_FIELDS, Field("uid", "uid", NAME, ""))


class DynamoChanges:
    """ports.ChangeStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def put(self, key: JobKey | PolicyKey, change: Change) -> None:
        """Write a change: 1 WRU."""
        expires_at = expiry(change.at + CHANGE_RETENTION_MS)
        item = StoredItem(_partition(key), change.position, _FILED, change, expires_at=expires_at)
        self._table.put(item)

    def page(self, key: JobKey | PolicyKey, before: str, limit: int) -> Page[Change]:
        """Up to `limit` changes, newest first, by a query that runs backwards."""
        of_key = Item.pk == _partition(key)
        condition = of_key & (Item.sk < before) if before else of_key
        result = self._table.query(condition, limit, backwards=True)
        changes = tuple(map(_change, result.items))
        return Page(changes, changes[-1].position if result.has_more else None)


def _partition(key: JobKey | PolicyKey) -> str:
    kind = "policychanges" if isinstance(key, PolicyKey) else "changes"
    return f"{kind}#{key.namespace}#{key.name}"


def _change(raw: RawItem) -> Change:
    at, _, version = raw["sk"]["S"].partition("#")
    return Change(int(at), version=version, **fields_of(_FILED, raw))


_WHOLE_STACK: Final = "adminchanges"


#: A change as stored. The sort key is its position.
_ADMIN_CHANGE: Final = Layout(
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
        in_trail = Item.pk == (_WHOLE_STACK if namespace is None else _admin_partition(namespace))
        condition = in_trail & (Item.sk < before) if before else in_trail
        result = self._table.query(condition, limit, backwards=True)
        changes = tuple(map(_admin_change, result.items))
        asked = tuple(each for each in changes if each.at >= since)
        has_more = result.has_more and len(asked) == len(changes)
        return Page(asked, asked[-1].position if has_more else None)


def records(*changes: AdminChange) -> list[tuple[Item, Expression | None]]:
    """The writes of changes, for a transaction with what they record. Writing them again is harmless."""
    return [
        (_admin_item(partition, change), None)
        for change in changes
        for partition in (
            _WHOLE_STACK,
            *([] if change.namespace == EVERY_NAMESPACE else [_admin_partition(change.namespace)]),
        )
    ]


def file(table: Table, change: AdminChange) -> None:
    """Record a removal by itself, before it is made."""
    for item, _ in records(change):
        table.put(item)


def _admin_partition(namespace: str) -> str:
    return f"adminchanges#{namespace}"


def _admin_item(partition: str, change: AdminChange) -> StoredItem:
    expires_at = expiry(change.at + CHANGE_RETENTION_MS)
    return StoredItem(partition, change.position, _ADMIN_CHANGE, change, expires_at=expires_at)


def _admin_change(raw: RawItem) -> AdminChange:
    at, _, version = raw["sk"]["S"].partition("#")
    return AdminChange(int(at), version=version, **fields_of(_ADMIN_CHANGE, raw))
