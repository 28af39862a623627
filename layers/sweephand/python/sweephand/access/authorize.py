"""Whose key an Authorization header carries: the authorizer's whole decision."""

import hmac
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from sweephand.base.instants import Instant
from sweephand.model.api_key import (
    ADMIN_KEY_ID,
    EVERY_NAMESPACE,
    Caller,
    digest_of,
    parted,
)

if TYPE_CHECKING:  # the ports bring every room with them, and the authorizer needs none
    from sweephand.ports import KeyStore

# A scheme in any case, at least one space, a key (RFC 9110, 11.6.2). The lengths keep garbage from the store.
_BEARER: Final = re.compile(r"(?i:bearer) +(?P<key>sh_[A-Za-z0-9]{1,64}_[A-Za-z0-9]{1,256})\Z")


def authorize(
    header: str | None, *, keys: "KeyStore", admin_secret: Callable[[], str], now: Instant
) -> Caller | None:
    """The holder of the key in the header; None for whatever is not a key that opens.

    `admin_secret` gives the secret of the deployment's own key and is asked only for that key. Why a
    key does not open is not told: unknown, revoked, expired and mistyped look alike. StoreError if the
    key cannot be looked up.
    """
    found = _BEARER.match(header.strip()) if header else None
    parts = parted(found["key"]) if found else None
    if parts is None:
        return None
    key_id, secret = parts
    if key_id == ADMIN_KEY_ID:
        return _deployment(secret, admin_secret())
    key = keys.get(key_id)
    if key is None or not key.opens_with(secret, now):
        return None
    return key.caller


def _deployment(given: str, secret: str) -> Caller | None:
    # An empty secret would be one that everybody knows.
    if not secret or not hmac.compare_digest(digest_of(given), digest_of(secret)):
        return None
    return Caller(ADMIN_KEY_ID, EVERY_NAMESPACE, "admin")
