"""Which of a namespace's signing secrets are active, and how they are rotated."""

from typing import Final, Literal, NamedTuple, get_args

from sweephand.base.instants import Instant
from sweephand.base.limits import SIGNING_SECRETS_MAX
from sweephand.base.timing import SECRET_OVERLAP_MS

#: How a signature is made (Standard Webhooks 1.0): `v1` is HMAC-SHA256, `v1a` is ed25519.
Scheme = Literal["v1", "v1a"]

SCHEMES: Final[tuple[Scheme, ...]] = get_args(Scheme)


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
