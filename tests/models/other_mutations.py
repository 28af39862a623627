"""Ways of breaking what belongs to gates: keys, the switch, rates, and the end of a policy."""

from collections.abc import Mapping
from typing import ClassVar, Final

from tests.models.closing import Closing, Policy
from tests.models.closing import Outcomes as ClosingOutcomes
from tests.models.closing import State as ClosingState
from tests.models.gates import Gates
from tests.models.joins import Joins
from tests.models.keys import Keys
from tests.models.mutations import masked_by, shown_in
from tests.models.operations import OWN, Outcomes
from tests.models.programs import Answer, Part, Position, Program, operation
from tests.models.rates import LATE_MAX, PER, Rates
from tests.models.state import NO_TOKEN, NOWHERE, Entry, State
from tests.models.switch import Switch


@shown_in("triggers join")
class JoinsALease(Joins):
    """A trigger joins an entry that another function has leased."""

    def has_room(self, entry: Entry) -> bool:
        return entry in {Entry.FREE, Entry.LEASED}


@shown_in("triggers join")
class ComparesNoToken(Joins):
    """Who joins an entry or leases it does not compare what it has read."""

    def has_seen(self, state: State, _me: int, line: int, trigger: int) -> bool:
        return state.lines[line][trigger] is not Entry.NONE


@shown_in("triggers join")
class OverwritesTheEntry(Joins):
    """Who joins writes an entry as it was read, whoever has written it since."""

    @operation("joins an entry")
    def join(self, state: State, _me: int, gate: int, host: int, trigger: int) -> Outcomes:
        return [(state.with_entry(gate, host, Entry.FREE).with_contents(gate, host, (host, trigger)), True)]


@shown_in("triggers join")
class LeasesWithoutComparing(Joins):
    """A server leases an entry that a trigger has joined since the server read it."""

    @operation("leases")
    def lease(self, state: State, me: int, line: int, trigger: int) -> Outcomes:
        return Gates.lease(self, line, trigger).outcomes(state, me)


@masked_by("needs a crash, two gates and three triggers: such a world is too large")
class LeavesTheGateToTheFirst(Joins):
    """Who joins an entry does not look at its gate."""

    def enqueue(self, gate: int, trigger: int, again: int) -> Part:
        if not again:
            host = yield self.look_for_room(gate)
            if host != NOWHERE and (yield self.join(gate, host, trigger)):
                return True
        return (yield from Gates.enqueue(self, gate, trigger, again))


@masked_by("who forwards entries looks again here, and passes once over a line in flow/")
class JoinsWithoutAShare(Joins):
    """A trigger joins an entry at a gate without a share, while a function forwards it."""

    def may_join(self, _state: State, _me: int, _gate: int) -> bool:
        return True


@shown_in("a paused key, two triggers")
class UnlistsWithoutComparing(Keys):
    """The list of keys is changed without a look at whose item it is."""

    @operation("removes the key from the list")
    def unlist_own(self, state: State, _me: int, gate: int) -> Outcomes:
        return [(state.with_gate(gate, listed=()), True)]


@shown_in("a paused key")
class LeavesItsPlace(Keys):
    """A handler whose guards do not look after the gate any more leaves its place in the list."""

    skips: ClassVar[Mapping[str, Answer]] = {
        "removes its place from the list if its own guard is there": True
    }


@shown_in("a key waits")
class RestsUnlisted(Keys):
    """A guard's handler does not list its key."""

    skips: ClassVar[Mapping[str, Answer]] = {"lists the key under its own guard": True}


@shown_in("a paused key")
class WakesNobodyOnResume(Keys):
    """A resume wakes nobody."""

    def late_batons(self, state: State, _change: int) -> State:
        return state


@shown_in("a paused key")
class GuardRestsForEver(Keys):
    """A wake-up leaves a resting guard."""

    def wake(self, gate: int) -> Program:
        yield from ()
        return Position("act", (gate,))


@shown_in("a paused key")
class WakeReplacesAnyGuard(Keys):
    """A wake-up replaces whatever guard it finds."""

    @operation("compares its guard")
    def compare_guard(self, state: State, me: int, gate: int) -> Outcomes:
        if state.functions[me].message.kind == "wake":
            return [(state, OWN)]
        return super().compare_guard(gate).outcomes(state, me)

    @operation("stores the next guard whatever is there")
    def replace_guard(self, state: State, me: int, gate: int) -> Outcomes:
        return [(state.with_gate(gate, guard=state.functions[me].sent, queues=True), OWN)]


@shown_in("a key with runs")
class ExpiresUnderRuns(Keys):
    """The item of a gate expires while a run holds a slot."""

    def may_expire(self, state: State, number: int) -> bool:
        return not self.comes(state, number)


@shown_in("switched off")
class WakesNobodyWhenSwitchedOn(Switch):
    """Switching on wakes nobody."""

    def woken(self, state: State) -> State:
        return state


@shown_in("a rate")
class LateRequestsLeave(Rates):
    """A request leaves although its token is too old."""

    @operation("opens a request for its token")
    def open_request(self, state: State, me: int) -> Outcomes:
        if state.functions[me].token < -LATE_MAX:
            return super().open_request().outcomes(state.with_function(me, token=0), me)
        return super().open_request().outcomes(state, me)


@shown_in("a rate")
class SlotsLieTooClose(Rates):
    """Slots leave no room for late requests."""

    @staticmethod
    def step(rate: int) -> int:
        return -(-PER // rate) if rate else 0


@shown_in("a rate is lowered, three triggers")
class ForgetsTheLastSlot(Rates):
    """A bucket begins anew when its rate changes."""

    def next_slot(self, state: State, me: int, bucket: int) -> int:
        is_known = (bucket, state.buckets[bucket].step) in self.steps_now(state, me)
        return max(0, state.buckets[bucket].next) if is_known else 0


@shown_in("a rate")
class RequestsDoNotWaitForSlots(Rates):
    """A request leaves before its slot."""

    @operation("opens a request for its token")
    def open_request(self, state: State, me: int) -> Outcomes:
        token = state.functions[me].token
        early = state.with_function(me, token=min(token, 0) if token != NO_TOKEN else token)
        return super().open_request().outcomes(early, me)


@shown_in("a rate")
class CallsNobodyForTokens(Rates):
    """A server without a token calls nobody."""

    def give_entry_back(self, gate: int, line: int, trigger: int) -> Program:
        yield self.free_entry(line, trigger)
        yield self.give_slot_back_in_time(gate)
        return None


@shown_in("a rate, two gates")
class ThiefCallsAtOwnGateOnly(Rates):
    """A thief without a token calls at its own gate only."""

    def give_entry_back(self, gate: int, line: int, trigger: int) -> Program:
        yield self.free_entry(line, trigger)
        yield from self.hand_over(gate)
        return None


class AuditsAtOnce(Closing):
    """The audit does not wait until writers of the open policy have ended."""

    def may_audit(self, _state: ClosingState) -> bool:
        return True


class RemovesAnyVersion(Closing):
    """The audit removes a policy that was opened meanwhile."""

    @operation("removes the policy")
    def remove_on(self, state: ClosingState, me: int, _version: int) -> ClosingOutcomes:
        return super().remove_on(state.version).outcomes(state, me)


class WritesAnyVersion(Closing):
    """A job is written although it changed since it was read."""

    @operation("writes the job")
    def write_on(self, state: ClosingState, me: int, _version: int) -> ClosingOutcomes:
        return super().write_on(state.job_version).outcomes(state, me)


class AcceptsNewJobs(Closing):
    """A new job may name a closed policy."""

    @operation("reads whether the policy is there")
    def read_whether_open(self, state: ClosingState, _me: int) -> ClosingOutcomes:
        return [(state, state.policy is not Policy.MISSING)]


class WalksOverNoJobs(Closing):
    """The audit looks at gates only."""

    @operation("walks over the jobs")
    def walk_jobs(self, state: ClosingState, _me: int) -> ClosingOutcomes:
        return [(state, False)]


CLOSING_MUTATIONS: Final = (
    AuditsAtOnce,
    RemovesAnyVersion,
    WritesAnyVersion,
    AcceptsNewJobs,
    WalksOverNoJobs,
)
