"""The tokens of a policy's rate that one function has taken, out of the buckets of the rate."""

from collections.abc import Iterable
from threading import Lock
from typing import Final

from sweephand.base.instants import Instant
from sweephand.base.timing import TOKEN_LEAD_MS
from sweephand.flow.held_slots import HeldSlots
from sweephand.model.gate import Gate, GateChange, GateName, Token
from sweephand.model.policy import Rate, buckets_of, next_slot_at, taking
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.flow import GateStore

#: How often a function writes a bucket that is not as it expects.
_TRIES_MAX: Final = 5


def next_token_at(name: GateName, rate: Rate, store: GateStore, now: Instant, seen: Gate | None) -> Instant:
    """When a function may take a token for a gate: shortly before the next slot of any bucket, or now.

    The gate was `seen` a moment ago, if it is given.
    """
    gates = [name._replace(number=number) for number in range(len(buckets_of(rate)))]
    found = [seen if seen is not None and each == name else store.get(each) for each in gates]
    slots_at = [next_slot_at(gate.last_us, of, now) for gate, of in zip(found, buckets_of(rate), strict=True)]
    return max(now, min(slots_at) - TOKEN_LEAD_MS)


class Tokens:
    """Slots of time that a function has taken and not used. A slot that has passed is lost.

    They belong to the policy of a gate, and to its key if it has one. Several threads may share one object,
    and one at a time may take more. Two threads never get one token.
    """

    def __init__(self, slots: HeldSlots, *, store: GateStore, clock: Clock, ids: Ids) -> None:
        """The function has these slots, and the tokens that were taken with them."""
        self._gate = slots.name
        self._store = store
        self._clock = clock
        self._ids = ids
        #: The gates as this function has seen them for the last time, by their numbers.
        self._seen = {slots.name.number: slots.gate}
        #: The buckets of which other functions have taken tokens meanwhile.
        self._busy: set[int] = set()
        #: Tokens that were taken and not used, by their slots. Whoever changes them holds the lock. A reader
        #: needs none, since they are replaced as a whole.
        self._unused = slots.tokens
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

    def take_more(self, rate: Rate, wanted: int, due_at: Instant | None = None) -> bool:
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

    def _take_from(self, number: int, rate: Rate, wanted: int, due_at: Instant | None) -> bool:
        """Take tokens from a bucket. False if it has none within a second."""
        for tries in range(_TRIES_MAX):
            now, is_busy = self._clock.now(), tries == 0 and number in self._busy
            last_us = self._seen.get(number, Gate()).last_us
            if (wants := taking(last_us, rate, now, wanted, due_at, is_busy=is_busy)) is None:
                return False
            changed = self._store.change(self._gate._replace(number=number), GateChange(taking=wants))
            self._seen[number] = changed.gate
            if changed.is_made:
                self._add(wants.tokens(changed.gate.last_us))
                break
            (self._busy.discard if is_busy else self._busy.add)(number)
        return True

    def _add(self, tokens: Iterable[Token]) -> None:
        with self._lock:
            self._unused = tuple(sorted((*self._unused, *tokens)))

    def _first(self) -> Token | None:
        now = self._clock.now()
        return next((each for each in self._unused if not each.has_passed(now)), None)
