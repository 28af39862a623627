"""Making API keys: the API makes them for its admins, and an operator makes admin keys with IAM's rights."""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sweephand.access.principals import PRINCIPAL_RULE, named_principal
from sweephand.access_ports import KeyStore
from sweephand.base.errors import InvalidError, Violation
from sweephand.base.instants import Instant
from sweephand.base.limits import DESCRIPTION_LENGTH_MAX
from sweephand.model.api_key import (
    ADMIN_KEY_ID,
    EVERY_NAMESPACE,
    Key,
    Role,
    digest_of,
    format_key,
)
from sweephand.ports import Ids

_DIGEST: Final = re.compile(r"[0-9a-f]{64}\Z")


class NewKey(NamedTuple):
    """A key that was just stored, and the text that its holder sends. The text is stored nowhere."""

    key: Key
    text: str


class AdminKeyRequest(NamedTuple):
    """What an operator asks for: a description, and who or what proves the key.

    That is the SHA-256 of a secret that the operator has made, or an IAM role or user, or else a new secret.
    """

    description: str | None = None
    digest: str | None = None
    principal: str | None = None

    @classmethod
    def read(cls, event: Mapping[str, Any]) -> "AdminKeyRequest":
        """The request in the event of an invocation. Raises InvalidError, which says what would be right."""
        found = [
            Violation(
                f"/{name}", "There is no such field; give description, secretSha256, principal or nothing."
            )
            for name in event
            if name not in ("description", "secretSha256", "principal")
        ]
        description, digest, principal = (
            event.get(each) for each in ("description", "secretSha256", "principal")
        )
        is_text = isinstance(description, str) and len(description) <= DESCRIPTION_LENGTH_MAX
        if description is not None and not is_text:
            rule = f"It must be a text of at most {DESCRIPTION_LENGTH_MAX} characters."
            found.append(Violation("/description", rule))
        if digest is not None and not (isinstance(digest, str) and _DIGEST.match(digest)):
            rule = "It must be the SHA-256 of a secret, as 64 hexadecimal digits in lower case."
            found.append(Violation("/secretSha256", rule))
        known = named_principal(principal) if isinstance(principal, str) else None
        if principal is not None and known is None:
            found.append(Violation("/principal", PRINCIPAL_RULE))
        if principal is not None and digest is not None:
            rule = "Give secretSha256 or principal, not both: a principal has no secret."
            found.append(Violation("/principal", rule))
        if found:
            raise InvalidError(found)
        return cls(description, digest, known)


def make_key(
    keys: KeyStore,
    ids: Ids,
    *,
    namespace: str,
    role: Role,
    now: Instant,
    expires_at: Instant | None = None,
    description: str | None = None,
) -> NewKey:
    """Store a key with a new id and a new secret. Raises StoreError, after which the key may be stored."""
    secret = ids.secret()
    key = Key(ids.token(), digest_of(secret), namespace, role, now, expires_at, description)
    keys.put(key)
    return NewKey(key, format_key(key.id, secret))


def make_admin_key(keys: KeyStore, ids: Ids, description: str | None, now: Instant) -> NewKey:
    """Store a new admin key for every namespace. Raises StoreError, after which the key may be stored."""
    return make_key(keys, ids, namespace=EVERY_NAMESPACE, role="admin", now=now, description=description)


def keep_admin_key(keys: KeyStore, digest: str, description: str | None, now: Instant) -> Key:
    """Store the key `sh_admin_…` whose secret has this SHA-256. It replaces the key of that id.

    Raises StoreError, after which the key may be stored. A second call with the same digest changes nothing
    that a caller could notice.
    """
    key = Key(ADMIN_KEY_ID, digest, EVERY_NAMESPACE, "admin", now, description=description)
    keys.put(key)
    return key
