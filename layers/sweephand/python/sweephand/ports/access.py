"""The ports for API keys, signing secrets, the secrets that jobs name and the trail of admins.

A write that takes an AdminChange records it in the trail: together with what it writes, or before what it
removes. So nothing is changed without a record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sweephand.base.instants import Instant
    from sweephand.model.api_key import Key, MadeKey
    from sweephand.model.change import AdminChange
    from sweephand.model.page import Page
    from sweephand.model.secret import Scheme, Secret, SecretBrief, SecretKey, SigningSecrets


class SecretStore(Protocol):
    """The namespaces' signing secrets, those of each scheme by themselves. The token is `version`."""

    def get(self, namespace: str, scheme: Scheme = "v1") -> SigningSecrets | None:
        """The secrets of a namespace and scheme, or None before their first."""
        ...

    def both(self, namespace: str) -> Mapping[Scheme, SigningSecrets]:
        """The secrets of a namespace by scheme. A scheme that never had any is left out."""
        ...

    def create(self, secrets: SigningSecrets) -> bool:
        """Write the first secrets, which no admin asks for, if none are there; return whether it did."""
        ...

    def put(self, secrets: SigningSecrets, replacing: str | None, change: AdminChange) -> bool:
        """Write them if the stored version is `replacing` (None: if none is there); return whether it did."""
        ...


class NamedSecretStore(Protocol):
    """The secrets that jobs name, each with its value. The token is `version`."""

    def get_many(self, namespace: str, names: Collection[str]) -> Mapping[str, Secret]:
        """Those secrets of a namespace that exist, by name; the others are left out."""
        ...

    def put(self, secret: Secret, replacing: str | None, change: AdminChange) -> bool:
        """Write it if the stored version is `replacing` (None: if there is none); return whether it did."""
        ...

    def delete(self, key: SecretKey, change: AdminChange) -> None:
        """Remove a secret with all of its values. A missing secret is a success."""
        ...

    def page(self, namespace: str, after: str, limit: int) -> Page[SecretBrief]:
        """Up to `limit` secrets of a namespace, sorted by name, after the name `after`, without their values.

        `next` is the name after which the next page begins, as long as there may be more secrets.
        """
        ...


class KeyStore(Protocol):
    """The API keys. It may still return an expired key, so the reader must check."""

    def get(self, key_id: str) -> Key | None:
        """The key of that id, or None."""
        ...

    def put(self, key: Key, change: AdminChange) -> bool:
        """Write a key that no key makes.

        Returns whether it did: not if another request writes the key at the same time. The id is random and
        no other key has it, or that key is replaced.
        """
        ...

    def make(self, key: Key, maker: Key, change: AdminChange) -> bool:
        """Write a key as put() does, and that the maker's family made it, if the maker is stored as given.

        Returns whether it did. The maker may be a principal's key, which replaces itself.
        """
        ...

    def rotate(
        self, key: Key, ended: Key, successor: Key, maker: Key | None, changes: Sequence[AdminChange]
    ) -> bool:
        """Write `ended` in place of `key`, and the new key `successor`, all or nothing.

        It also writes that the families of the key and of the maker made the successor. Returns whether it
        did: not if the stored key or maker is another than the given one, or was removed. The maker may be
        the key itself. The token of this write is the successor's id, which is random.
        """
        ...

    def end(self, key: Key, ended: Key, change: AdminChange) -> bool:
        """Write `ended` in place of `key`, which stays until delete(). Returns whether it did."""
        ...

    def delete(self, key_id: str, change: AdminChange | None = None) -> bool:
        """Remove a key; return whether there was one. One that has ended before needs no `change`."""
        ...

    def made_by(self, family: str, limit: int) -> Sequence[MadeKey]:
        """Up to `limit` keys that keys of that family made or rotated, and that were not forgotten since.

        A key that has expired or was removed may be among them. Empty only if there are none.
        """
        ...

    def add_made(self, family: str, made: MadeKey) -> None:
        """Write that a key of that family made a key. Writing it again is harmless."""
        ...

    def forget_made(self, family: str, key_id: str) -> None:
        """Remove what add_made(), put() or rotate() wrote. A missing one is a success."""
        ...

    def page(self, namespace: str | None, after: str, limit: int) -> Page[Key]:
        """Up to `limit` keys, sorted by id, after `after`: those of one namespace, or all (None).

        With `namespace`, the store passes over the keys of other namespaces and examines up to
        KEYS_EXAMINED_MAX keys. Up to that number the page does not depend on keys of other namespaces: it is
        full or the last one, and `next` is the id of its last key, as long as the namespace has more keys.
        Beyond it, the page can be short, and `next` can be the id of a key of another namespace.
        """
        ...


class AdminChangeStore(Protocol):
    """The trail: what admins did to keys, secrets and settings, for 90 days."""

    def page(self, namespace: str | None, before: str, limit: int, since: Instant = 0) -> Page[AdminChange]:
        """Up to `limit` changes, newest first, after the position `before` ("": from the newest).

        Those of a namespace, or of the whole stack (None), from the instant `since` on. `next` is the
        position of the last one, as long as there may be more.
        """
        ...
