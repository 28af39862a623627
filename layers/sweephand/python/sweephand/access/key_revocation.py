"""Revoking an API key, with every key that it has made (decision 195).

The keys that one made are found by their family. A crash leaves the key ended and stored, so the same request
goes on where the other stopped.
"""

from collections.abc import Callable
from typing import Final

from sweephand.access import key_records
from sweephand.access.key_makers import BUSY, TRIES_MAX
from sweephand.access.key_rotation import visible_key
from sweephand.base.errors import UnavailableError
from sweephand.base.instants import Instant
from sweephand.model.api_key import Caller, Key
from sweephand.ports.access import KeyStore
from sweephand.ports.clock import Ids

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
        if keys.end(key, ended, key_records.revoked(key, caller.key_id, now, ids.token())):
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
            change = key_records.revoked(key, self._who, self._now, self._ids.token(), reason)
        self._keys.delete(key_id, change)
