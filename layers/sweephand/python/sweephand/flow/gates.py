"""What functions do with gates: they enqueue, call, take slots and give them back.

No wake-up is lost. A function that lets a trigger wait writes the entry, and then reads the slots. A function
that gives back slots writes the gate, and then reads whether the line may hold something. So at least one of
them sees what the other has written. `tests/models` explores each order of the steps.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from threading import Lock
from types import MappingProxyType
from typing import Final

from sweephand.base.concurrency import Concurrently
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import GUARD_MS, HOLDER_MS, QUEUE_DELAY_MAX_MS
from sweephand.flow.gate_key import gate_key
from sweephand.flow.held_slots import HeldSlots, end_run, with_expired
from sweephand.flow.tokens import next_token_at
from sweephand.model.definition import Definition
from sweephand.model.gate import (
    SERVER_SLOTS_MAX,
    Baton,
    Gate,
    GateChange,
    GateName,
    Holder,
    Swap,
    WaitingGate,
    guard_id,
    guarded_since,
    server_slots_of,
)
from sweephand.model.gate_line import ENTRY_TRIGGERS_MAX, Entry, LineTop, entries_of
from sweephand.model.gate_message import GateMessage, Purpose
from sweephand.model.job import JobKey
from sweephand.model.policy import PermitName, Policy, PolicyKey, Priority, buckets_of, taking
from sweephand.model.trigger import TriggerMessage
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.flow import FlowQueue, GateLines, GateStore, PolicyStore

#: A gate whose slots others take at the same moment is read again so often.
_TRIES_MAX: Final = 5

#: A function asks so many gates for slots before it lets a trigger wait.
_GATES_ASKED: Final = 2

#: A function leaves a full gate alone for so long.
_FULL_MS: Final = SECOND_MS

#: A function remembers so many full gates.
_FULL_GATES_MAX: Final = 1_000

#: So many entries of a second are looked at for one that a trigger can join. Full ones take about 1 KB each,
#: so a strong read of these costs one unit.
_ENTRIES_TO_JOIN: Final = 4

#: Triggers of an entry for each slot that a function may have. So a small limit has small entries.
_TRIGGERS_FOR_SLOT: Final = 3

_NO_JOBS: Final[Mapping[JobKey, Definition]] = MappingProxyType({})


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
        #: Gates that had no free slot, and until when they are left alone by triggers that have not waited.
        self._full_until: dict[GateName, Instant] = {}
        #: The slots of each key that this function has acquired.
        self._acquired: Counter[GateName] = Counter()
        self._lock = Lock()

    # ---- what waits

    def enqueue(
        self,
        key: PolicyKey,
        priority: Priority,
        messages: Iterable[TriggerMessage],
        source: str,
        jobs: Mapping[JobKey, Definition] = _NO_JOBS,
    ) -> None:
        """Put triggers into lines of gates. When this returns, their messages may be acknowledged.

        `source` says where they come from. A policy that is missing has a line too. A message that was
        received before sends a baton even if one seems to be under way: the function may have crashed that
        was to send it. `jobs` has the definition of each job, for a policy with `by`.
        """
        policy = self.policies.get(key)
        by = None if policy is None else policy.by
        by_key: dict[str | None, list[TriggerMessage]] = defaultdict(list)
        for message in messages:
            job = message.trigger.key
            by_key[None if by is None else gate_key(by, jobs[job], job.name)].append(message)
        self._concurrently(
            [
                partial(self.put, self.name_for(key, policy, of), policy, priority, some, source)
                for of, some in by_key.items()
            ]
        )

    def put(
        self,
        name: GateName,
        policy: Policy | None,
        priority: Priority,
        messages: Sequence[TriggerMessage],
        source: str,
        *,
        joins: bool = True,
    ) -> None:
        """Put triggers into the line of that gate, as enqueue() does. The policy was just read.

        Unless `joins` is False, they may join an entry that waits there.
        """
        size = ENTRY_TRIGGERS_MAX
        if policy is not None:
            size = min(size, _TRIGGERS_FOR_SLOT * server_slots_of(policy.slots))
        entries = entries_of(messages, priority, source, size)
        # At a gate without a share, a function lets entries go on, and passes over each of them once.
        joins = joins and policy is not None and policy.share_at(name) > 0 and len(entries) == 1
        if not (joins and self._has_joined(name, entries[0], size)):
            self._concurrently([partial(self.lines.put, name, entry) for entry in entries])
        self.see_to(name, policy, again=any(each.crashes for each in messages))

    def _has_joined(self, name: GateName, entry: Entry, size: int) -> bool:
        """Write triggers into an entry that waits, if one has room. Returns whether they stand there.

        An entry costs a write, a lease and a deletion, however many triggers it has. So triggers that would
        fill less than half of one join. The write is refused if another function has leased or written the
        entry since it was read (decision 208).
        """
        if 2 * len(entry.messages) >= size or entry.crashes:
            return False
        top = LineTop(())
        # An entry that cannot be read stops its line, and nobody who enqueues.
        with suppress(Exception):
            top = self.lines.top(name, _ENTRIES_TO_JOIN, entry.second)
        pairs = [(each, each.joined_by(entry, size, self.ids.token())) for each in top.entries]
        with_room = [(seen, joined) for seen, joined in pairs if joined is not None]
        # Functions that enqueue at one moment choose different entries if they can.
        chosen = int(self.ids.fraction() * len(with_room))
        return bool(with_room) and self.lines.replace(name, *with_room[chosen])

    def see_to(self, name: GateName, policy: Policy | None, *, again: bool = False) -> None:
        """Have a gate looked after whose line has a new entry, and call if a slot is free.

        A gate of another `by` is called too. The function that comes lets its entries go on.
        """
        gate = self.store.get(name)
        if gate.guard is None:
            gate = self.begin_guard(name)
        elif not gate.queues:
            gate = self.mark(name)
        if policy is None:
            return
        if not policy.has(name) or gate.free(policy.share_at(name), self.clock.now()) > 0:
            self.call(name, policy, gate, again=again)

    def begin_guard(self, name: GateName) -> Gate:
        """Send a guard, and then store it if there is none. Returns the gate after that.

        The gate of a key is listed then, if the guard was stored.
        """
        guard = self.send_guard(name)
        gate = self.store.change(name, GateChange(guard_if_absent=guard, queues=True)).gate
        if gate.guard == guard:
            self.enlist(name, guard)
        return gate

    def send_guard(self, name: GateName, former: str | None = None) -> str:
        """Send a guard that comes when each function has ended that runs now. Returns its id.

        It takes the place of the `former` guard, if there was one.
        """
        guard = self._guard_id(name, former)
        self.send("guard", name, self.clock.now() + GUARD_MS, guard=guard)
        return guard

    def _guard_id(self, name: GateName, former: str | None = None) -> str:
        """An id of a guard. That of a key's gate says since when guards look after the gate."""
        token = self.ids.token()
        if name.key is None:
            return token
        return guard_id(self.clock.now() if former is None else guarded_since(former), token)

    def enlist(self, name: GateName, guard: str) -> None:
        """Write the gate of a key into the list of those that wait. A gate without a key needs no list."""
        if name.key is not None:
            self.store.enlist(WaitingGate(name, guard))

    def delist(self, name: GateName, guard: str) -> None:
        """Remove the gate of a key from that list, unless another guard has written it there."""
        if name.key is not None:
            self.store.delist(WaitingGate(name, guard))

    def mark(self, name: GateName) -> Gate:
        """Store that the line of a gate may hold something. Returns the gate after that."""
        return self.store.change(name, GateChange(queues=True)).gate

    # ---- calls

    def call(
        self,
        name: GateName,
        policy: Policy | None,
        seen: Gate | None = None,
        *,
        again: bool = False,
        hint: int | None = None,
    ) -> None:
        """Have a function serve a gate: at once, or when the rate of its policy has a token.

        One baton at a time: the gate knows of it before it is sent. If the gate as it was `seen` knows of
        one, that one comes after whatever the caller has written before. A refused write would cost as much
        as one that is made.
        """
        if seen is not None and seen.baton is not None and not again:
            return
        at = self.clock.now() if policy is None else self.token_near_at(name, policy, seen)
        baton = Baton(at, self.ids.token())
        if self.store.change(name, GateChange(baton=baton, replaces_baton=again)).is_made:
            self.send("baton", name, at, hint=hint)

    def token_near_at(self, name: GateName, policy: Policy, seen: Gate | None = None) -> Instant:
        """When a function may take a token of the gate's rate; now if it may, or if there is no rate.

        The gate was `seen` a moment ago, if it is given.
        """
        now = self.clock.now()
        return now if policy.rate is None else next_token_at(name, policy.rate, self.store, now, seen)

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
        message = GateMessage(purpose, *name.policy, name.number, at, guard, hint, after, name.key)
        self.send_message(message)

    def send_message(self, message: GateMessage) -> None:
        """Send a message for the instant of which it says that it must not be handled before."""
        self._queue.send(message, min(max(message.not_before - self.clock.now(), 0), QUEUE_DELAY_MAX_MS))

    def wake(self, name: GateName, guard: str | None = None) -> None:
        """Have a gate looked after whose messages may be lost. If its guard is under way, no harm is done.

        `guard` is the one that a list of waiting gates has shown.
        """
        guard = guard or self.store.get(name).guard or self._guard_id(name)
        self.send("wake", name, self.clock.now(), guard=guard)

    # ---- slots

    def acquire(self, policy: Policy, of: str | None, wanted: int, due_at: Instant) -> HeldSlots | None:
        """Take slots for so many triggers of a key at most that have not waited.

        If the gate has a bucket, the same write takes a token for each slot, and none before `due_at`.
        Returns None if other triggers wait, if no slot is free, or if no token is near. It asks one gate, and
        a second one if the first has none. It leaves a gate that has none alone for a while: a refused write
        costs as much as one that is made. A function acquires as many slots of a key at most as one that
        serves. Whoever gives slots back says so by leave().
        """
        names = [self.name_for(policy.key, policy, of) for _ in range(_GATES_ASKED)]
        if policy.rate is not None:
            # The first gates hold the buckets.
            names[0] = names[0]._replace(number=names[0].number % len(buckets_of(policy.rate)))
        tried = (self._acquire(name, policy, wanted, due_at) for name in dict.fromkeys(names))
        return next(filter(None, tried), None)

    def _acquire(self, name: GateName, policy: Policy, wanted: int, due_at: Instant) -> HeldSlots | None:
        share, now = policy.share_at(name), self.clock.now()
        if now < self._full_until.get(name, 0):
            return None
        of_function = name._replace(number=0)
        with self._lock:
            count = min(wanted, server_slots_of(policy.slots) - self._acquired[of_function], share)
            if count <= 0:
                return None
            self._acquired[of_function] += count
        held = None
        try:
            held = self._acquire_of(name, policy, count, due_at)
        finally:
            self.leave(name, count - (0 if held is None else held.size))
        return held

    def leave(self, name: GateName, slots: int) -> None:
        """This function has so many slots less of those that it has acquired."""
        of_function = name._replace(number=0)
        with self._lock:
            self._acquired[of_function] -= slots
            if self._acquired[of_function] <= 0:
                del self._acquired[of_function]

    def _acquire_of(self, name: GateName, policy: Policy, count: int, due_at: Instant) -> HeldSlots | None:
        token, gate = self.ids.token(), Gate()
        share, bucket, now = policy.share_at(name), policy.bucket(name.number), self.clock.now()
        for _ in range(_TRIES_MAX):
            takes = None if bucket is None else taking(gate.last_us, bucket, now, count, due_at)
            if bucket is not None:
                count = 0 if takes is None else takes.size
            if count <= 0:
                break
            swap = Swap(None, Holder(count, now + HOLDER_MS))
            change = GateChange({token: swap}, yields=True, taking=takes)
            changed = self.store.change(name, with_expired(change, gate, share, now))
            gate = changed.gate
            if changed.is_made or token in gate.holders:
                held = HeldSlots(name, token, gate, store=self.store, clock=self.clock)
                if takes is not None and changed.is_made:
                    held.tokens = takes.tokens(gate.last_us)
                return held
            count = 0 if gate.queues else min(count, gate.free(share, now))
        if len(self._full_until) >= _FULL_GATES_MAX:
            self._full_until.clear()
        self._full_until[name] = now + _FULL_MS
        return None

    def take(self, name: GateName, policy: Policy, at_most: int = SERVER_SLOTS_MAX) -> HeldSlots | None:
        """Take slots of a gate, and remove the mark of its baton; None if no slot is free."""
        share, want = policy.share_at(name), min(at_most, server_slots_of(policy.slots))
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
            change = GateChange({token: Swap(None, Holder(count, until))}, removes_baton=True)
            changed = self.store.change(name, with_expired(change, gate, share, now))
            if changed.is_made:
                return HeldSlots(name, token, changed.gate, store=self.store, clock=self.clock)
            gate = changed.gate
        # Others take them all the time. The mark of the baton stands, so this message has to come again.
        self.send("baton", name, self.clock.now())
        return None

    def end_run(self, key: JobKey, permit: PermitName) -> None:
        """An asynchronous run of a job is over: give its slot back, and call if its line may hold something.

        While its request may be open, the slot stays in use. Ending it again changes nothing.
        """
        name = GateName(PolicyKey(key.namespace, permit.policy), permit.gate, permit.key)
        gate = end_run(self.store, name, permit.id, self.clock.now())
        if gate is None or not gate.queues:
            return
        policy = self.policies.get(name.policy)
        # While the policy is stopped, nobody can take the slot. Later each gate is looked after.
        if policy is None or not policy.is_stopped:
            self.call(name, policy, gate)

    def name_for(self, key: PolicyKey, policy: Policy | None, of: str | None) -> GateName:
        """A gate of a policy for newcomers of that key: each is as likely as its share is large."""
        number = 0
        if policy is not None:
            slot = int(self.ids.fraction() * (policy.concurrent_max or policy.gates * policy.slots))
            number = slot // policy.share_of_limit(0)
        return GateName(key, number, of)
