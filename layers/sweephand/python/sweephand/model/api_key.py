"""What an API key is, how it is written, and what its caller may do."""

import hmac
from hashlib import sha256
from typing import Final, Literal, NamedTuple

from sweephand.base.instants import Instant
from sweephand.base.names import EVERY_NAMESPACE

Role = Literal["read", "write", "admin"]

ROLES: Final[tuple[Role, ...]] = ("read", "write", "admin")

#: The id of the key whose secret an operator has made.
ADMIN_KEY_ID: Final = "admin"


#: The maker of a key by the function for operators. IAM says who may call that function, and not who did.
OPERATOR: Final = "operator"


class Caller(NamedTuple):
    """The caller of a request. The API grants access by it.

    `expires_at` is the end of a caller's token. The end of a caller with a key is stored with the key.
    `requests_per_minute` is the rate of its key, if that has one.
    """

    key_id: str
    namespace: str
    role: Role
    expires_at: Instant | None = None
    requests_per_minute: int | None = None

    @property
    def has_key(self) -> bool:
        """Whether a stored key says what the caller may do. Of a token, the issuer says it."""
        return self.expires_at is None

    @property
    def context(self) -> dict[str, str]:
        """What the gateway's authorizer tells the API about a caller with a key."""
        rate = self.requests_per_minute
        told = {"keyId": self.key_id, "namespace": self.namespace, "role": str(self.role)}
        return told if rate is None else {**told, "requestsPerMinute": str(rate)}

    def may(self, role: Role) -> bool:
        """Whether the caller's role suffices. Each role may do all that the roles before it in ROLES may."""
        return ROLES.index(self.role) >= ROLES.index(role)

    def sees(self, namespace: str) -> bool:
        """Whether the caller's key is for that namespace, or for every one."""
        return self.namespace in (EVERY_NAMESPACE, namespace)


class Key(NamedTuple):
    """An API key as stored: the SHA-256 of its secret, never the secret.

    The secret has 256 random bits, so no salt is needed. The key of an IAM principal has no secret: its
    digest is empty, and no secret has that digest.
    """

    id: str
    digest: str
    namespace: str
    role: Role
    created_at: Instant
    expires_at: Instant | None = None
    description: str | None = None
    #: The id of the key that a rotation made in place of this one.
    replaced_by: str | None = None
    #: The IAM role or user that holds this key: its ARN without a path.
    principal: str | None = None
    #: The caller that made it: the id of a key, `jwt:` and a subject, or OPERATOR.
    created_by: str = OPERATOR
    #: The id of the first key in a chain of rotations; None for the first key itself.
    first_id: str | None = None
    #: How many requests it may send in a minute; None: as many as the gateway lets through.
    requests_per_minute: int | None = None

    @property
    def family(self) -> str:
        """The name of the chain of rotations of the key. What one key of it made, all of them made."""
        return self.first_id or self.id

    def accepts(self, secret: str, now: Instant) -> bool:
        """Whether the secret is this key's and the key has not expired; compared in constant time."""
        is_alive = self.is_alive(now)
        return hmac.compare_digest(digest_of(secret), self.digest) and is_alive

    def is_alive(self, now: Instant) -> bool:
        """Whether the key has not expired."""
        return self.expires_at is None or now < self.expires_at

    @property
    def caller(self) -> Caller:
        """The caller that holds this key."""
        return Caller(self.id, self.namespace, self.role, requests_per_minute=self.requests_per_minute)


class MadeKey(NamedTuple):
    """That a key was made or rotated by a key of some family. `family` is that of the key that was made.

    `expires_at` is the end of that key.
    """

    key_id: str
    family: str
    expires_at: Instant | None


def digest_of(secret: str) -> str:
    """The SHA-256 of a secret in hexadecimal, which is stored instead of the secret."""
    return sha256(secret.encode()).hexdigest()


def format_key(key_id: str, secret: str) -> str:
    """The key as its holder sends it: `sh_{id}_{secret}`."""
    return f"sh_{key_id}_{secret}"


def parse_key(text: str) -> tuple[str, str] | None:
    """Id and secret of a key as its holder sends it; None if the text does not have that form."""
    prefix, _, rest = text.partition("_")
    key_id, _, secret = rest.partition("_")
    if prefix != "sh" or not key_id or not secret:
        return None
    return key_id, secret
