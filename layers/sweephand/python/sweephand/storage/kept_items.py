"""Moving the end of stored items, so that DynamoDB keeps them for longer. No body of an item is read."""

from typing import Final

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.storage.item import Item
from sweephand.storage.table import ItemKey, RawItem, Refusal, Table

#: What says where an item lies and when it ends.
ENDING_ATTRIBUTES: Final = ("pk", "sk", "expires_at")


def is_kept(table: Table, key: ItemKey, until: Instant) -> bool:
    """Have the item end at that instant if it exists and would end earlier; return whether it was written.

    An item without an end stays without one, and one that was removed does not come back.
    """
    until_s = -(-until // SECOND_MS)
    answer = table.update(key, [Item.expires_at.set(until_s)], Item.expires_at < until_s)
    return not isinstance(answer, Refusal)


def ends_before(raw: RawItem, instant: Instant) -> bool:
    """Whether DynamoDB may remove the item before that instant."""
    return "expires_at" in raw and int(raw["expires_at"]["N"]) * SECOND_MS < instant
