"""How the secrets of namespaces are stored in the Jobs table: one partition for each namespace.

DynamoDB encrypts every item (decision 053).
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Final

from sweephand.base.layouts import NAME, WHOLE, Field, Layout
from sweephand.model.page import Page
from sweephand.model.secret import Secret, SecretBrief, SecretKey
from sweephand.storage.item import Item, StoredItem, fields_of
from sweephand.storage.signing_secrets import SECRET_VALUES
from sweephand.storage.table import ItemKey, RawItem, Table
from sweephand.storage.versions import put_version

if TYPE_CHECKING:
    from sweephand.model.admin_change import AdminChange


#: A secret as stored. Its key holds the namespace and the name.
_SECRET: Final = Layout(
    Secret,
    Field("version", "version", NAME),
    Field("values", "values", SECRET_VALUES),
    Field("created_at", "created", WHOLE),
    Field("updated_at", "updated", WHOLE),
)


class DynamoNamedSecrets:
    """ports.NamedSecretStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get_many(self, namespace: str, names: Collection[str]) -> Mapping[str, Secret]:
        """Those secrets of a namespace that exist, by name. Strong reads: 1 RRU each."""
        raws = self._table.get_batch([_key(SecretKey(namespace, name)) for name in sorted(set(names))])
        found = map(_secret, raws)
        return {each.key.name: each for each in found}

    def put(self, secret: Secret, replacing: str | None, change: "AdminChange") -> bool:
        """Write the secret if the stored version is `replacing`, or if this very write is stored already.

        One transaction writes the secret and the records of the change: 2 WRU for each KB of each.
        """
        item = StoredItem(*_key(secret.key), _SECRET, secret)
        from sweephand.storage.admin_changes import records  # noqa: PLC0415 - deliveries write none

        return put_version(self._table, item, secret.version, replacing, records(change))

    def delete(self, key: SecretKey, change: "AdminChange") -> None:
        """Record the removal of a secret, and remove it with all of its values."""
        from sweephand.storage.admin_changes import file  # noqa: PLC0415 - deliveries write none

        file(self._table, change)
        self._table.delete(_key(key))

    def page(self, namespace: str, after: str, limit: int) -> Page[SecretBrief]:
        """Up to `limit` secrets of a namespace by name, without their values."""
        # No name begins with a space, and the bound of a query must not be empty.
        beyond = Item.sk > (after or " ")
        result = self._table.query((Item.pk == _partition(namespace)) & beyond, limit)
        briefs = tuple(_secret(raw).brief for raw in result.items)
        return Page(briefs, briefs[-1].key.name if result.has_more and briefs else None)


def _partition(namespace: str) -> str:
    return f"named-secrets#{namespace}"


def _key(key: SecretKey) -> ItemKey:
    return _partition(key.namespace), key.name


def _secret(raw: RawItem) -> Secret:
    _, namespace = raw["pk"]["S"].split("#")
    return Secret(key=SecretKey(namespace, raw["sk"]["S"]), **fields_of(_SECRET, raw))
