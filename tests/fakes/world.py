"""A stack in memory: use cases, stores, a queue, consumers and a clock that a test moves."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tests.fakes.definitions import definition as definition  # noqa: PLC0414 - exported again, with worlds
from tests.fakes.definitions import key_of as key_of  # noqa: PLC0414 - same
from tests.fakes.doubles import NOON as NOON  # noqa: PLC0414 - exported again, because a world begins at it
from tests.fakes.doubles import (
    Consumers,
    CountingIds,
    HandClock,
    Interrupted,
    Letterbox,
    NoDeliveryFunctions,
    NoSweepers,
    OneSecret,
    SkewedClock,
)
from tests.fakes.flow_memory import (
    FlowBox,
    MemoryAllowances,
    MemoryGateLines,
    MemoryGates,
    MemoryNamespaces,
    MemoryPolicies,
)
from tests.fakes.memory import (
    MemoryChanges,
    MemoryJobs,
    MemoryLeases,
    MemoryLines,
    MemoryPayloads,
    MemoryRuns,
)
from tests.fakes.memory_access import MemoryAdminChanges, MemoryNamedSecrets
from tests.fakes.memory_audits import MemoryAuditRounds, MemoryAudits
from tests.fakes.memory_batches import MemoryBatches
from tests.fakes.memory_calendars import MemoryCalendars
from tests.fakes.memory_insight import MemoryFlags, MemoryStats, MemoryWheelHistory
from tests.fakes.memory_schedule_groups import MemoryScheduleGroups
from tests.fakes.memory_timers import MemoryExpirySwitch, MemoryTimers
from tests.fakes.ports import MISSING
from tests.fakes.stack_queues import MemoryStackQueues

from sweephand.base.concurrency import Concurrently, one_by_one
from sweephand.base.errors import NotFoundError
from sweephand.base.instants import Instant
from sweephand.flow.gates import Gates
from sweephand.jobs.change_history import ChangeHistory
from sweephand.jobs.on_demand import Backfilled
from sweephand.jobs.write import WriteResult
from sweephand.model.change import Change
from sweephand.model.definition import CatchUpMode, Definition, Payload
from sweephand.model.gate_message import GateMessage, encode_gate_message
from sweephand.model.job import Job, PauseEnd
from sweephand.model.page import Page
from sweephand.model.run import Run
from sweephand.model.trigger import NewerMessage, Trigger
from sweephand.ports.clock import Clock
from sweephand.ports.queue import Targets
from sweephand.runs.audit_findings import BEGINNING, Audited, JobProgress
from sweephand.runs.callbacks import Callbacks
from sweephand.runs.flow_intake import FlowIntake, Worked
from sweephand.runs.intake import Intake
from sweephand.runs.received import Handled, Received, finished
from sweephand.runtime.compose_api import compose_api
from sweephand.runtime.compose_delivery import Deliveries, compose_delivery
from sweephand.runtime.compose_flow import compose_flow
from sweephand.runtime.compose_rare import compose_gates
from sweephand.runtime.compose_upkeep import Upkeep, compose_upkeep
from sweephand.runtime.compose_wheel import Wheel, compose_wheel
from sweephand.runtime.settings import Options
from sweephand.runtime.stores import Stores
from sweephand.storage.payloads import PayloadsInPlaces
from sweephand.web.http.operation import Services
from sweephand.wheel.sweep import Swept
from sweephand.wheel.tick import Ticked

Port = TypeVar("Port")


class World:
    """One stack in memory. `announce` is called before and after every call of a port.

    Each function has a clock of its own, which a test may set ahead or behind. The delivery function
    delivers to `targets`, by default to `consumers`.
    """

    def __init__(self, now: Instant = NOON, shards: int = 2, targets: Targets | None = None) -> None:
        self.clock = HandClock(now)
        self.api_clock = SkewedClock(self.clock)
        self.wheel_clock = SkewedClock(self.clock)
        self.delivery_clock = SkewedClock(self.clock)
        self.ids = CountingIds()
        self.jobs = MemoryJobs()
        self.changes = MemoryChanges()
        self.timers = MemoryTimers()
        self.leases = MemoryLeases()
        self.runs = MemoryRuns()
        self.flags = MemoryFlags()
        self.stats = MemoryStats()
        self.counts_deliveries = False
        #: Whether the delivery function takes slots. Tests of lines let every trigger under a policy wait.
        self.takes_slots = False
        self.wheel_history = MemoryWheelHistory()
        self.batches = MemoryBatches()
        self.lines = MemoryLines()
        self.payloads = MemoryPayloads(self.clock.now)
        #: Where payloads may lie that were written before the parameters of the stack changed.
        self.other_payloads: Sequence[MemoryPayloads] = ()
        self.audits = MemoryAudits()
        self.audit_rounds = MemoryAuditRounds()
        self.policies = MemoryPolicies()
        self.allowances = MemoryAllowances()
        self.gates = MemoryGates()
        self.gate_lines = MemoryGateLines()
        self.flow_queue = FlowBox(self.clock.now)
        self.flow_functions_max = 0
        self.admin_changes = MemoryAdminChanges()
        self.calendars = MemoryCalendars(self.admin_changes)
        self.schedule_groups = MemoryScheduleGroups()
        self.namespaces = MemoryNamespaces(self.jobs, self.admin_changes)
        self.limits_namespaces = False
        self.named_secrets = MemoryNamedSecrets(self.admin_changes)
        self.queue = Letterbox(self.clock)
        self.stack_queues = MemoryStackQueues(self.queue, self.flow_queue)
        self.expiry = MemoryExpirySwitch()
        self.consumers = Consumers(self.clock)
        self._targets = targets
        self.sweepers = NoSweepers()
        self.delivery_functions = NoDeliveryFunctions()
        self.shards = shards
        self.bundle_span_ms = 0
        self.is_enabled = True
        self.triggers_per_minute_max = 0
        self.namespace_limit: Callable[[str], int] | None = None
        self.announce: Callable[[str], None] = quiet
        self.leases.raise_shards(shards)

    def _port(self, port: Port, called: str) -> Port:
        return Interrupted(port, called, self._announce)  # type: ignore[return-value]

    def _announce(self, call: str) -> None:
        self.announce(call)

    @property
    def options(self) -> Options:
        """What the deployer of the stack has chosen."""
        return Options(
            shards=self.shards,
            sweepers_max=10,
            deliveries_max=20,
            bundle_span_ms=self.bundle_span_ms,
            flow_functions_max=self.flow_functions_max,
            limits_namespaces=self.limits_namespaces,
            is_enabled=self.is_enabled,
            triggers_per_minute_max=self.triggers_per_minute_max,
            counts_deliveries=self.counts_deliveries,
        )

    def api(self, clock: Clock | None = None) -> Services:
        """The use cases of an API function that has just started, with its clock."""
        return compose_api(
            self.stores(clock or self.api_clock),
            self.options,
            signing=OneSecret(),
            shard_count=lambda: self.shards,
            concurrently=one_by_one,
        )

    def wheel(self, clock: Clock | None = None) -> Wheel:
        """The use cases of a tick or sweep function that has just started, with its clock."""
        stores = self.stores(clock or self.wheel_clock)
        return compose_wheel(stores, lambda: stores, self.options, one_by_one)

    def upkeep(self, clock: Clock | None = None) -> Upkeep:
        """The use cases of tick's rare duties."""
        return compose_upkeep(self.stores(clock or self.wheel_clock))

    def deliveries(self, clock: Clock | None = None, concurrently: Concurrently = one_by_one) -> Deliveries:
        """The use cases of a delivery function that has just started, with its clock."""
        stores = self.stores(clock or self.delivery_clock)
        return compose_delivery(
            stores,
            lambda: stores,
            self._port(self._targets or self.consumers, "consumers"),
            self.options if self.takes_slots else self.options._replace(flow_functions_max=0),
            signing=OneSecret(),
            decode=self.queue.decode,
            namespace_limit=self.namespace_limit,
            concurrently=concurrently,
        )

    def flow_intake(self, deliveries: Deliveries) -> FlowIntake:
        """The use case of a flow function that has these of the delivery function."""
        stores = self.stores(deliveries.stores.clock)
        return compose_flow(stores, deliveries, one_by_one, one_by_one)

    def flow(self) -> Gates:
        """What functions do with gates, by the clock of the API."""
        return compose_gates(self.stores(self.api_clock), one_by_one)

    def stores(self, clock: Clock) -> Stores:
        """The stores of a function of the stack, with the function's clock."""
        places = [self._port(each, "payloads") for each in (self.payloads, *self.other_payloads)]
        return Stores(
            clock=clock,
            ids=self.ids,
            jobs=self._port(self.jobs, "jobs"),
            changes=self._port(self.changes, "changes"),
            runs=self._port(self.runs, "runs"),
            flags=self._port(self.flags, "flags"),
            stats=self._port(self.stats, "stats"),
            wheel_history=self._port(self.wheel_history, "wheel_history"),
            batches=self._port(self.batches, "batches"),
            lines=self._port(self.lines, "lines"),
            timers=self._port(self.timers, "timers"),
            leases=self._port(self.leases, "leases"),
            payloads=PayloadsInPlaces(places) if self.other_payloads else places[0],
            payload_places=places,
            audits=self._port(self.audits, "audits"),
            audit_rounds=self._port(self.audit_rounds, "audit_rounds"),
            stack_queues=self._port(self.stack_queues, "stack_queues"),
            expiry_switch=self._port(self.expiry, "expiry"),
            policies=self._port(self.policies, "policies"),
            calendars=self._port(self.calendars, "calendars"),
            schedule_groups=self._port(self.schedule_groups, "schedule_groups"),
            allowances=self._port(self.allowances, "allowances"),
            namespaces=self._port(self.namespaces, "namespaces"),
            admin_changes=self._port(self.admin_changes, "admin_changes"),
            named_secrets=self._port(self.named_secrets, "named_secrets"),
            gates=self._port(self.gates, "gates"),
            gate_lines=self._port(self.gate_lines, "gate_lines"),
            flow_queue=self._port(self.flow_queue, "flow_queue"),
            queue=self._port(self.queue, "queue"),
            sweepers=self._port(self.sweepers, "sweepers"),
            delivery_functions=self._port(self.delivery_functions, "delivery_functions"),
            # Only clients of the API have them (http_events.py).
            keys=MISSING,
            secrets=MISSING,
        )

    def put(
        self,
        name: str = "job",
        *,
        data: str | None = None,
        if_match: tuple[str, ...] | None = None,
        if_absent: bool = False,
        traceparent: str | None = None,
        **written: Any,
    ) -> WriteResult:
        asked = definition(data=data, **written)
        return self.put_definition(
            name, asked, if_match=if_match, if_absent=if_absent, traceparent=traceparent
        )

    def put_definition(self, name: str, written: Definition, **conditions: Any) -> WriteResult:
        now = self.api_clock.now()
        return self.api().writer.put(key_of(name), written, caller="test", requested_at=now, **conditions)

    def delete(self, name: str = "job", *, if_match: tuple[str, ...] | None = None) -> None:
        now = self.api_clock.now()
        self.api().writer.delete(key_of(name), who="test", requested_at=now, if_match=if_match)

    def patch(
        self,
        name: str = "job",
        *,
        without: Sequence[str] = (),
        traceparent: str | None = None,
        **written: Any,
    ) -> WriteResult:
        """Patch a job: write the given fields, and remove those in `without`."""

        def patched(before: Definition) -> Definition:
            kept = {field: value for field, value in before.written.items() if field not in without}
            return replace(before, written={**kept, **written})

        now = self.api_clock.now()
        return self.api().writer.patch(
            key_of(name), patched, caller="test", requested_at=now, traceparent=traceparent
        )

    def pause(
        self, name: str = "job", *, reason: str | None = None, until: Instant | None = None, **end: Any
    ) -> Job:
        """Pause a job, until an instant or for good. `end` has the mode of the resume, if any."""
        now = self.api_clock.now()
        ends = None if until is None else PauseEnd(until, **end)
        return self.api().pauser.pause(key_of(name), reason=reason, who="test", requested_at=now, end=ends)

    def resume(self, name: str = "job", *, mode: CatchUpMode | None = None) -> Job:
        now = self.api_clock.now()
        return self.api().resumer.resume(key_of(name), who="test", requested_at=now, mode=mode)

    def stored(self, name: str = "job") -> Job:
        """The job as the store holds it. Asserts that there is one."""
        job = self.jobs.get(key_of(name))
        assert job is not None, f"there is no job {name}"
        return job

    def has_job(self, name: str = "job") -> bool:
        """Whether the API shows the job."""
        try:
            self.api().reader.get(key_of(name), self.api_clock.now())
        except NotFoundError:
            return False
        return True

    def changed(self, name: str = "job", before: str = "", limit: int = 50) -> Page[Change]:
        """A page of the changes of a job, newest first."""
        return ChangeHistory(jobs=self.jobs, changes=self.changes).page(key_of(name), before, limit)

    def trigger(
        self, name: str = "job", *, data: str | None = None, traceparent: str | None = None
    ) -> Trigger:
        payload = None if data is None else Payload.of(data)
        now, asked = self.api_clock.now(), self.api().on_demand
        return asked.trigger(
            key_of(name),
            payload=payload,
            requested_at=now,
            check_data=lambda _: None,
            traceparent=traceparent,
        )

    def backfill(
        self, name: str = "job", *, since: Instant, until: Instant, traceparent: str | None = None
    ) -> Backfilled:
        now = self.api_clock.now()
        return self.api().on_demand.backfill(
            key_of(name), since=since, until=until, requested_at=now, traceparent=traceparent
        )

    def sweep(self, first_shard: int = 0, *, seconds: int = 120) -> Swept:
        """Run the sweep function. Raises its faults in the end, as the function does."""
        swept = self.wheel().sweeper.sweep(
            self.leases.state().leases,
            owner=self.ids.token(),
            first_shard=first_shard,
            deadline=self.wheel_clock.now() + seconds * 1_000,
        )
        swept.raise_faults()
        return swept

    def tick(self) -> Ticked:
        """Run the tick function, as the minute schedule does, and the sweepers that it starts.

        Raises the faults of the tick in the end.
        """
        ticked = self.wheel().ticker.tick(owner=self.ids.token(), deadline=self.wheel_clock.now() + 55_000)
        while self.sweepers.started:
            self.sweep(self.sweepers.started.pop(0))
        ticked.raise_faults()
        return ticked

    def intake(self, concurrently: Concurrently = one_by_one) -> Intake:
        return self.deliveries(concurrently=concurrently).intake

    def audit_jobs(self, begun: JobProgress = BEGINNING, *, mends: bool = True) -> Audited:
        """Examine the jobs of the namespace, as one call of the API does."""
        return self.api().auditor.audit(namespace="ns", begun=begun, mends=mends)

    def lose_timers(self) -> None:
        """Empty the Timers table: timers, leases, the heartbeat, and the lines of policies."""
        self.timers.clear()
        self.leases.clear()
        self.gates.clear()
        self.gate_lines.clear()

    def callbacks(self) -> Callbacks:
        return self.api().callbacks

    def redrive(self, run_id: str, name: str = "job") -> Run:
        return self.api().redriver.redrive(key_of(name), run_id)

    def deliver(self, batch: Sequence[Received]) -> list[Handled]:
        """Hand received messages to the delivery function. Acknowledge those that it reports as done."""
        deliveries, deadline = self.deliveries(), self.delivery_clock.now() + 90_000
        handled = deliveries.intake.handle(batch, deadline=deadline)
        if (stats := deliveries.stats) is not None:
            stats.count(handled, batch[0].id, deadline)
        self.queue.acknowledge([each.receipt for each in finished(handled)])
        return handled

    def work_off(self, message: GateMessage | NewerMessage, receives: int = 1) -> Worked:
        """Hand a message about a gate to the flow function."""
        received = Received("flow", "flow", receives, encode_gate_message(message))
        deliveries, deadline = self.deliveries(), self.delivery_clock.now() + 90_000
        worked = self.flow_intake(deliveries).handle(received, deadline=deadline)
        if (stats := deliveries.stats) is not None:
            stats.count_of_line(worked.namespace, worked.triggers, received.id, deadline)
        return worked

    def run_until(self, end: Instant, *, ticking: bool = True) -> None:
        """Let time pass until `end`.

        Tick at the start of every minute, and deliver messages once they are visible. While the stack is
        switched off, no message is received.
        """
        next_tick = self.clock.time - self.clock.time % 60_000 + 60_000
        while self.clock.time < end:
            boxes = (*self.queue.waiting, *self.flow_queue.waiting) if self.is_enabled else ()
            coming = min([*(at for at, _ in boxes), next_tick, end])
            self.clock.time = max(self.clock.time, coming)
            if self.clock.time >= next_tick:
                next_tick += 60_000
                if ticking:
                    self.tick()
            while self.is_enabled and (batch := self.queue.take()):
                for handled in self.deliver(batch):
                    assert handled.is_done, f"not done: {handled.error}"
                    if handled.error is not None:
                        raise handled.error
            while self.is_enabled and (message := self.flow_queue.take()) is not None:
                worked = self.work_off(message)
                assert worked.is_done, f"not done: {worked.error}"


def job_of(name: str = "job", *, now: Instant = NOON, **written: Any) -> Job:
    """A job as its creation at `now` stores it. It is due at `now`, unless `written` has a schedule."""
    if "schedule" not in written:
        written = {"dueTime": "0s", **written}
    world = World(now)
    return world.put_definition(name, definition(**written)).job


def quiet(_: str) -> None:
    """The handler of announcements that does nothing."""
