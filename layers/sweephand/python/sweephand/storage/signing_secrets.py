"""How namespaces' signing secrets are stored in the Jobs table: one item for each namespace and scheme."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from sweephand.base.layouts import NAME, SENTENCE, WHOLE, Field, Layout, list_of
from sweephand.base.limits import SIGNING_SECRETS_MAX
from sweephand.model.signing_secret import Scheme, SigningSecret, SigningSecrets
from sweephand.storage.item import Item, StoredItem, fields_of
from sweephand.storage.table import ItemKey, RawItem, Table
from sweephand.storage.versions import put_version

if TYPE_CHECKING:
    from sweephand.model.admin_change import AdminChange

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

    def put(self, secrets: SigningSecrets, replacing: str | None, change: "AdminChange") -> bool:
        """Write the secrets if the stored version is `replacing`, or if this very write is stored already.

        One transaction writes the secrets and the records of the change.
        """
        from sweephand.storage.admin_changes import records  # noqa: PLC0415 - deliveries write none

        return put_version(self._table, _item(secrets), secrets.version, replacing, records(change))


def _item(secrets: SigningSecrets) -> StoredItem:
    return StoredItem(*_key(secrets.namespace, secrets.scheme), _SECRETS, secrets)


def _partition(namespace: str) -> str:
    return f"secrets#{namespace}"


def _key(namespace: str, scheme: Scheme) -> ItemKey:
    return _partition(namespace), _SORT_KEYS[scheme]


def _secrets(namespace: str, raw: RawItem) -> SigningSecrets:
    return SigningSecrets(namespace, scheme=_SCHEMES[raw["sk"]["S"]], **fields_of(_SECRETS, raw))
