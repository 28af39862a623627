"""How the namespaces' signing secrets are stored in the Jobs table: one item for each namespace."""

from typing import Final

from pynamodb.attributes import UnicodeAttribute

from sweephand.model.signing_secret import SigningSecret, SigningSecrets
from sweephand.storage.item import Item, JsonAttribute
from sweephand.storage.table import ItemKey, RawItem, Table

_SORT_KEY: Final = "signing"


class SecretsItem(Item):
    """A namespace's secrets, newest first, each as [secret, created, expires]."""

    version = UnicodeAttribute()
    secrets = JsonAttribute()


class DynamoSecrets:
    """access_ports.SecretStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, namespace: str) -> SigningSecrets | None:
        """The secrets of a namespace; None before its first."""
        raw = self._table.get(_key(namespace))
        return None if raw is None else _secrets(namespace, raw)

    def put(self, secrets: SigningSecrets, replacing: str | None) -> bool:
        """Write the secrets if the stored version is `replacing`, or if this very write is stored already."""
        item = SecretsItem(
            *_key(secrets.namespace),
            version=secrets.version,
            secrets=[[each.secret, each.created_at, each.expires_at] for each in secrets.secrets],
        )
        absent = SecretsItem.pk.does_not_exist()
        unchanged = SecretsItem.version == replacing
        refusal = self._table.put(item, absent if replacing is None else unchanged)
        if refusal is None or refusal.stored is None:
            return refusal is None
        return _secrets(secrets.namespace, refusal.stored).version == secrets.version


def _key(namespace: str) -> ItemKey:
    return f"secrets#{namespace}", _SORT_KEY


def _secrets(namespace: str, raw: RawItem) -> SigningSecrets:
    item = SecretsItem.read(raw)
    return SigningSecrets(namespace, item.version, tuple(SigningSecret(*each) for each in item.secrets))
