"""The use cases of flow policies, made like those of an App, which has one of these."""

from functools import cached_property
from typing import TYPE_CHECKING

from sweephand.base.concurrency import Concurrently

if TYPE_CHECKING:
    from sweephand.jobs.change_history import PolicyChangeHistory
    from sweephand.jobs.left_policy import LeftPolicy
    from sweephand.jobs.policies import PolicyWriter
    from sweephand.jobs.policy_check import PolicyCheck
    from sweephand.jobs.policy_reader import PolicyReader
    from sweephand.runtime.app_ports import Ports


class PolicyUseCases:
    """The use cases of flow policies over one set of ports. Each is made when it is first asked for.

    `functions_max` is how many flow functions may run at once; 0 stands for a stack without flow policies.
    """

    def __init__(self, ports: "Ports", functions_max: int, read_concurrently: Concurrently) -> None:
        self._ports = ports
        self._functions_max = functions_max
        self._read_concurrently = read_concurrently

    @cached_property
    def policy_check(self) -> "PolicyCheck":
        """Refuses jobs whose policy does not exist."""
        from sweephand.jobs.policy_check import PoliciesOff, PolicyCheck

        return PolicyCheck(self._ports.policies.get) if self._functions_max else PoliciesOff()

    @cached_property
    def left_policy(self) -> "LeftPolicy":
        """Has triggers taken out of the line of a missing policy that their job has left."""
        from sweephand.jobs.left_policy import LeftPolicy

        ports = self._ports
        return LeftPolicy(lambda: ports.work, ports.clock)

    @cached_property
    def policy_writer(self) -> "PolicyWriter":
        """Creates, changes and deletes policies."""
        from sweephand.jobs.policies import PolicyRemover, PolicyWriter

        ports = self._ports
        policies, changes, clock, ids = ports.policies, ports.changes, ports.clock, ports.ids
        if not self._functions_max:
            return PolicyRemover(policies=policies, changes=changes, clock=clock, ids=ids)
        return PolicyWriter(policies=policies, changes=changes, work=ports.work, clock=clock, ids=ids)

    @cached_property
    def policy_reader(self) -> "PolicyReader":
        """Reads policies and their use."""
        from sweephand.jobs.policy_reader import PolicyReader

        ports = self._ports
        return PolicyReader(
            policies=ports.policies,
            permits=ports.permits,
            lines=ports.policy_lines,
            functions_max=self._functions_max,
            concurrently=self._read_concurrently,
        )

    @cached_property
    def policy_changes(self) -> "PolicyChangeHistory":
        """Lists the changes of a policy."""
        from sweephand.jobs.change_history import PolicyChangeHistory

        return PolicyChangeHistory(policies=self._ports.policies, changes=self._ports.changes)
