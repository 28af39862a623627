"""Writing an item only over the version of it that was read. The version is the write's token (ports.py)."""

from pynamodb.attributes import UnicodeAttribute

from sweephand.storage.item import Item
from sweephand.storage.table import Table


class VersionedItem(Item):
    """An item with a version, which changes with every write."""

    version = UnicodeAttribute()


def put_version(table: Table, item: VersionedItem, version: str, replacing: str | None) -> bool:
    """Write an item of that `version` if the stored one is `replacing` (None: if there is none).

    It also succeeds if this very write is stored already, because the SDK repeats a write whose answer got
    lost.
    """
    absent, unchanged = VersionedItem.pk.does_not_exist(), VersionedItem.version == replacing
    refusal = table.put(item, absent if replacing is None else unchanged)
    if refusal is None or refusal.stored is None:
        return refusal is None
    stored: str = VersionedItem.read(refusal.stored).version
    return stored == version
