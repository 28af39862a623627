"""What a secret of a namespace is: a text that headers of its jobs' targets carry, or that signs deliveries.

Whoever may write jobs of the namespace can name the secret. No answer of the API shows its value.
"""

import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

from sweephand.base.instants import Instant
from sweephand.base.limits import SIGNING_SECRETS_MAX
from sweephand.base.timing import SECRET_OVERLAP_MS

#: How a signature is made (Standard Webhooks 1.0): `v1` is HMAC-SHA256, `v1a` is ed25519.
Scheme = Literal["v1", "v1a"]

#: How the texts of both schemes begin: an HMAC secret, and an ed25519 private key.
HMAC_PREFIX: Final = "whsec_"
ED25519_PREFIX: Final = "whsk_"


class SigningSecret(NamedTuple):
    """One secret: `whsec_…`, or `whsk_…` for ed25519 (Standard Webhooks 1.0).

    It signs until `expires_at`; None: until a rotation.
    """

    secret: str
    created_at: Instant
    expires_at: Instant | None = None

    def __repr__(self) -> str:
        """Its times alone, because texts of values get into logs."""
        return f"SigningSecret(created_at={self.created_at}, expires_at={self.expires_at})"


class SigningSecrets(NamedTuple):
    """The secrets of one scheme with which a namespace signs, newest first.

    `version` changes with every write.
    """

    namespace: str
    version: str
    secrets: tuple[SigningSecret, ...]
    scheme: Scheme = "v1"

    def active(self, now: Instant) -> tuple[SigningSecret, ...]:
        """The secrets that sign now, newest first. Each delivery carries one signature for each of them."""
        return tuple(each for each in self.secrets if each.expires_at is None or now < each.expires_at)

    def rotated(self, secret: str, version: str, now: Instant) -> "SigningSecrets":
        """The secrets with a new first one; the one before it also signs for SECRET_OVERLAP_MS."""
        ending = now + SECRET_OVERLAP_MS
        older = (
            each if each.expires_at is not None else each._replace(expires_at=ending)
            for each in self.active(now)
        )
        kept = (SigningSecret(secret, now), *older)[:SIGNING_SECRETS_MAX]
        return self._replace(version=version, secrets=kept)


PUBLIC_PREFIX: Final = "whpk_"

#: The bytes of an HMAC secret (Standard Webhooks 1.0, "Signature scheme").
_HMAC_BYTES: Final = range(24, 65)

#: The bytes of a private key: its seed, then its public key.
ED25519_BYTES: Final = 64

_BASE64: Final = r"[A-Za-z0-9+/]+={0,2}"


#: Reads values of secrets: a namespace and names in, the values of those that exist out, each newest first.
#: It may raise StoreError.
ReadValues: TypeAlias = Callable[[str, Collection[str]], Mapping[str, Sequence[str]]]


class SecretKey(NamedTuple):
    """The namespace of a secret and its name in it."""

    namespace: str
    name: str


class SecretBrief(NamedTuple):
    """A secret without its value. `scheme` says how the value signs; None if it is no signing secret."""

    key: SecretKey
    version: str
    scheme: Scheme | None
    created_at: Instant
    updated_at: Instant


@dataclass(frozen=True, slots=True)
class Secret:
    """A stored secret. `version` changes with every write.

    `values` are newest first. Only a signing secret keeps the values before its newest one, and each of them
    until its `expires_at`.
    """

    key: SecretKey
    version: str
    created_at: Instant
    updated_at: Instant
    values: tuple[SigningSecret, ...] = field(repr=False)

    @property
    def value(self) -> str:
        """The newest value."""
        return self.values[0].secret

    @property
    def brief(self) -> SecretBrief:
        """The secret without its value."""
        return SecretBrief(self.key, self.version, scheme_of(self.value), self.created_at, self.updated_at)

    def active(self, now: Instant) -> tuple[str, ...]:
        """The values that sign now, newest first; the first of them is what headers carry."""
        return tuple(each.secret for each in self.values if each.expires_at is None or now < each.expires_at)

    def replaced(self, text: str, version: str, now: Instant) -> "Secret":
        """The secret with another value.

        If both values sign, the former one also signs for SECRET_OVERLAP_MS. At most SIGNING_SECRETS_MAX
        values are kept. Any other former value is forgotten at once.
        """
        both_sign = scheme_of(text) is not None and scheme_of(self.value) is not None
        ending = now + SECRET_OVERLAP_MS
        former = (
            each if each.expires_at is not None else each._replace(expires_at=ending)
            for each in self.values
            if each.expires_at is None or now < each.expires_at
        )
        kept = (SigningSecret(text, now), *(former if both_sign else ()))[:SIGNING_SECRETS_MAX]
        return Secret(self.key, version, self.created_at, max(now, self.updated_at), kept)


def scheme_of(text: str) -> Scheme | None:
    """How a text signs, by its prefix; None if it is neither an HMAC secret nor an ed25519 private key."""
    for prefix, scheme, sizes in (
        (HMAC_PREFIX, "v1", _HMAC_BYTES),
        (ED25519_PREFIX, "v1a", (ED25519_BYTES,)),
    ):
        found = key_bytes(text, prefix)
        if found is not None and len(found) in sizes:
            return "v1" if scheme == "v1" else "v1a"
    return None


def key_bytes(text: str, prefix: str) -> bytes | None:
    """The bytes behind a prefix, from base64 with or without its padding; None if the text is not that."""
    if not text.startswith(prefix) or not re.fullmatch(_BASE64, text[len(prefix) :]):
        return None
    digits = text[len(prefix) :].rstrip("=")
    if len(digits) % 4 == 1:
        return None
    return b64decode(digits + "=" * (-len(digits) % 4))


def public_key_of(private: str) -> str:
    """The public key of a valid ed25519 private key: `whpk_` and the base64 of 32 bytes."""
    whole = key_bytes(private, ED25519_PREFIX)
    assert whole is not None, "no key is stored that is not valid"
    return PUBLIC_PREFIX + b64encode(whole[ED25519_BYTES // 2 :]).decode()
