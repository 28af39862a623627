"""The stores of keys and secrets in memory. They keep the promises of access_ports.py."""

import threading
from collections.abc import Collection, Mapping

from sweephand.base.limits import KEYS_EXAMINED_MAX
from sweephand.model.api_key import Key
from sweephand.model.page import Page
from sweephand.model.secret import Secret, SecretBrief, SecretKey
from sweephand.model.signing_secret import SCHEMES, Scheme, SigningSecrets


class MemorySecrets:
    """access_ports.SecretStore."""

    def __init__(self) -> None:
        self._secrets: dict[tuple[str, Scheme], SigningSecrets] = {}
        self._lock = threading.Lock()

    def get(self, namespace: str, scheme: Scheme = "v1") -> SigningSecrets | None:
        return self._secrets.get((namespace, scheme))

    def both(self, namespace: str) -> Mapping[Scheme, SigningSecrets]:
        found = {scheme: self._secrets.get((namespace, scheme)) for scheme in SCHEMES}
        return {scheme: secrets for scheme, secrets in found.items() if secrets is not None}

    def put(self, secrets: SigningSecrets, replacing: str | None) -> bool:
        key = (secrets.namespace, secrets.scheme)
        with self._lock:
            stored = self._secrets.get(key)
            if (stored.version if stored else None) == replacing:
                self._secrets[key] = secrets
                return True
            return stored is not None and stored.version == secrets.version


class MemoryNamedSecrets:
    """access_ports.NamedSecretStore."""

    def __init__(self) -> None:
        self._secrets: dict[SecretKey, Secret] = {}
        self._lock = threading.Lock()

    def get_many(self, namespace: str, names: Collection[str]) -> Mapping[str, Secret]:
        found = {name: self._secrets.get(SecretKey(namespace, name)) for name in names}
        return {name: secret for name, secret in found.items() if secret is not None}

    def put(self, secret: Secret, replacing: str | None) -> bool:
        with self._lock:
            stored = self._secrets.get(secret.key)
            if (stored.version if stored else None) == replacing:
                self._secrets[secret.key] = secret
                return True
            return stored is not None and stored.version == secret.version

    def delete(self, key: SecretKey) -> None:
        self._secrets.pop(key, None)

    def page(self, namespace: str, after: str, limit: int) -> Page[SecretBrief]:
        names = sorted(key.name for key in list(self._secrets) if key.namespace == namespace)
        names = [name for name in names if name > after]
        items = tuple(self._secrets[SecretKey(namespace, name)].brief for name in names[:limit])
        return Page(items, names[limit - 1] if len(names) > limit else None)


class MemoryKeys:
    """access_ports.KeyStore."""

    def __init__(self) -> None:
        self._keys: dict[str, Key] = {}
        self._lock = threading.Lock()

    def get(self, key_id: str) -> Key | None:
        return self._keys.get(key_id)

    def put(self, key: Key) -> None:
        with self._lock:
            self._keys[key.id] = key

    def rotate(self, key: Key, ended: Key, successor: Key) -> bool:
        with self._lock:
            if self._keys.get(key.id) == key:
                self._keys |= {ended.id: ended, successor.id: successor}
            return successor.id in self._keys

    def delete(self, key_id: str) -> bool:
        with self._lock:
            return self._keys.pop(key_id, None) is not None

    def page(self, namespace: str | None, after: str, limit: int) -> Page[Key]:
        ids = sorted(each for each in list(self._keys) if each > after)
        examined = ids if namespace is None else ids[:KEYS_EXAMINED_MAX]
        own = [key for each in examined if namespace in (None, (key := self._keys[each]).namespace)]
        if len(own) > limit:
            return Page(tuple(own[:limit]), own[limit - 1].id)
        return Page(tuple(own), examined[-1] if len(ids) > len(examined) else None)
