"""Makes the use cases of tick's rare duties: the audits."""

from dataclasses import dataclass

from sweephand.jobs.payload_audit import PayloadAudit
from sweephand.runs.audit import Auditor
from sweephand.runs.audit_rounds import AuditRounds
from sweephand.runtime.compose_rare import compose_gates
from sweephand.runtime.stores import Stores


@dataclass(frozen=True)
class Upkeep:
    """The use cases of tick's rare duties."""

    payload_audit: PayloadAudit
    audit_rounds: AuditRounds


def compose_upkeep(stores: Stores) -> Upkeep:
    """The use cases of tick's rare duties."""
    return Upkeep(
        payload_audit=PayloadAudit(
            jobs=stores.jobs, places=stores.payload_places, audits=stores.audits, clock=stores.clock
        ),
        audit_rounds=AuditRounds(
            auditor=compose_auditor(stores),
            rounds=stores.audit_rounds,
            clock=stores.clock,
            ids=stores.ids,
        ),
    )


def compose_auditor(stores: Stores) -> Auditor:
    """Finds timers and messages that were lost without a trace."""
    return Auditor(
        jobs=stores.jobs,
        runs=stores.runs,
        timers=stores.timers,
        leases=stores.leases,
        namespaces=stores.namespaces,
        queue=stores.queue,
        payloads=stores.payloads,
        policies=stores.policies,
        flow=compose_gates(stores),
        clock=stores.clock,
    )
