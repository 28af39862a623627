"""The turn of a function at a gate: its threads deliver, lease what waits, and hand the slots on."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from threading import Lock
from typing import Final, Protocol

from sweephand.base.concurrency import Concurrently
from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import FAN_OUT_MS, LINE_LOOK_MS, POLICY_AGE_MAX_MS
from sweephand.flow.breaker import CircuitBreaker
from sweephand.flow.gates import Gates
from sweephand.flow.held_slots import HeldSlots
from sweephand.flow.leasing import ENTRIES_READ, Leasing
from sweephand.flow.permit import Permit
from sweephand.flow.taken import LeftEntry, TakenEntries, TakenTrigger
from sweephand.flow.tokens import Tokens
from sweephand.model.gate import server_slots_of
from sweephand.model.gate_line import entries_of
from sweephand.model.policy import Policy, PolicyKey, Priority
from sweephand.model.trigger import LineWait, TriggerMessage

#: A function serves for so long. Then other policies have a turn.
TURN_MS: Final = 10 * SECOND_MS

#: A thread without a slot or a trigger looks again after this.
_IDLE_MS: Final = 50

#: Triggers that a function has leased beyond those of its slots, for each slot.
_AHEAD: Final = 2


class Deliver(Protocol):
    """Handles a trigger that has a permit."""

    def __call__(self, message: TriggerMessage, permit: Permit, deadline: Instant) -> bool | LineWait:
        """Deliver the trigger, or find that it must wait elsewhere or needs no attempt.

        Returns whether the line need not keep the trigger. If it must, no request was sent: the permit was
        refused, or the longest attempt would not end before `deadline`. If the trigger has to wait in a line,
        this one or another, it is returned as it has to stand there. StoreError: the line must keep it.
        """
        ...

    def flush(self) -> None:
        """Do what has to be done before the line forgets triggers that were settled.

        StoreError: they stay in the line.
        """
        ...


class Turn:
    """One turn. Every thread delivers, and one at a time looks after the line.

    A request opens only for a slot, and by a read of the policy that is at most a second old.
    """

    def __init__(
        self,
        gates: Gates,
        slots: HeldSlots,
        policy: Policy,
        *,
        read_at: Instant,
        hint: int | None,
        deliver: Deliver,
        deadline: Instant,
        concurrently: Concurrently,
        together: Concurrently,
        is_probe: bool = False,
    ) -> None:
        """The policy was read then. A probe has one slot, and goes on if its breaker closes soon."""
        self._is_probe = is_probe
        self._breaker = CircuitBreaker(gates)
        self._gates = gates
        self._slots = slots
        self._policy = policy
        self._leasing = Leasing(gates, slots, hint, together)
        self._deliver = deliver
        self._deadline = deadline
        self._concurrently, self._together = concurrently, together
        self._clock, self._name = gates.clock, slots.name
        self._read_at, self._worked_at = read_at, self._clock.now()
        self._ends_at = min(self._worked_at + TURN_MS, deadline)
        self._tokens = Tokens(slots, store=gates.store, clock=gates.clock, ids=gates.ids)
        self._taken = TakenEntries()
        self._open = 0
        self._is_over = False
        #: Whether a baton is under way that follows this turn.
        self.has_called = False
        self._error: Exception | None = None
        self._must_leave = False
        self._look_at: Instant = 0
        self._call_at: Instant = 0
        #: Slots that are being given back.
        self._leaving = 0
        #: Whether a trigger is delivered alone.
        self._is_alone = False
        self._lock = Lock()
        self._tending = Lock()
        self._taking = Lock()

    def run(self) -> None:
        """Serve until there is nothing to do, or the time is up. Raises the first error in the end."""
        size = server_slots_of(self._policy.slots)
        # One more thread reads, and others delete entries.
        list(self._concurrently([self._work] * (size + 2 + size // 4)))
        if self._error is not None:
            with suppress(StoreError):
                if not self._is_over:
                    self._stop()
                while self._clean():
                    pass
            raise self._error

    def _work(self) -> None:
        try:
            while self._error is None:
                if (next_ := self._next()) is not None:
                    self._serve(*next_)
                elif self._is_over:
                    if not self._clean():
                        return
                elif not (self._take_tokens() or self._tend() or self._clean()):
                    self._clock.wait_until(self._next_at())
        except Exception as error:  # noqa: BLE001 - run() raises it once every thread has ended
            self._error = self._error or error

    # ---- deliveries

    def _next(self) -> tuple[TakenTrigger, Permit] | None:
        """The next trigger with its permit; None if there is none, or no slot or token is free."""
        with self._lock:
            is_fresh = 0 <= self._clock.now() - self._read_at < POLICY_AGE_MAX_MS
            if self._is_over or self._must_leave or not self._taken.waiting or not is_fresh:
                return None
            if self._open + self._leaving >= self._slots.size:
                return None
            token = None
            if self._policy.rate is not None and (token := self._tokens.take()) is None:
                return None
            self._open += 1
            trigger = self._taken.begin()
        gates = self._gates
        return trigger, Permit(
            self._slots, gates.ids.token(), token,
            is_in_force=self._is_in_force, is_probe=self._is_probe, store=gates.store, clock=gates.clock,
        )  # fmt: skip

    def _is_in_force(self) -> bool:
        """Whether the gate has a share, by a read of the policy that is at most a second old."""
        if 0 <= self._clock.now() - self._read_at < POLICY_AGE_MAX_MS:
            return True
        policy = self._gates.policies.get(self._policy.key)
        if policy is not None and self._is_probe:
            policy = policy.probed
        return policy is not None and policy.share_at(self._name) > 0

    def _serve(self, trigger: TakenTrigger, permit: Permit) -> None:
        became: bool | LineWait = False
        try:
            became = self._deliver(trigger.message, permit, self._deadline)
        finally:
            with self._lock:
                self._worked_at = self._clock.now()
                is_back = not (became or self._is_over)
                if became:
                    self._taken.settle(trigger, became if isinstance(became, LineWait) else None)
                elif is_back:
                    self._taken.give_back(trigger)
            self._close(permit)
        self._must_leave = self._must_leave or not (became or (permit.was_refused and self._slots.last))
        if not (became or is_back):
            self._put_back(trigger)

    def _close(self, permit: Permit) -> None:
        """The request of a permit is over. After the turn, its slot is given back."""
        if permit.token is not None and not permit.has_left:
            self._tokens.give_back(permit.token)
        self._must_leave |= self._breaker.answered(self._policy, permit, self._read_at)
        permit.close()
        with self._lock:
            self._open -= 1
            gives_back = self._is_over and not permit.is_kept
        gate = self._slots.give_back(1) if gives_back else permit.given_back
        if gate is not None and gate.queues:
            self._gates.call(self._name, self._policy, gate)

    def _put_back(self, trigger: TakenTrigger) -> None:
        """Write a trigger that was not begun into its line again, after the turn has ended."""
        taken = trigger.taken
        [part] = entries_of([trigger.message], taken.entry.priority, taken.entry.token)
        self._gates.lines.put(taken.line, part)
        with self._lock:
            self._taken.settle(trigger, None)
        self._gates.see_to(taken.line, self._policy)

    def _clean(self) -> bool:
        """Delete entries that are settled. Their triggers that wait elsewhere are written first."""
        with self._lock:
            over = list(self._taken.over)
            self._taken.over.clear()
        if not over:
            return False
        waits = [wait for taken in over for wait in taken.move_waits()]
        self._write_waits(waits, "+".join(taken.entry.token for taken in over))
        replace = self._gates.lines.replace
        self._together([partial(replace, taken.line, taken.entry, None) for taken in over])
        return True

    def _write_waits(self, waits: Sequence[LineWait], source: str) -> None:
        """Write triggers that wait elsewhere, before the line forgets the entries of these tokens."""
        lines: dict[tuple[PolicyKey, Priority], list[LineWait]] = defaultdict(list)
        for wait in waits:
            lines[wait.policy, wait.priority].append(wait)
        for (key, priority), some in lines.items():
            jobs = {each.message.trigger.key: each.definition for each in some}
            self._gates.enqueue(key, priority, [each.message for each in some], source, jobs)
        self._deliver.flush()

    # ---- the line

    def _take_tokens(self) -> bool:
        """Take tokens for free slots, if none are left. Returns whether there may be something to do now."""
        rate, free = self._policy.rate, min(self._slots.size - self._open, len(self._taken.waiting))
        ends_at = min(self._ends_at, self._read_at + POLICY_AGE_MAX_MS)
        if rate is None or free <= 0 or self._must_leave or self._clock.now() >= ends_at:
            return False
        if self._tokens.next_at() is not None or not self._taking.acquire(blocking=False):
            return False
        try:
            if not self._tokens.take_more(rate, free):
                self._must_leave = True
        finally:
            self._taking.release()
        return True

    def _tend(self) -> bool:
        """Do what one thread does for all. Returns whether there may be something to do now."""
        if not self._tending.acquire(blocking=False):
            return False
        try:
            return not self._is_over and self._tend_alone()
        finally:
            self._tending.release()

    def _tend_alone(self) -> bool:
        now = self._clock.now()
        # Asynchronous runs may have all slots. Then another function serves when some are free.
        has_none = not (self._slots.size or self._open)
        if self._is_at_end(now) or self._must_leave or has_none or self._has_lost_slots(now):
            self._stop()
            return True
        has_read = now >= self._look_at and self._reads(now)
        waiting = len(self._taken.waiting)
        if waiting > self._slots.size:
            self._share(now)
        if has_read or waiting:
            return has_read
        if not self._open:
            return self._leave()
        if now - self._worked_at >= LINE_LOOK_MS:
            self._release_idle()
        return False

    def _is_at_end(self, now: Instant) -> bool:
        """Whether the turn is over. Tokens that were taken are used first: nobody else can use them."""
        return now >= self._ends_at and not (self._taken.waiting and self._tokens.next_at() is not None)

    def _reads(self, now: Instant) -> bool:
        """Read on if little waits here. Returns whether anything was leased."""
        wanted = _AHEAD * self._slots.size - len(self._taken.waiting)
        if wanted <= 0 or (self._is_alone and len(self._taken)):
            return False
        self._is_alone = False
        if self._read(now, wanted):
            self._worked_at = now
            return True
        self._look_at = now + LINE_LOOK_MS
        return False

    def _has_lost_slots(self, now: Instant) -> bool:
        """Read the policy again if it is time for that. Returns whether this function has to leave."""
        if 0 <= now - self._read_at < POLICY_AGE_MAX_MS * 3 // 4:
            return False
        policy, before = self._gates.policies.get(self._policy.key), self._policy
        share = 0 if policy is None else policy.share_at(self._name)
        if policy is None or share == 0:
            return True
        self._policy, self._read_at, self._is_probe = policy, now, False
        is_lower = share < before.share_at(self._name)
        return is_lower and self._gates.store.get(self._name).used > share

    def _read(self, now: Instant, wanted: int) -> bool:
        """Lease entries with about so many triggers. Returns whether any could be leased."""
        leased = self._leasing.lease(
            self._policy,
            wanted,
            has_entries=len(self._taken) > 0,
            has_waiting=len(self._taken.waiting) > 0,
        )
        with self._lock:
            for name, entry in leased.entries:
                self._taken.add(name, entry)
        self._is_alone = leased.is_alone
        if leased.has_more:
            self._share(now)
        return leased.has_tried

    def _share(self, now: Instant) -> None:
        """Take more slots, or call another function, if there is more in the line than can be taken here."""
        wants_tokens = self._policy.rate is not None and self._open < self._slots.size
        if now < self._call_at or wants_tokens or self._is_probe:
            return
        self._call_at = now + FAN_OUT_MS
        policy, name = self._policy, self._name
        gate = self._slots.grow(policy.share_at(name), server_slots_of(policy.slots))
        if gate.free(policy.share_at(name), now) > 0:
            self._gates.call(name, policy, gate)
        elif policy.gates > 1:
            other = name._replace(number=int(self._gates.ids.fraction() * policy.gates))
            seen = self._gates.store.get(other)
            if seen.free(policy.share_at(other), now) > 0:
                self._gates.call(other, policy, seen, hint=name.number)

    # ---- the end

    def _release_idle(self) -> None:
        """Give back idle slots. This function looks at the line as long as a request of it is open."""
        with self._lock:
            self._leaving = self._slots.size - self._open
        if self._leaving > 0:
            self._slots.give_back(self._leaving)
        with self._lock:
            self._leaving = 0

    def _leave(self) -> bool:
        """Give all slots back, as nothing is left to do. Then look at the line once more."""
        while self._clean():
            pass
        gates, now = self._gates, self._clock.now()
        top = gates.lines.top(self._name, ENTRIES_READ)
        if top.takeable(now):
            self._look_at = now
            return True
        self._is_over = True
        self._slots.give_back(self._slots.size, queues=False if top.is_empty else None)
        if gates.lines.top(self._name, ENTRIES_READ).takeable(now):
            gates.call(self._name, self._policy, gates.mark(self._name))
        return True

    def _stop(self) -> None:
        """Begin nothing more, free what has not begun, and hand the idle slots on.

        Others may have left a line because its entries were leased here. So its gate is marked, and called if
        it has a free slot.
        """
        with self._lock:
            self._is_over = True
            left = self._taken.stop()
            idle = self._slots.size - self._open
        self._together([partial(self._free, each) for each in left])
        for name in sorted({self._name, *(each.taken.line for each in left)}):
            is_own = name == self._name and idle > 0
            gate = self._slots.give_back(idle, queues=True) if is_own else self._gates.mark(name)
            if not self._is_probe and gate.free(self._policy.share_at(name), self._clock.now()) > 0:
                self._gates.call(name, self._policy, gate)
                self.has_called |= name == self._name

    def _free(self, left: LeftEntry) -> None:
        """Let what has not begun of an entry stand in the line, free. What is open stays leased."""
        taken, entry, lines = left.taken, left.taken.entry, self._gates.lines
        free = entry._replace(messages=tuple(left.rest), token=self._gates.ids.token(), owner=None, until=0)
        if not left.is_open:
            self._write_waits(taken.move_waits(), entry.token)
            lines.replace(taken.line, entry, free)
            return
        part = free._replace(name=free.token)
        lines.put(taken.line, part)
        with self._lock:
            still_open, waits = tuple(taken.left.values()), taken.move_waits()
        # The stored entry is about to lose what is settled.
        self._write_waits(waits, entry.token)
        shrunk = entry
        if still_open:
            shrunk = entry._replace(messages=still_open, token=self._gates.ids.token())
            if not lines.replace(taken.line, entry, shrunk):
                lines.replace(taken.line, part, None)
        with self._lock:
            self._taken.shrunk(taken, shrunk)

    def _next_at(self) -> Instant:
        """When a thread should look again: when a token may be taken, or after a short time."""
        now = self._clock.now()
        coming = (self._tokens.next_at(), now + _IDLE_MS)
        return min(each for each in coming if each is not None and each > now)
