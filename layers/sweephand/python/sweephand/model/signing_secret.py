"""Which of a namespace's signing secrets are active, and how they are rotated."""

from typing import NamedTuple

from sweephand.base.instants import Instant
from sweephand.base.limits import SIGNING_SECRETS_MAX
from sweephand.base.timing import SECRET_OVERLAP_MS


class SigningSecret(NamedTuple):
    """One secret (`whsec_…`, Standard Webhooks 1.0) and until when it signs; None: until it is rotated."""

    secret: str
    created_at: Instant
    expires_at: Instant | None = None


class SigningSecrets(NamedTuple):
    """A namespace's secrets, newest first; `version` changes with every write."""

    namespace: str
    version: str
    secrets: tuple[SigningSecret, ...]

    def active(self, now: Instant) -> tuple[SigningSecret, ...]:
        """Those that sign now, newest first: each delivery carries one signature for each."""
        return tuple(each for each in self.secrets if each.expires_at is None or now < each.expires_at)

    def rotated(self, secret: str, version: str, now: Instant) -> "SigningSecrets":
        """The same with a new first secret; the one before goes on signing for a day beside it."""
        ending = now + SECRET_OVERLAP_MS
        older = (
            each if each.expires_at is not None else each._replace(expires_at=ending)
            for each in self.active(now)
        )
        kept = (SigningSecret(secret, now), *older)[:SIGNING_SECRETS_MAX]
        return SigningSecrets(self.namespace, version, kept)
