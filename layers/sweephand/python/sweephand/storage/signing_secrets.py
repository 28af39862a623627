"""How namespaces' signing secrets are stored in the Jobs table: one item for each namespace and scheme."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from sweephand.model.signing_secret import Scheme, SigningSecret, SigningSecrets
from sweephand.storage.item import JsonAttribute
from sweephand.storage.table import ItemKey, RawItem, Table
from sweephand.storage.versions import VersionedItem, put_version

if TYPE_CHECKING:
    from sweephand.model.admin_change import AdminChange

_SORT_KEYS: Final[Mapping[Scheme, str]] = {"v1": "signing", "v1a": "signing-v1a"}

_SCHEMES: Final = {sort_key: scheme for scheme, sort_key in _SORT_KEYS.items()}


class SecretsItem(VersionedItem):
    """A namespace's secrets, newest first, each as [secret, created, expires]."""

    secrets = JsonAttribute()


class DynamoSecrets:
    """access_ports.SecretStore on the Jobs table."""

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
        found = self._table.query(SecretsItem.pk == _partition(namespace)).items
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


def _item(secrets: SigningSecrets) -> SecretsItem:
    return SecretsItem(
        *_key(secrets.namespace, secrets.scheme),
        version=secrets.version,
        secrets=[[each.secret, each.created_at, each.expires_at] for each in secrets.secrets],
    )


def _partition(namespace: str) -> str:
    return f"secrets#{namespace}"


def _key(namespace: str, scheme: Scheme) -> ItemKey:
    return _partition(namespace), _SORT_KEYS[scheme]


def _secrets(namespace: str, raw: RawItem) -> SigningSecrets:
    item = SecretsItem.read(raw)
    secrets = tuple(SigningSecret(*each) for each in item.secrets)
    return SigningSecrets(namespace, item.version, secrets, _SCHEMES[item.sk])
