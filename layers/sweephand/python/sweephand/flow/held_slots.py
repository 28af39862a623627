"""The slots of one gate that a function holds, and the slots that asynchronous runs hold."""

from itertools import count
from typing import Final

from sweephand.base.instants import Instant
from sweephand.base.timing import CLOCK_SKEW_MAX_MS, HOLDER_MS
from sweephand.model.gate import Changed, Gate, GateChange, GateName, Holder, Swap, Token
from sweephand.ports.clock import Clock
from sweephand.ports.flow import GateStore


class HeldSlots:
    """The slots of one function. Several threads may share one object.

    Each try of a write carries a number of its own, and expects the holder that was written before it. So the
    SDK's late repeat of a write changes nothing. A thread whose write another thread has overtaken writes
    again.
    """

    def __init__(self, name: GateName, token: str, gate: Gate, *, store: GateStore, clock: Clock) -> None:
        """The write that took them has left the `gate` like that."""
        self.name = name
        self.token = token
        self.gate = gate
        #: The tokens of a rate that the same write has taken.
        self.tokens: tuple[Token, ...] = ()
        self._holder = gate.holders[token]
        self.until = self._holder.until
        self._store = store
        self._clock = clock
        self._numbers = count(self._holder.number + 1)
        #: The numbers of writes that the gate has shown. So they were made.
        self._made: set[int] = set()

    @property
    def size(self) -> int:
        """How many slots it has."""
        return self._holder.slots

    @property
    def last(self) -> bool:
        """Whether it lasts for longer than any two clocks may differ."""
        return self._clock.now() < self.until - CLOCK_SKEW_MAX_MS

    def grow(self, share: int, size: int) -> Gate:
        """Take more slots of the gate as far as they are free, up to that size. Returns the gate."""
        gate, now = self._store.get(self.name), self._clock.now()
        held = gate.holders.get(self.token)
        if held is None or (more := min(size - held.slots, gate.free(share, now))) <= 0:
            return gate
        change = GateChange({self.token: Swap(held, self._following(held, more))})
        gate = self._store.change(self.name, with_expired(change, gate, share, now)).gate
        self._know(gate.holders.get(self.token))
        return gate

    def give_back(self, slots: int, *, queues: bool | None = None) -> Gate:
        """Give back so many slots, and store whether the line may hold something if that is given.

        Returns the gate. Whoever gives back slots then looks at the line, or calls if the gate `queues`.
        """
        return self._give(slots, GateChange(queues=queues)).gate

    def hand_to_run(self, request: str, run: Holder) -> bool:
        """Hand a slot to an asynchronous run, which holds it as `run` says; return whether it has it."""
        return self._give(1, GateChange({request: Swap(None, run)})).is_made

    def _give(self, slots: int, besides: GateChange) -> Changed:
        while True:
            held = self._holder
            left = self._following(held, -slots)
            swap = Swap(held, left if left.slots > 0 else None)
            change = besides._replace(holders={self.token: swap, **besides.holders})
            changed = self._store.change(self.name, change)
            if changed.is_made:
                self._know(left)
                return changed
            self._know(changed.gate.holders.get(self.token))
            if left.number in self._made:
                # The answer was lost. Another thread saw this write, and wrote before the SDK's repeat.
                return Changed(changed.gate, is_made=True)
            if self._holder.number == held.number:
                # The time of the holder is over, and another function has removed it.
                return changed

    def _know(self, holder: Holder | None) -> None:
        # Of two threads, the one with the older write must not overwrite what the other one knows.
        if holder is None:
            return
        self._made.add(holder.number)
        if holder.number > self._holder.number:
            self._holder = holder

    def _following(self, held: Holder, added: int) -> Holder:
        return held._replace(slots=held.slots + added, number=next(self._numbers))


def with_expired(change: GateChange, gate: Gate, share: int, now: Instant) -> GateChange:
    """A change that takes slots, and removes the expired holders of a gate that was read.

    It expects that the share still has room after it.
    """
    expired = gate.expired(now)
    removed = {token: Swap(each, None) for token, each in expired.items() if token not in change.holders}
    every = change._replace(holders={**change.holders, **removed})
    return every._replace(used_max=share - every.added)


#: The number of a run's holder whose request is over, and of one whose run is over while the request may be
#: open. Before, it is the instant until which the request may be open.
_REQUEST_OVER: Final = 0
_RUN_OVER: Final = -1


def held_by_run(now: Instant, until: Instant) -> Holder:
    """The holder of an asynchronous run that lasts until then. Its request leaves now."""
    return Holder(1, until, number=now + HOLDER_MS)


def end_request_of_run(store: GateStore, name: GateName, request: str, run: Holder) -> Gate | None:
    """The request is over, and its run goes on with the slot.

    If the run is over already, its slot is given back. Returns the gate then, and else None.
    """
    over = run._replace(number=_REQUEST_OVER)
    changed = store.change(name, GateChange({request: Swap(run, over)}))
    return None if changed.is_made else give_back_of_run(store, name, request)


def end_run(store: GateStore, name: GateName, request: str, now: Instant) -> Gate | None:
    """A run is over. Its slot is given back, unless its request may be open still: until that is over.

    A consumer may report the end before it has answered. Returns the gate if the slot was given back.
    """
    held = store.get(name).holders.get(request)
    if held is None or held.number == _RUN_OVER:
        return None
    if held.number > now:
        # If the function crashes that sent the request, the slot comes back by itself.
        ended = Holder(1, until=held.number, number=_RUN_OVER)
        is_ended = store.change(name, GateChange({request: Swap(held, ended)})).is_made
        # If it is refused, another function ended the request or the run at this moment.
        return None if is_ended else end_run(store, name, request, now)
    return give_back_of_run(store, name, request)


def give_back_of_run(store: GateStore, name: GateName, request: str) -> Gate | None:
    """Give back the slot of a run whose request is over. Returns the gate; None if the run has no slot."""
    held = store.get(name).holders.get(request)
    if held is None:
        return None
    changed = store.change(name, GateChange({request: Swap(held, None)}))
    return changed.gate if changed.is_made else None
