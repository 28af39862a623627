"""Makes the use cases of the tick function and the sweep function."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sweephand.base.concurrency import Concurrently
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.jobs import JobStore
from sweephand.ports.queue import DeliveryFunctions, Queue, StackQueues
from sweephand.ports.runs import RunStore
from sweephand.ports.wheel import ExpirySwitch, LeaseStore, Sweepers, TimerStore, WheelHistory
from sweephand.runs.time_off import TimeOff
from sweephand.runtime.machine import sweep_concurrently
from sweephand.runtime.settings import Options
from sweephand.wheel.sweep import Sweeper
from sweephand.wheel.tick import Ticker, WarmFunctions

if TYPE_CHECKING:
    from collections.abc import Callable

    from sweephand.runtime.stores import Stores


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WheelStores:
    """What ticks and sweeps need."""

    clock: Clock
    ids: Ids
    jobs: JobStore
    timers: TimerStore
    leases: LeaseStore
    queue: Queue
    wheel_history: WheelHistory
    sweepers: Sweepers
    delivery_functions: DeliveryFunctions
    stack_queues: StackQueues
    expiry_switch: ExpirySwitch


class Wheel(NamedTuple):
    """The use cases over `stores`. `more` returns the stores that few calls need."""

    stores: WheelStores
    more: "Callable[[], Stores]"
    options: Options
    sweeper: Sweeper
    ticker: Ticker
    time_off: TimeOff


def compose_wheel(
    stores: WheelStores,
    more: "Callable[[], Stores]",
    options: Options,
    concurrently: Concurrently = sweep_concurrently,
) -> Wheel:
    """The use cases of the tick function and the sweep function."""

    def runs() -> RunStore:
        # Few sweeps skip misfires. Records of runs take 4 ms of a start's 165 ms (infra.bench start).
        from sweephand.runs.flagged import FlaggedRuns  # noqa: PLC0415 - as above

        return FlaggedRuns(more().runs, more().flags)

    sweeper = Sweeper(
        jobs=stores.jobs,
        timers=stores.timers,
        leases=stores.leases,
        runs=runs,
        queue=stores.queue,
        clock=stores.clock,
        concurrently=concurrently,
        bundle_span_ms=options.bundle_span_ms,
    )
    ticker = Ticker(
        leases=stores.leases,
        sweeper=sweeper,
        sweepers=stores.sweepers,
        warm_functions=WarmFunctions(
            delivery_functions=stores.delivery_functions,
            deliveries_max=options.deliveries_max,
            sends_bundles=options.bundle_span_ms > 0,
        ),
        clock=stores.clock,
        shards=options.shards,
        sweepers_max=options.sweepers_max,
        is_enabled=options.is_enabled,
        limit=options.triggers_per_minute_max,
        history=stores.wheel_history,
    )
    time_off = TimeOff(
        expiry=stores.expiry_switch,
        queues=stores.stack_queues,
        clock=stores.clock,
        polls_policies=options.flow_functions_max > 0,
    )
    return Wheel(stores, more, options, sweeper, ticker, time_off)
