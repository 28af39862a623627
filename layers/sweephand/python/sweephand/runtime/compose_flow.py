"""Makes the use case of the flow function."""

from sweephand.base.concurrency import Concurrently
from sweephand.model.policy import workers_max_of
from sweephand.runs.delivery import JobReads
from sweephand.runs.flow.left_triggers import LeftTriggers
from sweephand.runs.flow.line_delivery import LineDelivery
from sweephand.runs.flow.line_worker import LineWorker
from sweephand.runs.flow.work_intake import WorkIntake
from sweephand.runtime.compose_delivery import Deliveries
from sweephand.runtime.compose_rare import FlowStores
from sweephand.runtime.machine import deliver_concurrently, sweep_concurrently
from sweephand.runtime.settings import Options


def compose_flow(
    stores: FlowStores,
    deliveries: Deliveries,
    options: Options,
    concurrently: Concurrently = deliver_concurrently,
    read_concurrently: Concurrently = sweep_concurrently,
) -> WorkIntake:
    """Handles the work messages that the flow function receives."""
    clock, ids, rare = stores.clock, stores.ids, deliveries.rare()
    job_reads = JobReads(jobs=stores.jobs, clock=clock)

    def worker(deliver: LineDelivery) -> LineWorker:
        return LineWorker(
            policies=stores.policies,
            permits=stores.permits,
            lines=stores.policy_lines,
            line_up=rare.line_up,
            deliver=deliver,
            clock=clock,
            ids=ids,
            workers_max=workers_max_of(options.flow_functions_max),
            concurrently=concurrently,
            read_concurrently=read_concurrently,
            before_delete=deliver.flush,
        )

    return WorkIntake(
        make_worker=worker,
        make_delivery=lambda: LineDelivery(
            intake=deliveries.intake, progress=rare.progress, job_reads=job_reads
        ),
        left_triggers=LeftTriggers(
            policies=stores.policies,
            lines=stores.policy_lines,
            line_up=rare.line_up,
            jobs=stores.jobs,
            runs=stores.runs,
            queue=stores.queue,
            clock=clock,
            ids=ids,
        ),
        work=stores.work,
        queue=stores.queue,
    )
