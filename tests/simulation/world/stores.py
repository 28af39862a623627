"""The stores and the queue of a simulation: in memory, gated, and watched."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

from tests.contract.builders import admin_change
from tests.fakes.flow_memory import MemoryAllowances, MemoryNamespaces
from tests.fakes.memory import MemoryChanges, MemoryJobs, MemoryLeases, MemoryLines, MemoryRuns, brief_of
from tests.fakes.memory_audits import MemoryAudits
from tests.fakes.memory_batches import MemoryBatches
from tests.fakes.memory_timers import MemoryTimers
from tests.fakes.ports import fake_stores
from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.world.delivery_queues import DeliveryQueues
from tests.simulation.world.gate import Gate
from tests.simulation.world.removals import Expiring, Watched
from tests.simulation.world.staleness import Staleness

from sweephand.base.concurrency import always
from sweephand.base.errors import StoreError
from sweephand.base.timing import TIMER_RETENTION_MS
from sweephand.jobs.payload_audit import AuditStore
from sweephand.model.job import Job, JobBrief, JobKey, Revision
from sweephand.model.line import StoredLine
from sweephand.model.policy_names import LANE_DEFAULT
from sweephand.model.revisions import filed_until
from sweephand.model.run import Run
from sweephand.model.timer import StoredTimer
from sweephand.model.trigger import DeadLetter, NewerMessage, Sendable, lane_of_message
from sweephand.model.wire import encode
from sweephand.ports.calendars import CalendarStore
from sweephand.ports.flow import (
    AllowanceStore,
    GateLines,
    GateStore,
    NamespaceStore,
    PolicyStore,
)
from sweephand.ports.jobs import ChangeStore, JobStore, PayloadPlace
from sweephand.ports.queue import Queue
from sweephand.ports.runs import BatchStore, FlagStore, LineStore, RunStore, StatsStore
from sweephand.ports.wheel import LeaseStore, TimerStore, WheelHistory
from sweephand.storage.item import expiry

Entry = TypeVar("Entry")

#: The largest number of items in one BatchWriteItem of DynamoDB, and of entries in one SendMessageBatch of
#: SQS.
_ITEMS_MAX = 25
_ENTRIES_MAX = 10


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports that processes call. Each call passes the gate, and the chronicle learns of each change."""

    jobs: JobStore
    changes: ChangeStore
    timers: TimerStore
    leases: LeaseStore
    runs: RunStore
    flags: FlagStore
    stats: StatsStore
    wheel_history: WheelHistory
    lines: LineStore
    batches: BatchStore
    payloads: PayloadPlace
    audits: AuditStore
    allowances: AllowanceStore
    queue: Queue
    policies: PolicyStore
    gates: GateStore
    gate_lines: GateLines
    namespaces: NamespaceStore
    calendars: CalendarStore


#: Makes a simulation's ports from its gate, its chronicle and its queues.
MakePorts: TypeAlias = Callable[[Gate, Chronicle, DeliveryQueues], Ports]


def memory(gate: Gate, chronicle: Chronicle, queues: DeliveryQueues) -> Ports:
    """Return the stores that tests/contract proves equal to DynamoDB's.

    An item is removed when its time to live is over. Changes are not removed, since no simulated client reads
    them.
    """
    jobs, timers, leases = _StaleJobs(gate.staleness, chronicle), MemoryTimers(), MemoryLeases()
    runs, lines, payloads = MemoryRuns(), MemoryLines(), chronicle.bucket.store()
    leases._leases = Watched(chronicle.lease_changed)
    chronicle.wheel = (timers, leases)
    removals = chronicle.removals
    batches = MemoryBatches()
    batches._pages = Watched(chronicle.marks_changed)
    batches._heads = Watched(chronicle.head_changed)

    def job_changed(before: Job | None, after: Job | None) -> None:
        changed = before or after
        assert changed is not None, "a write changes something"
        gate.staleness.changed(changed.key, before)
        chronicle.job_changed(before, after)

    if removals is None:
        jobs._jobs = Watched(job_changed)
        runs._runs = Watched(chronicle.run_changed)
        lines._lines = Watched(chronicle.line_changed)
        timers._timers = Watched(chronicle.timer_changed)
    else:
        jobs._jobs = Expiring(job_changed, chronicle.job_removed, _removal_of, removals)
        jobs._filed = Expiring(lambda *_: None, lambda _: None, _filed_expiry, removals)
        runs._runs = Expiring(chronicle.run_changed, chronicle.run_removed, _expiry_of, removals)
        lines._lines = Expiring(chronicle.line_changed, chronicle.line_removed, _expiry_of, removals)
        timers._timers = Expiring(
            chronicle.timer_changed, partial(_timer_removed, timers, chronicle), _timer_expiry, removals
        )
    changes, allowances = MemoryChanges(), MemoryAllowances()
    namespaces = _namespaces(jobs, chronicle)
    chronicle.readable = fake_stores(
        jobs=jobs,
        changes=changes,
        runs=runs,
        flags=chronicle.flags,
        lines=lines,
        timers=timers,
        leases=leases,
        wheel_history=chronicle.wheel_history,
        allowances=allowances,
        calendars=chronicle.calendars,
        namespaces=namespaces,
    )
    return Ports(
        jobs=gate.wrapped(jobs, "jobs"),
        changes=gate.wrapped(changes, "changes"),
        timers=Batched(gate, timers, gate.wrapped(timers, "timers")),
        leases=gate.wrapped(leases, "leases"),
        runs=gate.wrapped(runs, "runs"),
        flags=chronicle.flags,
        stats=chronicle.stats,
        wheel_history=chronicle.wheel_history,
        lines=gate.wrapped(lines, "lines"),
        batches=gate.wrapped(batches, "batches"),
        payloads=gate.wrapped(payloads, "payloads"),
        audits=gate.wrapped(MemoryAudits(), "audits"),
        allowances=gate.wrapped(allowances, "allowances"),
        queue=QueuePort(gate, queues),
        namespaces=gate.wrapped(namespaces, "jobs"),
        **flow_stores(gate, chronicle),
    )


def _namespaces(jobs: MemoryJobs, chronicle: Chronicle) -> MemoryNamespaces:
    """The settings of the seed's namespace, if it has any, and the count of its jobs."""
    namespaces = chronicle.namespaces = MemoryNamespaces(jobs)
    quotas = chronicle.quotas.quotas
    if quotas.are_on:
        assert namespaces.put(quotas.settings(chronicle.now()), None, admin_change())
    return namespaces


def flow_stores(gate: Gate, chronicle: Chronicle) -> dict[str, Any]:
    """Return the stores of flow policies and of calendars in memory.

    The chronicle keeps them, for those who look inside.
    """
    flow, calendars = chronicle.flow, chronicle.calendars
    calendars._calendars = Watched(chronicle.calendar_changed)
    flow.policies._policies = Watched(lambda _, after: None if after is None else flow.watch.limited(after))
    return {
        "policies": gate.wrapped(flow.policies, "jobs"),
        "gates": gate.wrapped(flow.gates, "timers"),
        "gate_lines": gate.wrapped(flow.lines, "timers"),
        "calendars": gate.wrapped(calendars, "jobs"),
    }


class _StaleJobs(MemoryJobs):
    """Jobs in memory, of which a read that may be stale shows what they were before."""

    def __init__(self, staleness: Staleness, chronicle: Chronicle) -> None:
        super().__init__()
        self._staleness = staleness
        self._chronicle = chronicle

    def delete(self, job: Job, in_time: Callable[[], bool] = always) -> bool:
        was_there = job.key in self._jobs
        is_deleted = super().delete(job, in_time)
        if is_deleted and not was_there:
            self._chronicle.quotas.deleted_again()
        return is_deleted

    def get_many(self, keys: Sequence[JobKey], *, may_be_stale: bool = False) -> Mapping[JobKey, Job]:
        found = super().get_many(keys)
        if not may_be_stale:
            return found
        read = ((key, self._staleness.as_read(key, found.get(key))) for key in keys)
        return {key: job for key, job in read if job is not None}

    def briefs(self, keys: Sequence[JobKey]) -> Mapping[JobKey, JobBrief]:
        return {key: brief_of(job) for key, job in self.get_many(keys, may_be_stale=True).items()}


def _removal_of(job: Job) -> int | None:
    return expiry(job.removed_at)


def _expiry_of(item: Run | StoredLine) -> int | None:
    return expiry(item.expires_at)


def _filed_expiry(revision: Revision) -> int | None:
    return expiry(filed_until(revision))


def _timer_expiry(timer: StoredTimer) -> int | None:
    return expiry(timer.due_at + TIMER_RETENTION_MS)


def _timer_removed(timers: MemoryTimers, chronicle: Chronicle, timer: StoredTimer) -> None:
    timers._keys[timer.shard].remove(timer.sort_key)
    chronicle.timer_removed(timer)


def by(count: int, entries: Sequence[Entry]) -> list[Sequence[Entry]]:
    """Return the entries in groups of that size, one group to a call."""
    return [entries[start : start + count] for start in range(0, len(entries), count)]


class Batched:
    """ports.TimerStore that writes 25 items to a call. Some items of a call may fail."""

    def __init__(self, gate: Gate, timers: MemoryTimers, gated: TimerStore) -> None:
        self._gate = gate
        self._timers = timers
        self.page = gated.page
        self.missing = gated.missing

    def put(self, timers: Sequence[StoredTimer]) -> None:
        """Put timers as ports.TimerStore promises."""
        gate = self._gate
        places = [(timer.shard, timer.sort_key) for timer in timers]
        assert len(set(places)) == len(places), "one key twice in a batch write"
        for some in by(_ITEMS_MAX, timers):
            kinds = gate.enter("timers.put")
            written = gate.part("timers.put", some, kinds)
            self._timers.put(some if written is None else written)
            if "repeat" in kinds:
                gate.wait_for_repeat("timers.put")
                self._timers.put(some if written is None else written)
            gate.told("timers.put", tuple(some), None)
            gate.leave("timers.put", kinds)
            if written is not None:
                raise StoreError("timers.put: some items were not processed")


class QueuePort:
    """ports.Queue over the simulated queues, with ten entries to a call. Some entries of a call may fail."""

    def __init__(self, gate: Gate, queues: DeliveryQueues) -> None:
        self._gate = gate
        self._queues = queues

    def send(self, messages: Sequence[tuple[Sendable, int]]) -> None:
        """Send as ports.Queue promises."""
        gate = self._gate
        for some in by(_ENTRIES_MAX, messages):
            kinds = gate.enter("queue.send")
            accepted = gate.part("queue.send", some, kinds)
            for message, delay_ms in some if accepted is None else accepted:
                lane = LANE_DEFAULT if isinstance(message, NewerMessage) else lane_of_message(message)
                self._queues.accept(lane, encode(message), delay_ms // 1_000)
            gate.told("queue.send", tuple(some), None)
            gate.leave("queue.send", kinds)
            if accepted is not None:
                raise StoreError("queue.send: some entries were not accepted")

    def acknowledge(self, receipts: Sequence[str]) -> None:
        """Acknowledge as ports.Queue promises. A message whose entry fails comes again."""
        try:
            kinds = self._gate.enter("queue.acknowledge")
            self._queues.delete(receipts)
            self._gate.leave("queue.acknowledge", kinds)
        except StoreError:
            return

    def bury(self, letters: Sequence[tuple[DeadLetter, str | None]]) -> None:
        """Bury as ports.Queue promises."""
        kinds = self._gate.enter("queue.bury")
        for letter, _ in letters:
            self._queues.normal.bury(
                letter.trigger.id if letter.trigger else None, letter.reason, letter.body
            )
        self._gate.leave("queue.bury", kinds)
