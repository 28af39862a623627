"""What functions do with gates: they enqueue, call, take slots and give them back.

No wake-up is lost. A function that lets a trigger wait writes the entry, and then reads the slots. A function
that gives back slots writes the gate, and then reads whether the line may hold something. So at least one of
them sees what the other has written. `tests/models` explores each order of the steps.
"""

from collections.abc import Iterable
from functools import partial
from typing import Final

from sweephand.base.concurrency import Concurrently
from sweephand.base.instants import Instant
from sweephand.base.timing import GUARD_MS, HOLDER_MS, QUEUE_DELAY_MAX_MS
from sweephand.flow.held_slots import HeldSlots, end_run, with_expired
from sweephand.flow.tokens import next_token_at
from sweephand.model.gate import Baton, Gate, GateChange, GateName, Holder, Swap, server_slots_of
from sweephand.model.gate_line import ENTRY_TRIGGERS_MAX, entries_of
from sweephand.model.gate_message import GateMessage, Purpose
from sweephand.model.job import JobKey
from sweephand.model.policy import PermitName, Policy, PolicyKey, Priority
from sweephand.model.trigger import TriggerMessage
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.flow import FlowQueue, GateLines, GateStore, PolicyStore

#: A gate whose slots others take at the same moment is read again so often.
_TRIES_MAX: Final = 5

#: Triggers of an entry for each slot that a function may have. So a small limit has small entries.
_TRIGGERS_FOR_SLOT: Final = 3


class Gates:
    """The gates of all policies. Several threads may share one object. Each method may raise StoreError."""

    def __init__(
        self,
        *,
        policies: PolicyStore,
        store: GateStore,
        lines: GateLines,
        queue: FlowQueue,
        clock: Clock,
        ids: Ids,
        concurrently: Concurrently,
    ) -> None:
        self.policies = policies
        self.store = store
        self.lines = lines
        self.clock = clock
        self.ids = ids
        self._queue = queue
        self._concurrently = concurrently

    # ---- what waits

    def enqueue(
        self, key: PolicyKey, priority: Priority, messages: Iterable[TriggerMessage], source: str
    ) -> None:
        """Put triggers into the line of a gate. When this returns, their messages may be acknowledged.

        `source` says where they come from. A policy that is missing has a line too. A message that was
        received before sends a baton even if one seems to be under way: the function may have crashed that
        was to send it.
        """
        every = list(messages)
        policy = self.policies.get(key)
        name = GateName(key, self._number(policy))
        size = ENTRY_TRIGGERS_MAX
        if policy is not None:
            size = min(size, _TRIGGERS_FOR_SLOT * server_slots_of(policy.slots))
        entries = entries_of(every, priority, source, size)
        self._concurrently([partial(self.lines.put, name, entry) for entry in entries])
        self.see_to(name, policy, again=any(each.crashes for each in every))

    def see_to(self, name: GateName, policy: Policy | None, *, again: bool = False) -> None:
        """Have a gate looked after whose line has a new entry, and call if a slot is free."""
        gate = self.store.get(name)
        if gate.guard is None:
            gate = self.begin_guard(name)
        elif not gate.queues:
            gate = self.mark(name)
        if policy is not None and gate.free(policy.share(name.number), self.clock.now()) > 0:
            self.call(name, policy, again=again)

    def begin_guard(self, name: GateName) -> Gate:
        """Send a guard, and then store it if there is none. Returns the gate after that."""
        guard = self.send_guard(name)
        return self.store.change(name, GateChange(guard_if_absent=guard, queues=True)).gate

    def send_guard(self, name: GateName) -> str:
        """Send a guard that comes when each function has ended that runs now. Returns its id."""
        guard = self.ids.token()
        self.send("guard", name, self.clock.now() + GUARD_MS, guard=guard)
        return guard

    def mark(self, name: GateName) -> Gate:
        """Store that the line of a gate may hold something. Returns the gate after that."""
        return self.store.change(name, GateChange(queues=True)).gate

    # ---- calls

    def call(
        self, name: GateName, policy: Policy | None, *, again: bool = False, hint: int | None = None
    ) -> None:
        """Have a function serve a gate: at once, or when the rate of its policy has a token.

        One baton at a time: the gate knows of it before it is sent.
        """
        at = self.clock.now() if policy is None else self.token_near_at(policy)
        baton = Baton(at, self.ids.token())
        if self.store.change(name, GateChange(baton=baton, replaces_baton=again)).is_made:
            self.send("baton", name, at, hint=hint)

    def token_near_at(self, policy: Policy) -> Instant:
        """When a function may take a token of the policy's rate; now if it may, or if there is no rate."""
        now = self.clock.now()
        return (
            now if policy.rate is None else max(now, next_token_at(policy.key, policy.rate, self.store, now))
        )

    def send(
        self,
        purpose: Purpose,
        name: GateName,
        at: Instant,
        *,
        guard: str | None = None,
        hint: int | None = None,
        after: str | None = None,
    ) -> None:
        """Send a message about a gate for that instant. SQS keeps it for 15 minutes at most."""
        message = GateMessage(purpose, *name.policy, name.number, at, guard, hint, after)
        self._queue.send(message, min(max(at - self.clock.now(), 0), QUEUE_DELAY_MAX_MS))

    def wake(self, name: GateName) -> None:
        """Have a gate looked after whose messages may be lost. If its guard is under way, no harm is done."""
        guard = self.store.get(name).guard
        self.send("wake", name, self.clock.now(), guard=guard or self.ids.token())

    # ---- slots

    def take(self, name: GateName, policy: Policy) -> HeldSlots | None:
        """Take slots of a gate, and remove the mark of its baton; None if no slot is free."""
        share, want = policy.share(name.number), server_slots_of(policy.slots)
        token, until = self.ids.token(), self.clock.now() + HOLDER_MS
        gate = self.store.get(name)
        for _ in range(_TRIES_MAX):
            now = self.clock.now()
            if (count := min(want, gate.free(share, now))) <= 0:
                # Whoever gives back slots calls again once the mark of this baton is gone.
                if gate.baton is not None:
                    gate = self.store.change(name, GateChange(removes_baton=True)).gate
                if gate.free(share, now) <= 0:
                    return None
                continue
            holder = Holder(count, until)
            change = GateChange({token: Swap(None, holder)}, removes_baton=True)
            changed = self.store.change(name, with_expired(change, gate, share, now))
            if changed.is_made:
                return HeldSlots(name, token, holder, store=self.store, clock=self.clock)
            gate = changed.gate
        # Others take them all the time. The mark of the baton stands, so this message has to come again.
        self.send("baton", name, self.clock.now())
        return None

    def end_run(self, key: JobKey, permit: PermitName) -> None:
        """An asynchronous run of a job is over: give its slot back, and call if its line may hold something.

        While its request may be open, the slot stays in use. Ending it again changes nothing.
        """
        name = GateName(PolicyKey(key.namespace, permit.policy), permit.gate)
        gate = end_run(self.store, name, permit.id, self.clock.now())
        if gate is None or not gate.queues:
            return
        policy = self.policies.get(name.policy)
        # During a pause nobody can take the slot. The resume has each gate looked after.
        if policy is None or policy.paused_at is None:
            self.call(name, policy)

    def _number(self, policy: Policy | None) -> int:
        """A gate for a newcomer: each is as likely as its share is large."""
        if policy is None:
            return 0
        slot = int(self.ids.fraction() * (policy.concurrent_max or policy.gates * policy.slots))
        return slot // policy.share_of_limit(0)
