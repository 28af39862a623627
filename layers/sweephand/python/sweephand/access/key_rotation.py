"""Rotating an API key: a new key takes its place, and the old one works on for an overlap."""

from typing import Final, NamedTuple

from sweephand.access import key_records
from sweephand.access.key_makers import BUSY, TRIES_MAX, end_of, maker_of
from sweephand.access.key_making import NewKey
from sweephand.base.errors import ConflictError, NotFoundError, UnavailableError
from sweephand.base.instants import Instant
from sweephand.model.api_key import Caller, Key, digest_of, format_key
from sweephand.ports.access import KeyStore
from sweephand.ports.clock import Ids

NOT_FOUND: Final = "There is no such key. Sweephand deletes a key some time after it has expired."


class Rotated(NamedTuple):
    """The old key with its new end, and the key that takes its place."""

    old: Key
    new: NewKey


def visible_key(keys: KeyStore, key_id: str, caller: Caller) -> Key:
    """The key of that id, which may have expired.

    Raises NotFoundError, with the same words, if there is no such key and if it is one of another namespace.
    """
    key = keys.get(key_id) if key_id.isascii() and key_id.isalnum() else None
    if key is None or not caller.sees(key.namespace):
        raise NotFoundError(NOT_FOUND)
    return key


def rotate_key(
    keys: KeyStore,
    ids: Ids,
    key_id: str,
    caller: Caller,
    *,
    now: Instant,
    overlap_ms: int,
    lives_ms: int | None = None,
) -> Rotated:
    """Make a key in place of another one, with its namespace, role and description. One write makes both.

    The old key expires after the overlap, or earlier if it was to expire earlier. The new key lives for
    `lives_ms`; without that, it expires when the old one was to expire. It ends with the caller's key at the
    latest, so no key prolongs itself. It has the lower rate of the two.

    Raises NotFoundError for a missing, expired or foreign key, which are told apart by nothing. Raises
    ForbiddenError for a caller whose key has ended, and InvalidError for a new key that would outlive it.
    Raises ConflictError for a key that was rotated before, so that each key has one successor, and for the
    key of an IAM principal. If a revocation comes first, the key stays revoked. Raises UnavailableError if
    other writes keep coming first; then nothing was written. Raises StoreError, after which the rotation may
    have been made.
    """
    secret = ids.secret()
    for _ in range(TRIES_MAX):
        maker = maker_of(keys, caller, now)
        old = _rotatable(keys, key_id, caller, now)
        new = old._replace(
            id=ids.token(),
            digest=digest_of(secret),
            created_at=now,
            expires_at=end_of(now, lives_ms, maker, otherwise=old.expires_at),
            created_by=caller.key_id,
            first_id=old.family,
            requests_per_minute=_lower(old, maker),
        )
        ends_at = now + overlap_ms
        ended = old._replace(
            expires_at=ends_at if old.expires_at is None else min(ends_at, old.expires_at),
            replaced_by=new.id,
        )
        changes = (
            key_records.rotated(old, ended, caller.key_id, now, ids.token()),
            key_records.created(new, ids.token()),
        )
        if keys.rotate(old, ended, new, maker, changes):
            return Rotated(ended, NewKey(new, format_key(new.id, secret)))
    raise UnavailableError(BUSY)


def _lower(old: Key, maker: Key | None) -> int | None:
    """The rate of the successor: that of the old key, or that of the maker if it is lower."""
    makers = None if maker is None else maker.requests_per_minute
    rates = [each for each in (old.requests_per_minute, makers) if each is not None]
    return min(rates, default=None)


def _rotatable(keys: KeyStore, key_id: str, caller: Caller, now: Instant) -> Key:
    """The key of that id, if it may be rotated. Raises as rotate_key() says."""
    old = visible_key(keys, key_id, caller)
    if not old.is_alive(now):
        raise NotFoundError(NOT_FOUND)
    if old.principal is not None:
        raise ConflictError(
            f"The key {old.id} has no secret, since it is for {old.principal}. Rotate the credentials of "
            f"IAM instead."
        )
    if old.replaced_by is not None:
        raise ConflictError(
            f"The key {old.id} was rotated before, and the key {old.replaced_by} took its place. "
            f"Rotate or revoke that one, or make a new key."
        )
    return old
