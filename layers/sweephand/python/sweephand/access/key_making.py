"""Making API keys: the API makes them for its admins, and an operator makes admin keys with IAM's rights.

What a key may pass on to the keys that it makes, and the changes that are filed, are here too.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sweephand.access.callers import PRINCIPAL_RULE, key_id_of, named_principal
from sweephand.base.errors import ConflictError, ForbiddenError, InvalidError, UnavailableError, Violation
from sweephand.base.instants import SECOND_MS, Instant, rfc3339, rfc3339_or_none
from sweephand.base.limits import DESCRIPTION_LENGTH_MAX
from sweephand.base.names import EVERY_NAMESPACE
from sweephand.model.api_key import ADMIN_KEY_ID, Caller, Key, Role, digest_of, format_key
from sweephand.model.change import AdminChange, changes_between
from sweephand.ports.access import KeyStore
from sweephand.ports.clock import Ids

#: How often the writing of a key starts over because the maker's key was written at the same time. Two keys
#: that one key makes at once meet each other so.
TRIES_MAX: Final = 20

BUSY: Final = "The key keeps changing. Nothing was written. Try again."


def maker_of(keys: KeyStore, caller: Caller, now: Instant) -> Key | None:
    """The key of a caller that makes or rotates a key, as it is stored now; None for one with a token.

    The gateway may let a key in for a minute after its end. Raises ForbiddenError for such a caller, because
    what it makes would not end with it.
    """
    if not caller.has_key:
        return None
    key = keys.get(caller.key_id)
    if key is None or not key.is_alive(now):
        raise ForbiddenError("Your key was revoked or has expired. Call with a valid key.")
    return key


def end_of(
    now: Instant, lives_ms: int | None, maker: Key | None, otherwise: Instant | None
) -> Instant | None:
    """When a key ends that the maker makes now: after `lives_ms`, or else at `otherwise` (None: never).

    A key never outlives its maker's. Without `lives_ms` it ends with the maker at the latest. Raises
    InvalidError if `lives_ms` would be more.
    """
    latest = None if maker is None else maker.expires_at
    if lives_ms is None:
        ends = [each for each in (otherwise, latest) if each is not None]
        return min(ends, default=None)
    if latest is not None and now + lives_ms > latest:
        rule = (
            f"Your own key ends at {rfc3339(latest)}, and no key that it makes may live longer. Give at most "
            f"{(latest - now) // SECOND_MS}s, or leave it out."
        )
        raise InvalidError([Violation("/expiresIn", rule)])
    return now + lives_ms


def rate_of(wanted: int | None, maker: Key | None) -> int | None:
    """The rate of a key that the maker makes: the wanted one, or else the maker's.

    Raises InvalidError for a higher rate than the maker's.
    """
    most = None if maker is None else maker.requests_per_minute
    if most is None or wanted is None:
        return wanted if most is None else most
    if wanted > most:
        rule = f"Your own key has {most}, and no key that it makes may have more. Give at most {most}."
        raise InvalidError([Violation("/requestsPerMinute", rule)])
    return wanted


def key_created(key: Key, version: str) -> AdminChange:
    """That a key was made by the caller that it names."""
    shown = {
        "role": key.role,
        "expiresAt": rfc3339_or_none(key.expires_at),
        "principal": key.principal,
        "description": key.description,
        "requestsPerMinute": key.requests_per_minute,
    }
    fields = tuple(changes_between({}, {name: value for name, value in shown.items() if value is not None}))
    return AdminChange(
        key.created_at, key.created_by, "created", "key", key.namespace, key.id, version, fields
    )


def key_rotated(old: Key, ended: Key, who: str, at: Instant, version: str) -> AdminChange:
    """That a key was rotated: its new end, and its successor."""
    before = {"expiresAt": rfc3339_or_none(old.expires_at), "replacedBy": old.replaced_by}
    after = {"expiresAt": rfc3339_or_none(ended.expires_at), "replacedBy": ended.replaced_by}
    fields = tuple(changes_between(before, after))
    return AdminChange(at, who, "rotated", "key", old.namespace, old.id, version, fields)


def key_revoked(key: Key, who: str, at: Instant, version: str, reason: str | None = None) -> AdminChange:
    """That a key was revoked."""
    return AdminChange(at, who, "revoked", "key", key.namespace, key.id, version, (), reason)


_DIGEST: Final = re.compile(r"[0-9a-f]{64}\Z")


class NewKey(NamedTuple):
    """A key that was just stored, and the text that its holder sends. The text is stored nowhere.

    It is empty for the key of a principal.
    """

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


class WantedKey(NamedTuple):
    """A key that a caller asks for, for a role or user of IAM (`named_principal`) or with a secret."""

    namespace: str
    role: Role
    lives_ms: int | None = None
    description: str | None = None
    principal: str | None = None
    requests_per_minute: int | None = None


def make_key(keys: KeyStore, ids: Ids, wanted: WantedKey, caller: Caller, now: Instant) -> NewKey:
    """Store a new key that ends with the caller's at the latest: one with a secret, or a principal's.

    The key of a principal takes the place of the one that it has. Raises ConflictError if that one is valid
    for another namespace, unless the new one is for all of them. Raises ForbiddenError for a caller whose key
    has ended, and InvalidError for a key that would outlive it or have a higher rate. Raises UnavailableError
    if other writes of the caller's key keep coming first; then nothing was written. Raises StoreError, after
    which the key may be stored.
    """
    secret = None if wanted.principal is not None else ids.secret()
    key_id = ids.token() if wanted.principal is None else key_id_of(wanted.principal)
    for _ in range(TRIES_MAX):
        maker = maker_of(keys, caller, now)
        if wanted.principal is not None:
            _check_namespace(keys.get(key_id), wanted.namespace, now)
        key = Key(
            key_id,
            "" if secret is None else digest_of(secret),
            wanted.namespace,
            wanted.role,
            now,
            end_of(now, wanted.lives_ms, maker, otherwise=None),
            wanted.description,
            principal=wanted.principal,
            created_by=caller.key_id,
            requests_per_minute=rate_of(wanted.requests_per_minute, maker),
        )
        change = key_created(key, ids.token())
        if keys.put(key, change) if maker is None else keys.make(key, maker, change):
            return NewKey(key, "" if secret is None else format_key(key.id, secret))
    raise UnavailableError(BUSY)


def make_admin_key(keys: KeyStore, ids: Ids, description: str | None, now: Instant) -> NewKey:
    """Store a new admin key for every namespace, for an operator with rights of IAM.

    Raises StoreError, after which the key may be stored, as do the other functions for operators. They raise
    UnavailableError if another request writes the key at the same time.
    """
    secret = ids.secret()
    key = _of_operator(ids.token(), digest_of(secret), description, now)
    _keep(keys, ids, key)
    return NewKey(key, format_key(key.id, secret))


def make_principal_admin_key(
    keys: KeyStore, ids: Ids, principal: str, description: str | None, now: Instant
) -> Key:
    """Store the admin key of an IAM role or user, in place of the one that it has.

    Raises StoreError, after which the key may be stored. The operator may safely ask again.
    """
    key = _of_operator(key_id_of(principal), "", description, now)._replace(principal=principal)
    _keep(keys, ids, key)
    return key


def keep_admin_key(keys: KeyStore, ids: Ids, digest: str, description: str | None, now: Instant) -> Key:
    """Store the key `sh_admin_…` whose secret has this SHA-256. It replaces the key of that id.

    Raises StoreError, after which the key may be stored. A second call with the same digest changes nothing
    that a caller could notice.
    """
    key = _of_operator(ADMIN_KEY_ID, digest, description, now)
    _keep(keys, ids, key)
    return key


def _check_namespace(stored: Key | None, namespace: str, now: Instant) -> None:
    """Refuse to move the valid key of a principal to another namespace.

    Whoever revokes it there would also revoke what it made, and sees no key of the namespace before.
    """
    if namespace == EVERY_NAMESPACE or stored is None or not stored.is_alive(now):
        return
    if stored.namespace != namespace:
        raise ConflictError(
            f"{stored.principal} has the key {stored.id} for the namespace {stored.namespace}. Revoke that "
            f"one first, with what it made."
        )


def _of_operator(key_id: str, digest: str, description: str | None, now: Instant) -> Key:
    return Key(key_id, digest, EVERY_NAMESPACE, "admin", now, description=description)


def _keep(keys: KeyStore, ids: Ids, key: Key) -> None:
    if not keys.put(key, key_created(key, ids.token())):
        raise UnavailableError(BUSY)
