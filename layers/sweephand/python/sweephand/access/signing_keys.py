"""The signing secrets and keys of namespaces: how they are created, rotated, and cached for a minute."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from sweephand.base.errors import ConflictError, NotFoundError, UnavailableError
from sweephand.base.instants import Instant, rfc3339
from sweephand.base.limits import SIGNING_SECRETS_MAX
from sweephand.base.timing import SECRETS_AGE_MAX_MS
from sweephand.model.change import AdminChange, AdminSubject, AdminVerb
from sweephand.model.secret import HMAC_PREFIX, Scheme, SigningSecret, SigningSecrets, public_key_of
from sweephand.ports.clock import Clock, Ids

if TYPE_CHECKING:
    # Every delivery is signed. It starts without the other ports of access.
    from sweephand.ports.access import SecretStore

#: Namespaces that one process caches. When the cache is full, the process empties it.
REMEMBERED_MAX: Final = 1_000


#: The secrets of a namespace that has an old one.
_WITH_OLD_MIN: Final = 2

#: What the trail calls the secrets of each scheme.
_SUBJECTS: Final[Mapping[Scheme, AdminSubject]] = {"v1": "signing-secret", "v1a": "signing-key"}


class PublicKey(NamedTuple):
    """A public key (`whpk_…`) with which a consumer verifies, and how long its private key signs."""

    key: str
    created_at: Instant
    expires_at: Instant | None


class _Remembered(NamedTuple):
    secrets: Sequence[SigningSecrets]
    read_at: Instant


class SigningKeys:
    """Reads, creates and rotates the signing secrets of every namespace. Threads may share an instance.

    Each namespace signs by HMAC. One whose admin has made an ed25519 key signs by that key as well.

    If several callers create or rotate the secrets of a namespace at once, one of them writes. The others
    return what that caller wrote, so two rotations at one moment have the effect of one.
    """

    def __init__(self, *, secrets: "SecretStore", ids: Ids, clock: Clock) -> None:
        self._secrets = secrets
        self._ids = ids
        self._clock = clock
        self._remembered: dict[str, _Remembered] = {}

    def active(self, namespace: str) -> tuple[str, ...]:
        """The secrets that sign now: those of HMAC, at least one, then the private keys; each newest first.

        They are cached for a minute.
        """
        now = self._clock.now()
        known = self._remembered.get(namespace)
        if known is None or not 0 <= now - known.read_at < SECRETS_AGE_MAX_MS:
            found = self._secrets.both(namespace)
            first = found.get("v1") or self._first(namespace)
            known = _Remembered([first, *(each for each in found.values() if each.scheme != "v1")], now)
            if len(self._remembered) >= REMEMBERED_MAX:
                self._remembered.clear()
            self._remembered[namespace] = known
        return tuple(each.secret for secrets in known.secrets for each in secrets.active(now))

    def get_or_create(self, namespace: str) -> SigningSecrets:
        """The stored secrets; a namespace without secrets gets its first one."""
        found = self._secrets.get(namespace)
        return self._first(namespace) if found is None else found

    def rotate(self, namespace: str, *, who: str) -> SigningSecrets:
        """Add a new first secret and return all; the secret before it goes on signing for a day.

        The trail says that `who` did it.

        Raises ConflictError if SIGNING_SECRETS_MAX secrets sign now. A delivery carries one signature for
        each secret that signs, and each rotated secret signs for its day.
        """
        return self._rotate(namespace, "v1", who)

    def public_keys(self, namespace: str) -> tuple[PublicKey, ...]:
        """The public keys of the private keys that sign now, newest first; none before rotate_key()."""
        found = self._secrets.get(namespace, "v1a")
        return () if found is None else self._public(found)

    def rotate_key(self, namespace: str, *, who: str) -> tuple[PublicKey, ...]:
        """Add a new first ed25519 key and return all public keys. The rest is as by rotate()."""
        return self._public(self._rotate(namespace, "v1a", who))

    def end_old(self, namespace: str, *, who: str) -> None:
        """Let only the newest secret sign by HMAC, from a minute on. NotFoundError if no other signs now.

        Raises UnavailableError if another request rotates the secrets meanwhile.
        """
        before = self._secrets.get(namespace)
        now = self._clock.now()
        active = () if before is None else before.active(now)
        if before is None or len(active) < _WITH_OLD_MIN:
            raise NotFoundError(f"No old secret signs for the namespace {namespace}.")
        self._end(before, active[:1], who, now)

    def end_keys(self, namespace: str, *, who: str) -> None:
        """Let no ed25519 key sign any more, from a minute on. NotFoundError if none signs now.

        Raises UnavailableError if another request rotates the keys meanwhile.
        """
        before = self._secrets.get(namespace, "v1a")
        now = self._clock.now()
        if before is None or not before.active(now):
            raise NotFoundError(f"The namespace {namespace} has no ed25519 key.")
        self._end(before, (), who, now)

    def _end(self, before: SigningSecrets, kept: tuple[SigningSecret, ...], who: str, now: Instant) -> None:
        """Forget all secrets or keys but those that are kept."""
        ended = before._replace(version=self._ids.token(), secrets=kept)
        if not self._secrets.put(ended, before.version, _change(ended, who, "deleted", now)):
            raise UnavailableError("Another request has rotated them meanwhile. Try again.")
        self._remembered.pop(before.namespace, None)

    def _public(self, secrets: SigningSecrets) -> tuple[PublicKey, ...]:
        return tuple(
            PublicKey(public_key_of(each.secret), each.created_at, each.expires_at)
            for each in secrets.active(self._clock.now())
        )

    def _rotate(self, namespace: str, scheme: Scheme, who: str) -> SigningSecrets:
        before = self._secrets.get(namespace, scheme)
        if before is not None:
            self._check_room(before)
        made = self._made(namespace, before, scheme)
        change = _change(made, who, "rotated", made.secrets[0].created_at)
        is_made = self._secrets.put(made, before.version if before else None, change)
        self._remembered.pop(namespace, None)
        return made if is_made else self._theirs(namespace, scheme)

    def _check_room(self, before: SigningSecrets) -> None:
        active = before.active(self._clock.now())
        if len(active) >= SIGNING_SECRETS_MAX:
            free_at = min(each.expires_at for each in active if each.expires_at is not None)
            raise ConflictError(
                f"{len(active)} secrets sign now, which is the most (signingSecretsMax). "
                f"A rotated secret still signs for a day, together with the new one. "
                f"The next rotation is possible from {rfc3339(free_at)} on."
            )

    def _first(self, namespace: str) -> SigningSecrets:
        made = self._made(namespace, None, "v1")
        return made if self._secrets.create(made) else self._theirs(namespace, "v1")

    def _made(self, namespace: str, before: SigningSecrets | None, scheme: Scheme) -> SigningSecrets:
        now, version, secret = self._clock.now(), self._ids.token(), self._secret(scheme)
        if before is None:
            return SigningSecrets(namespace, version, (SigningSecret(secret, now),), scheme)
        return before.rotated(secret, version, now)

    def _theirs(self, namespace: str, scheme: Scheme) -> SigningSecrets:
        theirs = self._secrets.get(namespace, scheme)
        assert theirs is not None, "secrets are replaced, never removed"
        return theirs

    def _secret(self, scheme: Scheme) -> str:
        # `Ids.secret` has 256 random bits as text, and the digest of that text is 32 bytes.
        digest = sha256(self._ids.secret().encode()).digest()
        if scheme == "v1":
            # Standard Webhooks 1.0: `whsec_` and the base64 of 24 to 64 bytes.
            return HMAC_PREFIX + b64encode(digest).decode()
        from sweephand.access.ed25519 import private_key  # noqa: PLC0415 - a library that few calls need

        return private_key(digest)


def _change(secrets: SigningSecrets, who: str, what: AdminVerb, at: Instant) -> AdminChange:
    return AdminChange(at, who, what, _SUBJECTS[secrets.scheme], secrets.namespace, "", secrets.version)
