"""Gates of keys (`by`), and what they need besides: the list of waiting keys, rest while paused, and expiry.

The item of a waiting key (`waits#`) bears the id of a guard. The function that stores a guard where there was
none writes it afterwards. Each handler that finds its own guard writes it with that id first. It is removed
on that id, after the guard was removed. So at most one function writes it at a time, and none removes what
another wrote.

A guard of a paused policy would come for each waiting key every 200 s. Instead, it rests: its handler stores
so, and sends no other. A resume wakes each key that is listed.
"""

from tests.models.gates import Gates
from tests.models.operations import Outcomes
from tests.models.platform import Steps
from tests.models.programs import Part, Program, operation
from tests.models.state import NO_GUARD, RESTING, Gate, Message, State


class Keys(Gates):
    """The model of the gate of one key. Its item may expire while nobody holds a slot."""

    def complaint(self, state: State) -> str | None:
        found = super().complaint(state)
        if found or state.functions or state.changes:
            return found
        if any(message.kind != "guard" for message in state.messages):
            return None
        for gate, line in zip(state.gates, state.lines, strict=True):
            if not gate.listed and (gate.guard == RESTING or (any(line) and not self.had_fault(state))):
                return "a waiting key is not listed"
        return None

    def is_done(self, state: State) -> bool:
        return super().is_done(state) and not any(gate.guard or gate.listed for gate in state.gates)

    def outer_steps(self, state: State) -> Steps:
        yield from super().outer_steps(state)
        for number, gate in enumerate(state.gates):
            if self.may_expire(gate):
                yield "the gate's item expires", state.with_gate(number, **Gate(listed=gate.listed)._asdict())

    def may_expire(self, gate: Gate) -> bool:
        """Each write of a holder or of a guard puts the expiry off, for longer than any run may last."""
        return not gate.used and gate.guard in {NO_GUARD, RESTING}

    def late_batons(self, state: State, _change: int) -> State:
        for number, gate in enumerate(state.gates):
            if gate.listed:
                state = state.with_message(Message("wake", number, RESTING))
        return state

    def begin_guard(self, gate: int) -> Part:
        seen = yield from super().begin_guard(gate)
        yield self.list_sent(gate)
        return seen

    def take_guard_over(self, gate: int) -> Part:
        yield from super().take_guard_over(gate)
        yield self.list_sent(gate)
        return True

    def confirm(self, gate: int) -> Part:
        yield self.list_own(gate)
        return True

    def go_on_guarding(self, gate: int) -> Program:
        if (yield self.look_whether_paused()):
            yield self.let_guard_rest(gate)
            return None
        return (yield from super().go_on_guarding(gate))

    def end_guarding(self, gate: int) -> Program:
        yield self.unlist_own(gate)
        return None

    @operation("lists the key under the guard that it sent")
    def list_sent(self, state: State, me: int, gate: int) -> Outcomes:
        """Writes nothing if another guard was there."""
        sent = state.functions[me].sent
        return [(state.with_gate(gate, listed=sent) if sent else state, True)]

    @operation("lists the key under its own guard")
    def list_own(self, state: State, me: int, gate: int) -> Outcomes:
        return [(state.with_gate(gate, listed=state.functions[me].message.number), True)]

    @operation("removes the key from the list if its own guard is there")
    def unlist_own(self, state: State, me: int, gate: int) -> Outcomes:
        if state.gates[gate].listed != state.functions[me].message.number:
            return [(state, False)]
        return [(state.with_gate(gate, listed=NO_GUARD), True)]

    @operation("looks whether the policy is paused")
    def look_whether_paused(self, state: State, me: int) -> Outcomes:
        is_paused = not any(self.world.shares[state.version])
        return [(state.with_function(me, view=state.version), is_paused)]

    @operation("stores that the guard rests if the guard is its own")
    def let_guard_rest(self, state: State, me: int, gate: int) -> Outcomes:
        if not self.is_own(state, me, gate):
            return [(state, False)]
        return [(state.with_gate(gate, guard=RESTING), True)]
