"""The trace of a simulation, with counts for its figures and the state that tells whether it rests."""

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.fakes.flow_memory import MemoryGateLines, MemoryGates, MemoryNamespaces, MemoryPolicies
from tests.fakes.memory_calendars import MemoryCalendars
from tests.fakes.memory_insight import MemoryFlags, MemoryStats, MemoryWheelHistory
from tests.simulation.traces.recorder import Recorder, revision_of
from tests.simulation.traces.trace import Event, Removed
from tests.simulation.world.bucket import Bucket
from tests.simulation.world.permit_watch import PermitWatch, QuotaWatch
from tests.simulation.world.processes import Scheduler

from sweephand.base.instants import Instant
from sweephand.model.job import Job
from sweephand.model.line import Line, StoredLine
from sweephand.model.run import Run
from sweephand.model.timer import (
    Cursor,
    DeadlineTimer,
    Lease,
    Place,
    RetryTimer,
    StoredTimer,
    Timer,
    TimerPack,
    UnreadTimer,
    placed_timers,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.fakes.memory import MemoryLeases
    from tests.fakes.memory_timers import MemoryTimers
    from tests.simulation.world.removals import Removals

    from sweephand.runtime.stores import Stores


@dataclass(frozen=True, slots=True)
class FlowStores:
    """The stores of flow policies in memory, and the watch over their limits."""

    watch: PermitWatch
    policies: MemoryPolicies = field(default_factory=MemoryPolicies)
    gates: MemoryGates = field(default_factory=MemoryGates)
    lines: MemoryGateLines = field(default_factory=MemoryGateLines)


class Chronicle(Recorder):
    """A recorder to which stores report each write, whichever process made it."""

    def __init__(self, scheduler: Scheduler) -> None:
        super().__init__(lambda: scheduler.now)
        self._scheduler = scheduler
        self.figures: Counter[str] = Counter()
        #: The uids of paused jobs, and the instants of their pauses.
        self.paused: dict[str, Instant] = {}
        #: The revisions that were replaced, and from when on they own no trigger.
        self.replaced: dict[str, Instant] = {}
        self.ended: set[str] = set()
        #: The `uid`s of jobs that are deleted, or that DynamoDB has removed.
        self.gone: set[str] = set()
        self.bucket = Bucket(lambda: scheduler.now)
        self.flow = FlowStores(PermitWatch(scheduler))
        #: Flags of runs. A process dies at the gates of other stores, before or after it writes one.
        self.flags = MemoryFlags()
        #: What deliveries counted. It has no gate either, so that counting draws no lots and takes no time.
        self.stats = MemoryStats()
        self.wheel_history = MemoryWheelHistory()
        #: The stores without a gate, for those who look at a world that has ended; None on the adapters.
        self.readable: Stores | None = None
        self.calendars = MemoryCalendars()
        self.quotas = QuotaWatch(lambda: scheduler.now)
        #: The settings and windows of the namespace, for those who write them.
        self.namespaces: MemoryNamespaces | None = None
        self.last_other_timer_at: Instant = 0
        self.calm_at: Instant | None = None
        #: Removes items that are past their time to live. It is None in seeds that are too short for it.
        self.removals: Removals | None = None
        #: The stores of the wheel, which a drill exchanges. None for stores that are not in memory.
        self.wheel: tuple[MemoryTimers, MemoryLeases] | None = None
        #: Called for each timer that is written, and for each lease.
        self.wheel_seen: tuple[Callable[[Timer, Place], None], Callable[[Lease], None]] | None = None

    def add(self, event: Event) -> None:
        """Add one event as it is."""
        self.events.append(event)

    def mishap(self, kind: str, where: str) -> None:
        """Note a fault of the seed. `kind` may end in ` of` and an amount."""
        self.figures[kind.partition(" of ")[0]] += 1
        super().mishap(kind, where)

    def job_changed(self, before: Job | None, after: Job | None) -> None:
        """Note that a job's item was written or removed."""
        self.bucket.job_changed(before, after)
        self.quotas.job_changed(before, after)
        if after is not None:
            self.flow.watch.job_changed(after)
            self.replaced.update((each.rev, each.until) for each in after.earlier if each.until is not None)
            self.figures["writes"] += 1
            if after.paused_at is None:
                self.paused.pop(after.uid, None)
            else:
                self.paused[after.uid] = after.paused_at
            ahead_ms = self._scheduler.strand.process.machine.ahead_ms
            self.written(before, after, self._data_of(after), ahead_ms)
        elif before is not None:
            self.figures["deletions"] += 1
            self.paused.pop(before.uid, None)
            self.gone.add(before.uid)
            self.deleted(before)

    def run_changed(self, before: Run | None, after: Run | None) -> None:
        """Note that a run's item was written, or removed because its claim was released."""
        if after is not None:
            (self.ended.add if after.is_over else self.ended.discard)(after.trigger_id)
            self.run_stored(before, after)
            self.bucket.run_changed(after)
            self.flow.watch.run_changed(after)
        elif before is not None:
            self.run_released(before)

    def line_changed(self, before: StoredLine | None, after: StoredLine | None) -> None:
        """Note that a job's line was written or removed."""
        line = after or before
        if line is not None:
            self.line_stored(line.key, line.uid, after.line if after is not None else Line())

    def timer_changed(self, _: StoredTimer | None, after: StoredTimer | None) -> None:
        """Note that a timer was written. A timer of a newer version is not readable here, and is left out."""
        for place, timer, _is_last in placed_timers([] if after is None else [after], Cursor()):
            if isinstance(timer, UnreadTimer):
                continue
            if isinstance(timer, RetryTimer | DeadlineTimer) and not self._is_of_calm(timer):
                self.last_other_timer_at = max(self.last_other_timer_at, timer.due_at)
            self.timer_stored(timer, place)
            if self.wheel_seen is not None:
                self.wheel_seen[0](timer, place)
        if isinstance(after, TimerPack):
            self.figures["packs"] += 1
            self.figures["packed timers"] += len(after.timers)

    def job_removed(self, job: Job) -> None:
        """Note that DynamoDB has removed a job, whose time to live is over."""
        self.bucket.job_changed(job, None)
        self.paused.pop(job.uid, None)
        self.gone.add(job.uid)
        self._removed(Removed(self.now(), "job", job.key.name, job.uid))

    def run_removed(self, run: Run) -> None:
        """Note that DynamoDB has removed a run."""
        self._removed(Removed(self.now(), "run", run.key.name, run.uid, run.run_id))

    def line_removed(self, line: StoredLine) -> None:
        """Note that DynamoDB has removed a line."""
        self._removed(Removed(self.now(), "line", line.key.name, line.uid))

    def timer_removed(self, timer: StoredTimer) -> None:
        """Note that DynamoDB has removed a timer."""
        for _place, each, _is_last in placed_timers([timer], Cursor()):
            if not isinstance(each, UnreadTimer):
                self._removed(Removed(self.now(), "timer", each.key.name, revision_of(each).uid))

    def _removed(self, event: Removed) -> None:
        self.figures["removed"] += 1
        self.add(event)

    def lease_changed(self, before: Lease | None, after: Lease | None) -> None:
        """Note that a lease was written. Only a moved cursor counts."""
        if before is not None and after is not None and before.cursor != after.cursor:
            self.cursor_stored(after, self._scheduler.strand.process.began_at)
            if self.wheel_seen is not None:
                self.wheel_seen[1](after)

    def _is_of_calm(self, timer: RetryTimer | DeadlineTimer) -> bool:
        """Whether a timer is the deadline of a run that began in the calm. Such deadlines never end."""
        due_at = timer.message.trigger.due_at
        return isinstance(timer, DeadlineTimer) and self.calm_at is not None and due_at > self.calm_at

    def _data_of(self, job: Job) -> str | None:
        payload = job.definition.payload
        if payload is None:
            return None
        if payload.text is not None:
            return payload.text
        return self.bucket.objects.get((job.uid, payload.ref)) if payload.ref is not None else None
