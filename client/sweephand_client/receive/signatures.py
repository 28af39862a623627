"""Verifies the signatures of requests (Standard Webhooks 1.0): `v1` by HMAC and `v1a` by ed25519.

The library standardwebhooks knows `v1` alone, and takes the time from the clock.
"""

import hashlib
import hmac
import importlib
import logging
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import Any, Final, Protocol

from sweephand_client.api.client import Client
from sweephand_client.http.errors import (
    ForbiddenError,
    InputError,
    NotFoundError,
    SweephandError,
    UnauthenticatedError,
)

_LOG: Final = logging.getLogger("sweephand.receive")

#: An older timestamp may be a replay. Seconds.
_TOLERANCE_S: Final = 300

#: At most three secrets and three keys sign. More would let anybody cost much time by one request.
_SIGNATURES_MAX: Final = 10

#: How long fetched secrets serve. A new one signs beside the old one for a day (docs/webhooks.md).
_FRESH_S: Final = 300
#: Requests with wrong signatures make the receiver fetch no more often than this.
_FETCH_AGAIN_S: Final = 30
#: As long as no secrets are known, the stack is asked this often.
_FIRST_S: Final = 5

_HMAC: Final = "whsec_"
_ED25519: Final = "whpk_"


class SignatureError(SweephandError):
    """A request is not signed as it should be. The message says what is wrong."""


class Secrets(Protocol):
    """The secrets (`whsec_…`) and public keys (`whpk_…`) that may have signed."""

    def known(self) -> Sequence[str]:
        """Those that are known now."""

    def fetched(self) -> Sequence[str]:
        """Those that are known after another look."""


class FixedSecrets:
    """Secrets that do not change while the process lives."""

    def __init__(self, secrets: str | Sequence[str]) -> None:
        self._secrets = tuple(secrets.split() if isinstance(secrets, str) else secrets)
        for each in self._secrets:
            _key(each)
        if not self._secrets:
            raise InputError("Give at least one secret: whsec_… or whpk_….")

    def known(self) -> Sequence[str]:
        """The secrets."""
        return self._secrets

    def fetched(self) -> Sequence[str]:
        """The same secrets."""
        return self._secrets


class StackSecrets:
    """The secrets of a namespace as its stack has them. Threads may share it. `now` is in seconds.

    Everybody may read the public keys. The secrets need a key with the role `admin`.
    """

    def __init__(self, client: Callable[[], Client], namespace: str, now: Callable[[], float]) -> None:
        self._client = client
        self._namespace = namespace
        self._now = now
        self._lock = Lock()
        self._secrets: tuple[str, ...] = ()
        self._error: SweephandError | None = None
        self._fetched_at: float | None = None

    def known(self) -> Sequence[str]:
        """The secrets, fetched at most five minutes ago. Older ones while the stack gives none."""
        return self._at_most(_FRESH_S)

    def fetched(self) -> Sequence[str]:
        """The secrets, fetched at most half a minute ago. Older ones while the stack gives none."""
        return self._at_most(_FETCH_AGAIN_S)

    def _at_most(self, age_s: float) -> Sequence[str]:
        # While one request asks the stack, the others go on with the secrets that are known.
        if self._is_older(age_s) and self._lock.acquire(blocking=not self._secrets):
            try:
                if self._is_older(age_s):
                    self._fetch()
            finally:
                self._lock.release()
        if not self._secrets and self._error is not None:
            raise self._error.with_traceback(None)
        return self._secrets

    def _is_older(self, age_s: float) -> bool:
        most_s = age_s if self._secrets else _FIRST_S
        return self._fetched_at is None or not 0 <= self._now() - self._fetched_at < most_s

    def _fetch(self) -> None:
        try:
            self._secrets, self._error = self._read(), None
        except SweephandError as error:
            self._error = error
            _LOG.warning("The signing secrets cannot be read: %s", error)
        self._fetched_at = self._now()

    def _read(self) -> tuple[str, ...]:
        signing = self._client().signing
        try:
            return tuple(each["secret"] for each in signing.secrets(self._namespace))
        except (UnauthenticatedError, ForbiddenError, NotFoundError):
            # The consumer has no key that may read the secrets. Everybody may read the public keys.
            found = tuple(each["key"] for each in signing.keys(self._namespace))
        if not found:
            raise InputError(
                f"No signature of the namespace {self._namespace} can be checked. Set "
                "SWEEPHAND_SIGNING_SECRET, or let an admin make an ed25519 key: "
                f"POST /v1/namespaces/{self._namespace}/signing-keys"
            )
        return found


def verify(secrets: Secrets, headers: Mapping[str, str], body: bytes, now_s: float) -> None:
    """Check that a known secret has signed the request within the last five minutes. SignatureError else.

    The names of `headers` are in lower case.
    """
    try:
        message, sent, signed = (headers[f"webhook-{each}"] for each in ("id", "timestamp", "signature"))
    except KeyError as error:
        raise SignatureError(f"The request has no header {error.args[0]}.") from None
    if not sent.isascii() or not sent.isdecimal() or abs(float(sent) - now_s) > _TOLERANCE_S:
        raise SignatureError(
            f"webhook-timestamp is {sent[:20]}, and here it is {int(now_s)}. They may differ by five minutes."
        )
    content = f"{message}.{sent}.".encode(errors="replace") + body
    given = [each.partition(",") for each in signed.split()[:_SIGNATURES_MAX]]
    if _has_signed(secrets.known(), given, content) or _has_signed(secrets.fetched(), given, content):
        return
    raise SignatureError("No known secret of the namespace has signed this request.")


def _has_signed(secrets: Sequence[str], given: Sequence[tuple[str, str, str]], content: bytes) -> bool:
    for secret in secrets:
        scheme, check = _key(secret)
        for version, _, text in given:
            if version == scheme and check(_decoded(text), content):
                return True
    return False


def _key(secret: str) -> tuple[str, Callable[[bytes, bytes], bool]]:
    """The scheme of a secret, and what checks a signature of a content by it."""
    for prefix, scheme in ((_HMAC, "v1"), (_ED25519, "v1a")):
        if secret.startswith(prefix) and (key := _decoded(secret.removeprefix(prefix))):
            return scheme, _by_hmac(key) if scheme == "v1" else _by_ed25519(key)
    raise InputError("A secret begins with whsec_, and a public key with whpk_. Base64 follows.")


def _by_hmac(key: bytes) -> Callable[[bytes, bytes], bool]:
    return lambda signature, content: hmac.compare_digest(
        hmac.digest(key, content, hashlib.sha256), signature
    )


def _by_ed25519(key: bytes) -> Callable[[bytes, bytes], bool]:
    try:
        signing: Any = importlib.import_module("nacl.signing")
        errors: Any = importlib.import_module("nacl.exceptions")
    except ImportError:
        raise InputError("Ed25519 needs PyNaCl. Install it: pip install 'sweephand[receive]'") from None

    def check(signature: bytes, content: bytes) -> bool:
        try:
            signing.VerifyKey(key).verify(content, signature)
        except (errors.BadSignatureError, ValueError):
            return False
        return True

    return check


def _decoded(text: str) -> bytes:
    try:
        return b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError:
        return b""
