"""The secrets that jobs name: what they may be, how they are written, and what a delivery knows of them."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from sweephand.base.errors import NotFoundError, UnavailableError, Violation
from sweephand.base.instants import Instant
from sweephand.base.limits import SECRET_LENGTH_MAX
from sweephand.base.timing import NAMED_SECRETS_AGE_MAX_MS
from sweephand.model.change import AdminChange, AdminVerb
from sweephand.model.page import Page
from sweephand.model.secret import (
    ED25519_PREFIX,
    HMAC_PREFIX,
    Secret,
    SecretBrief,
    SecretKey,
    SigningSecret,
    scheme_of,
)
from sweephand.ports.access import NamedSecretStore
from sweephand.ports.clock import Clock, Ids

#: Secrets that one process caches. When the cache is full, the process empties it.
REMEMBERED_MAX: Final = 1_000

#: How often a write starts over that another write has overtaken.
_TRIES_MAX: Final = 5


class SecretWritten(NamedTuple):
    """The secret after the write, and what the write did."""

    brief: SecretBrief
    outcome: Literal["created", "replaced", "unchanged"]


class SecretAdmin:
    """Writes, lists and deletes the secrets of namespaces. The last write wins."""

    def __init__(self, *, secrets: NamedSecretStore, clock: Clock, ids: Ids) -> None:
        self._secrets = secrets
        self._clock = clock
        self._ids = ids

    def put(self, key: SecretKey, value: str, *, who: str) -> SecretWritten:
        """Create a secret or give it another value. The value that it has already changes nothing.

        The trail says that `who` did it, and not which value.

        Every function uses the new value within NAMED_SECRETS_AGE_MAX_MS. Raises UnavailableError if other
        writes keep coming first; then nothing was written. Raises StoreError, after which the value may be
        written. The caller may safely ask again.
        """
        for _ in range(_TRIES_MAX):
            stored = self._secrets.get_many(key.namespace, [key.name]).get(key.name)
            if stored is not None and stored.value == value:
                return SecretWritten(stored.brief, "unchanged")
            now, version = self._clock.now(), self._ids.token()
            if stored is None:
                secret = Secret(key, version, now, now, (SigningSecret(value, now),))
            else:
                secret = stored.replaced(value, version, now)
            change = _change(now, who, "replaced" if stored else "created", key, version)
            if self._secrets.put(secret, stored.version if stored else None, change):
                return SecretWritten(secret.brief, "replaced" if stored else "created")
        raise UnavailableError("The secret keeps changing. Nothing was written. Try again.")

    def delete(self, key: SecretKey, *, who: str) -> None:
        """Delete a secret, also while jobs name it: their runs fail. Raises NotFoundError."""
        if key.name not in self._secrets.get_many(key.namespace, [key.name]):
            raise NotFoundError(f"There is no secret {key.name} in namespace {key.namespace}.")
        self._secrets.delete(key, _change(self._clock.now(), who, "deleted", key, self._ids.token()))

    def page(self, namespace: str, after: str, limit: int) -> Page[SecretBrief]:
        """Secrets of a namespace by name, without their values."""
        return self._secrets.page(namespace, after, limit)


def _change(at: Instant, who: str, what: AdminVerb, key: SecretKey, version: str) -> AdminChange:
    return AdminChange(at, who, what, "secret", key.namespace, key.name, version)


class _Remembered(NamedTuple):
    secret: Secret
    read_at: Instant


class SecretReader:
    """Reads the values of secrets for deliveries. Threads may share an instance.

    It caches each secret for NAMED_SECRETS_AGE_MAX_MS, and never that a secret does not exist.
    """

    def __init__(self, *, secrets: NamedSecretStore, clock: Clock) -> None:
        self._secrets = secrets
        self._clock = clock
        self._remembered: dict[SecretKey, _Remembered] = {}

    def active(self, namespace: str, names: Collection[str]) -> Mapping[str, Sequence[str]]:
        """The values of those secrets, newest first; a secret that does not exist is left out.

        Raises StoreError if a secret cannot be read.
        """
        now = self._clock.now()
        found = {name: self._known(SecretKey(namespace, name), now) for name in names}
        unknown = [name for name, secret in found.items() if secret is None]
        if unknown:
            read = self._secrets.get_many(namespace, unknown)
            if len(self._remembered) + len(read) > REMEMBERED_MAX:
                self._remembered.clear()
            for name, secret in read.items():
                found[name] = secret
                self._remembered[SecretKey(namespace, name)] = _Remembered(secret, now)
        return {name: secret.active(now) for name, secret in found.items() if secret is not None}

    def _known(self, key: SecretKey, now: Instant) -> Secret | None:
        known = self._remembered.get(key)
        if known is None or not 0 <= now - known.read_at < NAMED_SECRETS_AGE_MAX_MS:
            return None
        return known.secret


VALUE_MEANING: Final = (
    f"The value: 1 to {SECRET_LENGTH_MAX} printable characters of ASCII, without a space at either end. No "
    "answer ever shows it."
)

#: The pattern of a value. An HTTP field has no space at either end (RFC 9110, 5.5).
VALUE_PATTERN: Final = "^[!-~](?:[ -~]*[!-~])?$"


def value_violations(value: str) -> list[Violation]:
    """What is wrong with the value of a secret. No violation contains any of the value."""
    if len(value) > SECRET_LENGTH_MAX or not re.fullmatch(VALUE_PATTERN, value):
        return [Violation("/value", VALUE_MEANING)]
    if value.startswith(HMAC_PREFIX) and scheme_of(value) is None:
        rule = f"After {HMAC_PREFIX}, give the base64 of 24 to 64 bytes."
        return [Violation("/value", rule)]
    if value.startswith(ED25519_PREFIX) and not _is_key_pair(value):
        rule = f"After {ED25519_PREFIX}, give the base64 of 64 bytes: the key's seed, then its public key."
        return [Violation("/value", rule)]
    return []


def _is_key_pair(value: str) -> bool:
    from sweephand.access.ed25519 import is_key_pair  # noqa: PLC0415 - a library that few calls need

    return scheme_of(value) is not None and is_key_pair(value)
