"""What a function does with a message about a gate: it serves the gate, guards it, or tells of a change."""

from collections.abc import Callable
from functools import partial
from typing import Literal

from sweephand.base.concurrency import Concurrently
from sweephand.base.instants import Instant
from sweephand.base.timing import EARLY_WAIT_MAX_MS, SETTLING_MS, TOKEN_LEAD_MS
from sweephand.flow.forward import Forward
from sweephand.flow.gates import Gates
from sweephand.flow.turn import TURN_MS, Deliver, Turn
from sweephand.model.gate import GateChange, GateName, Swap
from sweephand.model.gate_message import GateMessage
from sweephand.model.policy import Policy, PolicyKey

#: What became of a message about a gate: it came too early and was sent again; another one looks after the
#: gate; the line holds nothing; every slot is in use; no token of the rate is near; entries of a gate
#: without a share went on; batons were sent after a change; or the gate was served.
ServerOutcome = Literal["early", "other", "empty", "full", "no-token", "forwarded", "changed", "served"]


class Server:
    """Handles messages about gates, each in one call. The caller acknowledges what handle() returns for."""

    def __init__(
        self,
        gates: Gates,
        forward: Forward,
        *,
        deliver: Deliver,
        concurrently: Concurrently,
        together: Concurrently,
    ) -> None:
        self._gates = gates
        self._forward = forward
        self._deliver = deliver
        self._concurrently = concurrently
        self._together = together

    def handle(
        self, message: GateMessage, deadline: Instant, acknowledge: Callable[[], None]
    ) -> ServerOutcome:
        """Handle a message. At `deadline` the function's time is up. StoreError: it must come again.

        A guard is acknowledged before the gate is served, since another one has taken its place. Otherwise
        each receive of a message that crashes its function would add a guard.
        """
        clock, name = self._gates.clock, message.name
        if message.not_before - clock.now() >= EARLY_WAIT_MAX_MS:
            self._gates.send(
                message.purpose,
                name,
                message.not_before,
                guard=message.guard,
                hint=message.hint,
                after=message.after,
            )
            return "early"
        clock.wait_until(message.not_before)
        if message.purpose == "change":
            return self._tell_of_change(name.policy, message.gate)
        if message.purpose != "baton" and message.guard is not None:
            goes_on = self._wake if message.purpose == "wake" else self._guard
            outcome = goes_on(name, message.guard, acknowledge)
            if outcome is not None:
                return outcome
        return self._act(message, deadline)

    # ---- a baton

    def _act(self, message: GateMessage, deadline: Instant) -> ServerOutcome:
        """Serve a gate by the policy of this moment, or let go on what waits at a gate without a share."""
        gates, name = self._gates, message.name
        policy = gates.policies.get(name.policy)
        if policy is None or not policy.share(name.number):
            ends_at = min(gates.clock.now() + TURN_MS, deadline - SETTLING_MS)
            self._forward.forward(name, policy, ends_at, message.after)
            return "forwarded"
        if policy.rate is not None and self._waits_for_token(name, policy):
            return "no-token"
        slots = gates.take(name, policy)
        if slots is None:
            return "full"
        turn = Turn(
            gates, slots, policy, hint=message.hint, deliver=self._deliver, deadline=deadline,
            concurrently=self._concurrently, together=self._together,
        )  # fmt: skip
        turn.run()
        return "served"

    def _waits_for_token(self, name: GateName, policy: Policy) -> bool:
        """Whether no token is near, and a baton comes when one is. If none comes in time, one is sent."""
        gates, now = self._gates, self._gates.clock.now()
        near_at = gates.token_near_at(policy)
        if near_at <= now + TOKEN_LEAD_MS or gates.lines.top(name, 1).is_empty:
            return False
        baton = gates.store.get(name).baton
        if baton is None or not now < baton.at <= near_at:
            gates.call(name, policy, again=True)
        return True

    # ---- a guard. Only its handler removes it, while it still holds the message.

    def _guard(self, name: GateName, guard: str, acknowledge: Callable[[], None]) -> ServerOutcome | None:
        """Look after a gate. None if the gate is to be served now."""
        gates = self._gates
        there = gates.store.get(name).guard
        if there not in {None, guard}:
            return "other"
        is_empty = gates.lines.top(name, 1).is_empty
        if there == guard and not is_empty:
            self._replace(name, guard)
            acknowledge()
            return None
        if there == guard:
            if not gates.store.change(name, GateChange(guard=Swap(guard, None))).is_made:
                return "other"
            # Who wrote an entry meanwhile may have seen this guard.
            is_empty = gates.lines.top(name, 1).is_empty
        if is_empty:
            return "empty"
        gates.begin_guard(name)
        acknowledge()
        return None

    def _wake(self, name: GateName, guard: str, _acknowledge: Callable[[], None]) -> None:
        """Send a guard in the place of one that was lost, unless the gate has another one by now."""
        if self._gates.store.get(name).guard in {None, guard}:
            self._replace(name, guard)

    def _replace(self, name: GateName, guard: str) -> None:
        """Send the next guard, then store it if the gate has this one, or none."""
        store, new = self._gates.store, self._gates.send_guard(name)
        changed = store.change(name, GateChange(guard=Swap(guard, new), queues=True))
        if not changed.is_made and changed.gate.guard is None:
            store.change(name, GateChange(guard_if_absent=new, queues=True))

    # ---- a change of the limit

    def _tell_of_change(self, key: PolicyKey, before: int) -> ServerOutcome:
        """Send a baton to each gate that there was before or is now. No function acts by the old limit."""
        gates, policy = self._gates, self._gates.policies.get(key)
        count = max(before, 0 if policy is None else policy.gates)
        now = gates.clock.now()
        self._together([partial(gates.send, "baton", GateName(key, each), now) for each in range(count)])
        return "changed"
