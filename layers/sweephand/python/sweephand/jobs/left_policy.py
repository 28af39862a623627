"""Having triggers taken out of the line of a missing policy, when their job is written without it."""

from collections.abc import Callable
from contextlib import suppress

from sweephand.base.errors import StoreError
from sweephand.base.timing import LEFT_DELAY_MS
from sweephand.flow_ports import WorkQueue
from sweephand.jobs.policy_check import PolicyCheck
from sweephand.model.definition import Definition
from sweephand.model.job import Job
from sweephand.model.work_message import WorkMessage
from sweephand.ports import Clock


class LeftPolicy:
    """Sends the work messages of such writes. A policy that exists needs none: its workers meet the triggers.

    If that policy is deleted meanwhile, the deletion sends messages of its own (jobs/policies.py).
    """

    def __init__(self, make_work: Callable[[], WorkQueue] | None, clock: Clock) -> None:
        """`make_work` is None in a stack without flow policies, where nobody walks lines."""
        self._make_work = make_work
        self._clock = clock

    def announce(
        self, stored: Job | None, definition: Definition, policies: PolicyCheck
    ) -> WorkMessage | None:
        """Before the commit: if the definition leaves a missing policy, send a message that comes past it.

        So the triggers are taken out also if this function crashes after its commit. Some may come into the
        line after the commit, from functions that had read the job before. The message comes after these
        too. Returns what confirm() sends; None if it need not send anything. StoreError: nothing was sent.
        """
        if stored is None or self._make_work is None:
            return None
        name = stored.definition.policy
        if name in (None, definition.policy):
            return None
        if policies.block(stored.key.namespace, stored.definition) != "missing":
            return None
        message = WorkMessage(stored.key.namespace, name, self._clock.now(), left_by=stored.key.name)
        self._make_work().send(message, LEFT_DELAY_MS)
        return message

    def confirm(self, announced: WorkMessage | None) -> None:
        """After the commit: send the same message once more, to come at once."""
        if announced is not None and self._make_work is not None:
            # If this fails, the first one still comes.
            with suppress(StoreError):
                self._make_work().send(announced, 0)
