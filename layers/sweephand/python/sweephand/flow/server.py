"""What a function does with a message about a gate: it serves the gate, guards it, or tells of a change."""

from collections.abc import Callable
from functools import partial
from typing import Final, Literal

from sweephand.base.concurrency import Concurrently
from sweephand.base.instants import Instant
from sweephand.base.timing import (
    CLOCK_SKEW_MAX_MS,
    EARLY_WAIT_MAX_MS,
    GUARD_MS,
    SETTLING_MS,
    TOKEN_LEAD_MS,
)
from sweephand.flow.breaker import tell_of_change
from sweephand.flow.forward import Forward
from sweephand.flow.gates import Gates
from sweephand.flow.turn import TURN_MS, Deliver, Turn
from sweephand.model.gate import SERVER_SLOTS_MAX, GateChange, GateName, Swap, guarded_since
from sweephand.model.gate_message import GateMessage
from sweephand.model.policy import Policy

#: What became of a message about a gate: it came too early and was sent again; another one looks after the
#: gate; the line holds nothing; every slot is in use; no token of the rate is near; entries of a gate
#: without a share went on; the guard of a paused key rests, or a probe of a paused policy; batons were sent
#: after a change; or the gate was served.
ServerOutcome = Literal[
    "early", "other", "empty", "full", "no-token", "forwarded", "rests", "changed", "served"
]


#: After a change, a message tells so many gates of keys that wait. Then another one goes on.
_SENT_AT_ONCE: Final = 100


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
        each receive of a message that crashes its function would add a guard. So is a message whose turn has
        failed and has sent a baton.
        """
        clock, name = self._gates.clock, message.name
        if message.not_before - clock.now() >= EARLY_WAIT_MAX_MS:
            self._gates.send_message(message)
            return "early"
        clock.wait_until(message.not_before)
        if message.purpose == "change":
            return self._tell_of_change(message)
        if message.purpose == "probe":
            return self._probe(message, deadline, acknowledge)
        if message.purpose != "baton" and message.guard is not None:
            goes_on = self._wake if message.purpose == "wake" else self._guard
            outcome = goes_on(name, message.guard, acknowledge)
            if outcome is not None:
                return outcome
        return self._act(message, deadline, acknowledge)

    # ---- a baton

    def _act(self, message: GateMessage, deadline: Instant, acknowledge: Callable[[], None]) -> ServerOutcome:
        """Serve a gate by the policy of this moment, or let go on what waits at a gate without a share."""
        gates, name = self._gates, message.name
        read_at, policy = gates.clock.now(), gates.policies.get(name.policy)
        if policy is None or not policy.share_at(name):
            ends_at = min(gates.clock.now() + TURN_MS, deadline - SETTLING_MS)
            self._forward.forward(name, policy, ends_at, message.after)
            if policy is not None:
                self._replace_lost_probe(policy)
            return "forwarded"
        if policy.rate is not None and self._waits_for_token(name, policy):
            return "no-token"
        return self._serve(name, policy, read_at, deadline, acknowledge, hint=message.hint)

    def _serve(
        self,
        name: GateName,
        policy: Policy,
        read_at: Instant,
        deadline: Instant,
        acknowledge: Callable[[], None],
        *,
        hint: int | None = None,
        is_probe: bool = False,
    ) -> ServerOutcome:
        slots = self._gates.take(name, policy, at_most=1 if is_probe else SERVER_SLOTS_MAX)
        if slots is None:
            return "full"
        turn = Turn(
            self._gates, slots, policy, read_at=read_at, hint=hint, deliver=self._deliver, deadline=deadline,
            concurrently=self._concurrently, together=self._together, is_probe=is_probe,
        )  # fmt: skip
        try:
            turn.run()
        except Exception:
            if turn.has_called:
                # The baton takes the place of this message. While a store fails, both would fail again.
                acknowledge()
            raise
        return "served"

    def _waits_for_token(self, name: GateName, policy: Policy) -> bool:
        """Whether no token is near, and a baton comes when one is. If none comes in time, one is sent."""
        gates, now = self._gates, self._gates.clock.now()
        gate = gates.store.get(name)
        near_at = gates.token_near_at(name, policy, gate)
        if near_at <= now + TOKEN_LEAD_MS or gates.lines.top(name, 1).is_empty:
            return False
        if gate.baton is None or not now < gate.baton.at <= near_at:
            gates.call(name, policy, gate, again=True)
        return True

    # ---- a probe

    def _probe(
        self, message: GateMessage, deadline: Instant, acknowledge: Callable[[], None]
    ) -> ServerOutcome:
        """Let one request leave while the breaker is open. The next probe is stored and sent before that."""
        gates, now = self._gates, self._gates.clock.now()
        policy = gates.policies.get(message.name.policy)
        if policy is None or policy.breaker is None or policy.probe is None:
            # Whoever closed the breaker may have crashed before it told of that.
            if policy is not None:
                tell_of_change(gates, policy)
            return "changed"
        if policy.probe != message.guard:
            return "other"
        next_, at = gates.ids.token(), now + policy.breaker.probe_after_ms
        gates.send("probe", message.name, at, guard=next_)
        if not gates.policies.next_probe(policy.key, next_, at, replacing=policy.probe):
            return "other"
        # If this function crashes from here on, the same message must not come again.
        acknowledge()
        if policy.paused_at is not None:
            return "rests"
        names = (GateName(policy.key, number) for number in range(policy.gates))
        name = next((each for each in names if not gates.lines.top(each, 1).is_empty), None)
        if name is None:
            return "empty"
        return self._serve(name, policy.probed, gates.clock.now(), deadline, acknowledge, is_probe=True)

    def _replace_lost_probe(self, policy: Policy) -> None:
        """Send a probe again that is overdue: SQS removes a message that waits for 14 days."""
        gates, now = self._gates, self._gates.clock.now()
        if policy.probe is not None and policy.probe_at is not None and policy.probe_at + GUARD_MS < now:
            gates.send("probe", GateName(policy.key, 0), now, guard=policy.probe)

    # ---- a guard. Only its handler removes it, while it still holds the message.

    def _guard(self, name: GateName, guard: str, acknowledge: Callable[[], None]) -> ServerOutcome | None:
        """Look after a gate. None if the gate is to be served now."""
        gates = self._gates
        there = gates.store.get(name).guard
        if there not in {None, guard}:
            self._leave_to(there, name, guard)
            return "other"
        if there == guard:
            gates.enlist(name, guard)
        is_empty = gates.lines.top(name, 1).is_empty
        if there == guard and not is_empty:
            if name.key is not None and self._is_paused(name):
                # Guards of many paused keys would cost more than what waits. The resume wakes each key.
                return "rests"
            self._replace(name, guard)
            acknowledge()
            return None
        if there == guard:
            changed = gates.store.change(name, GateChange(guard=Swap(guard, None)))
            if not changed.is_made:
                self._leave_to(changed.gate.guard, name, guard)
                return "other"
            # Who wrote an entry meanwhile may have seen this guard.
            is_empty = gates.lines.top(name, 1).is_empty
        gates.delist(name, guard)
        if is_empty:
            return "empty"
        gates.begin_guard(name)
        acknowledge()
        return None

    def _is_paused(self, name: GateName) -> bool:
        policy = self._gates.policies.get(name.policy)
        return policy is not None and policy.paused_at is not None

    def _leave_to(self, there: str | None, name: GateName, guard: str) -> None:
        """Another guard looks after the gate. It has a place of its own in the list, unless it follows."""
        if name.key is None:
            return
        if there is None or guarded_since(there) != guarded_since(guard):
            self._gates.delist(name, guard)

    def _wake(self, name: GateName, guard: str, _acknowledge: Callable[[], None]) -> None:
        """Send a guard in the place of one that was lost, unless the gate has another one by now."""
        there = self._gates.store.get(name).guard
        if there in {None, guard}:
            new, there = self._replace(name, guard)
            if there == new:
                self._gates.enlist(name, new)
                return
        self._leave_to(there, name, guard)

    def _replace(self, name: GateName, guard: str) -> tuple[str, str | None]:
        """Send the next guard, then store it if the gate has this one, or none.

        Returns the next guard, and the one that the gate has then.
        """
        store, new = self._gates.store, self._gates.send_guard(name, guard)
        changed = store.change(name, GateChange(guard=Swap(guard, new), queues=True))
        if not changed.is_made and changed.gate.guard is None:
            changed = store.change(name, GateChange(guard_if_absent=new, queues=True))
        return new, changed.gate.guard

    # ---- a change of the limit

    def _tell_of_change(self, message: GateMessage) -> ServerOutcome:
        """Have each gate looked after that there was before, is now, or has a key that waits.

        No function acts by the old limit. If many keys wait, another message goes on with the rest: however
        slow the queue is, each message gets on.
        """
        gates, key, after = self._gates, message.name.policy, message.after
        policy, now = gates.policies.get(key), gates.clock.now()
        numbers = range(0 if policy is None else policy.gates)
        if after is None:
            # What came while the policy was missing waits at the first gate without a key.
            count = max(message.gate, 1 if policy is not None and policy.by else len(numbers))
            self._together([partial(gates.send, "baton", GateName(key, each), now) for each in range(count)])
        page = gates.store.waiting(key, after or "", max(1, _SENT_AT_ONCE // max(1, len(numbers))))
        # A function that lists a key later knows the new limit.
        waiting = [each for each in page.items if each.since <= message.not_before + CLOCK_SKEW_MAX_MS]
        self._together([partial(gates.wake, each.name, each.guard) for each in waiting])
        listed = {each.name for each in waiting}
        others = {each._replace(number=number) for each in listed for number in numbers} - listed
        self._together([partial(gates.send, "baton", each, now) for each in sorted(others)])
        if page.next is not None and len(waiting) == len(page.items):
            gates.send_message(message._replace(after=page.next))
        return "changed"
