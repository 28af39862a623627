"""The permit of one request, as the code that delivers a trigger uses it."""

from collections.abc import Callable

from sweephand.base.instants import Instant
from sweephand.base.timing import POLICY_AGE_MAX_MS
from sweephand.flow.gate_key import is_under
from sweephand.flow.held_slots import HeldSlots, end_request_of_run, give_back_of_run, held_by_run
from sweephand.model.definition import Definition
from sweephand.model.gate import Gate, Holder, Token
from sweephand.model.policy import PermitName, PolicyKey
from sweephand.ports.clock import Clock
from sweephand.ports.flow import GateStore


class Permit:
    """The right to make one request under a policy: a slot, and a token if there is a rate.

    One thread uses it.
    """

    def __init__(
        self,
        slots: HeldSlots,
        request: str,
        token: Token | None,
        *,
        is_in_force: Callable[[], bool],
        is_probe: bool = False,
        store: GateStore,
        clock: Clock,
    ) -> None:
        """It `is_in_force` while the policy, read at most a second ago, lets requests leave.

        A probe leaves while the breaker of the policy is open.
        """
        self._is_in_force = is_in_force
        self.is_probe = is_probe
        #: Whether the answer was one for which a breaker opens; None before an answer.
        self.met_outage: bool | None = None
        self._slots = slots
        self._request = request
        #: The token that the request uses up, if the policy has a rate.
        self.token = token
        self._store = store
        self._clock = clock
        #: Whether the request could not leave: the time of its token or of its holder was over, or the policy
        #: let nothing leave any more.
        self.was_refused = False
        #: Whether a request has left, so that the token is used.
        self.has_left = False
        #: Whether an asynchronous run has its slot.
        self.is_kept = False
        self._run: Holder | None = None
        #: The gate after that run has given the slot back.
        self.given_back: Gate | None = None

    @property
    def key(self) -> PolicyKey:
        """The policy."""
        return self._slots.name.policy

    @property
    def name(self) -> PermitName:
        """Its name, by which others give its slot back once an asynchronous run has it."""
        gate = self._slots.name
        return PermitName(self.key.name, gate.number, self._request, gate.key)

    def is_for(self, definition: Definition, job: str) -> bool:
        """Whether a job of that name still counts under the policy and the key of the permit."""
        return definition.policy == self.key.name and is_under(self._slots.name.key, definition, job)

    @property
    def was_in_vain(self) -> bool:
        """Whether its request was a probe that failed. Such an attempt does not count."""
        return self.is_probe and self.met_outage is True

    @property
    def leaves_at(self) -> Instant:
        """When the request may leave as far as the rate goes: now, or when its token's slot begins."""
        now = self._clock.now()
        return now if self.token is None else max(now, self.token.opens_at)

    def wait(self) -> None:
        """Return when the request may leave as far as the rate goes.

        A connection may have taken its time, so the policy is read again if the last read is too old.
        StoreError: the request must not leave.
        """
        # The clock may have stepped back since the token was taken.
        is_far = self.leaves_at - self._clock.now() > POLICY_AGE_MAX_MS
        self.was_refused = self.was_refused or is_far or not self._is_in_force()
        if not self.was_refused:
            self._clock.wait_until(self.leaves_at)

    def may_leave(self) -> bool:
        """Whether the request may leave at this moment. Once it may not, it never may."""
        is_open = self.token is None or self.token.is_open(self._clock.now())
        self.was_refused = self.was_refused or not (is_open and (self.is_kept or self._slots.last))
        self.has_left = self.has_left or not self.was_refused
        return not self.was_refused

    def keep(self, until: Instant) -> bool:
        """Hand the slot to the run until then, even if this function crashes.

        Returns whether it is kept. If not, the request must not leave.
        """
        # The answer to the write may be lost. So the function counts the slot as the run's from before it.
        self.is_kept = True
        self._run = held_by_run(self._clock.now(), until)
        self.is_kept = self._slots.hand_to_run(self._request, self._run)
        self.was_refused = self.was_refused or not self.is_kept
        return self.is_kept

    def free(self) -> None:
        """Give the slot back if an asynchronous run has it."""
        if self.is_kept:
            self.given_back = give_back_of_run(self._store, self._slots.name, self._request)
            self._run = None

    def close(self) -> None:
        """The request is over. An asynchronous run goes on with the slot, unless it is over already."""
        if self.is_kept and self._run is not None:
            self.given_back = end_request_of_run(self._store, self._slots.name, self._request, self._run)
