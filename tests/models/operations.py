"""The operations of functions on gates, lines and queues. Each happens as a whole."""

from collections.abc import Iterable
from typing import TypeAlias

from tests.models.platform import Platform
from tests.models.programs import Answer, Operation, operation
from tests.models.state import NO_GUARD, NO_MESSAGE, NOWHERE, TAKEABLE, Entry, Gate, Message, State

Outcomes: TypeAlias = Iterable[tuple[State, Answer]]

#: What a function finds that looks for work, or for triggers that leave.
TAKE, NOTHING, LEAVE, HAS_SHARE, HAS_BATON = range(5)
#: What an enqueuer sees at its gate.
UNGUARDED, UNMARKED, FREE, FULL = range(4)
#: Whose guard message a handler has: the gate's, that of nobody since the gate has none, or an earlier one.
OWN, ABSENT, OTHER = range(3)


class Operations(Platform):
    """What a function can do in one step."""

    def share(self, state: State, me: int, gate: int) -> int:
        """The share of a gate, as the function sees it."""
        return self.world.shares[state.functions[me].view][gate]

    def has_free_slot(self, state: State, me: int, gate: int) -> bool:
        item = state.gates[gate]
        return item.used - item.expired < self.share(state, me, gate)

    @staticmethod
    def takeable(state: State, line: int) -> list[int]:
        return [trigger for trigger, entry in enumerate(state.lines[line]) if entry in TAKEABLE]

    @staticmethod
    def with_slot(state: State, me: int, gate: int, **changes: object) -> State:
        """The state after the function took a slot. The write removes expired holders, too."""
        item = state.gates[gate]
        taken = state.with_gate(gate, used=item.used - item.expired + 1, expired=0, **changes)
        return taken.with_function(me, slot=gate)

    @operation("takes a slot directly")
    def take_slot_directly(self, state: State, me: int, gate: int) -> Outcomes:
        if state.gates[gate].queues or not self.has_free_slot(state, me, gate):
            return [(state, False)]
        return [(self.with_slot(state, me, gate), True)]

    @operation("opens a request")
    def open_request(self, state: State, me: int) -> Outcomes:
        return [(state.with_function(me, request=state.functions[me].slot), True)]

    @operation("gives its slot to run")
    def give_slot_to_run(self, state: State, me: int, trigger: int) -> Outcomes:
        """One write moves the slot. The deadline message was sent before it."""
        gate = state.functions[me].slot
        runs = tuple(sorted((*state.runs, (trigger, gate))))
        after = state._replace(runs=runs).with_message(Message("over", trigger, gate))
        return [(after.with_function(me, slot=NOWHERE), True)]

    @operation("receives the answer for")
    def receive_answer(self, state: State, me: int, trigger: int) -> Outcomes:
        twice = state.delivered_twice or state.delivered[trigger]
        delivered = (*state.delivered[:trigger], True, *state.delivered[trigger + 1 :])
        after = state._replace(delivered=delivered, delivered_twice=twice)
        return [(after.with_function(me, request=NOWHERE), True)]

    @operation("acknowledges its message")
    def acknowledge(self, state: State, me: int) -> Outcomes:
        return [(state.with_function(me, message=NO_MESSAGE), True)]

    @operation("gives its slot back")
    def give_slot_back(self, state: State, me: int, gate: int) -> Outcomes:
        """Answers whether the line may hold something."""
        return [(self.without_slot(state, me, gate), state.gates[gate].queues)]

    @staticmethod
    def without_slot(state: State, me: int, gate: int, **changes: object) -> State:
        return state.with_gate(gate, used=state.gates[gate].used - 1, **changes).with_function(
            me, slot=NOWHERE
        )

    @operation("stores that a baton is under way")
    def store_baton(self, state: State, _me: int, gate: int, again: int) -> Outcomes:
        """A message that was received before does not trust what its gate says."""
        if state.gates[gate].baton and not again:
            return [(state, False)]
        return [(state.with_gate(gate, baton=1), True)]

    @operation("sends a baton")
    def send_baton(self, state: State, _me: int, gate: int) -> Outcomes:
        return [(state.with_message(Message("baton", gate)), True)]

    @operation("puts an entry")
    def put_entry(self, state: State, _me: int, line: int, trigger: int) -> Outcomes:
        """An entry that is there stays as it is."""
        entry = state.lines[line][trigger]
        return [(state.with_entry(line, trigger, entry or Entry.FREE), True)]

    @operation("looks at the gate")
    def look_at_gate(self, state: State, me: int, gate: int) -> Outcomes:
        if state.gates[gate].guard == NO_GUARD:
            return [(state, UNGUARDED)]
        if not self.is_marked(state.gates[gate]):
            return [(state, UNMARKED)]
        return [(state, FREE if self.should_call(state, me, gate) else FULL)]

    def is_marked(self, item: Gate) -> bool:
        """Whether newcomers and those who give slots back can see that something waits."""
        return item.queues

    def should_call(self, state: State, me: int, gate: int) -> bool:
        """Whether a baton could serve what was just put."""
        return self.has_free_slot(state, me, gate)

    @operation("sends a guard")
    def send_guard(self, state: State, me: int, gate: int) -> Outcomes:
        known = {message.number for message in state.messages if message.kind == "guard"}
        known |= {function.message.number for function in state.functions}
        known |= {function.sent for function in state.functions} | {item.guard for item in state.gates}
        guard = min(set(range(1, len(known) + 2)) - known)
        return [(state.with_message(Message("guard", gate, guard)).with_function(me, sent=guard), True)]

    def send_next_guard(self, gate: int) -> Operation:
        """Sends the guard that takes the place of its own."""
        return self.send_guard(gate)

    @operation("stores its guard if there is none")
    def store_guard(self, state: State, me: int, gate: int) -> Outcomes:
        there, sent = state.gates[gate].guard, state.functions[me].sent
        after = state.with_gate(gate, guard=there or sent, queues=True)
        free = FREE if self.should_call(state, me, gate) else FULL
        return [(after.with_function(me, sent=sent if there == NO_GUARD else NO_GUARD), free)]

    @operation("looks at the limits")
    def look_at_limits(self, state: State, me: int, gate: int) -> Outcomes:
        """Answers whether the gate has a share."""
        return [(state.with_function(me, view=state.version), self.world.shares[state.version][gate] > 0)]

    @operation("takes a slot")
    def take_slot(self, state: State, me: int, gate: int) -> Outcomes:
        if not self.has_free_slot(state, me, gate):
            return [(state, False)]
        return [(self.with_slot(state, me, gate, baton=0), True)]

    @operation("removes the mark of the baton")
    def remove_baton(self, state: State, me: int, gate: int) -> Outcomes:
        """Answers whether a slot is free."""
        return [(state.with_gate(gate, baton=0), self.has_free_slot(state, me, gate))]

    @operation("looks for work")
    def look_for_work(self, state: State, me: int, gate: int) -> Outcomes:
        """Answers what it found. `NOTHING` comes with whether the own line was wholly empty."""
        after = state.with_function(me, view=state.version)
        item = state.gates[gate]
        if item.used - item.expired > self.share(after, me, gate):
            return [(after, (LEAVE, gate, NOWHERE))]
        own = self.takeable(state, gate)
        if own:
            leaves = [(after, (LEAVE, gate, NOWHERE))] if self.world.time_is_up else []
            return [(after, (TAKE, gate, own[0])), *leaves]
        others = range(len(state.gates)) if self.world.one_policy else ()
        thefts = [
            (after, (TAKE, line, self.takeable(state, line)[0]))
            for line in others
            if self.takeable(state, line)
        ]
        return [*thefts, (after, (NOTHING, gate, not any(state.lines[gate])))]

    @operation("leases")
    def lease(self, state: State, me: int, line: int, trigger: int) -> Outcomes:
        if state.lines[line][trigger] not in TAKEABLE:
            return [(state, False)]
        leased = state.with_entry(line, trigger, Entry.LEASED)
        return [(leased.with_function(me, lease=(line, trigger)), True)]

    @operation("looks whether its time is up")
    def look_at_time(self, state: State, _me: int) -> Outcomes:
        return [(state, False), (state, True)]

    @operation("frees the entry")
    def free_entry(self, state: State, me: int, line: int, trigger: int) -> Outcomes:
        after = state.with_function(me, lease=(NOWHERE, NOWHERE))
        return [(after.with_entry(line, trigger, Entry.FREE), True)]

    @operation("deletes on its lease")
    def delete_entry(self, state: State, me: int, line: int, trigger: int) -> Outcomes:
        after = state.with_function(me, lease=(NOWHERE, NOWHERE))
        if state.lines[line][trigger] is not Entry.LEASED:
            return [(after, False)]
        return [(after.with_entry(line, trigger, Entry.NONE), True)]

    @operation("gives its idle slot back")
    def give_slot_back_idle(self, state: State, me: int, gate: int, line_was_empty: int) -> Outcomes:
        queues = state.gates[gate].queues and not line_was_empty
        return [(self.without_slot(state, me, gate, queues=queues), True)]

    @operation("gives its slot back because its time is up")
    def give_slot_back_in_time(self, state: State, me: int, gate: int) -> Outcomes:
        """Marks the line, too: another server may have removed the mark while entries were leased."""
        return [(self.without_slot(state, me, gate, queues=True), True)]

    @operation("reads the line again")
    def read_line_again(self, state: State, me: int, gate: int) -> Outcomes:
        return [(state.with_function(me, view=state.version), bool(self.takeable(state, gate)))]

    @operation("stores that the line holds something")
    def store_queues(self, state: State, _me: int, gate: int) -> Outcomes:
        return [(state.with_gate(gate, queues=True), True)]

    @operation("looks for triggers that leave")
    def look_for_leavers(self, state: State, me: int, gate: int) -> Outcomes:
        after = state.with_function(me, view=state.version)
        shares = self.world.shares[state.version]
        if shares[gate]:
            return [(after, (HAS_SHARE, gate, NOWHERE))]
        if state.gates[gate].baton:
            return [(after, (HAS_BATON, gate, NOWHERE))]
        takeable = self.takeable(state, gate)
        ways = [to for to, share in enumerate(shares) if share and takeable]
        return [(after, (TAKE, to, takeable[0])) for to in ways] or [(after, (NOTHING, gate, NOWHERE))]

    @operation("compares its guard")
    def compare_guard(self, state: State, me: int, gate: int) -> Outcomes:
        if state.gates[gate].guard == NO_GUARD:
            return [(state, ABSENT)]
        return [(state, OWN if self.is_own(state, me, gate) else OTHER)]

    @staticmethod
    def is_own(state: State, me: int, gate: int) -> bool:
        return state.gates[gate].guard == state.functions[me].message.number

    @operation("reads whether the line has entries")
    def read_line(self, state: State, _me: int, gate: int) -> Outcomes:
        return [(state, any(state.lines[gate]))]

    @operation("reads again whether the line has entries")
    def read_line_again_as_guard(self, state: State, _me: int, gate: int) -> Outcomes:
        return [(state, any(state.lines[gate]))]

    @operation("stores the next guard if its own or none is there")
    def replace_guard(self, state: State, me: int, gate: int) -> Outcomes:
        if not self.is_own(state, me, gate) and state.gates[gate].guard != NO_GUARD:
            return [(state.with_function(me, sent=NO_GUARD), False)]
        return [(state.with_gate(gate, guard=state.functions[me].sent, queues=True), True)]

    @operation("removes the guard if it is its own")
    def remove_guard(self, state: State, me: int, gate: int) -> Outcomes:
        if not self.is_own(state, me, gate):
            return [(state, False)]
        return [(state.with_gate(gate, guard=NO_GUARD), True)]

    @operation("gives the slot of the run back")
    def give_slot_of_run_back(self, state: State, _me: int, trigger: int, gate: int) -> Outcomes:
        """Answers whether the line may hold something. A run that has no slot any more gives none back."""
        if (trigger, gate) not in state.runs:
            return [(state, False)]
        runs = list(state.runs)
        runs.remove((trigger, gate))
        used = state.gates[gate].used - 1
        return [(state._replace(runs=tuple(runs)).with_gate(gate, used=used), state.gates[gate].queues)]
