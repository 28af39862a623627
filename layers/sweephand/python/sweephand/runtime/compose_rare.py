"""Makes what few deliveries need, and the workers of policies: lines of policies, batches and long waits."""

from dataclasses import dataclass

from sweephand.ports.flow import PermitStore, PolicyLines, PolicyStore, WorkQueue
from sweephand.ports.runs import BatchStore
from sweephand.ports.wheel import TimerStore
from sweephand.runs.batch_progress import BatchProgress
from sweephand.runs.flow.run_permits import RunPermits
from sweephand.runs.handlers import Rare
from sweephand.runtime.compose_delivery import DeliveryStores
from sweephand.wheel.sending import LineUp


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FlowStores(DeliveryStores):
    """What the workers of policies need, and few deliveries: lines of policies, batches and long waits."""

    timers: TimerStore
    batches: BatchStore
    policies: PolicyStore
    policy_lines: PolicyLines
    permits: PermitStore
    work: WorkQueue


def compose_rare(stores: FlowStores) -> Rare:
    """What few deliveries need."""
    clock, work = stores.clock, stores.work
    return Rare(
        timers=stores.timers,
        line_up=LineUp(policies=stores.policies, lines=stores.policy_lines, work=work, clock=clock),
        run_permits=RunPermits(permits=stores.permits, work=work, clock=clock),
        progress=BatchProgress(batches=stores.batches, jobs=stores.jobs, queue=stores.queue, clock=clock),
    )
