"""Gates of keys (`by`), and what they need besides: the list of waiting keys, rest while paused, and expiry.

The list has a place (`waits#`) for each chain of guards that follow each other at a gate. The place bears the
id of one of them. Its sort key says when the chain began, so those come first that have waited longest. The
function that stores a guard where there was none writes the place afterwards. Each handler that finds its own
guard writes it with that id first. A handler whose chain does not look after the gate any more removes its
place on its own id. So none removes what another wrote.

A guard of a paused policy would come for each waiting key every 200 s. Instead, it rests: its handler sends
no other. A resume wakes each key that is listed.
"""

from typing import Final

from tests.models.gates import Gates
from tests.models.operations import ABSENT, OTHER, OWN, Outcomes
from tests.models.platform import Steps
from tests.models.programs import Part, Position, Program, operation
from tests.models.state import CHAIN, NO_GUARD, OF_GUARDS, STALE, Gate, Message, State

#: The gate has another guard, which follows the handler's in the same chain.
FOLLOWED: Final = 3


class Keys(Gates):
    """The model of the gate of one key. Its item may expire while nobody holds a slot."""

    def complaint(self, state: State) -> str | None:
        found = super().complaint(state)
        if found or state.functions or state.changes:
            return found
        if any(message.kind != "guard" for message in state.messages):
            return None
        for number, (gate, line) in enumerate(zip(state.gates, state.lines, strict=True)):
            rests = gate.guard != NO_GUARD and not self.comes(state, number)
            if not gate.listed and (rests or (any(line) and not self.had_fault(state))):
                return "a waiting key is not listed"
        return None

    def is_done(self, state: State) -> bool:
        return super().is_done(state) and not any(gate.guard or gate.listed for gate in state.gates)

    def outer_steps(self, state: State) -> Steps:
        yield from super().outer_steps(state)
        for number, gate in enumerate(state.gates):
            if self.may_expire(state, number):
                yield "the gate's item expires", state.with_gate(number, **Gate(listed=gate.listed)._asdict())

    def may_expire(self, state: State, number: int) -> bool:
        """Each write of a holder or of a guard puts the expiry off, for longer than any run may last."""
        return not state.gates[number].used and not self.comes(state, number)

    @staticmethod
    def comes(state: State, number: int) -> bool:
        """Whether the gate has a guard whose message is under way or in hand."""
        guard = state.gates[number].guard
        messages = [*state.messages, *(function.message for function in state.functions)]
        return any(each.kind in OF_GUARDS and each.number == guard != NO_GUARD for each in messages)

    def may_come(self, state: State, message: Message) -> bool:
        """A guard comes when each function has ended that may have met its forerunner at the gate."""
        if message.kind == "guard" and message.number == state.gates[message.about].guard:
            in_hand = [each.message for each in state.functions if each.message.kind in OF_GUARDS]
            chain = message.number // CHAIN
            if any(each.number // CHAIN == chain and each.number != message.number for each in in_hand):
                return False
        return super().may_come(state, message)

    def late_batons(self, state: State, _change: int) -> State:
        for number, gate in enumerate(state.gates):
            for guard in gate.listed:
                state = state.with_message(Message("wake", number, guard))
        return state

    def begin_guard(self, gate: int) -> Part:
        seen = yield from super().begin_guard(gate)
        yield self.list_sent(gate)
        return seen

    def guard(self, gate: int) -> Program:
        whose = yield self.compare_guard(gate)
        if whose in {FOLLOWED, OTHER}:
            yield from self.leave_to(whose, gate)
            return None
        if whose == OWN:
            yield self.list_own(gate)
        has_entries = yield self.read_line(gate)
        if whose == OWN and has_entries:
            if (yield self.look_whether_paused()):
                return None
            return (yield from self.go_on_guarding(gate))
        if whose == OWN:
            found = yield self.remove_guard(gate)
            if found != OWN:
                yield from self.leave_to(found, gate)
                return None
            has_entries = yield self.read_line_again_as_guard(gate)
        yield self.unlist_own(gate)
        if not has_entries:
            return None
        yield from self.begin_guard(gate)
        yield self.acknowledge()
        return Position("act", (gate,))

    def leave_to(self, whose: int, gate: int) -> Part:
        """Another guard looks after the gate. It has a place of its own, unless it follows."""
        if whose != FOLLOWED:
            yield self.unlist_own(gate)
        return True

    def wake(self, gate: int) -> Program:
        whose = yield self.compare_guard(gate)
        if whose in {OWN, ABSENT}:
            whose = yield from self.take_guard_over(gate)
        if whose == OWN:
            yield self.list_sent(gate)
        else:
            yield from self.leave_to(whose, gate)
        return Position("act", (gate,))

    # ---- operations

    def whose(self, state: State, me: int, gate: int) -> int:
        there, own = state.gates[gate].guard, state.functions[me].message.number
        if there == NO_GUARD:
            return ABSENT
        if there == own:
            return OWN
        return FOLLOWED if there // CHAIN == own // CHAIN else OTHER

    @operation("compares its guard")
    def compare_guard(self, state: State, me: int, gate: int) -> Outcomes:
        return [(state, self.whose(state, me, gate))]

    @operation("removes the guard if it is its own")
    def remove_guard(self, state: State, me: int, gate: int) -> Outcomes:
        """Answers whose guard was there."""
        whose = self.whose(state, me, gate)
        return [(state.with_gate(gate, guard=NO_GUARD) if whose == OWN else state, whose)]

    @operation("stores the next guard if its own or none is there")
    def replace_guard(self, state: State, me: int, gate: int) -> Outcomes:
        """Answers whose guard was there, if it is not stored."""
        whose = self.whose(state, me, gate)
        if whose in {OWN, ABSENT}:
            return [(state.with_gate(gate, guard=state.functions[me].sent, queues=True), OWN)]
        return [(state.with_function(me, sent=NO_GUARD), whose)]

    @operation("sends a guard")
    def send_guard(self, state: State, me: int, gate: int) -> Outcomes:
        """Begins a chain."""
        chains = {guard // CHAIN for guard in self.known(state)}
        chain = min(set(range(1, CHAIN)) - chains)
        return self.sends(state, me, gate, CHAIN * chain + 1)

    @operation("sends the next guard")
    def send_next_guard(self, state: State, me: int, gate: int) -> Outcomes:
        own = state.functions[me].message.number
        if own == STALE:
            # Nobody knows another guard of its chain.
            return self.send_guard(gate).outcomes(state, me)
        first = own // CHAIN * CHAIN
        following = min(set(range(first + 1, first + CHAIN - 1)) - self.known(state))
        return self.sends(state, me, gate, following)

    @staticmethod
    def sends(state: State, me: int, gate: int, guard: int) -> Outcomes:
        return [(state.with_message(Message("guard", gate, guard)).with_function(me, sent=guard), True)]

    @staticmethod
    def known(state: State) -> set[int]:
        """All guards of which a gate, the list, a message or a function has the id."""
        found = {guard for gate in state.gates for guard in (gate.guard, *gate.listed)}
        found |= {message.number for message in state.messages if message.kind in OF_GUARDS}
        found |= {function.sent for function in state.functions}
        return found | {
            function.message.number for function in state.functions if function.message.kind in OF_GUARDS
        }

    @staticmethod
    def with_place(state: State, gate: int, guard: int) -> State:
        """The state after the place of the guard's chain was written."""
        others = (each for each in state.gates[gate].listed if each // CHAIN != guard // CHAIN)
        return state.with_gate(gate, listed=tuple(sorted((*others, guard))))

    @operation("lists the key under the guard that it sent")
    def list_sent(self, state: State, me: int, gate: int) -> Outcomes:
        """Writes nothing if another guard was there."""
        sent = state.functions[me].sent
        return [(self.with_place(state, gate, sent) if sent else state, True)]

    @operation("lists the key under its own guard")
    def list_own(self, state: State, me: int, gate: int) -> Outcomes:
        return [(self.with_place(state, gate, state.functions[me].message.number), True)]

    @operation("removes its place from the list if its own guard is there")
    def unlist_own(self, state: State, me: int, gate: int) -> Outcomes:
        own = state.functions[me].message.number
        left = tuple(each for each in state.gates[gate].listed if each != own)
        return [(state.with_gate(gate, listed=left), True)]

    @operation("looks whether the policy is paused")
    def look_whether_paused(self, state: State, me: int) -> Outcomes:
        is_paused = not any(self.world.shares[state.version])
        return [(state.with_function(me, view=state.version), is_paused)]
