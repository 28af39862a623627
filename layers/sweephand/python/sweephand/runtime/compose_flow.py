"""Makes the use case of the flow function."""

from sweephand.base.concurrency import Concurrently
from sweephand.flow.forward import Forward
from sweephand.flow.server import Server
from sweephand.runs.delivery import JobReads
from sweephand.runs.flow_intake import FlowIntake, LineDelivery
from sweephand.runtime.compose_delivery import Deliveries
from sweephand.runtime.compose_rare import FlowStores, compose_gates
from sweephand.runtime.machine import deliver_concurrently, sweep_concurrently


def compose_flow(
    stores: FlowStores,
    deliveries: Deliveries,
    concurrently: Concurrently = deliver_concurrently,
    read_concurrently: Concurrently = sweep_concurrently,
) -> FlowIntake:
    """Handles the messages about gates that the flow function receives."""
    gates = compose_gates(stores, read_concurrently)
    forward = Forward(gates, jobs=stores.jobs, queue=stores.queue, together=read_concurrently)
    rare = deliveries.rare()
    job_reads = JobReads(jobs=stores.jobs, clock=stores.clock)

    def server(deliver: LineDelivery) -> Server:
        return Server(gates, forward, deliver=deliver, concurrently=concurrently, together=read_concurrently)

    return FlowIntake(
        make_server=server,
        make_delivery=lambda: LineDelivery(
            intake=deliveries.intake, progress=rare.progress, job_reads=job_reads
        ),
        flow_queue=stores.flow_queue,
        queue=stores.queue,
    )
