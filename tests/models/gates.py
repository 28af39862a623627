"""A gate: one item that holds slots, and a line of what waits. An entry is a trigger, a server has one slot.

A gate admits what its share of the limit permits, loses nothing, and leaves nothing waiting beside a free
slot. Between any two operations another function may act, or this one may crash.
"""

from tests.models.operations import (
    FREE,
    HAS_BATON,
    HAS_SHARE,
    LEAVE,
    NOTHING,
    OTHER,
    OWN,
    UNGUARDED,
    UNMARKED,
    Operations,
)
from tests.models.programs import Part, Position, Program


class Gates(Operations):
    """The programs of the functions."""

    # ---- a function with a trigger. It takes a slot directly, or writes an entry. It never serves.

    def trigger(self, trigger: int, gate: int, again: int) -> Program:
        if not again and (yield self.take_slot_directly(gate)):
            yield from self.deliver(trigger)
            yield self.acknowledge()
            if trigger not in self.world.asynchronous and (yield self.give_slot_back(gate)):
                yield from self.call(gate)
        else:
            yield from self.enqueue(gate, trigger, again)
        return None

    def deliver(self, trigger: int) -> Part:
        """The slot of a request stays with the function. An asynchronous run takes its slot over."""
        if trigger in self.world.asynchronous:
            yield self.give_slot_to_run(trigger)
        else:
            yield self.open_request()
        yield self.receive_answer(trigger)
        return True

    def enqueue(self, gate: int, trigger: int, again: int) -> Part:
        yield self.put_entry(gate, trigger)
        return (yield from self.see_to_gate(gate, again))

    def see_to_gate(self, gate: int, again: int) -> Part:
        seen = yield self.look_at_gate(gate)
        if seen == UNGUARDED:
            seen = yield from self.begin_guard(gate)
        elif seen == UNMARKED:
            seen = yield self.store_guard(gate)
        if seen == FREE:
            yield from self.call(gate, again)
        return True

    def begin_guard(self, gate: int) -> Part:
        """Sends a guard, then stores it. Returns what the gate looked like then."""
        yield self.send_guard(gate)
        seen: int = yield self.store_guard(gate)
        return seen

    def call(self, gate: int, again: int = 0) -> Part:
        """One baton at a time: the gate knows of it before it is sent."""
        if (yield self.store_baton(gate, again)):
            yield self.send_baton(gate)
        return True

    # ---- a function with a baton serves

    def baton(self, gate: int) -> Program:
        if (yield self.take_slot(gate)):
            return Position("serve", (gate,))
        if (yield self.remove_baton(gate)):
            return Position("baton", (gate,))
        return None

    def act(self, gate: int) -> Program:
        """Does what a baton does, by the limits of this moment."""
        has_share = yield self.look_at_limits(gate)
        return Position("baton" if has_share else "forward", (gate,))

    def serve(self, gate: int) -> Program:
        found, line, trigger = yield self.look_for_work(gate)
        if found == LEAVE:
            yield from self.hand_over(gate)
            return None
        if found == NOTHING:
            return (yield from self.leave(gate, line_was_empty=trigger))
        return (yield from self.work_on(gate, line, trigger))

    def work_on(self, gate: int, line: int, trigger: int) -> Program:
        if not (yield self.lease(line, trigger)):
            return Position("serve", (gate,))
        if self.world.time_is_up and (yield self.look_at_time()):
            return (yield from self.give_entry_back(gate, line, trigger))
        yield from self.deliver(trigger)
        yield self.delete_entry(line, trigger)
        return None if trigger in self.world.asynchronous else Position("serve", (gate,))

    def give_entry_back(self, gate: int, line: int, trigger: int) -> Program:
        """Ends a turn with an entry in hand.

        Others may have left that line because the entry was leased. So its gate is marked, and called.
        """
        yield self.free_entry(line, trigger)
        yield from self.hand_over(gate)
        if line != gate:
            yield self.store_queues(line)
            yield from self.call(line)
        return None

    def hand_over(self, gate: int) -> Part:
        """Leaves what waits to the next baton."""
        yield self.give_slot_back_in_time(gate)
        return (yield from self.call(gate))

    def leave(self, gate: int, line_was_empty: int) -> Program:
        yield self.give_slot_back_idle(gate, line_was_empty)
        if (yield self.read_line_again(gate)):
            yield self.store_queues(gate)
            return Position("act", (gate,))
        return None

    # ---- a gate without a share: what may go on goes to another gate

    def forward(self, gate: int) -> Program:
        found, to, trigger = yield self.look_for_leavers(gate)
        if found == HAS_SHARE:
            return Position("baton", (gate,))
        if found == HAS_BATON:
            yield self.remove_baton(gate)
        elif found == NOTHING:
            return None
        else:
            yield from self.move(gate, to, trigger)
        return Position("forward", (gate,))

    def move(self, gate: int, to: int, trigger: int) -> Part:
        if (yield self.lease(gate, trigger)):
            yield from self.enqueue(to, trigger, again=0)
            yield self.delete_entry(gate, trigger)
        return True

    # ---- a guard message. Only its handler removes the guard, while it still holds the message.

    def guard(self, gate: int) -> Program:
        whose = yield self.compare_guard(gate)
        if whose == OTHER:
            return None
        has_entries = yield self.read_line(gate)
        if whose == OWN and has_entries:
            return (yield from self.go_on_guarding(gate))
        if whose == OWN:
            if not (yield self.remove_guard(gate)):
                return None
            has_entries = yield self.read_line_again_as_guard(gate)
        if not has_entries:
            return None
        yield from self.begin_guard(gate)
        yield self.acknowledge()
        return Position("act", (gate,))

    def go_on_guarding(self, gate: int) -> Program:
        yield self.send_next_guard(gate)
        yield self.replace_guard(gate)
        yield self.acknowledge()
        return Position("act", (gate,))

    # ---- a wake-up names the guard that it replaces. It does what a baton does in any case.

    def wake(self, gate: int) -> Program:
        if (yield self.compare_guard(gate)) != OTHER:
            yield from self.take_guard_over(gate)
        return Position("act", (gate,))

    def take_guard_over(self, gate: int) -> Part:
        yield self.send_next_guard(gate)
        stored: int = yield self.replace_guard(gate)
        return stored

    # ---- the end of an asynchronous run, or its deadline

    def over(self, trigger: int, gate: int) -> Program:
        if (yield self.give_slot_of_run_back(trigger, gate)):
            yield from self.call(gate)
        return None
