"""The use cases about what has failed, was lost or would be, made like those of an App, which has these."""

from functools import cached_property
from typing import TYPE_CHECKING

from sweephand.base.concurrency import one_by_one

if TYPE_CHECKING:
    from sweephand.base.concurrency import Concurrently
    from sweephand.jobs.payload_audit import PayloadAudit
    from sweephand.runs.audit import Auditor
    from sweephand.runs.audit_rounds import AuditRounds
    from sweephand.runs.keep.rounds import KeepRounds
    from sweephand.runs.rebuild import Rebuilder
    from sweephand.runs.redrive import Redriver
    from sweephand.runtime.app_ports import Ports


class RepairUseCases:
    """The use cases over one set of ports. Each is made when it is first asked for."""

    def __init__(self, ports: "Ports", concurrently: "Concurrently" = one_by_one) -> None:
        self._ports = ports
        self._concurrently = concurrently

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
            kept_jobs=ports.kept_jobs,
            clock=ports.clock,
        )

    @cached_property
    def audit_rounds(self) -> "AuditRounds":
        """Lets tick go through all jobs once a week."""
        from sweephand.runs.audit_rounds import AuditRounds

        ports = self._ports
        return AuditRounds(auditor=self.auditor, rounds=ports.audit_rounds, clock=ports.clock, ids=ports.ids)

    @cached_property
    def keep_rounds(self) -> "KeepRounds":
        """Lets tick keep what waits while the stack is switched off."""
        from sweephand.runs.keep.jobs import JobKeeper
        from sweephand.runs.keep.messages import MessageKeeper
        from sweephand.runs.keep.payloads import PayloadKeeper
        from sweephand.runs.keep.policies import PolicyKeeper
        from sweephand.runs.keep.rounds import KeepRounds
        from sweephand.runs.keep.timers import TimerKeeper

        ports = self._ports
        return KeepRounds(
            timers=TimerKeeper(
                timers=ports.kept_timers,
                leases=ports.leases,
                clock=ports.clock,
                concurrently=self._concurrently,
            ),
            messages=MessageKeeper(queues=ports.kept_queues),
            policies=PolicyKeeper(
                policies=ports.policies,
                lines=ports.policy_lines,
                namespaces=ports.namespaces,
                clock=ports.clock,
            ),
            jobs=JobKeeper(
                jobs=ports.jobs,
                kept_jobs=ports.kept_jobs,
                runs=ports.runs,
                lines=ports.lines,
                policies=ports.policies,
                policy_lines=ports.policy_lines,
                namespaces=ports.namespaces,
                clock=ports.clock,
                ids=ports.ids,
            ),
            payloads=PayloadKeeper(
                places=ports.kept_payloads, clock=ports.clock, concurrently=self._concurrently
            ),
            rounds=ports.keep_rounds,
            clock=ports.clock,
            ids=ports.ids,
        )

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
