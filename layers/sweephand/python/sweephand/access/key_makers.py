"""What a caller may give to a key that it makes or rotates: no longer life and no higher rate."""

from typing import Final

from sweephand.base.errors import ForbiddenError, InvalidError, Violation
from sweephand.base.instants import SECOND_MS, Instant, rfc3339
from sweephand.model.api_key import Caller, Key
from sweephand.ports.access import KeyStore

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
        raise ForbiddenError("Your key was revoked or has expired. Call with one that is valid.")
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
