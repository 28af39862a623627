"""The signing secrets of namespaces: how they are created, rotated, and cached for a minute."""

from base64 import b64encode
from hashlib import sha256
from typing import Final, NamedTuple

from sweephand.access_ports import SecretStore
from sweephand.base.errors import ConflictError
from sweephand.base.instants import Instant, rfc3339
from sweephand.base.limits import SIGNING_SECRETS_MAX
from sweephand.base.timing import SECRETS_AGE_MAX_MS
from sweephand.model.signing_secret import SigningSecret, SigningSecrets
from sweephand.ports import Clock, Ids

#: Namespaces that one process caches. When the cache is full, the process empties it.
REMEMBERED_MAX: Final = 1_000


class _Remembered(NamedTuple):
    secrets: SigningSecrets
    read_at: Instant


class SigningKeys:
    """Reads, creates and rotates the signing secrets of every namespace. Threads may share an instance.

    If several callers create or rotate the secrets of a namespace at once, one of them writes. The others
    return what that caller wrote, so two rotations at one moment have the effect of one.
    """

    def __init__(self, *, secrets: SecretStore, ids: Ids, clock: Clock) -> None:
        self._secrets = secrets
        self._ids = ids
        self._clock = clock
        self._remembered: dict[str, _Remembered] = {}

    def active(self, namespace: str) -> tuple[str, ...]:
        """The secrets that sign now, newest first; at least one. They are cached for a minute."""
        now = self._clock.now()
        known = self._remembered.get(namespace)
        if known is None or not 0 <= now - known.read_at < SECRETS_AGE_MAX_MS:
            known = _Remembered(self.get_or_create(namespace), now)
            if len(self._remembered) >= REMEMBERED_MAX:
                self._remembered.clear()
            self._remembered[namespace] = known
        return tuple(each.secret for each in known.secrets.active(now))

    def get_or_create(self, namespace: str) -> SigningSecrets:
        """The stored secrets; a namespace without secrets gets its first one."""
        found = self._secrets.get(namespace)
        return self._write(namespace, None) if found is None else found

    def rotate(self, namespace: str) -> SigningSecrets:
        """Add a new first secret and return all; the secret before it goes on signing for a day.

        Raises ConflictError if SIGNING_SECRETS_MAX secrets sign now. A delivery carries one signature for
        each secret that signs, and each rotated secret signs for its day.
        """
        before = self._secrets.get(namespace)
        if before is not None:
            self._check_room(before)
        secrets = self._write(namespace, before)
        self._remembered.pop(namespace, None)
        return secrets

    def _check_room(self, before: SigningSecrets) -> None:
        active = before.active(self._clock.now())
        if len(active) >= SIGNING_SECRETS_MAX:
            free_at = min(each.expires_at for each in active if each.expires_at is not None)
            raise ConflictError(
                f"{len(active)} secrets sign now, which is the most (signingSecretsMax). "
                f"A rotated secret still signs for a day, together with the new one. "
                f"The next rotation is possible from {rfc3339(free_at)} on."
            )

    def _write(self, namespace: str, before: SigningSecrets | None) -> SigningSecrets:
        now, version, secret = self._clock.now(), self._ids.token(), self._secret()
        if before is None:
            made = SigningSecrets(namespace, version, (SigningSecret(secret, now),))
        else:
            made = before.rotated(secret, version, now)
        if self._secrets.put(made, before.version if before else None):
            return made
        theirs = self._secrets.get(namespace)
        assert theirs is not None, "secrets are replaced, never removed"
        return theirs

    def _secret(self) -> str:
        # Standard Webhooks 1.0: `whsec_` and the base64 of 24 to 64 bytes. `Ids.secret` has 256 random bits
        # as text, and the digest of that text is 32 bytes.
        return "whsec_" + b64encode(sha256(self._ids.secret().encode()).digest()).decode()
