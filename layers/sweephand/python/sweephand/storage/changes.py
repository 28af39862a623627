"""How changes are stored in the Jobs table: one item each, by time, under the key of their job or policy."""

from typing import cast

from pynamodb.attributes import UnicodeAttribute

from sweephand.base.timing import CHANGE_RETENTION_MS
from sweephand.model.change import (
    Change,
    ChangeKind,
    fields_from_item,
    fields_to_item,
    former_from_item,
    former_to_item,
)
from sweephand.model.job import JobKey
from sweephand.model.policy_names import PolicyKey
from sweephand.ports import Page
from sweephand.storage.item import Item, JsonAttribute, expiry
from sweephand.storage.table import Table


class ChangeItem(Item):
    """A change as stored. The sort key holds when the change was made, and by which write."""

    who = UnicodeAttribute()
    what = UnicodeAttribute()
    reason = JsonAttribute(null=True)
    fields = JsonAttribute(null=True)
    former = JsonAttribute(null=True)


class DynamoChanges:
    """ports.ChangeStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def put(self, key: JobKey | PolicyKey, change: Change) -> None:
        """Write a change: 1 WRU."""
        item = ChangeItem(
            _partition(key),
            change.position,
            who=change.who,
            what=change.what,
            reason=change.reason,
            fields=fields_to_item(change),
            former=former_to_item(change),
            expires_at=expiry(change.at + CHANGE_RETENTION_MS),
        )
        self._table.put(item)

    def page(self, key: JobKey | PolicyKey, before: str, limit: int) -> Page[Change]:
        """Up to `limit` changes, newest first, by a query that runs backwards."""
        of_key = ChangeItem.pk == _partition(key)
        condition = of_key & (ChangeItem.sk < before) if before else of_key
        result = self._table.query(condition, limit, backwards=True)
        items = [ChangeItem.read(raw) for raw in result.items]
        changes = tuple(
            Change(
                int(time),
                item.who,
                cast("ChangeKind", item.what),
                version,
                item.reason,
                fields_from_item(item.fields),
                former_from_item(item.former),
            )
            for item in items
            for time, _, version in (item.sk.partition("#"),)
        )
        return Page(changes, changes[-1].position if result.has_more else None)


def _partition(key: JobKey | PolicyKey) -> str:
    kind = "policychanges" if isinstance(key, PolicyKey) else "changes"
    return f"{kind}#{key.namespace}#{key.name}"
