"""The ports for API keys and signing secrets, with their promises.

What ports.py says about every implementation holds for these as well: strongly consistent reads, and refused
writes that show the caller's own token.
"""

from typing import Protocol

from sweephand.model.api_key import Key
from sweephand.model.page import Page
from sweephand.model.signing_secret import SigningSecrets


class SecretStore(Protocol):
    """The namespaces' signing secrets. The token is `version`."""

    def get(self, namespace: str) -> SigningSecrets | None:
        """The secrets of a namespace, or None before its first."""
        ...

    def put(self, secrets: SigningSecrets, replacing: str | None) -> bool:
        """Write them if the stored version is `replacing` (None: if none is there); return whether it did."""
        ...


class KeyStore(Protocol):
    """The API keys. It may still return an expired key, so the reader must check."""

    def get(self, key_id: str) -> Key | None:
        """The key of that id, or None."""
        ...

    def put(self, key: Key) -> None:
        """Write a new key. Its id is random, and no other key has it."""
        ...

    def delete(self, key_id: str) -> bool:
        """Remove a key; return whether there was one."""
        ...

    def page(self, namespace: str | None, after: str, limit: int) -> Page[Key]:
        """Up to `limit` keys, sorted by id, after `after`: those of one namespace, or all (None).

        With `namespace`, the store examines `limit` keys and returns those of that namespace.
        """
        ...
