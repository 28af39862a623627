"""The breaker of a policy: who counts failures, opens it, and closes it.

While the consumer of a policy is out of order, its triggers wait instead of failing. One probe leaves after
each `probeAfter`. Opening and closing change no limit. So it does not matter in which order functions see
them.

The count of failures in a row stands in the item of the policy, which every function reads each second
anyway. So a breaker costs nothing without failures. A write for each success would cost $0.63 a million. A
count in each function's memory would never open a policy that has a trigger a minute.

The failures must last for a second: by then each function has read the item, and any success has removed the
count. Otherwise a tenth of a hundred first requests could open it, failing by chance. A breaker does not
close before a probe has succeeded, even if nothing waits: otherwise a herd could be the probe.
"""

from contextlib import suppress

from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.base.timing import POLICY_AGE_MAX_MS, POLICY_CHANGE_MS
from sweephand.flow.gates import Gates
from sweephand.flow.permit import Permit
from sweephand.model.gate import GateName
from sweephand.model.gate_message import GateMessage
from sweephand.model.policy import Breaker, Policy


class CircuitBreaker:
    """The breaker of one policy, as a function sees it that sends requests. Threads may share one object."""

    def __init__(self, gates: Gates) -> None:
        self._gates = gates
        #: The policy as it was when this function last counted a failure, until it sees a success.
        self._counted: Policy | None = None

    def answered(self, policy: Policy, permit: Permit, read_at: Instant) -> bool:
        """Take note of the answer to a request, by the policy as it was read then.

        Returns whether the breaker is known to be open, so that no other request may begin. If a write fails,
        the next answers make up for it.
        """
        if policy.breaker is None or permit.met_outage is None:
            return False
        with suppress(StoreError):
            if permit.met_outage:
                return permit.is_probe or self._count(policy, policy.breaker)
            if permit.is_probe:
                self._close(policy)
            elif self._counted is not None or self._has_failed(policy, read_at):
                self._counted = None
                self._gates.policies.forget_failures(policy.key)
        return False

    def _has_failed(self, policy: Policy, read_at: Instant) -> bool:
        """Whether failures are counted. A consumer may have taken longer than a read may be old."""
        if not 0 <= self._gates.clock.now() - read_at < POLICY_AGE_MAX_MS:
            policy = self._gates.policies.get(policy.key) or policy
        return policy.failed > 0

    def _count(self, policy: Policy, breaker: Breaker) -> bool:
        """Count a failure. The breaker opens after enough of them, in a second at least.

        A function that sees a success after that second knows of the failures, and begins the count anew.
        """
        gates, now = self._gates, self._gates.clock.now()
        before = self._counted
        if before is not None and before.failed >= breaker.failures and not _has_lasted(before, now):
            return False
        counted = self._counted = gates.policies.count_failure(policy.key, now)
        if counted is None:
            return True
        if counted.failed < breaker.failures or not _has_lasted(counted, now):
            return False
        # The message goes first: a breaker that is open without one would never close.
        probe, at = gates.ids.token(), now + breaker.probe_after_ms
        gates.send("probe", GateName(policy.key, 0), at, guard=probe)
        gates.policies.open_breaker(policy.key, probe, at, now)
        return True

    def _close(self, policy: Policy) -> None:
        # If this function crashes in between, the next probe finds the breaker closed, and tells of it.
        self._gates.policies.close_breaker(policy.key)
        tell_of_change(self._gates, policy)


def tell_of_change(gates: Gates, policy: Policy) -> None:
    """Have each gate looked after once no function knows the policy as it was."""
    at = gates.clock.now() + POLICY_CHANGE_MS
    gates.send_message(GateMessage("change", *policy.key, policy.gates, at))


def _has_lasted(counted: Policy, now: Instant) -> bool:
    return counted.failing_since is not None and now - counted.failing_since >= POLICY_AGE_MAX_MS
