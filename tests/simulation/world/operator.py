"""The loss of a seed's Timers table, and the operator who rebuilds it."""

from functools import partial

from tests.fakes.memory import MemoryLeases
from tests.fakes.memory_timers import MemoryTimers
from tests.fakes.world import key_of
from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.traces.rare_events import TimersLost
from tests.simulation.workload.drills import Drill
from tests.simulation.world.functions import Functions
from tests.simulation.world.processes import Scheduler

from sweephand.base.errors import BadRequestError
from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.model.timer import Cursor, Lease, StoredTimer, bucket_of, instant_at
from sweephand.runs.audit_findings import BEGINNING, JobProgress
from sweephand.web.http.operation import Services

#: A timer that could not be expanded was put off, some times in a row. So it promises what was due before its
#: shard's cursor.
_PUT_OFF_MS = 10 * MINUTE_MS

#: The operator repeats a call after so long.
_AGAIN_MS = 5 * SECOND_MS


class Operator:
    """Rebuilds the wheel after the loss that a drill has planned, call by call, until all is done."""

    def __init__(
        self, *, drill: Drill, scheduler: Scheduler, chronicle: Chronicle, functions: Functions
    ) -> None:
        self._drill = drill
        self._scheduler = scheduler
        self._chronicle = chronicle
        self._functions = functions
        self._since: Instant = 0
        self._calls = 0
        self._kept: tuple[dict[tuple[int, str], StoredTimer], dict[int, Lease], int] = ({}, {}, 0)
        self.is_done = False

    def plan(self) -> None:
        """At the world's beginning: plan the loss and the rebuild."""
        drill, begins_at = self._drill, self._scheduler.now
        self._since = begins_at
        if drill.back_to_ms is not None:
            self._scheduler.call_at(begins_at + drill.back_to_ms, self._keep)
        self._scheduler.call_at(begins_at + drill.lost_ms, partial(self._lose, begins_at))
        self._scheduler.call_at(begins_at + drill.rebuilt_ms, partial(self._rebuild, BEGINNING))

    def _keep(self) -> None:
        timers, leases = self._stores
        self._kept = dict(timers._timers), dict(leases._leases), leases._shards

    def _lose(self, begins_at: Instant) -> None:
        timers, leases = self._stores
        # The operator knows when the wheel last stood still: an alarm says how old the oldest cursor is.
        stood_at = min((_reached(each.cursor) for each in leases._leases.values()), default=0)
        self._since = max(begins_at, stood_at - _PUT_OFF_MS)
        kept, kept_leases, shards = self._kept
        # The table is exchanged. So no write is reported.
        dict.clear(timers._timers)
        dict.update(timers._timers, kept)
        timers._keys.clear()
        for shard, key in sorted(kept):
            timers._keys.setdefault(shard, []).append(key)
        dict.clear(leases._leases)
        dict.update(leases._leases, kept_leases)
        leases._shards, leases._heartbeat = shards, None
        back_to_ms = self._drill.back_to_ms
        self._chronicle.add(
            TimersLost(self._scheduler.now, 0 if back_to_ms is None else begins_at + back_to_ms)
        )
        self._chronicle.figures["losses"] += 1

    @property
    def _stores(self) -> tuple[MemoryTimers, MemoryLeases]:
        wheel = self._chronicle.wheel
        assert wheel is not None, "a seed with a loss has its stores in memory"
        return wheel

    def _rebuild(self, begun: JobProgress) -> None:
        self._calls += 1
        reached: list[JobProgress | None] = []

        def ask(api: Services) -> None:
            done = api.rebuilder.rebuild(self._since, namespace=key_of().namespace, begun=begun)
            assert not done.failed, f"jobs that could not be rebuilt: {done.failed}"
            self._chronicle.figures["rebuilt timers"] += done.timers
            self._chronicle.figures["rebuilt runs"] += done.runs
            reached.append(done.reached)

        def answered(error: Exception | str | None) -> None:
            assert not isinstance(error, BadRequestError), "the operator asks for nothing impossible"
            following = begun if error is not None else reached[-1]
            if following is None:
                self.is_done = True
                return
            self._scheduler.call_at(self._scheduler.now + _AGAIN_MS, partial(self._rebuild, following))

        self._functions.operate(self._calls, ask, answered)


def _reached(cursor: Cursor) -> Instant:
    return bucket_of(instant_at(cursor.key)) if cursor.key else 0
