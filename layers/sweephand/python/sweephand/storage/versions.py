"""Writing an item only over the version of it that was read. The version is the write's token (ports/)."""

from collections.abc import Sequence

from pynamodb.attributes import UnicodeAttribute

from sweephand.storage.item import Item
from sweephand.storage.table import Expression, Table


class VersionedItem(Item):
    """An item with a version, which changes with every write."""

    version = UnicodeAttribute()


def put_version(
    table: Table,
    item: Item,
    version: str,
    replacing: str | None,
    records: Sequence[tuple[Item, Expression | None]] = (),
) -> bool:
    """Write an item of that `version` if the stored one is `replacing` (None: if there is none).

    It also succeeds if this very write is stored already, because the SDK repeats a write whose answer got
    lost. With `records` (admin_changes.py), it writes them and the item in one transaction.
    """
    absent, unchanged = VersionedItem.pk.does_not_exist(), VersionedItem.version == replacing
    condition = absent if replacing is None else unchanged
    if records:
        if table.put_together([(item, condition), *records]):
            return True
        stored = table.get((item.attribute_values["pk"], item.attribute_values["sk"]))
    else:
        refusal = table.put(item, condition)
        if refusal is None:
            return True
        stored = refusal.stored
    if stored is None:
        return False
    found: str = VersionedItem.read(stored).version
    return found == version
