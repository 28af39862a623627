"""How schedule groups of EventBridge Scheduler's API are stored in the Jobs table: all in one partition."""

from typing import Final

from sweephand.base.layouts import NAME, OBJECT, TRUTH, WHOLE, Field, Layout
from sweephand.model.page import Page
from sweephand.model.schedule_group import ScheduleGroup
from sweephand.storage.item import Item, StoredItem, fields_of
from sweephand.storage.table import ItemKey, RawItem, Table, VersionedItem, put_version

#: A group as stored. Its key holds the name.
_GROUP: Final = Layout(
    ScheduleGroup,
    Field("version", "version", NAME),
    Field("created_at", "created", WHOLE),
    Field("updated_at", "updated", WHOLE),
    Field("tags", "tags", OBJECT, {}),
    Field("is_deleting", "deleting", TRUTH, default=False),
)

_PARTITION: Final = "schedulegroups"

#: Sorts behind every character of a name.
_AFTER_NAMES: Final = "\x7f"


class DynamoScheduleGroups:
    """ports.ScheduleGroupStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, name: str) -> ScheduleGroup | None:
        """The group. One strong read: usually 1 RRU."""
        raw = self._table.get(_key(name))
        return None if raw is None else _group(raw)

    def put(self, group: ScheduleGroup, replacing: str | None) -> bool:
        """Write the group by one conditional write."""
        assert group.version is not None, "only what has a version is written"
        return put_version(
            self._table, StoredItem(*_key(group.name), _GROUP, group), group.version, replacing
        )

    def delete(self, group: ScheduleGroup) -> bool:
        """Remove the group by one conditional write."""
        refusal = self._table.delete(_key(group.name), VersionedItem.version == group.version)
        return refusal is None or refusal.stored is None

    def page(self, prefix: str, after: str, limit: int) -> Page[ScheduleGroup]:
        """Up to `limit` groups: 1 RRU for 4 KB of them."""
        low, high = max(prefix, after + "\0"), prefix + _AFTER_NAMES
        if low > high:
            return Page((), None)
        result = self._table.query((Item.pk == _PARTITION) & Item.sk.between(low, high), limit)
        found = tuple(map(_group, result.items))
        return Page(found, found[-1].name if result.has_more and found else None)


def _key(name: str) -> ItemKey:
    return _PARTITION, name


def _group(raw: RawItem) -> ScheduleGroup:
    return ScheduleGroup(name=raw["sk"]["S"], **fields_of(_GROUP, raw))
