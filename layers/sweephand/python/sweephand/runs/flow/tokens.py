"""The tokens of a policy's rate that one worker has taken."""

from collections.abc import Iterable
from threading import Lock
from typing import Final

from sweephand.base.instants import Instant
from sweephand.base.timing import TOKEN_LEAD_MS
from sweephand.model.policy import PolicyKey, Rate, Token, next_slots, next_token_at
from sweephand.ports.clock import Clock
from sweephand.ports.flow import PermitStore

#: How often a worker tries again to take tokens that another worker took first.
_TRIES_MAX: Final = 5


class Tokens:
    """Slots that a worker has taken and not used. A slot that has passed is lost.

    Several threads may share one object, and one at a time may take more. Two threads never get one token.
    """

    def __init__(self, key: PolicyKey, *, permits: PermitStore, owner: str, clock: Clock) -> None:
        self._key = key
        self._permits = permits
        self._owner = owner
        self._clock = clock
        #: Tokens that were taken and not used, by their slots. Whoever changes them holds the lock. A reader
        #: needs none, since they are replaced as a whole.
        self._unused: tuple[Token, ...] = ()
        self._lock = Lock()

    def take(self) -> Token | None:
        """The next token whose slot begins soon and has not passed; None if there is none."""
        with self._lock:
            token = self._first()
            if token is None or token.opens_at - self._clock.now() > TOKEN_LEAD_MS:
                return None
            self._unused = self._unused[self._unused.index(token) + 1 :]
            return token

    def give_back(self, token: Token) -> None:
        """No request has left for a token, and none will. Another request may use it."""
        self._add([token])

    def next_at(self) -> Instant | None:
        """When the next token may be taken; None if there is none."""
        token = self._first()
        return None if token is None else token.opens_at - TOKEN_LEAD_MS

    def take_more(self, rate: Rate, wanted: int) -> Instant | None:
        """Take up to `wanted` tokens for the next second, if none are left here.

        Returns None, or the instant of the next token if there is none within a second.
        """
        if self._first() is not None:
            return None
        for _ in range(_TRIES_MAX):
            began_at = self._clock.now()
            seen, now = self._permits.bucket(self._key), self._clock.now()
            # The write takes about as long as the read. A slot that begins before it is over would be lost.
            taken = next_slots(seen, rate, now + now - began_at, wanted, self._owner)
            if taken is None:
                return next_token_at(seen, rate, now)
            slots, bucket = taken
            if self._permits.move_bucket(self._key, bucket, seen):
                self._add(slots.token(number) for number in range(slots.size))
                return None
        return None

    def _add(self, tokens: Iterable[Token]) -> None:
        with self._lock:
            self._unused = tuple(sorted((*self._unused, *tokens)))

    def _first(self) -> Token | None:
        now = self._clock.now()
        return next((each for each in self._unused if not each.has_passed(now)), None)
