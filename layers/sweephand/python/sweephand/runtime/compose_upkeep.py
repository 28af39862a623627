"""Makes the use cases of tick's rare duties: the audits, and keeping what waits in a stack that is off."""

from dataclasses import dataclass

from sweephand.base.concurrency import Concurrently
from sweephand.jobs.payload_audit import PayloadAudit
from sweephand.runs.audit import Auditor
from sweephand.runs.audit_rounds import AuditRounds
from sweephand.runs.keep.jobs import JobKeeper
from sweephand.runs.keep.messages import MessageKeeper
from sweephand.runs.keep.payloads import PayloadKeeper
from sweephand.runs.keep.policies import PolicyKeeper
from sweephand.runs.keep.rounds import KeepRounds
from sweephand.runs.keep.timers import TimerKeeper
from sweephand.runtime.stores import Stores
from sweephand.runtime.threads import sweep_concurrently


@dataclass(frozen=True)
class Upkeep:
    """The use cases of tick's rare duties."""

    payload_audit: PayloadAudit
    audit_rounds: AuditRounds
    keep_rounds: KeepRounds


def compose_upkeep(stores: Stores, concurrently: Concurrently = sweep_concurrently) -> Upkeep:
    """The use cases of tick's rare duties."""
    clock, ids = stores.clock, stores.ids
    return Upkeep(
        payload_audit=PayloadAudit(
            jobs=stores.jobs, places=stores.payload_places, audits=stores.audits, clock=clock
        ),
        audit_rounds=AuditRounds(
            auditor=compose_auditor(stores), rounds=stores.audit_rounds, clock=clock, ids=ids
        ),
        keep_rounds=KeepRounds(
            timers=TimerKeeper(
                timers=stores.kept_timers, leases=stores.leases, clock=clock, concurrently=concurrently
            ),
            messages=MessageKeeper(queues=stores.kept_queues),
            policies=PolicyKeeper(
                policies=stores.policies,
                lines=stores.policy_lines,
                namespaces=stores.namespaces,
                clock=clock,
            ),
            jobs=JobKeeper(
                jobs=stores.jobs,
                kept_jobs=stores.kept_jobs,
                runs=stores.runs,
                lines=stores.lines,
                policies=stores.policies,
                policy_lines=stores.policy_lines,
                namespaces=stores.namespaces,
                clock=clock,
                ids=ids,
            ),
            payloads=PayloadKeeper(places=stores.kept_payloads, clock=clock, concurrently=concurrently),
            rounds=stores.keep_rounds,
            clock=clock,
            ids=ids,
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
        lines=stores.policy_lines,
        work=stores.work,
        kept_jobs=stores.kept_jobs,
        clock=stores.clock,
    )
