"""The ports for API keys, signing secrets and the secrets that jobs name, with their promises.

What ports.py says about every implementation holds for these as well: strongly consistent reads, and refused
writes that show the caller's own token.
"""

from collections.abc import Collection, Mapping
from typing import Protocol

from sweephand.model.api_key import Key
from sweephand.model.page import Page
from sweephand.model.secret import Secret, SecretBrief, SecretKey
from sweephand.model.signing_secret import Scheme, SigningSecrets


class SecretStore(Protocol):
    """The namespaces' signing secrets, those of each scheme by themselves. The token is `version`."""

    def get(self, namespace: str, scheme: Scheme = "v1") -> SigningSecrets | None:
        """The secrets of a namespace and scheme, or None before their first."""
        ...

    def both(self, namespace: str) -> Mapping[Scheme, SigningSecrets]:
        """The secrets of a namespace by scheme. A scheme that never had any is left out."""
        ...

    def put(self, secrets: SigningSecrets, replacing: str | None) -> bool:
        """Write them if the stored version is `replacing` (None: if none is there); return whether it did."""
        ...


class NamedSecretStore(Protocol):
    """The secrets that jobs name, each with its value. The token is `version`."""

    def get_many(self, namespace: str, names: Collection[str]) -> Mapping[str, Secret]:
        """Those secrets of a namespace that exist, by name; the others are left out."""
        ...

    def put(self, secret: Secret, replacing: str | None) -> bool:
        """Write it if the stored version is `replacing` (None: if there is none); return whether it did."""
        ...

    def delete(self, key: SecretKey) -> None:
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

    def put(self, key: Key) -> None:
        """Write a new key. Its id is random, and no other key has it."""
        ...

    def rotate(self, key: Key, ended: Key, successor: Key) -> bool:
        """Write `ended` in place of `key`, and the new key `successor`, both or neither.

        Returns whether it did: not if the stored key is another than `key`, or was removed. The token of this
        write is the successor's id, which is random.
        """
        ...

    def delete(self, key_id: str) -> bool:
        """Remove a key; return whether there was one."""
        ...

    def page(self, namespace: str | None, after: str, limit: int) -> Page[Key]:
        """Up to `limit` keys, sorted by id, after `after`: those of one namespace, or all (None).

        With `namespace`, the store passes over the keys of other namespaces and examines up to
        KEYS_EXAMINED_MAX keys. Up to that number the page does not depend on keys of other namespaces: it is
        full or the last one, and `next` is the id of its last key, as long as the namespace has more keys.
        Beyond it, the page can be short, and `next` can be the id of a key of another namespace.
        """
        ...
