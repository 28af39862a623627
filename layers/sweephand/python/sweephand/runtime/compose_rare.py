"""Makes what few deliveries need, and all that goes under policies: gates, batches and long waits."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sweephand.base.concurrency import Concurrently
from sweephand.flow.gates import Gates
from sweephand.ports.calendars import CalendarStore
from sweephand.ports.flow import (
    FlowQueue,
    GateLines,
    GateStore,
    PolicyStore,
)
from sweephand.ports.runs import BatchStore
from sweephand.ports.wheel import TimerStore
from sweephand.runs.batch_progress import BatchProgress
from sweephand.runs.handlers import Rare
from sweephand.runtime.compose_delivery import DeliveryStores
from sweephand.runtime.machine import sweep_concurrently

if TYPE_CHECKING:
    from sweephand.jobs.calendar_follow import CalendarFollower


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class FlowStores(DeliveryStores):
    """What goes under policies needs, and few deliveries: gates, batches and long waits."""

    timers: TimerStore
    batches: BatchStore
    policies: PolicyStore
    gates: GateStore
    gate_lines: GateLines
    flow_queue: FlowQueue
    calendars: CalendarStore


def compose_gates(stores: FlowStores, concurrently: Concurrently = sweep_concurrently) -> Gates:
    """What functions do with the gates of policies."""
    return Gates(
        policies=stores.policies,
        store=stores.gates,
        lines=stores.gate_lines,
        queue=stores.flow_queue,
        clock=stores.clock,
        ids=stores.ids,
        concurrently=concurrently,
    )


def compose_rare(stores: FlowStores) -> Rare:
    """What few deliveries need."""

    def calendars() -> "CalendarFollower":
        # It is a fifth of the modules with which the flow function would start (infra.bench start).
        from sweephand.jobs.calendar_follow import CalendarFollower  # noqa: PLC0415 - as above

        return CalendarFollower(
            calendars=stores.calendars,
            jobs=stores.jobs,
            changes=stores.changes,
            timers=stores.timers,
            queue=stores.queue,
            payloads=stores.payloads,
            clock=stores.clock,
            ids=stores.ids,
            concurrently=sweep_concurrently,
        )

    return Rare(
        timers=stores.timers,
        gates=compose_gates(stores),
        progress=BatchProgress(
            batches=stores.batches, jobs=stores.jobs, queue=stores.queue, clock=stores.clock
        ),
        calendars=calendars,
    )
