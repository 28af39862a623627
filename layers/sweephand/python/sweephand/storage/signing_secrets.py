"""How secrets are stored in the Jobs table: an item for each named one, and for each way of signing."""

from collections.abc import Collection, Mapping
from typing import Final

from sweephand.base.layouts import NAME, SENTENCE, WHOLE, Field, Layout, list_of
from sweephand.base.limits import SIGNING_SECRETS_MAX
from sweephand.model.change import AdminChange
from sweephand.model.page import Page
from sweephand.model.secret import Scheme, Secret, SecretBrief, SecretKey, SigningSecret, SigningSecrets
from sweephand.storage.changes import file, records
from sweephand.storage.item import Item, StoredItem, fields_of
from sweephand.storage.table import ItemKey, RawItem, Table, put_version

_SORT_KEYS: Final[Mapping[Scheme, str]] = {"v1": "signing", "v1a": "signing-v1a"}

_SCHEMES: Final = {sort_key: scheme for scheme, sort_key in _SORT_KEYS.items()}


_SECRET: Final = Layout(
    SigningSecret,
    Field("secret", "s", SENTENCE),
    Field("created_at", "c", WHOLE),
    Field("expires_at", "e", WHOLE, None),
)

#: The values of a secret, newest first.
SECRET_VALUES: Final = list_of(_SECRET.form, 0, SIGNING_SECRETS_MAX)

#: The secrets of a namespace and scheme as stored. The key holds both.
_SECRETS: Final = Layout(
    SigningSecrets, Field("version", "version", NAME), Field("secrets", "secrets", SECRET_VALUES)
)


class DynamoSecrets:
    """ports.SecretStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, namespace: str, scheme: Scheme = "v1") -> SigningSecrets | None:
        """The secrets of a namespace and scheme; None before their first."""
        raw = self._table.get(_key(namespace, scheme))
        return None if raw is None else _secrets(namespace, raw)

    def both(self, namespace: str) -> Mapping[Scheme, SigningSecrets]:
        """The secrets of a namespace by scheme, from one query.

        A scheme that only a newer version knows is left out.
        """
        found = self._table.query(Item.pk == _partition(namespace)).items
        secrets = [_secrets(namespace, raw) for raw in found if raw["sk"]["S"] in _SCHEMES]
        return {each.scheme: each for each in secrets}

    def create(self, secrets: SigningSecrets) -> bool:
        """Write the first secrets if none are stored, or if this very write is stored already."""
        return put_version(self._table, _item(secrets), secrets.version, None)

    def put(self, secrets: SigningSecrets, replacing: str | None, change: AdminChange) -> bool:
        """Write the secrets if the stored version is `replacing`, or if this very write is stored already.

        One transaction writes the secrets and the records of the change.
        """
        return put_version(self._table, _item(secrets), secrets.version, replacing, records(change))


def _item(secrets: SigningSecrets) -> StoredItem:
    return StoredItem(*_key(secrets.namespace, secrets.scheme), _SECRETS, secrets)


def _partition(namespace: str) -> str:
    return f"secrets#{namespace}"


def _key(namespace: str, scheme: Scheme) -> ItemKey:
    return _partition(namespace), _SORT_KEYS[scheme]


def _secrets(namespace: str, raw: RawItem) -> SigningSecrets:
    return SigningSecrets(namespace, scheme=_SCHEMES[raw["sk"]["S"]], **fields_of(_SECRETS, raw))


#: A secret as stored. Its key holds the namespace and the name.
_NAMED_SECRET: Final = Layout(
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
        raws = self._table.get_batch([_named_key(SecretKey(namespace, name)) for name in sorted(set(names))])
        found = map(_secret, raws)
        return {each.key.name: each for each in found}

    def put(self, secret: Secret, replacing: str | None, change: AdminChange) -> bool:
        """Write the secret if the stored version is `replacing`, or if this very write is stored already.

        One transaction writes the secret and the records of the change: 2 WRU for each KB of each.
        """
        item = StoredItem(*_named_key(secret.key), _NAMED_SECRET, secret)
        return put_version(self._table, item, secret.version, replacing, records(change))

    def delete(self, key: SecretKey, change: AdminChange) -> None:
        """Record the removal of a secret, and remove it with all of its values."""
        file(self._table, change)
        self._table.delete(_named_key(key))

    def page(self, namespace: str, after: str, limit: int) -> Page[SecretBrief]:
        """Up to `limit` secrets of a namespace by name, without their values."""
        # No name begins with a space, and the bound of a query must not be empty.
        beyond = Item.sk > (after or " ")
        result = self._table.query((Item.pk == _named_partition(namespace)) & beyond, limit)
        briefs = tuple(_secret(raw).brief for raw in result.items)
        return Page(briefs, briefs[-1].key.name if result.has_more and briefs else None)


def _named_partition(namespace: str) -> str:
    return f"named-secrets#{namespace}"


def _named_key(key: SecretKey) -> ItemKey:
    return _named_partition(key.namespace), key.name


def _secret(raw: RawItem) -> Secret:
    _, namespace = raw["pk"]["S"].split("#")
    return Secret(key=SecretKey(namespace, raw["sk"]["S"]), **fields_of(_NAMED_SECRET, raw))
