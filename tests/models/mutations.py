"""Ways of breaking a gate, each with the world that shows it, or the reason why nothing does."""

from collections.abc import Callable, Mapping
from typing import ClassVar, Final, NamedTuple, TypeVar

from tests.models.gates import Gates
from tests.models.operations import ABSENT, FREE, NOTHING, OTHER, TAKE, UNGUARDED, UNMARKED, Outcomes
from tests.models.programs import Answer, Part, Program, operation
from tests.models.state import NO_GUARD, NO_MESSAGE, NOWHERE, TAKEABLE, Entry, Gate, State


class Mutation(NamedTuple):
    """A broken model, and the world that shows it, or the reason why none does."""

    model: type[Gates]
    world: str
    masked_by: str


#: All mutations of gates and of what belongs to them.
MUTATIONS: Final[list[Mutation]] = []
Broken = TypeVar("Broken", bound=type[Gates])


def shown_in(world: str, masked_by: str = "") -> Callable[[Broken], Broken]:
    """Declares that this world shows what a broken model does."""

    def declare(model: Broken) -> Broken:
        MUTATIONS.append(Mutation(model, world, masked_by))
        return model

    return declare


def masked_by(reason: str) -> Callable[[Broken], Broken]:
    """Declares why no world shows what a broken model does."""
    return shown_in("", reason)


@shown_in("one gate")
class LooksBeforePutting(Gates):
    """The enqueuer looks at the gate before it puts the entry."""

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


@shown_in("one gate")
class NeverCallsForEntry(Gates):
    """The enqueuer does not call although a slot is free."""

    def should_call(self, _state: State, _me: int, _gate: int) -> bool:
        return False


@shown_in("a run without end, two slots")
class LeavesFreeSlotsToHolders(Gates):
    """The enqueuer leaves free slots to the holders, also to runs."""

    def should_call(self, state: State, _me: int, gate: int) -> bool:
        return state.gates[gate].used == 0


@shown_in("one gate")
class DoesNotLookAfterRelease(Gates):
    """A server does not look at the line after it gave its slot back."""

    skips: ClassVar[Mapping[str, Answer]] = {"reads the line again": False}


@shown_in("one gate")
class ReleasesBlindly(Gates):
    """A direct holder gives its slot back and calls nobody."""

    ignores: ClassVar[Mapping[str, Answer]] = {"gives its slot back": False}


@masked_by("needs a crash of a guard's handler that serves; not found in 600,000 states of such a world")
class ServerRemovesGuard(Gates):
    """A server that finds the line empty removes the guard."""

    @operation("gives its idle slot back")
    def give_slot_back_idle(self, state: State, me: int, gate: int, line_was_empty: int) -> Outcomes:
        guard = NO_GUARD if line_was_empty else state.gates[gate].guard
        return [(self.without_slot(state, me, gate, guard=guard, queues=not line_was_empty), True)]


@shown_in("three triggers, crash, guards come")
class GuardDoesNotLookAgain(Gates):
    """The guard's handler removes the guard and does not read the line again."""

    skips: ClassVar[Mapping[str, Answer]] = {"reads again whether the line has entries": False}


@masked_by("needs two crashes: one of an enqueuer, and one of the handler between its two writes")
class GuardAcknowledgesEarly(Gates):
    """The guard's message is acknowledged when the guard is removed."""

    @operation("removes the guard if it is its own")
    def remove_guard(self, state: State, me: int, gate: int) -> Outcomes:
        guard = NO_GUARD if self.is_own(state, me, gate) else state.gates[gate].guard
        return [(state.with_gate(gate, guard=guard).with_function(me, message=NO_MESSAGE), True)]


@masked_by("needs three faults: another handler of the same message, and two crashes")
class GuardDropsWithoutGuard(Gates):
    """A guard message that meets no guard is dropped."""

    @operation("compares its guard")
    def compare_guard(self, state: State, me: int, gate: int) -> Outcomes:
        whose = super().compare_guard(gate).outcomes(state, me)
        return [(after, OTHER if answer == ABSENT else answer) for after, answer in whose]


@shown_in("two gates, help, crash")
class LeasedCountsAsGone(Gates):
    """The guard is removed although entries are leased."""

    @operation("reads whether the line has entries")
    def read_line(self, state: State, _me: int, gate: int) -> Outcomes:
        return [(state, any(entry in TAKEABLE for entry in state.lines[gate]))]

    @operation("reads again whether the line has entries")
    def read_line_again_as_guard(self, state: State, _me: int, gate: int) -> Outcomes:
        return [(state, any(entry in TAKEABLE for entry in state.lines[gate]))]


@shown_in("one trigger, crash")
class GuardComesOnce(Gates):
    """A guard message does not send the next one."""

    skips: ClassVar[Mapping[str, Answer]] = {"stores the next guard if its own or none is there": True}


@shown_in("one trigger, crash")
class SendsNoGuard(Gates):
    """Nobody sends a guard message."""

    skips: ClassVar[Mapping[str, Answer]] = {"sends a guard": True}


@shown_in("two gates, help, crash")
class ThiefDeletes(Gates):
    """A thief deletes the entry when it takes it."""

    @operation("leases")
    def lease(self, state: State, me: int, line: int, trigger: int) -> Outcomes:
        if line == state.functions[me].slot or state.lines[line][trigger] not in TAKEABLE:
            return super().lease(line, trigger).outcomes(state, me)
        return [(state.with_entry(line, trigger, Entry.NONE), True)]


@shown_in("a run without end, raise")
class BatonsAtCommit(Gates):
    """Batons are sent at the commit."""

    def views_are_over(self, _state: State, _change: int) -> bool:
        return True


@shown_in("a run without end, raise")
class RaiseSendsNoBaton(Gates):
    """A raise sends no batons."""

    def is_concerned(self, gate: int, change: int) -> bool:
        return not self.world.shares[change][gate]


@shown_in("a job leaves a paused policy")
class ForwardsNothing(Gates):
    """A gate without a share forwards nothing."""

    skips: ClassVar[Mapping[str, Answer]] = {"looks for triggers that leave": (NOTHING, 0, NOWHERE)}


@shown_in("a job leaves a paused policy, crash")
class ForwardDeletesFirst(Gates):
    """Forwarding deletes the entry before it puts the other one."""

    def move(self, gate: int, to: int, trigger: int) -> Part:
        if (yield self.lease(gate, trigger)):
            yield self.delete_entry(gate, trigger)
            yield from self.enqueue(to, trigger, again=0)
        return True


@shown_in("lower")
class ForwardTakesNoLease(Gates):
    """Forwarding takes no lease."""

    def move(self, gate: int, to: int, trigger: int) -> Part:
        yield from self.enqueue(to, trigger, again=0)
        yield self.delete_unleased(gate, trigger)
        return True

    @operation("deletes without a lease")
    def delete_unleased(self, state: State, _me: int, line: int, trigger: int) -> Outcomes:
        return [(state.with_entry(line, trigger, Entry.NONE), True)]


@shown_in("lower")
class ForwardDoesNotLook(Gates):
    """Forwarding does not look at the other gate."""

    def move(self, gate: int, to: int, trigger: int) -> Part:
        if (yield self.lease(gate, trigger)):
            yield self.put_entry(to, trigger)
            yield self.delete_entry(gate, trigger)
        return True


@masked_by("only a copy of a copy can do it, and copies deliver twice anyway")
class PutOverwrites(Gates):
    """A repeated entry erases the lease."""

    @operation("puts an entry")
    def put_entry(self, state: State, _me: int, line: int, trigger: int) -> Outcomes:
        return [(state.with_entry(line, trigger, Entry.FREE), True)]


@shown_in("one gate")
class BatonBeforeRelease(Gates):
    """A server calls before it gives its slot back."""

    def hand_over(self, gate: int) -> Part:
        yield from self.call(gate)
        yield self.give_slot_back_in_time(gate)
        return True


@shown_in("raise")
class CallsAtOwnGateOnly(Gates):
    """A thief that gives an entry back calls at its own gate only."""

    def give_entry_back(self, gate: int, line: int, trigger: int) -> Program:
        yield self.free_entry(line, trigger)
        yield from self.hand_over(gate)
        return None


@shown_in("pause and resume")
class LeavesTheMarkAsItIs(Gates):
    """A server that gives an entry back does not mark the line."""

    @operation("gives its slot back because its time is up")
    def give_slot_back_in_time(self, state: State, me: int, gate: int) -> Outcomes:
        return [(self.without_slot(state, me, gate), True)]


@shown_in("one gate")
class HandsNothingOver(Gates):
    """A server whose time is up calls nobody."""

    def hand_over(self, gate: int) -> Part:
        yield self.give_slot_back_in_time(gate)
        return True


@shown_in("one gate, a run")
class RunCallsNobody(Gates):
    """The end of a run calls nobody."""

    ignores: ClassVar[Mapping[str, Answer]] = {"gives the slot of the run back": False}


@masked_by("the slot ends with the server's time, and was part of the earlier limit")
class LoweredGoesOn(Gates):
    """A server goes on with a slot that its gate has lost."""

    @operation("looks for work")
    def look_for_work(self, state: State, me: int, gate: int) -> Outcomes:
        own = self.takeable(state, gate)
        if not own:
            return super().look_for_work(gate).outcomes(state, me)
        return [(state.with_function(me, view=state.version), (TAKE, gate, own[0]))]


@shown_in("one gate, four triggers")
class TrustsTheMark(Gates):
    """An enqueuer that sees a guard does not see to the mark."""

    def is_marked(self, _item: Gate) -> bool:
        return True


@shown_in("raise")
class DoesNotMarkAgain(Gates):
    """A server that finds entries after its release does not mark the line again."""

    skips: ClassVar[Mapping[str, Answer]] = {"stores that the line holds something": True}


@shown_in("one gate")
class SendsBeforeStoring(Gates):
    """A baton is sent before the gate knows of it."""

    def call(self, gate: int, _again: int = 0) -> Part:
        if not (yield self.read_baton(gate)):
            yield self.send_baton(gate)
            yield self.store_baton(gate, again=1)
        return True

    @operation("reads whether a baton is under way")
    def read_baton(self, state: State, _me: int, gate: int) -> Outcomes:
        return [(state, state.gates[gate].baton)]


@shown_in("one gate")
class FullKeepsTheMark(Gates):
    """A baton that finds the gate full leaves its mark."""

    skips: ClassVar[Mapping[str, Answer]] = {"removes the mark of the baton": False}


@shown_in("one gate")
class DoesNotLookAfterRemoving(Gates):
    """A baton that removes its mark does not look for free slots."""

    ignores: ClassVar[Mapping[str, Answer]] = {"removes the mark of the baton": False}


@masked_by("the guard calls 200 s later")
class RepetitionTrustsTheMark(Gates):
    """A message that was received before trusts the mark of the baton."""

    def call(self, gate: int, _again: int = 0) -> Part:
        return (yield from super().call(gate, again=0))


@masked_by("what waits in this line has a guard, or an enqueuer that calls; only others lose help")
class BatonNeedsGuard(Gates):
    """A baton that meets no guard is dropped."""

    def baton(self, gate: int) -> Program:
        if (yield self.look_at_gate(gate)) == UNGUARDED:
            return None
        return (yield from super().baton(gate))


@masked_by("only the order suffers, and the slot comes back as any other")
class IgnoresTheLine(Gates):
    """A direct holder ignores what waits in the line."""

    @operation("takes a slot directly")
    def take_slot_directly(self, state: State, me: int, gate: int) -> Outcomes:
        return self.take_slot(gate).outcomes(state, me)
