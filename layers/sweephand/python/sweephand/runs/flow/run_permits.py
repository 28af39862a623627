"""The permits that asynchronous runs hold until they are over."""

from sweephand.model.job import JobKey
from sweephand.model.policy import PermitName, PolicyKey
from sweephand.model.work_message import WorkMessage
from sweephand.ports.clock import Clock
from sweephand.ports.flow import PermitStore, WorkQueue


class RunPermits:
    """Frees permits of runs that are over. Several threads may share one object."""

    def __init__(self, *, permits: PermitStore, work: WorkQueue, clock: Clock) -> None:
        self._permits = permits
        self._work = work
        self._clock = clock

    def free(self, key: JobKey, permit: PermitName) -> None:
        """Free the permit of a run of that job, and have the policy's line looked after.

        Freeing it again changes nothing. StoreError: it may not be free.
        """
        policy = PolicyKey(key.namespace, permit.policy)
        self._permits.remove(policy, permit.slot, [permit.id])
        # The worker that left the permit to the run may have been the last one.
        self._work.send(WorkMessage(*policy, self._clock.now()), 0)
