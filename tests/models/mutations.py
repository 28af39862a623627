"""Ways of breaking a gate, each with the world that shows it, or the reason why nothing does."""

from collections.abc import Mapping
from typing import ClassVar, Final, NamedTuple

from tests.models.gates import Gates
from tests.models.operations import ABSENT, FREE, NOTHING, OTHER, TAKE, UNGUARDED, UNMARKED, Outcomes
from tests.models.programs import Answer, Part, Program, operation
from tests.models.state import NO_GUARD, NO_MESSAGE, NOWHERE, TAKEABLE, Entry, Gate, State


class Mutation(NamedTuple):
    """What a broken gate does, and the world that shows it. `masked_by` says why no world does."""

    says: str
    model: type[Gates]
    world: str = ""
    masked_by: str = ""


class LooksBeforePutting(Gates):
    def enqueue(self, gate: int, trigger: int, again: int) -> Part:
        seen = yield self.look_at_gate(gate)
        if seen == UNGUARDED:
            seen = yield from self.begin_guard(gate)
        elif seen == UNMARKED:
            seen = yield self.store_guard(gate)
        yield self.put_entry(gate, trigger)
        if seen == FREE:
            yield from self.call(gate, again)
        return True


class NeverCallsForEntry(Gates):
    def should_call(self, _state: State, _me: int, _gate: int) -> bool:
        return False


class LeavesFreeSlotsToHolders(Gates):
    def should_call(self, state: State, _me: int, gate: int) -> bool:
        return state.gates[gate].used == 0


class DoesNotLookAfterRelease(Gates):
    skips: ClassVar[Mapping[str, Answer]] = {"reads the line again": False}


class ReleasesBlindly(Gates):
    ignores: ClassVar[Mapping[str, Answer]] = {"gives its slot back": False}


class ServerRemovesGuard(Gates):
    @operation("gives its idle slot back")
    def give_slot_back_idle(self, state: State, me: int, gate: int, line_was_empty: int) -> Outcomes:
        guard = NO_GUARD if line_was_empty else state.gates[gate].guard
        return [(self.without_slot(state, me, gate, guard=guard, queues=not line_was_empty), True)]


class GuardDoesNotLookAgain(Gates):
    skips: ClassVar[Mapping[str, Answer]] = {"reads again whether the line has entries": False}


class GuardAcknowledgesEarly(Gates):
    @operation("removes the guard if it is its own")
    def remove_guard(self, state: State, me: int, gate: int) -> Outcomes:
        guard = NO_GUARD if self.is_own(state, me, gate) else state.gates[gate].guard
        return [(state.with_gate(gate, guard=guard).with_function(me, message=NO_MESSAGE), True)]


class GuardDropsWithoutGuard(Gates):
    @operation("compares its guard")
    def compare_guard(self, state: State, me: int, gate: int) -> Outcomes:
        whose = super().compare_guard(gate).outcomes(state, me)
        return [(after, OTHER if answer == ABSENT else answer) for after, answer in whose]


class LeasedCountsAsGone(Gates):
    @operation("reads whether the line has entries")
    def read_line(self, state: State, _me: int, gate: int) -> Outcomes:
        return [(state, any(entry in TAKEABLE for entry in state.lines[gate]))]

    @operation("reads again whether the line has entries")
    def read_line_again_as_guard(self, state: State, _me: int, gate: int) -> Outcomes:
        return [(state, any(entry in TAKEABLE for entry in state.lines[gate]))]


class GuardComesOnce(Gates):
    skips: ClassVar[Mapping[str, Answer]] = {"stores the next guard if its own or none is there": True}


class SendsNoGuard(Gates):
    skips: ClassVar[Mapping[str, Answer]] = {"sends a guard": True}


class ThiefDeletes(Gates):
    @operation("leases")
    def lease(self, state: State, me: int, line: int, trigger: int) -> Outcomes:
        if line == state.functions[me].slot or state.lines[line][trigger] not in TAKEABLE:
            return super().lease(line, trigger).outcomes(state, me)
        return [(state.with_entry(line, trigger, Entry.NONE), True)]


class BatonsAtCommit(Gates):
    def views_are_over(self, _state: State, _change: int) -> bool:
        return True


class RaiseSendsNoBaton(Gates):
    def is_concerned(self, gate: int, change: int) -> bool:
        return not self.world.shares[change][gate]


class ForwardsNothing(Gates):
    skips: ClassVar[Mapping[str, Answer]] = {"looks for triggers that leave": (NOTHING, 0, NOWHERE)}


class ForwardDeletesFirst(Gates):
    def move(self, gate: int, to: int, trigger: int) -> Part:
        if (yield self.lease(gate, trigger)):
            yield self.delete_entry(gate, trigger)
            yield from self.enqueue(to, trigger, again=0)
        return True


class ForwardTakesNoLease(Gates):
    def move(self, gate: int, to: int, trigger: int) -> Part:
        yield from self.enqueue(to, trigger, again=0)
        yield self.delete_unleased(gate, trigger)
        return True

    @operation("deletes without a lease")
    def delete_unleased(self, state: State, _me: int, line: int, trigger: int) -> Outcomes:
        return [(state.with_entry(line, trigger, Entry.NONE), True)]


class ForwardDoesNotLook(Gates):
    def move(self, gate: int, to: int, trigger: int) -> Part:
        if (yield self.lease(gate, trigger)):
            yield self.put_entry(to, trigger)
            yield self.delete_entry(gate, trigger)
        return True


class PutOverwrites(Gates):
    @operation("puts an entry")
    def put_entry(self, state: State, _me: int, line: int, trigger: int) -> Outcomes:
        return [(state.with_entry(line, trigger, Entry.FREE), True)]


class BatonBeforeRelease(Gates):
    def hand_over(self, gate: int) -> Part:
        yield from self.call(gate)
        yield self.give_slot_back_in_time(gate)
        return True


class CallsAtOwnGateOnly(Gates):
    def give_entry_back(self, gate: int, line: int, trigger: int) -> Program:
        yield self.free_entry(line, trigger)
        yield from self.hand_over(gate)
        return None


class LeavesTheMarkAsItIs(Gates):
    @operation("gives its slot back because its time is up")
    def give_slot_back_in_time(self, state: State, me: int, gate: int) -> Outcomes:
        return [(self.without_slot(state, me, gate), True)]


class HandsNothingOver(Gates):
    def hand_over(self, gate: int) -> Part:
        yield self.give_slot_back_in_time(gate)
        return True


class RunCallsNobody(Gates):
    ignores: ClassVar[Mapping[str, Answer]] = {"gives the slot of the run back": False}


class LoweredGoesOn(Gates):
    @operation("looks for work")
    def look_for_work(self, state: State, me: int, gate: int) -> Outcomes:
        own = self.takeable(state, gate)
        if not own:
            return super().look_for_work(gate).outcomes(state, me)
        return [(state.with_function(me, view=state.version), (TAKE, gate, own[0]))]


class TrustsTheMark(Gates):
    def is_marked(self, _item: Gate) -> bool:
        return True


class DoesNotMarkAgain(Gates):
    skips: ClassVar[Mapping[str, Answer]] = {"stores that the line holds something": True}


class SendsBeforeStoring(Gates):
    def call(self, gate: int, _again: int = 0) -> Part:
        if not (yield self.read_baton(gate)):
            yield self.send_baton(gate)
            yield self.store_baton(gate, again=1)
        return True

    @operation("reads whether a baton is under way")
    def read_baton(self, state: State, _me: int, gate: int) -> Outcomes:
        return [(state, state.gates[gate].baton)]


class FullKeepsTheMark(Gates):
    skips: ClassVar[Mapping[str, Answer]] = {"removes the mark of the baton": False}


class DoesNotLookAfterRemoving(Gates):
    ignores: ClassVar[Mapping[str, Answer]] = {"removes the mark of the baton": False}


class RepetitionTrustsTheMark(Gates):
    def call(self, gate: int, _again: int = 0) -> Part:
        return (yield from super().call(gate, again=0))


class BatonNeedsGuard(Gates):
    def baton(self, gate: int) -> Program:
        if (yield self.look_at_gate(gate)) == UNGUARDED:
            return None
        return (yield from super().baton(gate))


class IgnoresTheLine(Gates):
    @operation("takes a slot directly")
    def take_slot_directly(self, state: State, me: int, gate: int) -> Outcomes:
        return self.take_slot(gate).outcomes(state, me)


MUTATIONS: Final = (
    Mutation("The enqueuer looks at the gate before it puts the entry", LooksBeforePutting, "one gate"),
    Mutation("The enqueuer does not call although a slot is free", NeverCallsForEntry, "one gate"),
    Mutation(
        "The enqueuer leaves free slots to the holders, also to runs",
        LeavesFreeSlotsToHolders,
        "a run without end, two slots",
    ),
    Mutation(
        "A server does not look at the line after it gave its slot back", DoesNotLookAfterRelease, "one gate"
    ),
    Mutation("A direct holder gives its slot back and calls nobody", ReleasesBlindly, "one gate"),
    Mutation(
        "A server that finds the line empty removes the guard",
        ServerRemovesGuard,
        "three triggers, crash, guards come",
    ),
    Mutation(
        "The guard's handler removes the guard and does not read the line again",
        GuardDoesNotLookAgain,
        "three triggers, crash, guards come",
    ),
    Mutation(
        "The guard's message is acknowledged when the guard is removed",
        GuardAcknowledgesEarly,
        masked_by="needs two crashes: one of an enqueuer, and one of the handler between its two writes",
    ),
    Mutation(
        "A guard message that meets no guard is dropped",
        GuardDropsWithoutGuard,
        masked_by="needs three faults: another handler of the same message, and two crashes",
    ),
    Mutation(
        "The guard is removed although entries are leased", LeasedCountsAsGone, "two gates, help, crash"
    ),
    Mutation("A guard message does not send the next one", GuardComesOnce, "one trigger, crash"),
    Mutation("Nobody sends a guard message", SendsNoGuard, "one trigger, crash"),
    Mutation("A thief deletes the entry when it takes it", ThiefDeletes, "two gates, help, crash"),
    Mutation("Batons are sent at the commit", BatonsAtCommit, "a run without end, raise"),
    Mutation("A raise sends no batons", RaiseSendsNoBaton, "a run without end, raise"),
    Mutation("A gate without a share forwards nothing", ForwardsNothing, "a job leaves a paused policy"),
    Mutation(
        "Forwarding deletes the entry before it puts the other one", ForwardDeletesFirst, "lower, crash"
    ),
    Mutation("Forwarding takes no lease", ForwardTakesNoLease, "lower"),
    Mutation("Forwarding does not look at the other gate", ForwardDoesNotLook, "lower"),
    Mutation("A server calls before it gives its slot back", BatonBeforeRelease, "one gate"),
    Mutation("A server whose time is up calls nobody", HandsNothingOver, "one gate"),
    Mutation("A thief that gives an entry back calls at its own gate only", CallsAtOwnGateOnly, "raise"),
    Mutation(
        "A server that gives an entry back does not mark the line", LeavesTheMarkAsItIs, "pause and resume"
    ),
    Mutation("The end of a run calls nobody", RunCallsNobody, "one gate, a run"),
    Mutation(
        "An enqueuer that sees a guard does not see to the mark", TrustsTheMark, "one gate, four triggers"
    ),
    Mutation(
        "A server that finds entries after its release does not mark the line again",
        DoesNotMarkAgain,
        "raise",
    ),
    Mutation("A baton is sent before the gate knows of it", SendsBeforeStoring, "one gate"),
    Mutation("A baton that finds the gate full leaves its mark", FullKeepsTheMark, "one gate"),
    Mutation(
        "A baton that removes its mark does not look for free slots", DoesNotLookAfterRemoving, "one gate"
    ),
    Mutation(
        "A baton that meets no guard is dropped",
        BatonNeedsGuard,
        masked_by="what waits in this line has a guard, or an enqueuer that calls; only others lose help",
    ),
    Mutation(
        "A repeated entry erases the lease",
        PutOverwrites,
        masked_by="only a copy of a copy can do it, and copies deliver twice anyway",
    ),
    Mutation(
        "A server goes on with a slot that its gate has lost",
        LoweredGoesOn,
        masked_by="the slot ends with the server's time, and was part of the earlier limit",
    ),
    Mutation(
        "A message that was received before trusts the mark of the baton",
        RepetitionTrustsTheMark,
        masked_by="the guard calls 200 s later",
    ),
    Mutation(
        "A direct holder ignores what waits in the line",
        IgnoresTheLine,
        masked_by="only the order suffers, and the slot comes back as any other",
    ),
)
