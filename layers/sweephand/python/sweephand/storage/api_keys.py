"""How API keys are stored in the Jobs table: hashed, in one partition that lists them all."""

from typing import Final, cast

from pynamodb.attributes import UnicodeAttribute

from sweephand.base.limits import KEYS_EXAMINED_MAX
from sweephand.model.api_key import Key, Role
from sweephand.model.page import Page
from sweephand.storage.item import IntegerAttribute, Item, JsonAttribute, expiry
from sweephand.storage.table import Expression, QueryResult, RawItem, Table

_PARTITION: Final = "keys"


class KeyItem(Item):
    """A key as stored. The secret itself is not stored."""

    digest = UnicodeAttribute()
    namespace = UnicodeAttribute()
    role = UnicodeAttribute()
    created_at = IntegerAttribute(attr_name="created")
    description = JsonAttribute(null=True)
    gone_at = IntegerAttribute(null=True, attr_name="gone")
    replaced_by = UnicodeAttribute(null=True)
    principal = UnicodeAttribute(null=True)


class DynamoKeys:
    """access_ports.KeyStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, key_id: str) -> Key | None:
        """The key of that id, or None."""
        raw = self._table.get((_PARTITION, key_id))
        return None if raw is None else _key(raw)

    def put(self, key: Key) -> None:
        """Write a new key."""
        self._table.put(_item(key))

    def rotate(self, key: Key, ended: Key, successor: Key) -> bool:
        """Write both keys in one transaction, if the stored key is `key`.

        After a refusal, the successor is looked up: the SDK may have sent the transaction twice, and then its
        first try was applied.
        """
        if self._table.put_together([(_item(ended), _is_stored(key)), (_item(successor), None)]):
            return True
        return self.get(successor.id) is not None

    def delete(self, key_id: str) -> bool:
        """Remove a key. Returns whether there was one.

        The key is read first: if the SDK repeats a removal, DynamoDB says that there was no key. If two
        callers remove one key at the same time, both may be told that there was one, which is true.
        """
        if self._table.get((_PARTITION, key_id)) is None:
            return False
        self._table.delete((_PARTITION, key_id))
        return True

    def page(self, namespace: str | None, after: str, limit: int) -> Page[Key]:
        """Up to `limit` keys by id, from one query for all namespaces, and from more for one of them."""
        if namespace is not None:
            return self._page_of(namespace, after, limit)
        result = self._query(after, limit)
        keys = tuple(map(_key, result.items))
        return Page(keys, keys[-1].id if result.has_more else None)

    def _page_of(self, namespace: str, after: str, limit: int) -> Page[Key]:
        found: list[Key] = []
        left = KEYS_EXAMINED_MAX
        while left:
            result = self._query(after, left)
            keys = [_key(raw) for raw in result.items]
            found += [key for key in keys if key.namespace == namespace]
            if len(found) > limit:
                return Page(tuple(found[:limit]), found[limit - 1].id)
            if not result.has_more:
                return Page(tuple(found), None)
            after = keys[-1].id
            left -= len(keys)
        return Page(tuple(found), after)

    def _query(self, after: str, limit: int) -> QueryResult:
        return self._table.query((KeyItem.pk == _PARTITION) & (KeyItem.sk > (after or "\0")), limit)


def _is_stored(key: Key) -> Expression:
    """That the stored item is this key: its secret and its end are the same, and no key has replaced it."""
    has_its_end: Expression = (
        KeyItem.gone_at.does_not_exist() if key.expires_at is None else KeyItem.gone_at == key.expires_at
    )
    is_same: Expression = (KeyItem.digest == key.digest) & KeyItem.replaced_by.does_not_exist() & has_its_end
    return is_same


def _item(key: Key) -> KeyItem:
    return KeyItem(
        _PARTITION,
        key.id,
        digest=key.digest,
        namespace=key.namespace,
        role=key.role,
        created_at=key.created_at,
        description=key.description,
        replaced_by=key.replaced_by,
        principal=key.principal,
        gone_at=key.expires_at,
        expires_at=expiry(key.expires_at),
    )


def _key(raw: RawItem) -> Key:
    item = KeyItem.read(raw)
    return Key(
        id=item.sk,
        digest=item.digest,
        namespace=item.namespace,
        role=cast("Role", item.role),
        created_at=item.created_at,
        expires_at=item.gone_at,
        description=item.description,
        replaced_by=item.replaced_by,
        principal=item.principal,
    )
