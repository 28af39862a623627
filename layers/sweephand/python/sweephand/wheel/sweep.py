"""Sweeping: a sweeper sends what is due within the horizon. The cursor moves when the queue accepted all."""

from collections import Counter, deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from sweephand.base.concurrency import Concurrently, parts
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import BUCKET_MS, HORIZON_MS, LEASE_MS, LEASE_RENEWAL_MS, SWEEP_RESERVE_MS
from sweephand.model.timer import Cursor, Lease, PlacedTimer, StoredTimer, bucket_of, placed_timers
from sweephand.model.trigger import Message
from sweephand.ports.clock import Clock
from sweephand.ports.jobs import JobStore
from sweephand.ports.queue import Queue
from sweephand.ports.runs import RunStore
from sweephand.ports.wheel import LeaseStore, TimerStore
from sweephand.wheel.arm import delay_of
from sweephand.wheel.catchup import record_misfires
from sweephand.wheel.expand import Expansion, expand
from sweephand.wheel.sending import (
    bundled,
    set_lanes,
)
from sweephand.wheel.shard_visit import (
    MESSAGES_PER_SEND,
    PAGE_TIMERS_MAX,
    TIMERS_PER_WRITE,
    Done,
    DueJobReads,
    Pace,
    ShardVisit,
    rounds,
)

#: After this time in one shard, a sweeper goes to the other shards and returns later. So a shard with a
#: backlog does not delay the others.
VISIT_MS = 5 * SECOND_MS


def horizon(now: Instant) -> Instant:
    """The first instant beyond a sweep: the end of the second minute after the present one."""
    return now - now % BUCKET_MS + HORIZON_MS


class Swept(NamedTuple):
    """The result of one sweep: triggers sent, timers passed, shards claimed.

    `left` are the shards for which the sweeper had no time. `peak` is the largest number of triggers that it
    sent ahead and that fall due within one second. `faults` are the errors of shards that failed, and the
    reasons of timers that were put off. `left_at` is when the oldest timer was due that the sweeper found and
    did not pass, for lack of time or because its shard failed; None if it left none. It took `took_ms`.
    """

    triggers: int
    timers: int
    shards: int
    left: tuple[int, ...] = ()
    peak: int = 0
    faults: tuple[Exception, ...] = ()
    left_at: Instant | None = None
    took_ms: int = 0

    @property
    def is_finished(self) -> bool:
        """Whether the sweeper had time for every shard."""
        return not self.left

    def raise_faults(self) -> None:
        """Raise an ExceptionGroup with all faults, if there are any."""
        if self.faults:
            raise ExceptionGroup("not all of the wheel was swept", self.faults)


class _Sweep(NamedTuple):
    """One invocation: its unique owner name, when it must be over, how long requests take, what is left."""

    owner: str
    deadline: Instant
    pace: Pace
    #: The due time of the first timer that was found in each shard and is not passed.
    left_at: dict[int, Instant]

    def is_over(self, now: Instant) -> bool:
        """Whether there is no time left to begin anything more."""
        return now >= self.deadline - SWEEP_RESERVE_MS or not self.pace.has_time(self.deadline - now)


class Sweeper:
    """One sweep invocation. Any number may run at once: leases keep them apart, and fences stop late ones."""

    def __init__(
        self,
        *,
        jobs: JobStore,
        timers: TimerStore,
        leases: LeaseStore,
        runs: Callable[[], RunStore],
        queue: Queue,
        clock: Clock,
        concurrently: Concurrently,
        bundle_span_ms: int = 0,
    ) -> None:
        """`runs` is called when misfires are skipped."""
        self._due_jobs = DueJobReads(jobs, concurrently)
        self._timers = timers
        self._leases = leases
        self._runs = runs
        self._queue = queue
        self._clock = clock
        self._concurrently = concurrently
        self._bundle_span_ms = bundle_span_ms

    def sweep(
        self,
        leases: Sequence[Lease],
        *,
        owner: str,
        first_shard: int,
        deadline: Instant,
        own_shards: int = 1,
    ) -> Swept:
        """Sweep the shards, beginning at `first_shard`, and stop well before `deadline`.

        `leases` are the leases as they were just read. `owner` is a name that only this invocation has. Other
        sweepers begin at other shards, so only the first `own_shards` are left to this one. It reads the
        leases again before it turns to any other shard, if it has swept a shard since it read them. The
        sweeper leaves a shard with a backlog after VISIT_MS, and returns to it after it has visited the
        others. If something fails in a shard, the shard stays at its last commit, its lease expires, and the
        next tick finds the rest. The sweeper sweeps the other shards nevertheless. The failures are in the
        result, and the caller must raise them after its other duties (Swept.raise_faults).
        """
        began_at = self._clock.now()
        sweep = _Sweep(owner, deadline, Pace(), {})
        waiting = deque(sorted(leases, key=lambda lease: (lease.shard < first_shard, lease.shard)))
        triggers = timers = 0
        seconds: Counter[int] = Counter()
        shards: set[int] = set()
        faults: list[Exception] = []
        own = {lease.shard for lease in list(waiting)[:own_shards]}
        are_stale = False
        while waiting and not sweep.is_over(self._clock.now()):
            lease = waiting.popleft()
            try:
                if are_stale and lease.shard not in own:
                    known = {each.shard: each for each in self._leases.state().leases}
                    # A lease that is gone was lost with the whole table. The next tick makes it again.
                    waiting = deque(known[each.shard] for each in waiting if each.shard in known)
                    are_stale = False
                    if lease.shard not in known:
                        continue
                    lease = known[lease.shard]
                if not are_stale and _is_held(lease, self._clock.now()):
                    continue
                # It may have to return to the shard, and others may sweep the shard until then.
                own.discard(lease.shard)
                visit = self._visit(lease, sweep, are_others_waiting=bool(waiting))
            except Exception as error:  # noqa: BLE001 - whatever it is, the other shards must not wait for it
                faults.append(error)
                continue
            if visit is None or visit.left_at is None:
                sweep.left_at.pop(lease.shard, None)
            else:
                sweep.left_at[lease.shard] = visit.left_at
            if visit is None:
                continue
            are_stale = True
            triggers, timers = triggers + visit.done.triggers, timers + visit.done.timers
            seconds.update(visit.done.seconds)
            shards.add(lease.shard)
            faults += visit.done.faults
            if visit.left_at is not None:
                waiting.append(visit.lease)
        left = tuple(lease.shard for lease in waiting)
        return Swept(
            triggers,
            timers,
            len(shards),
            left,
            max(seconds.values(), default=0),
            tuple(faults),
            min(sweep.left_at.values(), default=None),
            self._clock.now() - began_at,
        )

    def _visit(self, seen: Lease, sweep: _Sweep, *, are_others_waiting: bool) -> ShardVisit | None:
        """Sweep a shard to its end, unless others wait or the time is up; None if there is nothing to do."""
        began_at = self._clock.now()
        page = self._page(seen.shard, seen.cursor)
        if not page:
            return None
        sweep.left_at[seen.shard] = page[0].timer.due_at
        now = self._clock.now()
        sweep.pace.record(now - began_at)
        lease = self._leases.claim(seen, sweep.owner, now, now + LEASE_MS)
        if lease is None:
            return None
        sweep.pace.record(self._clock.now() - now)

        def is_over(now: Instant) -> bool:
            return sweep.is_over(now) or (are_others_waiting and now - began_at >= VISIT_MS)

        visit = ShardVisit(lease, now, is_over)
        if lease.cursor != seen.cursor:
            page = self._page(lease.shard, lease.cursor)
            if not page:
                # Another sweeper has finished the shard since its lease was read.
                self._release(visit, visit.done, now)
        while page:
            sweep.left_at[lease.shard] = page[0].timer.due_at
            page = self._turn(visit, page, sweep)
        return visit

    def _page(self, shard: int, cursor: Cursor) -> Sequence[PlacedTimer]:
        """The next timers of a shard, of one bucket; none if the shard has none before the horizon."""
        before = horizon(self._clock.now())
        while items := self._timers.page(shard, cursor, before, PAGE_TIMERS_MAX):
            if timers := placed_timers(items, cursor):
                return timers
            # The cursor stands in a pack that has no timer after it: go on after the pack.
            cursor = Cursor(items[-1].sort_key)
        return ()

    def _turn(self, visit: ShardVisit, page: Sequence[PlacedTimer], sweep: _Sweep) -> Sequence[PlacedTimer]:
        """Do all that comes between two commits, and return the timers with which the sweeper goes on.

        It returns none if the shard is finished, left or lost. A timer that is only partly done is returned.
        The cursor says how far it is done.
        """
        if not self._is_judged(visit, page):
            return ()
        began_at = self._clock.now()
        portion = sweep.pace.portion(sweep.deadline - began_at, max(0, visit.lease.tries - 1))
        some = page[: portion.timers]
        due = self._due_jobs.of(some, visit.lease, visit.briefs)
        expansion = expand(
            some,
            due.jobs,
            visit.lease,
            unreadable=due.unreadable,
            triggers_max=portion.triggers,
            seen=visit.seen_in(bucket_of(page[0].timer.due_at)),
        )
        # Copies come first. Suppose that this sweeper wrote a pack without a timer that it puts off, in place
        # of a pack that has the timer. If it died before it wrote the copy, the timer would be lost.
        if expansion.copies:
            self._timers.put(expansion.copies)
        if not self._is_renewed(visit):
            return ()
        # The order of all the rest does not matter, because it all precedes the commit.
        set_lanes(expansion.messages, due.jobs)
        left = page[expansion.timers :]
        # While it sends these triggers, it reads the briefs for the next ones.
        visit.briefs, ahead = self._due_jobs.ahead(left[: portion.timers], due.briefs)
        self._concurrently([*self._requests(expansion), *ahead])
        # The commit comes last. After a failure before it, the page is repeated with the same ids.
        rest = self._committed(visit, expansion, left)
        portion_rounds = rounds(len(some), len(expansion.messages), len(expansion.skipped))
        pages = 0 if len(page) > expansion.timers else 1
        sweep.pace.record(self._clock.now() - began_at, portion_rounds + pages)
        return rest

    def _committed(
        self, visit: ShardVisit, expansion: Expansion, rest: Sequence[PlacedTimer]
    ) -> Sequence[PlacedTimer]:
        """Commit the cursor of an expansion of which all is written and sent; return the timers that follow.

        `rest` is what is left of the page. It is unchanged, because no timer is written so near its due time.
        If nothing follows or the visit is over, the same write releases the shard, and no timer is returned.
        """
        lease, cursor = visit.lease, expansion.cursor
        try:
            # The next page is read after all writes: a successor may lie in it if the shard is late.
            rest = rest or self._page(lease.shard, cursor)
        except Exception:
            # A read that fails is no reason for sending these triggers again.
            now = self._clock.now()
            self._leases.commit(lease, cursor, now + LEASE_MS, judged_at=now)
            raise
        now = self._clock.now()
        done = visit.done.plus(expansion, now)
        if not rest or visit.is_over(now):
            left_at = rest[0].timer.due_at if rest else None
            if self._release(visit, done, now, cursor=cursor, left_at=left_at):
                visit.left_at = left_at
            return ()
        # The commit also writes the instant by which the next page is judged, which saves a write.
        committed = self._leases.commit(lease, cursor, now + LEASE_MS, judged_at=now)
        if committed is None:
            # Another sweeper holds the shard now, and handles the rest.
            return ()
        visit.lease, visit.renewed_at, visit.done = committed, now, done
        return rest

    def _release(
        self,
        visit: ShardVisit,
        done: Done,
        now: Instant,
        *,
        cursor: Cursor | None = None,
        left_at: Instant | None = None,
    ) -> bool:
        """Release the shard; False if another sweeper holds it now.

        `found` adds up over the sweeps of one minute, since a second sweep finds little.
        """
        before = visit.lease
        is_same_minute = bucket_of(before.swept_at) == bucket_of(now)
        found = done.found + (before.found if is_same_minute else 0)
        peak = max(done.peak, before.peak if is_same_minute else 0)
        released = self._leases.release(before, found, now, cursor=cursor, left_at=left_at, peak=peak)
        if released is None:
            return False
        visit.lease, visit.done = released, done
        return True

    def _is_judged(self, visit: ShardVisit, page: Sequence[PlacedTimer]) -> bool:
        """Make sure that the lease has the instant by which this page is judged; False if the shard is lost.

        The instant that a crashed sweeper left counts for the page that it may have begun. It does not count
        for a page that was beyond the horizon at that instant, because no sweeper has judged that page.
        """
        judged_at = visit.lease.judged_at
        if judged_at is not None and bucket_of(page[0].timer.due_at) < horizon(judged_at):
            return True
        now = self._clock.now()
        return self._has_renewed(visit, now, judged_at=now)

    def _is_renewed(self, visit: ShardVisit) -> bool:
        now = self._clock.now()
        return now - visit.renewed_at < LEASE_RENEWAL_MS or self._has_renewed(visit, now)

    def _has_renewed(self, visit: ShardVisit, now: Instant, judged_at: Instant | None = None) -> bool:
        """Renew the lease of a visit; False if the shard is lost."""
        lease = visit.lease
        renewed = self._leases.commit(lease, lease.cursor, now + LEASE_MS, judged_at=judged_at)
        if renewed is None:
            return False
        visit.lease, visit.renewed_at = renewed, now
        return True

    def _requests(self, expansion: Expansion) -> list[Callable[[], object]]:
        """All that is left to be written and sent for an expansion, in parts that can go at once."""
        timers: list[StoredTimer] = [*expansion.successors, *expansion.packs, *expansion.watches.values()]
        now = self._clock.now()
        others: list[Message] = [*expansion.ranges, *expansion.checks]
        messages = bundled([*expansion.messages, *others], self._bundle_span_ms, now)
        sent = [(message, delay_of(message, now)) for message in messages]
        return [
            *(partial(self._timers.put, some) for some in parts(timers, TIMERS_PER_WRITE)),
            *(partial(self._queue.send, some) for some in parts(sent, MESSAGES_PER_SEND)),
            *(partial(record_misfires, self._runs(), *each) for each in expansion.skipped),
        ]


def _is_held(lease: Lease, now: Instant) -> bool:
    """Whether another sweeper holds the shard, so that a claim would be refused."""
    return lease.owner is not None and lease.lease_until >= now
