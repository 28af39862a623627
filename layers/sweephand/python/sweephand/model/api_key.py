"""What an API key is, how it is written, and what its holder may do."""

import hmac
from hashlib import sha256
from typing import Final, Literal, NamedTuple

from sweephand.base.instants import Instant

Role = Literal["read", "write", "admin"]

ROLES: Final[tuple[Role, ...]] = ("read", "write", "admin")

#: The key that comes from the deployment: its secret stands in Secrets Manager, not in the table.
ADMIN_KEY_ID: Final = "admin"

EVERY_NAMESPACE: Final = "*"


class Caller(NamedTuple):
    """Who is calling: what the authorizer found out and the API decides by."""

    key_id: str
    namespace: str
    role: Role

    def may(self, role: Role) -> bool:
        """Whether its role suffices: each role can do what the ones before it can."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def sees(self, namespace: str) -> bool:
        """Whether that namespace is its own."""
        return self.namespace in (EVERY_NAMESPACE, namespace)


class Key(NamedTuple):
    """An API key as stored: the SHA-256 of its secret, never the secret.

    The secret has 256 random bits, so no salt is needed.
    """

    id: str
    digest: str
    namespace: str
    role: Role
    created_at: Instant
    expires_at: Instant | None = None
    description: str | None = None

    def opens_with(self, secret: str, now: Instant) -> bool:
        """Whether the secret is this key's and the key has not expired; compared in constant time."""
        alive = self.expires_at is None or now < self.expires_at
        return hmac.compare_digest(digest_of(secret), self.digest) and alive

    @property
    def caller(self) -> Caller:
        """The caller that holds it."""
        return Caller(self.id, self.namespace, self.role)


def digest_of(secret: str) -> str:
    """What is stored in place of a secret."""
    return sha256(secret.encode()).hexdigest()


def written(key_id: str, secret: str) -> str:
    """A key as its holder sends it: `sh_{id}_{secret}`."""
    return f"sh_{key_id}_{secret}"


def parted(text: str) -> tuple[str, str] | None:
    """Id and secret of a key as sent; None if it is not written like one."""
    prefix, _, rest = text.partition("_")
    key_id, _, secret = rest.partition("_")
    if prefix != "sh" or not key_id or not secret:
        return None
    return key_id, secret
