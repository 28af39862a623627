"""Ways of breaking what belongs to gates: keys, the switch, rates, and the end of a policy."""

from collections.abc import Mapping
from typing import ClassVar, Final

from tests.models.closing import Closing, Policy
from tests.models.closing import Outcomes as ClosingOutcomes
from tests.models.closing import State as ClosingState
from tests.models.keys import Keys
from tests.models.mutations import Mutation
from tests.models.operations import Outcomes
from tests.models.programs import Answer, Part, Position, Program, operation
from tests.models.rates import LATE_MAX, PER, Rates
from tests.models.state import NO_GUARD, NO_TOKEN, Gate, State
from tests.models.switch import Switch


class UnlistsWithoutComparing(Keys):
    @operation("removes the key from the list")
    def unlist_own(self, state: State, _me: int, gate: int) -> Outcomes:
        return [(state.with_gate(gate, listed=NO_GUARD), True)]


class ListsBeforeStoring(Keys):
    def begin_guard(self, gate: int) -> Part:
        yield self.send_guard(gate)
        yield self.list_sent(gate)
        seen: int = yield self.store_guard(gate)
        return seen


class RestsUnlisted(Keys):
    skips: ClassVar[Mapping[str, Answer]] = {"lists the key under its own guard": True}


class WakesAtCommit(Keys):
    def views_are_over(self, _state: State, _change: int) -> bool:
        return True


class WakesNobodyOnResume(Keys):
    def late_batons(self, state: State, _change: int) -> State:
        return state


class GuardRestsForEver(Keys):
    def wake(self, gate: int) -> Program:
        yield from ()
        return Position("act", (gate,))


class ExpiresUnderRuns(Keys):
    def may_expire(self, gate: Gate) -> bool:
        return gate.guard == NO_GUARD


class WakesNobodyWhenSwitchedOn(Switch):
    def woken(self, state: State) -> State:
        return state


class LateRequestsLeave(Rates):
    @operation("opens a request for its token")
    def open_request(self, state: State, me: int) -> Outcomes:
        if state.functions[me].token < -LATE_MAX:
            return super().open_request().outcomes(state.with_function(me, token=0), me)
        return super().open_request().outcomes(state, me)


class SlotsLieTooClose(Rates):
    @staticmethod
    def step(rate: int) -> int:
        return -(-PER // rate)


class RequestsDoNotWaitForSlots(Rates):
    @operation("opens a request for its token")
    def open_request(self, state: State, me: int) -> Outcomes:
        token = state.functions[me].token
        early = state.with_function(me, token=min(token, 0) if token != NO_TOKEN else token)
        return super().open_request().outcomes(early, me)


class CallsNobodyForTokens(Rates):
    def give_entry_back(self, gate: int, line: int, trigger: int) -> Program:
        yield self.free_entry(line, trigger)
        yield self.give_slot_back_in_time(gate)
        return None


class ThiefCallsAtOwnGateOnly(Rates):
    def give_entry_back(self, gate: int, line: int, trigger: int) -> Program:
        yield self.free_entry(line, trigger)
        yield from self.hand_over(gate)
        return None


OTHER_MUTATIONS: Final = (
    Mutation(
        "The list of keys is changed without a look at whose item it is",
        UnlistsWithoutComparing,
        "a key is paused while it waits",
    ),
    Mutation("A key is listed before its guard is stored", ListsBeforeStoring, "a paused key"),
    Mutation("A guard's handler does not list its key", RestsUnlisted, "a paused key, crash"),
    Mutation("A resume wakes keys at the commit", WakesAtCommit, "a paused key"),
    Mutation("A resume wakes nobody", WakesNobodyOnResume, "a paused key"),
    Mutation("A wake-up leaves a resting guard", GuardRestsForEver, "a paused key"),
    Mutation("The item of a gate expires while a run holds a slot", ExpiresUnderRuns, "a key with runs"),
    Mutation("Switching on wakes nobody", WakesNobodyWhenSwitchedOn, "switched off"),
    Mutation("A request leaves although its token is too old", LateRequestsLeave, "a rate"),
    Mutation("Slots leave no room for late requests", SlotsLieTooClose, "a rate"),
    Mutation("A request leaves before its slot", RequestsDoNotWaitForSlots, "a rate"),
    Mutation("A server without a token calls nobody", CallsNobodyForTokens, "a rate"),
    Mutation(
        "A thief without a token calls at its own gate only", ThiefCallsAtOwnGateOnly, "a rate, two gates"
    ),
)


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
