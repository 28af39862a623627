"""The slots that a delivery function takes for triggers that need not wait in a line."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock

from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.base.timing import POLICY_AGE_MAX_MS
from sweephand.flow.breaker import CircuitBreaker
from sweephand.flow.gate_key import gate_key
from sweephand.flow.gates import Gates
from sweephand.flow.held_slots import HeldSlots
from sweephand.flow.permit import Permit
from sweephand.flow.tokens import Tokens
from sweephand.model.gate import Token
from sweephand.model.policy import Policy, PolicyKey
from sweephand.model.trigger import LineWait


def take_slots(gates: Gates, key: PolicyKey, waits: Sequence[LineWait]) -> Sequence["DirectSlots | None"]:
    """Take slots for triggers of one policy: of one gate for each key, and tokens if there is a rate.

    Returns the slots of each trigger, or None for a trigger that has to wait in the line. Raises StoreError
    if the policy cannot be read. Then no slot was taken.
    """
    read_at, policy = gates.clock.now(), gates.policies.get(key)
    if policy is None:
        return [None] * len(waits)
    keys = [gate_key(policy.by, each.definition, each.message.trigger.key.name) for each in waits]
    due_at = min(each.message.not_before for each in waits)
    taken = {
        of: _take(gates, policy, of, wanted, read_at=read_at, due_at=due_at)
        for of, wanted in Counter(keys).items()
    }
    left = {of: 0 if slots is None else slots.size for of, slots in taken.items()}
    found: list[DirectSlots | None] = []
    for of in keys:
        found.append(taken[of] if left[of] > 0 else None)
        left[of] -= 1
    return found


def _take(
    gates: Gates, policy: Policy, of: str | None, wanted: int, *, read_at: Instant, due_at: Instant
) -> "DirectSlots | None":
    """The slots of one key. After an error, what may be taken comes back by itself."""
    slots = tokens = None
    with suppress(StoreError):
        slots = gates.acquire(policy, of, wanted, due_at)
    if slots is None:
        return None
    if policy.rate is not None:
        tokens = Tokens(slots, store=gates.store, clock=gates.clock, ids=gates.ids)
        with suppress(StoreError):
            # Not each gate has a bucket.
            tokens.take_more(policy.rate, slots.size, due_at)
    return DirectSlots(gates, policy, read_at, slots, tokens)


class DirectSlots:
    """Slots of a gate for triggers of one call. Each slot is used once. Several threads may share one object.

    Slots that are not used any more are given back, as soon as they are half of those that are held.
    """

    def __init__(
        self, gates: Gates, policy: Policy, read_at: Instant, slots: HeldSlots, tokens: Tokens | None
    ) -> None:
        """The policy was read then. `tokens` are those of its rate. Slots without a token are given back."""
        self._gates = gates
        self._policy = policy
        self._read_at = read_at
        self._slots = slots
        self._tokens = tokens
        #: How many triggers can leave. Each needs a slot, and a token if there is a rate.
        self.size = slots.size if tokens is None else min(slots.size, tokens.size)
        #: Slots that are held, those of them that no trigger has used, and those of open requests.
        self._held, self._unused, self._open = slots.size, self.size, 0
        self._breaker = CircuitBreaker(gates)
        self._lock = Lock()
        self._give_back_idle()

    def take(self) -> Permit | None:
        """A permit for one trigger; None if it has to wait in the line.

        That is so if all slots are used, if the time of the token has passed, or if the policy has changed.
        """
        with self._lock:
            if self._unused <= 0:
                return None
            self._unused -= 1
            self._open += 1
        gates, token = self._gates, None
        is_without_token = self._tokens is not None and (token := self._next_token(self._tokens)) is None
        if is_without_token or not self._is_in_force():
            self._is_over(None)
            return None
        return Permit(
            self._slots, gates.ids.token(), token,
            is_in_force=self._is_in_force, store=gates.store, clock=gates.clock,
        )  # fmt: skip

    def close(self, permit: Permit) -> None:
        """The request of a permit is over, or never left. If a write fails, its slot comes back by itself."""
        if self._breaker.answered(self._policy, permit, self._read_at):
            self._read_at = 0
        with suppress(StoreError):
            permit.close()
            if (gate := permit.given_back) is not None and gate.queues:
                self._gates.call(self._slots.name, self._policy, gate)
        self._is_over(permit)

    def _is_in_force(self) -> bool:
        """Whether the policy is as it was read. A request opens by a read that is at most a second old."""
        now = self._gates.clock.now()
        if not 0 <= now - self._read_at < POLICY_AGE_MAX_MS:
            with suppress(StoreError):
                policy = self._gates.policies.get(self._policy.key)
                if policy is not None and policy.version == self._policy.version and not policy.is_stopped:
                    self._policy, self._read_at = policy, now
        return 0 <= now - self._read_at < POLICY_AGE_MAX_MS

    def _is_over(self, permit: Permit | None) -> None:
        with self._lock:
            self._open -= 1
            # An asynchronous run goes on with the slot.
            is_kept = permit is not None and permit.is_kept
            self._held -= is_kept
        if is_kept:
            self._gates.leave(self._slots.name, 1)
        self._give_back_idle()

    def _give_back_idle(self) -> None:
        with self._lock:
            idle = self._held - self._open - self._unused
            given = idle if 2 * idle >= self._held else 0
            self._held -= given
        if given:
            self._gates.leave(self._slots.name, given)
            with suppress(StoreError):
                gate = self._slots.give_back(given)
                if gate.queues:
                    self._gates.call(self._slots.name, self._policy, gate)

    def _next_token(self, tokens: Tokens) -> Token | None:
        while (at := tokens.next_at()) is not None:
            self._gates.clock.wait_until(at)
            if (token := tokens.take()) is not None:
                return token
        return None
