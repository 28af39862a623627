"""Rotating and revoking API keys. A new key takes the place of one, which works on for an overlap."""

from collections.abc import Callable
from typing import Final, NamedTuple

from sweephand.access.key_making import (
    BUSY,
    TRIES_MAX,
    NewKey,
    end_of,
    key_created,
    key_revoked,
    key_rotated,
    maker_of,
)
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
            key_rotated(old, ended, caller.key_id, now, ids.token()),
            key_created(new, ids.token()),
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


#: How many keys that a family made are read at once.
_PAGE: Final = 25

_MORE: Final = (
    "The key is revoked. It has made so many keys that not all of them are revoked yet. Send the same "
    "request again, until it succeeds."
)


def revoke_key(
    keys: KeyStore, ids: Ids, key_id: str, caller: Caller, *, now: Instant, in_time: Callable[[], bool]
) -> None:
    """Revoke a key, the keys that it replaced, and every key that one of these made or rotated.

    A key whose successor is valid is revoked alone, because what it made belongs to the successor.

    Raises NotFoundError for a missing or foreign key. Raises UnavailableError if the key keeps changing, and
    once `in_time` returns False. Then, and after a StoreError, keys that it made may be valid. The caller may
    safely ask again.
    """
    for _ in range(TRIES_MAX):
        key = visible_key(keys, key_id, caller)
        ended = key._replace(expires_at=now if key.expires_at is None else min(now, key.expires_at))
        if keys.end(key, ended, key_revoked(key, caller.key_id, now, ids.token())):
            break
    else:
        raise UnavailableError(BUSY)
    successor = None if key.replaced_by is None else keys.get(key.replaced_by)
    if successor is None or not successor.is_alive(now):
        _Descendants(keys, ids, ended, who=caller.key_id, now=now, in_time=in_time).revoke()
    keys.delete(key.id)


class _Descendants:
    """The keys of an ended key's family, and those that the family made, at any depth."""

    def __init__(
        self, keys: KeyStore, ids: Ids, root: Key, *, who: str, now: Instant, in_time: Callable[[], bool]
    ) -> None:
        self._keys = keys
        self._ids = ids
        self._root = root
        self._who = who
        self._now = now
        self._in_time = in_time

    def revoke(self) -> None:
        """Revoke all of them. What another family made is listed under the root's before it is dealt with.

        So each step is kept, however deep the keys lie. A key that is removed makes no more keys
        (KeyStore.put). So the list of a family is complete once its last key is removed.
        """
        keys, family = self._keys, self._root.family
        self._remove(family)
        while found := keys.made_by(family, _PAGE):
            for made in found:
                if not self._in_time():
                    raise UnavailableError(_MORE)
                self._remove(made.key_id)
                if made.family != family:
                    self._remove(made.family)
                    self._adopt(made.family)
                keys.forget_made(family, made.key_id)

    def _adopt(self, other: str) -> None:
        while found := self._keys.made_by(other, _PAGE):
            for made in found:
                self._keys.add_made(self._root.family, made)
                self._keys.forget_made(other, made.key_id)

    def _remove(self, key_id: str) -> None:
        if key_id == self._root.id:  # it is removed last, so that the request can be repeated
            return
        key = self._keys.get(key_id)
        if key is None:
            return
        change = None
        if key.is_alive(self._now):
            reason = f"It was made, rotated or replaced by the key {self._root.id}, or by one that it made."
            change = key_revoked(key, self._who, self._now, self._ids.token(), reason)
        self._keys.delete(key_id, change)
