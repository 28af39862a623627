"""Signatures by ed25519 (RFC 8032), in the notation of Standard Webhooks 1.0: `whsk_` and `whpk_`.

PyNaCl makes them. Import this module where a key is at hand: most namespaces have none.
"""

from base64 import b64encode
from datetime import datetime
from typing import Final

from nacl.signing import SigningKey

from sweephand.model.secret import ED25519_BYTES, ED25519_PREFIX, key_bytes

_SEED_BYTES: Final = 32


def private_key(seed: bytes) -> str:
    """The private key of a seed of 32 random bytes: `whsk_` and the base64 of the seed and the public key."""
    public = bytes(SigningKey(seed).verify_key)
    return ED25519_PREFIX + b64encode(seed + public).decode()


def is_key_pair(private: str) -> bool:
    """Whether the two halves of a private key belong together."""
    whole = _bytes_of(private)
    return bytes(SigningKey(whole[:_SEED_BYTES]).verify_key) == whole[_SEED_BYTES:]


class Ed25519Webhook:
    """Signs with a private key, as standardwebhooks.Webhook does with a secret.

    It derives the public key from the seed, so it never signs with a public key of another pair.
    """

    def __init__(self, private: str) -> None:
        self._key = SigningKey(_bytes_of(private)[:_SEED_BYTES])

    def sign(self, msg_id: str, timestamp: datetime, data: str) -> str:
        """The signature of a message, `v1a,` and base64."""
        content = f"{msg_id}.{int(timestamp.timestamp())}.{data}".encode()
        return "v1a," + b64encode(self._key.sign(content).signature).decode()


def _bytes_of(private: str) -> bytes:
    found = key_bytes(private, ED25519_PREFIX)
    assert found is not None, "no key is stored that is not valid"
    assert len(found) == ED25519_BYTES, "no key is stored that is not valid"
    return found
