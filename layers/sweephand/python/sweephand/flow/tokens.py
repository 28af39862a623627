"""The tokens of a policy's rate that one function has taken, out of the buckets of the rate.

A bucket gives out 300 tokens a second at most. A higher rate has several, with shares that are filled one
after the other, as the shares of gates are.
"""

from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Final

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import TOKEN_LEAD_MS
from sweephand.model.gate import GateName
from sweephand.model.policy import RATE_OF_GATE_MAX, Rate, Token, next_slot_at, next_slots
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.flow import GateStore

#: How often a function tries again to take tokens that another one took first.
_TRIES_MAX: Final = 5


def buckets_of(rate: Rate) -> Sequence[Rate]:
    """The rate of each bucket. The sum is the whole rate, and no share shrinks when the rate grows."""
    largest = max(1, RATE_OF_GATE_MAX * rate.per_ms // SECOND_MS)
    whole, rest = divmod(rate.limit, largest)
    limits = [largest] * whole + [rest] * (rest > 0)
    return [Rate(limit, rate.per_ms) for limit in limits]


def next_token_at(name: GateName, rate: Rate, store: GateStore, now: Instant) -> Instant:
    """When a function may take a token for a gate: shortly before the next slot of any bucket, or now."""
    buckets = enumerate(buckets_of(rate))
    slots_at = [next_slot_at(store.bucket(name._replace(number=n)), each, now) for n, each in buckets]
    return max(now, min(slots_at) - TOKEN_LEAD_MS)


class Tokens:
    """Slots of time that a function has taken and not used. A slot that has passed is lost.

    They belong to the policy of a gate, and to its key if it has one. Several threads may share one object,
    and one at a time may take more. Two threads never get one token.
    """

    def __init__(self, gate: GateName, *, store: GateStore, clock: Clock, ids: Ids) -> None:
        self._gate = gate
        self._store = store
        self._clock = clock
        self._ids = ids
        self._owner = ids.token()
        #: Tokens that were taken and not used, by their slots. Whoever changes them holds the lock. A reader
        #: needs none, since they are replaced as a whole.
        self._unused: tuple[Token, ...] = ()
        self._lock = Lock()

    @property
    def size(self) -> int:
        """How many tokens it has whose slots have not passed."""
        now = self._clock.now()
        return sum(not each.has_passed(now) for each in self._unused)

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

    def take_more(self, rate: Rate, wanted: int, due_at: Instant = 0) -> bool:
        """Take up to `wanted` tokens for the next second from one bucket, if none are left here.

        No token opens before `due_at`. Returns whether there are some now, or may be soon: False if no bucket
        has one within a second.
        """
        if wanted <= 0 or self._first() is not None:
            return True
        buckets = buckets_of(rate)
        # Each bucket is as likely to come first as its share is large.
        first = int(self._ids.fraction() * rate.limit) // buckets[0].limit
        order = [(first + each) % len(buckets) for each in range(len(buckets))]
        return any(self._take_from(number, buckets[number], wanted, due_at) for number in order)

    def _take_from(self, number: int, rate: Rate, wanted: int, due_at: Instant) -> bool:
        """Take tokens from a bucket. False if it has none within a second."""
        name = self._gate._replace(number=number)
        for _ in range(_TRIES_MAX):
            began_at = self._clock.now()
            seen, now = self._store.bucket(name), self._clock.now()
            # The write takes about as long as the read. A slot that begins before it is over would be lost.
            taken = next_slots(seen, rate, max(now + now - began_at, due_at), wanted, self._owner)
            if taken is None:
                return False
            slots, bucket = taken
            if self._store.move_bucket(name, bucket, seen):
                self._add(slots.token(each) for each in range(slots.size))
                break
        return True

    def _add(self, tokens: Iterable[Token]) -> None:
        with self._lock:
            self._unused = tuple(sorted((*self._unused, *tokens)))

    def _first(self) -> Token | None:
        now = self._clock.now()
        return next((each for each in self._unused if not each.has_passed(now)), None)
