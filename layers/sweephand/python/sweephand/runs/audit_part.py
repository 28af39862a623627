"""What one call of an audit has read of the wheel, and which timers may lie elsewhere on it."""

from collections.abc import Collection, Mapping
from typing import Final

from sweephand.base.instants import Instant
from sweephand.base.timing import BUCKET_MS, DIRECT_WINDOW_MS
from sweephand.model.job import Job, JobKey
from sweephand.model.timer import (
    Cursor,
    OccurrenceTimer,
    UnreadTimer,
    bucket_key,
    bucket_of,
    placed_timers,
)
from sweephand.ports.wheel import LeaseStore, TimerStore
from sweephand.runs.audit_findings import Audited, LostRuns
from sweephand.runs.audit_lines import LineAudit
from sweephand.wheel.rebuild import swept_to
from sweephand.wheel.span import PUT_OFF_MS
from sweephand.wheel.sweep import horizon

#: A timer that was put off lies at most this far ahead: beyond the horizon, or beyond what arming reaches.
_PUT_OFF_AHEAD_MS: Final = DIRECT_WINDOW_MS + PUT_OFF_MS + BUCKET_MS

#: So many items of one shard are read in search of timers that were put off, and as many items at once.
_ITEMS_MAX: Final = 50_000
_ITEMS_AT_ONCE: Final = 1_000


#: A call looks for so many timers behind gaps.
_LOOKS_MAX: Final = 2_000


class AuditPart:
    """What one call of an audit has read of the wheel, and what it has done."""

    def __init__(
        self,
        timers: TimerStore,
        leases: LeaseStore,
        lines: LineAudit,
        lost_runs: LostRuns,
        now: Instant,
        *,
        mends: bool,
    ) -> None:
        self._timers = timers
        self._leases = leases
        self._cursors: Mapping[int, Cursor] | None = None
        self._swept_to: dict[int, Instant] = {}
        self._put_off: dict[int, Collection[tuple[JobKey, str]] | None] = {}
        #: For so many more timers of jobs without records the call may look. Each takes a request.
        self.looks = _LOOKS_MAX
        self.now = now
        self.mends = mends
        #: It keeps the lines of policies.
        self.lines = lines
        #: It judges runs.
        self.lost_runs = lost_runs
        self.done = Audited()

    def swept_to(self, shard: int) -> Instant:
        """How far a shard was swept when the call first asked. Sweepers only go on from there."""
        if shard not in self._swept_to:
            if self._cursors is None:
                self._cursors = {each.shard: each.cursor for each in self._leases.state().leases}
            cursor, before = self._cursors.get(shard, Cursor()), horizon(self.now)
            self._swept_to[shard] = swept_to(self._timers.page(shard, cursor, before, 1), cursor, before)
        return self._swept_to[shard]

    def is_judged(self, job: Job) -> bool:
        """Whether a job can be judged: it is not gone, and sweepers are not late with its shard."""
        return not job.is_gone(self.now) and not self.is_late(job.shard)

    def is_late(self, shard: int) -> bool:
        """Whether sweepers are late with a shard. A late sweeper sends triggers ahead of its place."""
        return self.swept_to(shard) < bucket_of(self.now) + BUCKET_MS

    def may_be_put_off(self, timer: OccurrenceTimer) -> bool:
        """Whether a timer of the same revision may lie at another place, because it was put off.

        The near part of the shard is read once. If that is too much, or a part cannot be read, any timer may
        be there.
        """
        if timer.shard not in self._put_off:
            self._put_off[timer.shard] = self._revisions(timer.shard)
        found = self._put_off[timer.shard]
        return found is None or (timer.key, timer.rev) in found

    def _revisions(self, shard: int) -> Collection[tuple[JobKey, str]] | None:
        """The revisions that have a put-off timer in the near part of a shard; None if that is not known."""
        found: set[tuple[JobKey, str]] = set()
        cursor, read = Cursor(bucket_key(self.swept_to(shard))), 0
        before = self.now + _PUT_OFF_AHEAD_MS
        while items := self._timers.page(shard, cursor, before, _ITEMS_AT_ONCE):
            for _, timer, _ in placed_timers(items, cursor):
                if isinstance(timer, UnreadTimer):
                    return None
                if isinstance(timer, OccurrenceTimer) and timer.put_off_to is not None:
                    found.add((timer.key, timer.rev))
            read += len(items)
            if read >= _ITEMS_MAX:
                return None
            cursor = Cursor(items[-1].sort_key)
        return found
