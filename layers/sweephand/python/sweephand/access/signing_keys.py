"""The signing secrets of namespaces: made on first need, rotated, and remembered for a minute."""

from base64 import b64encode
from hashlib import sha256
from typing import Final, NamedTuple

from sweephand.access.signing import SigningSecret, SigningSecrets
from sweephand.instants import Instant
from sweephand.ports import Clock, Ids, SecretStore
from sweephand.timing import SECRETS_AGE_MAX_MS

#: Namespaces remembered in one process; beyond it the process forgets them all and reads again.
REMEMBERED_MAX: Final = 1_000


class _Remembered(NamedTuple):
    secrets: SigningSecrets
    read_at: Instant


class SigningKeys:
    """Answers for the secrets of every namespace; several threads may share one.

    Of several who make or rotate a namespace's secrets at once, one writes and the others take what it
    wrote as it stands, so two rotations at one moment are one.
    """

    def __init__(self, *, secrets: SecretStore, ids: Ids, clock: Clock) -> None:
        self._secrets = secrets
        self._ids = ids
        self._clock = clock
        self._remembered: dict[str, _Remembered] = {}

    def active(self, namespace: str) -> tuple[str, ...]:
        """The secrets that sign now, newest first, at least one; read again when they are a minute old."""
        now = self._clock.now()
        known = self._remembered.get(namespace)
        if known is None or not 0 <= now - known.read_at < SECRETS_AGE_MAX_MS:
            known = _Remembered(self.stored(namespace), now)
            if len(self._remembered) >= REMEMBERED_MAX:
                self._remembered.clear()
            self._remembered[namespace] = known
        return tuple(each.secret for each in known.secrets.active(now))

    def stored(self, namespace: str) -> SigningSecrets:
        """The secrets as they are stored; a namespace that has none yet gets its first."""
        found = self._secrets.get(namespace)
        return self._write(namespace, None) if found is None else found

    def rotate(self, namespace: str) -> SigningSecrets:
        """The secrets with a new first one; the one before goes on signing for a day."""
        secrets = self._write(namespace, self._secrets.get(namespace))
        self._remembered.pop(namespace, None)
        return secrets

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
        # Standard Webhooks 1.0: `whsec_` and the base64 of 24 to 64 bytes. The digest of 256 random
        # bits written as text is 32 random bytes.
        return "whsec_" + b64encode(sha256(self._ids.secret().encode()).digest()).decode()
