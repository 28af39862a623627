"""Which caller an Authorization header stands for: the authorizer's whole decision."""

import re
from typing import TYPE_CHECKING, Final

from sweephand.base.instants import Instant
from sweephand.model.api_key import Caller, Key, parse_key

if TYPE_CHECKING:  # the ports import the values of every room, and the authorizer needs few of them
    from sweephand.ports.access import KeyStore

# A scheme in any case, at least one space, and a key (RFC 9110, 11.6.2). The bounds of length keep nonsense
# away from the key store.
_BEARER: Final = re.compile(r"(?i:bearer) +(?P<key>sh_[A-Za-z0-9]{1,64}_[A-Za-z0-9]{1,256})\Z")

# Stands for a key that does not exist. No secret has this digest that anybody could find: it would be the
# preimage of a given value of SHA-256.
_NOBODY: Final = Key("", "0" * 64, "", "read", 0)


def authorize(header: str | None, *, keys: "KeyStore", now: Instant) -> Caller | None:
    """The caller whose API key is in the header; None if the header holds no valid key.

    The answer is the same for an unknown, revoked, expired or mistyped key, so a caller cannot tell these
    apart. So is the work: one read of the store, one hash, and one comparison. Raises StoreError if the key
    cannot be looked up.
    """
    found = _BEARER.match(header.strip()) if header else None
    parts = parse_key(found["key"]) if found else None
    if parts is None:
        return None
    key_id, secret = parts
    key = keys.get(key_id) or _NOBODY
    return key.caller if key.accepts(secret, now) else None
