"""The stores of keys and secrets in memory. They keep the promises of access_ports.py."""

import threading
from collections.abc import Collection, Mapping, Sequence
from typing import get_args

from sweephand.base.instants import Instant
from sweephand.base.limits import KEYS_EXAMINED_MAX
from sweephand.model.api_key import Key, MadeKey
from sweephand.model.change import AdminChange
from sweephand.model.page import Page
from sweephand.model.secret import Scheme, Secret, SecretBrief, SecretKey, SigningSecrets


class MemoryAdminChanges:
    """ports.AdminChangeStore. The stores in memory that record changes add them here."""

    def __init__(self) -> None:
        self._changes: dict[str, AdminChange] = {}

    def add(self, change: AdminChange) -> None:
        self._changes[change.position] = change

    def page(self, namespace: str | None, before: str, limit: int, since: Instant = 0) -> Page[AdminChange]:
        found = [
            self._changes[position]
            for position in sorted(self._changes, reverse=True)
            if (not before or position < before)
            and self._changes[position].at >= since
            and namespace in (None, self._changes[position].namespace)
        ]
        return Page(tuple(found[:limit]), found[limit - 1].position if len(found) > limit else None)


class MemorySecrets:
    """ports.SecretStore."""

    def __init__(self, trail: MemoryAdminChanges | None = None) -> None:
        self._trail = trail or MemoryAdminChanges()
        self._secrets: dict[tuple[str, Scheme], SigningSecrets] = {}
        self._lock = threading.Lock()

    def get(self, namespace: str, scheme: Scheme = "v1") -> SigningSecrets | None:
        return self._secrets.get((namespace, scheme))

    def both(self, namespace: str) -> Mapping[Scheme, SigningSecrets]:
        found = {scheme: self._secrets.get((namespace, scheme)) for scheme in get_args(Scheme)}
        return {scheme: secrets for scheme, secrets in found.items() if secrets is not None}

    def create(self, secrets: SigningSecrets) -> bool:
        stored = self._secrets.setdefault((secrets.namespace, secrets.scheme), secrets)
        return stored.version == secrets.version

    def put(self, secrets: SigningSecrets, replacing: str | None, change: AdminChange) -> bool:
        key = (secrets.namespace, secrets.scheme)
        with self._lock:
            stored = self._secrets.get(key)
            if (stored.version if stored else None) == replacing:
                self._secrets[key] = secrets
                self._trail.add(change)
                return True
            return stored is not None and stored.version == secrets.version


class MemoryNamedSecrets:
    """ports.NamedSecretStore."""

    def __init__(self, trail: MemoryAdminChanges | None = None) -> None:
        self._trail = trail or MemoryAdminChanges()
        self._secrets: dict[SecretKey, Secret] = {}
        self._lock = threading.Lock()

    def get_many(self, namespace: str, names: Collection[str]) -> Mapping[str, Secret]:
        found = {name: self._secrets.get(SecretKey(namespace, name)) for name in names}
        return {name: secret for name, secret in found.items() if secret is not None}

    def put(self, secret: Secret, replacing: str | None, change: AdminChange) -> bool:
        with self._lock:
            stored = self._secrets.get(secret.key)
            if (stored.version if stored else None) == replacing:
                self._secrets[secret.key] = secret
                self._trail.add(change)
                return True
            return stored is not None and stored.version == secret.version

    def delete(self, key: SecretKey, change: AdminChange) -> None:
        self._trail.add(change)
        self._secrets.pop(key, None)

    def page(self, namespace: str, after: str, limit: int) -> Page[SecretBrief]:
        names = sorted(key.name for key in list(self._secrets) if key.namespace == namespace)
        names = [name for name in names if name > after]
        items = tuple(self._secrets[SecretKey(namespace, name)].brief for name in names[:limit])
        return Page(items, names[limit - 1] if len(names) > limit else None)


class MemoryKeys:
    """ports.KeyStore. `callers` are keys that are stored and that no list shows."""

    def __init__(
        self, trail: MemoryAdminChanges | None = None, callers: Mapping[str, Key] | None = None
    ) -> None:
        self._trail = trail or MemoryAdminChanges()
        self._keys: dict[str, Key] = dict(callers or {})
        self._unlisted = frozenset(callers or ())
        self._made: dict[tuple[str, str], MadeKey] = {}
        self._lock = threading.Lock()

    def get(self, key_id: str) -> Key | None:
        return self._keys.get(key_id)

    def put(self, key: Key, change: AdminChange) -> bool:
        with self._lock:
            self._keys[key.id] = key
            self._trail.add(change)
            return True

    def make(self, key: Key, maker: Key, change: AdminChange) -> bool:
        with self._lock:
            if self.get(maker.id) != maker:
                return self.get(key.id) == key
            self._keys[key.id] = key
            if maker.id != key.id:
                self._add(maker.family, key)
            self._trail.add(change)
            return True

    def rotate(
        self, key: Key, ended: Key, successor: Key, maker: Key | None, changes: Sequence[AdminChange]
    ) -> bool:
        with self._lock:
            is_stored = maker is None or self.get(maker.id) == maker
            if self._keys.get(key.id) == key and is_stored:
                self._keys |= {ended.id: ended, successor.id: successor}
                for family in {key.family, key.family if maker is None else maker.family}:
                    self._add(family, successor)
                for change in changes:
                    self._trail.add(change)
            return successor.id in self._keys

    def end(self, key: Key, ended: Key, change: AdminChange) -> bool:
        with self._lock:
            if self._keys.get(key.id) == key:
                self._keys[key.id] = ended
                self._trail.add(change)
            return self._keys.get(key.id) == ended

    def delete(self, key_id: str, change: AdminChange | None = None) -> bool:
        with self._lock:
            is_there = self._keys.pop(key_id, None) is not None
            if is_there and change is not None:
                self._trail.add(change)
            return is_there

    def made_by(self, family: str, limit: int) -> Sequence[MadeKey]:
        found = sorted(place for place in list(self._made) if place[0] == family)
        return [self._made[place] for place in found[:limit]]

    def add_made(self, family: str, made: MadeKey) -> None:
        self._made[family, made.key_id] = made

    def forget_made(self, family: str, key_id: str) -> None:
        self._made.pop((family, key_id), None)

    def _add(self, family: str, key: Key) -> None:
        self.add_made(family, MadeKey(key.id, key.family, key.expires_at))

    def page(self, namespace: str | None, after: str, limit: int) -> Page[Key]:
        ids = sorted(each for each in self._keys.keys() - self._unlisted if each > after)
        examined = ids if namespace is None else ids[:KEYS_EXAMINED_MAX]
        own = [key for each in examined if namespace in (None, (key := self._keys[each]).namespace)]
        if len(own) > limit:
            return Page(tuple(own[:limit]), own[limit - 1].id)
        return Page(tuple(own), examined[-1] if len(ids) > len(examined) else None)
