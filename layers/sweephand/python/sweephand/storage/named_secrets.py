"""How the secrets of namespaces are stored in the Jobs table: one partition for each namespace.

DynamoDB encrypts every item (decision 053).
"""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from sweephand.model.page import Page
from sweephand.model.secret import Secret, SecretBrief, SecretKey
from sweephand.model.signing_secret import SigningSecret
from sweephand.storage.item import IntegerAttribute, JsonAttribute
from sweephand.storage.table import ItemKey, RawItem, Table
from sweephand.storage.versions import VersionedItem, put_version

if TYPE_CHECKING:
    from sweephand.model.admin_change import AdminChange


class NamedSecretItem(VersionedItem):
    """A secret as stored. `values` are newest first, each as `[value, created, expires]`."""

    values = JsonAttribute()
    created_at = IntegerAttribute(attr_name="created")
    updated_at = IntegerAttribute(attr_name="updated")


class DynamoNamedSecrets:
    """access_ports.NamedSecretStore on the Jobs table."""

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
        item = NamedSecretItem(
            *_key(secret.key),
            version=secret.version,
            values=[[each.secret, each.created_at, each.expires_at] for each in secret.values],
            created_at=secret.created_at,
            updated_at=secret.updated_at,
        )
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
        beyond = NamedSecretItem.sk > (after or " ")
        result = self._table.query((NamedSecretItem.pk == _partition(namespace)) & beyond, limit)
        briefs = tuple(_secret(raw).brief for raw in result.items)
        return Page(briefs, briefs[-1].key.name if result.has_more and briefs else None)


def _partition(namespace: str) -> str:
    return f"named-secrets#{namespace}"


def _key(key: SecretKey) -> ItemKey:
    return _partition(key.namespace), key.name


def _secret(raw: RawItem) -> Secret:
    item = NamedSecretItem.read(raw)
    _, namespace = item.pk.split("#")
    return Secret(
        key=SecretKey(namespace, item.sk),
        version=item.version,
        created_at=item.created_at,
        updated_at=item.updated_at,
        values=tuple(SigningSecret(*each) for each in item.values),
    )
