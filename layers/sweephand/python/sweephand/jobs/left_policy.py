"""Having triggers taken out of the line of a missing policy, when their job is written without it."""

from contextlib import suppress
from threading import Lock

from sweephand.base.errors import StoreError
from sweephand.base.timing import LEFT_DELAY_MS
from sweephand.jobs.policy_check import PolicyCheck
from sweephand.model.definition import Definition
from sweephand.model.job import Job
from sweephand.model.policy_names import PolicyKey
from sweephand.model.work_message import WorkMessage
from sweephand.ports.clock import Clock
from sweephand.ports.flow import WorkQueue


class LeftPolicy:
    """Sends the work messages of such writes. A policy that exists needs none: its workers meet the triggers.

    If that policy is deleted meanwhile, the deletion sends messages of its own (jobs/policies.py).
    """

    def __init__(self, work: WorkQueue, clock: Clock) -> None:
        self._work = work
        self._clock = clock

    def announce(
        self, stored: Job | None, definition: Definition, policies: PolicyCheck
    ) -> WorkMessage | None:
        """Before the commit: if the definition leaves a missing policy, send a message that comes past it.

        So the triggers are taken out also if this function crashes after its commit. Some may come into the
        line after the commit, from functions that had read the job before. The message comes after these
        too. Returns what confirm() sends; None if it need not send anything. StoreError: nothing was sent.
        """
        left = self._left(stored, definition, policies)
        return None if left is None or stored is None else self._send(left, stored.key.name)

    def confirm(self, announced: WorkMessage | None) -> None:
        """After the commit: send the same message once more, to come at once."""
        if announced is not None:
            # If this fails, the first one still comes.
            with suppress(StoreError):
                self._work.send(announced, 0)

    def of_call(self) -> "LeftPolicies":
        """What one call needs that writes several jobs."""
        return LeftPolicies(self._work, self._clock)

    def _left(self, stored: Job | None, definition: Definition, policies: PolicyCheck) -> PolicyKey | None:
        """The missing policy that the definition leaves; None if there is none."""
        name = None if stored is None else stored.definition.policy
        if stored is None or name is None or name == definition.policy:
            return None
        if policies.block(stored.key.namespace, stored.definition) != "missing":
            return None
        return PolicyKey(stored.key.namespace, name)

    def _send(self, left: PolicyKey, by: str) -> WorkMessage:
        message = WorkMessage(left.namespace, left.name, self._clock.now(), left_by=by)
        self._work.send(message, LEFT_DELAY_MS)
        return message


class LeftPolicies(LeftPolicy):
    """Sends the work messages of one call that writes several jobs: two for each policy that they leave.

    Both have the line walked for any job. One message for each job would have the whole line read as often.
    Several threads may share one object.
    """

    def __init__(self, work: WorkQueue, clock: Clock) -> None:
        super().__init__(work, clock)
        self._lock = Lock()
        self._announced: dict[PolicyKey, WorkMessage] = {}

    def announce(self, stored: Job | None, definition: Definition, policies: PolicyCheck) -> None:
        """As that of one job, for the first job of the call that leaves the policy.

        The message of that job comes past the commits of all others too: the limit of the API function
        bounds them. The threads of the others wait until it is sent.
        """
        left = self._left(stored, definition, policies)
        if left is None:
            return
        with self._lock:
            if left not in self._announced:
                self._announced[left] = self._send(left, "")

    def confirm_all(self) -> None:
        """After the last commit of the call: send each message once more, to come at once."""
        for each in self._announced.values():
            self.confirm(each)
