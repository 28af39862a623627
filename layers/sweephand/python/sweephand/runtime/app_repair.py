"""The use cases about what has failed, was lost or would be, made like those of an App, which has these."""

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sweephand.jobs.payload_audit import PayloadAudit
    from sweephand.runs.audit import Auditor
    from sweephand.runs.audit_rounds import AuditRounds
    from sweephand.runs.rebuild import Rebuilder
    from sweephand.runs.redrive import Redriver
    from sweephand.runs.time_off import TimeOff
    from sweephand.runtime.app_ports import Ports


class RepairUseCases:
    """The use cases over one set of ports. Each is made when it is first asked for."""

    def __init__(self, ports: "Ports") -> None:
        self._ports = ports

    @cached_property
    def rebuilder(self) -> "Rebuilder":
        """Arms every job again."""
        from sweephand.runs.rebuild import Rebuilder

        ports = self._ports
        return Rebuilder(
            jobs=ports.jobs,
            changes=ports.changes,
            runs=ports.runs,
            timers=ports.timers,
            leases=ports.leases,
            namespaces=ports.namespaces,
            queue=ports.queue,
            payloads=ports.payloads,
            clock=ports.clock,
        )

    @cached_property
    def auditor(self) -> "Auditor":
        """Finds timers and messages that were lost without a trace."""
        from sweephand.runs.audit import Auditor

        ports = self._ports
        return Auditor(
            jobs=ports.jobs,
            runs=ports.runs,
            timers=ports.timers,
            leases=ports.leases,
            namespaces=ports.namespaces,
            queue=ports.queue,
            payloads=ports.payloads,
            policies=ports.policies,
            lines=ports.policy_lines,
            work=ports.work,
            clock=ports.clock,
        )

    @cached_property
    def audit_rounds(self) -> "AuditRounds":
        """Lets tick go through all jobs once a week."""
        from sweephand.runs.audit_rounds import AuditRounds

        ports = self._ports
        return AuditRounds(auditor=self.auditor, rounds=ports.audit_rounds, clock=ports.clock, ids=ports.ids)

    @cached_property
    def time_off(self) -> "TimeOff":
        """Keeps what waits while the stack is switched off."""
        from sweephand.runs.time_off import TimeOff

        ports = self._ports
        return TimeOff(expiry=ports.expiry_switch, queues=ports.stack_queues, clock=ports.clock)

    @cached_property
    def payload_audit(self) -> "PayloadAudit":
        """Finds the payloads that no job refers to any more."""
        from sweephand.jobs.payload_audit import PayloadAudit

        ports = self._ports
        return PayloadAudit(
            jobs=ports.jobs, places=ports.payload_places, audits=ports.audits, clock=ports.clock
        )

    @cached_property
    def redriver(self) -> "Redriver":
        """Redrives failed runs."""
        from sweephand.runs.redrive import Redriver

        ports = self._ports
        return Redriver(
            jobs=ports.jobs, runs=ports.runs, queue=ports.queue, payloads=ports.payloads, clock=ports.clock
        )
