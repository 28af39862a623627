"""The machines that functions run on: each has a clock of its own, and production code runs on it."""

from collections.abc import Callable
from dataclasses import fields
from typing import Final

from tests.fakes.doubles import OneSecret
from tests.fakes.ports import MISSING, fake_stores
from tests.simulation.workload.bundling import Bundling
from tests.simulation.workload.limits import Limits
from tests.simulation.workload.policies import Policies
from tests.simulation.workload.quotas import Quotas
from tests.simulation.workload.windows import Windows
from tests.simulation.world.consumers import Consumers
from tests.simulation.world.faults import SKEW_MAX_MS, Role, Troubles, is_at_margins, stream
from tests.simulation.world.processes import LIMITS_MS, Machine, MachineClock, Scheduler
from tests.simulation.world.sqs import Sqs
from tests.simulation.world.stores import Ports

from sweephand.jobs.payload_audit import PayloadAudit
from sweephand.ports.clock import Ids
from sweephand.ports.flow import FlowQueue
from sweephand.ports.queue import DeliveryFunctions, StackQueues
from sweephand.ports.wheel import ExpirySwitch, Sweepers
from sweephand.runs.flow_intake import FlowIntake
from sweephand.runs.time_off import TimeOff
from sweephand.runtime import compose_api
from sweephand.runtime.compose_delivery import Deliveries, compose_delivery
from sweephand.runtime.compose_flow import compose_flow
from sweephand.runtime.compose_upkeep import compose_upkeep
from sweephand.runtime.compose_wheel import Wheel, compose_wheel
from sweephand.runtime.settings import Options
from sweephand.runtime.stores import Stores
from sweephand.web.http.operation import Services
from sweephand.wheel.arm import ShardCount
from sweephand.wheel.sweep import Sweeper
from sweephand.wheel.tick import Ticker

#: The number of machines of each role. The roles need different numbers of different clocks.
_MACHINES: Final = 3

SWEEPERS_MAX: Final = 4

#: Tick wakes up to half as many delivery functions for a peak.
_DELIVERIES_MAX: Final = 10

#: Of the seeds with skewed clocks, this share has small skews. A skew of half a minute would hide what one of
#: a second shows.
_SKEWS: Final = (0.05, 1.0, 1.0)

#: Of these seeds, in this share the API's clocks are behind and all others are ahead. Both margins of the
#: protocol guard against a late commit, so the share is larger if the API has most of the trouble.
_APART: Final = 0.2
_APART_IN_FOCUS: Final = 0.6


class ProcessIds:
    """ports.Ids from the random numbers of each process. So ids do not depend on other processes."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def token(self) -> str:
        """Return digits made of the number of the token within its process, and of the process's code."""
        process = self._scheduler.strand.process
        process.tokens += 1
        return f"{process.tokens:04d}{process.faults.code % 10**12:012d}"

    def secret(self) -> str:
        """Return 43 digits."""
        return f"{self.token():0>43}"

    def fraction(self) -> float:
        """Return a number from 0 up to 1."""
        return self._scheduler.strand.process.faults.random.random()


class Fleet:
    """All machines. `shards` is the number that the latest deployment told its functions."""

    def __init__(
        self,
        *,
        seed: int,
        scheduler: Scheduler,
        ports: Ports,
        sqs: Sqs,
        consumers: Consumers,
        troubles: Troubles,
        shards: int,
        sweepers_max: int = SWEEPERS_MAX,
        flow_queue: FlowQueue = MISSING,
        stack_queues: StackQueues = MISSING,
        expiry_switch: ExpirySwitch = MISSING,
    ) -> None:
        self._stack_queues = stack_queues
        self._expiry_switch = expiry_switch
        self._options = Options(
            sweepers_max=sweepers_max,
            deliveries_max=_DELIVERIES_MAX,
            bundle_span_ms=Bundling.of(seed).span_ms,
            flow_functions_max=Policies.of(seed).functions_max,
            limits_namespaces=Quotas.of(seed).are_on or Windows.of(seed).are_on,
            counts_deliveries=True,
        )
        self._flow_queue = flow_queue
        self._scheduler = scheduler
        self._ports = ports
        self._sqs = sqs
        self._consumers = consumers
        self.ids: Ids = ProcessIds(scheduler)
        self.shards = shards
        self.is_enabled = True
        self.limits = Limits.of(seed)
        self._begins_at = scheduler.now
        skew = stream(seed, "skew")
        level = troubles["skew"] and skew.choice(_SKEWS)
        are_apart = skew.random() < (_APART_IN_FOCUS if "api" in troubles.focus else _APART)
        if troubles["skew"] and is_at_margins(seed):
            level, are_apart = 1.0, True

        def ahead_ms(role: Role) -> int:
            # Most clocks are as wrong as allowed. A margin is only tested by two clocks that are wrong in
            # opposite directions.
            wrong = skew.choice((skew.uniform(-1, 1), -1, 1))
            if are_apart:
                wrong = -1 if role == "api" else 1
            return int(level * SKEW_MAX_MS * wrong)

        self._machines = self._begun(ahead_ms)
        self._apis: dict[Machine, Services] = {}
        self._deliveries: dict[Machine, Deliveries] = {}
        self._flow_intakes: dict[Machine, FlowIntake] = {}

    def calm(self) -> None:
        """Begin every process on a machine with the right time from now on."""
        self._machines = self._begun(lambda _: 0)
        self.limits = self.limits.in_calm

    def pick(self, role: Role, code: int) -> Machine:
        """Return a machine that serves that role."""
        return self._machines[role][code % _MACHINES]

    def step(self, code: int, ahead_ms: int) -> Machine:
        """Set the clock of one machine, and return the machine."""
        machines = [each for of_role in self._machines.values() for each in of_role]
        machine = machines[code % len(machines)]
        machine.ahead_ms = ahead_ms
        return machine

    def clock(self, machine: Machine) -> MachineClock:
        """Return the machine's clock."""
        return MachineClock(self._scheduler, machine)

    def api(self, machine: Machine) -> Services:
        """Return the use cases that an API function keeps on that machine between invocations."""
        if machine not in self._apis:
            self._apis[machine] = self._api(machine)
        return self._apis[machine]

    def deliveries(self, machine: Machine) -> Deliveries:
        """Return the use cases that a delivery function keeps on that machine between invocations."""
        if machine not in self._deliveries:
            stores = self._stores(machine)
            self._deliveries[machine] = compose_delivery(
                stores,
                lambda: stores,
                self._consumers,
                self._deployed_options,
                signing=OneSecret(),
                decode=self._sqs.decode,
                namespace_limit=(lambda _: self._known_limit(machine)) if self.limits.namespace else None,
            )
        return self._deliveries[machine]

    def flow(self, machine: Machine) -> tuple[Deliveries, FlowIntake]:
        """Return the use cases that a flow function keeps on that machine between invocations."""
        deliveries = self.deliveries(machine)
        if machine not in self._flow_intakes:
            self._flow_intakes[machine] = compose_flow(self._stores(machine), deliveries)
        return deliveries, self._flow_intakes[machine]

    def sweeper(self, machine: Machine) -> Sweeper:
        """Return the sweeper of a process that has just started."""
        return self._wheel(self._stores(machine)).sweeper

    def ticker(self, machine: Machine, sweepers: Sweepers, delivery_functions: DeliveryFunctions) -> Ticker:
        """Return the ticker of a process that has just started, by the latest deployment."""
        return self._wheel(self._stores(machine, sweepers, delivery_functions)).ticker

    def audit(self, machine: Machine) -> PayloadAudit:
        """Return the audit of a process that has just started."""
        return compose_upkeep(self._stores(machine)).payload_audit

    def time_off(self, machine: Machine) -> TimeOff:
        """Return what keeps things while the stack is off, in a process that has just started."""
        return self._wheel(self._stores(machine)).time_off

    def _known_limit(self, machine: Machine) -> int:
        return self.limits.known(machine.name, self._scheduler.now - self._begins_at)

    def _begun(self, ahead_ms: Callable[[Role], int]) -> dict[Role, list[Machine]]:
        return {
            role: [Machine(f"{role}-{number}", ahead_ms(role)) for number in range(_MACHINES)]
            for role in LIMITS_MS
        }

    @property
    def _deployed_options(self) -> Options:
        return self._options._replace(
            shards=self.shards,
            is_enabled=self.is_enabled,
            triggers_per_minute_max=self.limits.stack,
        )

    def _api(self, machine: Machine) -> Services:
        stores = self._stores(machine)
        counts: dict[int, ShardCount] = {}

        def shard_count() -> int:
            # A deployment that raises the number of shards starts new processes.
            shards = self.shards
            if shards not in counts:
                counts[shards] = ShardCount(leases=stores.leases, clock=stores.clock, shards=shards)
            return counts[shards]()

        return compose_api.compose_api(
            stores,
            self._deployed_options,
            signing=OneSecret(),
            shard_count=shard_count,
            concurrently=compose_api.write_concurrently,  # type: ignore[attr-defined] # a mutation may replace it
        )

    def _wheel(self, stores: Stores) -> Wheel:
        return compose_wheel(stores, lambda: stores, self._deployed_options)

    def _stores(
        self,
        machine: Machine,
        sweepers: Sweepers = MISSING,
        delivery_functions: DeliveryFunctions = MISSING,
    ) -> Stores:
        ports = self._ports
        return fake_stores(
            **{each.name: getattr(ports, each.name) for each in fields(ports)},
            clock=self.clock(machine),
            ids=self.ids,
            payload_places=(ports.payloads,),
            flow_queue=self._flow_queue,
            sweepers=sweepers,
            delivery_functions=delivery_functions,
            stack_queues=self._stack_queues,
            expiry_switch=self._expiry_switch,
        )
