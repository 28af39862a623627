"""How API keys are stored in the Jobs table: hashed, in one partition that lists them all.

Each family of keys has a partition with the keys that it made (decision 060).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from pynamodb.attributes import UnicodeAttribute

from sweephand.base.layouts import SENTENCE
from sweephand.base.limits import KEYS_EXAMINED_MAX
from sweephand.model.api_key import OPERATOR, Key, MadeKey, Role
from sweephand.model.page import Page
from sweephand.storage.item import FormAttribute, IntegerAttribute, Item, expiry
from sweephand.storage.table import Expression, QueryResult, RawItem, Table

if TYPE_CHECKING:
    from sweephand.model.change import AdminChange

_PARTITION: Final = "keys"

#: A write of a transaction: an item, and on what condition.
Put: TypeAlias = tuple[Item, Expression | None]


class KeyItem(Item):
    """A key as stored. The secret itself is not stored."""

    digest = UnicodeAttribute()
    namespace = UnicodeAttribute()
    role = UnicodeAttribute()
    created_at = IntegerAttribute(attr_name="created")
    description = FormAttribute(SENTENCE, null=True)
    gone_at = IntegerAttribute(null=True, attr_name="gone")
    replaced_by = UnicodeAttribute(null=True)
    principal = UnicodeAttribute(null=True)
    created_by = UnicodeAttribute(null=True, attr_name="by")
    first_id = UnicodeAttribute(null=True, attr_name="first")
    requests_per_minute = IntegerAttribute(null=True, attr_name="rate")


class MadeKeyItem(Item):
    """That a family made the key whose id is the sort key. It expires with that key."""

    family = UnicodeAttribute()
    gone_at = IntegerAttribute(null=True, attr_name="gone")


class DynamoKeys:
    """ports.KeyStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, key_id: str) -> Key | None:
        """The key of that id, or None."""
        raw = self._table.get((_PARTITION, key_id))
        return None if raw is None else _key(raw)

    def put(self, key: Key, change: "AdminChange") -> bool:
        """Write a key by one transaction. After a refusal, the key is looked up.

        The SDK may have sent the transaction twice, and then its first try was applied.
        """
        return self._table.put_together([(_item(key), None), *_records(change)]) or self.get(key.id) == key

    def make(self, key: Key, maker: Key, change: "AdminChange") -> bool:
        """Write a key as put() does. The maker is written as it is, on condition that it is stored so."""
        if maker.id == key.id:
            puts: list[Put] = [(_item(key), _is_stored(maker))]
        else:
            made = _made_item(maker.family, _made(key))
            puts = [(_item(key), None), (_item(maker), _is_stored(maker)), (made, None)]
        return self._table.put_together([*puts, *_records(change)]) or self.get(key.id) == key

    def rotate(
        self, key: Key, ended: Key, successor: Key, maker: Key | None, changes: "Sequence[AdminChange]"
    ) -> bool:
        """Write both keys by one transaction, if the stored ones are `key` and `maker`.

        After a refusal, the successor is looked up, as by put().
        """
        families = {key.family}
        puts: list[Put] = [(_item(ended), _is_stored(key)), (_item(successor), None)]
        if maker is not None and maker.id != key.id:
            puts.append((_item(maker), _is_stored(maker)))
            families.add(maker.family)
        puts += [(_made_item(family, _made(successor)), None) for family in sorted(families)]
        if self._table.put_together([*puts, *_records(*changes)]):
            return True
        return self.get(successor.id) is not None

    def end(self, key: Key, ended: Key, change: "AdminChange") -> bool:
        """Write the ended key without a time to live, so that a revocation can be asked for again."""
        puts = [(_item(ended, stays=True), _is_stored(key)), *_records(change)]
        return self._table.put_together(puts) or self.get(key.id) == ended

    def delete(self, key_id: str, change: "AdminChange | None" = None) -> bool:
        """Remove a key. Returns whether there was one.

        The key is read first: if the SDK repeats a removal, DynamoDB says that there was no key. If two
        callers remove one key at the same time, both may be told that there was one, which is true.
        """
        if self._table.get((_PARTITION, key_id)) is None:
            return False
        if change is not None:
            from sweephand.storage.changes import file  # noqa: PLC0415 - as for _records()

            file(self._table, change)
        self._table.delete((_PARTITION, key_id))
        return True

    def made_by(self, family: str, limit: int) -> Sequence[MadeKey]:
        """Up to `limit` keys that a family made, by one query."""
        found = self._table.query(MadeKeyItem.pk == _made_partition(family), limit).items
        items = map(MadeKeyItem.read, found)
        return [MadeKey(item.sk, item.family, item.gone_at) for item in items]

    def add_made(self, family: str, made: MadeKey) -> None:
        """Write that a family made a key: 1 WRU."""
        self._table.put(_made_item(family, made))

    def forget_made(self, family: str, key_id: str) -> None:
        """Remove what was written of that key: 1 WRU."""
        self._table.delete((_made_partition(family), key_id))

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


def _records(*changes: "AdminChange") -> list[Put]:
    from sweephand.storage.changes import records  # noqa: PLC0415 - the authorizer only reads keys

    return records(*changes)


def _is_stored(key: Key) -> Expression:
    """That the stored item is this key, and neither rotated, ended nor replaced by another of a principal."""
    has_its_end: Expression = (
        KeyItem.gone_at.does_not_exist() if key.expires_at is None else KeyItem.gone_at == key.expires_at
    )
    has_its_successor: Expression = (
        KeyItem.replaced_by.does_not_exist()
        if key.replaced_by is None
        else KeyItem.replaced_by == key.replaced_by
    )
    is_same = (KeyItem.digest == key.digest) & (KeyItem.created_at == key.created_at)
    has_its_rights = (KeyItem.namespace == key.namespace) & (KeyItem.role == key.role)
    found: Expression = is_same & has_its_rights & has_its_successor & has_its_end
    return found


def _made(key: Key) -> MadeKey:
    return MadeKey(key.id, key.family, key.expires_at)


def _made_partition(family: str) -> str:
    return f"madekeys#{family}"


def _made_item(family: str, made: MadeKey) -> MadeKeyItem:
    return MadeKeyItem(
        _made_partition(family),
        made.key_id,
        family=made.family,
        gone_at=made.expires_at,
        expires_at=expiry(made.expires_at),
    )


def _item(key: Key, *, stays: bool = False) -> KeyItem:
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
        created_by=key.created_by,
        first_id=key.first_id,
        requests_per_minute=key.requests_per_minute,
        gone_at=key.expires_at,
        expires_at=None if stays else expiry(key.expires_at),
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
        created_by=item.created_by or OPERATOR,
        first_id=item.first_id,
        requests_per_minute=item.requests_per_minute,
    )
