"""Triggers that join an entry which waits, instead of an entry of their own.

Who joins has read the entry, and writes it as a whole on the token that it has read. So does who leases it.
A trigger that was received before joins nothing.
"""

from tests.models.gates import Gates
from tests.models.operations import TAKE, Outcomes
from tests.models.programs import Part, Position, Program, operation
from tests.models.state import NOWHERE, Entry, State


class Joins(Gates):
    """The model of gates, with entries of several triggers."""

    # ---- a function with a trigger

    def enqueue(self, gate: int, trigger: int, again: int) -> Part:
        if not again:
            host = yield self.look_for_room(gate)
            if host != NOWHERE and (yield self.join(gate, host, trigger)):
                return (yield from self.see_to_gate(gate, again))
        return (yield from super().enqueue(gate, trigger, again))

    @operation("looks for an entry with room")
    def look_for_room(self, state: State, me: int, gate: int) -> Outcomes:
        """Answers which entry it found. A gate without a share is left alone."""
        hosts = [place for place, entry in enumerate(state.lines[gate]) if self.has_room(entry)]
        if not (hosts and self.may_join(state, me, gate)):
            return [(state, NOWHERE)]
        return [(state.with_function(me, seen=(gate, host)), host) for host in hosts]

    def has_room(self, entry: Entry) -> bool:
        return entry is Entry.FREE

    def may_join(self, state: State, me: int, gate: int) -> bool:
        return self.share(state, me, gate) > 0

    @operation("joins an entry")
    def join(self, state: State, me: int, gate: int, host: int, trigger: int) -> Outcomes:
        if not self.has_seen(state, me, gate, host):
            return [(state.with_function(me, seen=(NOWHERE, NOWHERE)), False)]
        held = (*state.contents_of(gate, host), trigger)
        after = state.with_entry(gate, host, state.lines[gate][host]).with_contents(gate, host, held)
        return [(after, True)]

    def has_seen(self, state: State, me: int, line: int, trigger: int) -> bool:
        """Whether nobody has written the entry since this function read it."""
        return state.functions[me].seen == (line, trigger)

    @operation("puts an entry")
    def put_entry(self, state: State, _me: int, line: int, trigger: int) -> Outcomes:
        """A place that holds something is not written."""
        if state.lines[line][trigger]:
            return [(state, True)]
        return [(state.with_entry(line, trigger, Entry.FREE), True)]

    # ---- a server leases what it has read, and delivers all of it

    @operation("looks for work")
    def look_for_work(self, state: State, me: int, gate: int) -> Outcomes:
        for after, found in super().look_for_work(gate).outcomes(state, me):
            assert isinstance(found, tuple)
            yield self.with_seen(after, me, found), found

    @operation("looks for triggers that leave")
    def look_for_leavers(self, state: State, me: int, gate: int) -> Outcomes:
        for after, found in super().look_for_leavers(gate).outcomes(state, me):
            assert isinstance(found, tuple)
            action, to, trigger = found
            yield self.with_seen(after, me, (action, gate, trigger)), (action, to, trigger)

    @staticmethod
    def with_seen(state: State, me: int, found: tuple[int, ...]) -> State:
        action, line, trigger = found
        return state.with_function(me, seen=(line, trigger)) if action == TAKE else state

    @operation("leases")
    def lease(self, state: State, me: int, line: int, trigger: int) -> Outcomes:
        if not self.has_seen(state, me, line, trigger):
            return [(state, False)]
        return super().lease(line, trigger).outcomes(state, me)

    @operation("leases the first trigger")
    def lease_first(self, state: State, me: int, line: int, trigger: int) -> Outcomes:
        """The other triggers of an entry with which a function has crashed stand alone by now."""
        held = state.contents_of(line, trigger)
        for after, is_leased in self.lease(line, trigger).outcomes(state, me):
            yield after.with_contents(line, trigger, held[:1]) if is_leased else after, is_leased

    @operation("looks into its entry")
    def look_into_entry(self, state: State, _me: int, line: int, trigger: int) -> Outcomes:
        """Answers which triggers it holds."""
        return [(state, state.contents_of(line, trigger))]

    @operation("looks whether another function has crashed with its entry")
    def look_for_crash(self, state: State, _me: int, line: int, trigger: int) -> Outcomes:
        return [(state, state.lines[line][trigger] is Entry.EXPIRED)]

    @operation("frees the rest of the entry")
    def free_rest(self, state: State, me: int, line: int, trigger: int, held: tuple[int, ...]) -> Outcomes:
        for after, answer in self.free_entry(line, trigger).outcomes(state, me):
            yield after.with_contents(line, trigger, held), answer

    def work_on(self, gate: int, line: int, trigger: int) -> Program:
        held = yield self.look_into_entry(line, trigger)
        if len(held) > 1 and (yield self.look_for_crash(line, trigger)):
            for other in held[1:]:
                yield self.put_entry(line, other)
            held = held[:1]
            is_leased = yield self.lease_first(line, trigger)
        else:
            is_leased = yield self.lease(line, trigger)
        if not is_leased:
            return Position("serve", (gate,))
        return (yield from self.deliver_all(gate, line, trigger, held))

    def deliver_all(self, gate: int, line: int, trigger: int, held: tuple[int, ...]) -> Program:
        while held:
            if self.world.time_is_up and (yield self.look_at_time()):
                return (yield from self.give_rest_back(gate, line, trigger, held))
            yield from self.deliver(held[0])
            held = held[1:]
        yield self.delete_entry(line, trigger)
        return Position("serve", (gate,))

    def give_rest_back(self, gate: int, line: int, trigger: int, held: tuple[int, ...]) -> Program:
        yield self.free_rest(line, trigger, held)
        yield from self.hand_over(gate)
        if line != gate:
            yield self.store_queues(line)
            yield from self.call(line)
        return None

    # ---- a gate without a share

    def move(self, gate: int, to: int, trigger: int) -> Part:
        held = yield self.look_into_entry(gate, trigger)
        if (yield self.lease(gate, trigger)):
            for each in held:
                yield self.put_entry(to, each)
            yield from self.see_to_gate(to, again=0)
            yield self.delete_entry(gate, trigger)
        return True

    # ---- what must hold

    def owes_entry(self, state: State, line: int, trigger: int) -> bool:
        return any(not state.delivered[each] for each in state.contents_of(line, trigger))
