"""Writing flow policies, so that what waits in their lines is looked after when a limit allows more."""

from dataclasses import dataclass, replace
from typing import Final

from sweephand.base.errors import UnavailableError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import API_LIMIT_MS
from sweephand.flow_ports import PolicyStore, WorkQueue
from sweephand.model.policy import Policy, PolicyKey, Rate, holder_size_of, partitions_of
from sweephand.model.trigger import WorkMessage
from sweephand.ports import Clock, Ids

#: How often a write starts over that another write has overtaken.
_TRIES_MAX: Final = 5


@dataclass(frozen=True, slots=True)
class PolicyLimits:
    """What a caller writes of a policy: at least one of the two."""

    concurrent_max: int | None
    rate: Rate | None


class PolicyWriter:
    """Creates, changes and deletes policies. The last write wins."""

    def __init__(self, *, policies: PolicyStore, work: WorkQueue, clock: Clock, ids: Ids) -> None:
        self._policies = policies
        self._work = work
        self._clock = clock
        self._ids = ids

    def put(self, key: PolicyKey, limits: PolicyLimits) -> tuple[Policy, bool]:
        """Create or change a policy. Returns it, and whether it is new.

        A work message is sent before the commit, delayed past it, and another one after it. So whatever
        crashes, one comes that finds the new limit. Equal limits change nothing.
        """
        for _ in range(_TRIES_MAX):
            stored, now = self._policies.get(key), self._clock.now()
            is_new = stored is None or stored.deleted_at is not None
            if stored is not None and not is_new and _limits(stored) == limits:
                return stored, False
            policy = self._policy(key, stored, limits, now)
            self._wake(key, now + API_LIMIT_MS + SECOND_MS)
            if self._policies.put(policy, stored.version if stored else None):
                self._wake(key, now)
                return policy, is_new
        raise UnavailableError("The policy keeps changing. Try again.")

    def delete(self, key: PolicyKey) -> bool:
        """Delete a policy. Its triggers wait until it is created again. Returns whether there was one."""
        for _ in range(_TRIES_MAX):
            stored, now = self._policies.get(key), self._clock.now()
            if stored is None or stored.deleted_at is not None:
                return False
            deleted = replace(stored, version=self._ids.token(), updated_at=now, deleted_at=now)
            if self._policies.put(deleted, stored.version):
                return True
        raise UnavailableError("The policy keeps changing. Try again.")

    def _policy(self, key: PolicyKey, stored: Policy | None, limits: PolicyLimits, now: Instant) -> Policy:
        written = Policy(
            key=key,
            version=self._ids.token(),
            concurrent_max=limits.concurrent_max,
            rate=limits.rate,
            holder_size=1,
            partitions=0,
            created_at=now if stored is None or stored.deleted_at is not None else stored.created_at,
            updated_at=now,
        )
        size = holder_size_of(written.permits) if stored is None else stored.holder_size
        partitions = partitions_of(written.permits, size)
        if stored is not None:
            partitions = max(partitions, stored.partitions)
        return replace(written, holder_size=size, partitions=partitions)

    def _wake(self, key: PolicyKey, at: Instant) -> None:
        self._work.send(WorkMessage(key.namespace, key.name, at), max(0, at - self._clock.now()))


def _limits(policy: Policy) -> PolicyLimits:
    return PolicyLimits(policy.concurrent_max, policy.rate)
