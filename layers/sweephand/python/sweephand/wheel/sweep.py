"""Sweeping: what is due within the horizon is sent, and the cursor moves when all of it was accepted."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sweephand.instants import Instant
from sweephand.ports import Clock, JobStore, LeaseStore, Queue, RunStore, TimerStore
from sweephand.timing import (
    BUCKET_MS,
    HORIZON_MS,
    LEASE_MS,
    LEASE_RENEWAL_MS,
    SWEEP_RESERVE_MS,
)
from sweephand.wheel.arm import delay_of
from sweephand.wheel.expand import Expansion, expand
from sweephand.wheel.timer import Lease, Timer, bucket_of

#: Timers read at once: as many as one-offs make triggers between two commits.
PAGE_TIMERS_MAX = 1_000


def horizon(now: Instant) -> Instant:
    """The first instant that a sweep leaves alone: the end of the second minute after this one."""
    return now - now % BUCKET_MS + HORIZON_MS


@dataclass(frozen=True, slots=True)
class Swept:
    """What one invocation did: triggers sent, timers passed, shards claimed, and whether it finished."""

    triggers: int
    timers: int
    shards: int
    is_finished: bool


@dataclass(slots=True)
class _Hold:
    """A shard in hand: the lease as last written, when it was renewed, and what was found so far."""

    lease: Lease
    renewed_at: Instant
    triggers: int = 0
    timers: int = 0
    faults: list[Exception] = field(default_factory=list)


class Sweeper:
    """One sweep invocation. Any number may run at once: leases keep them apart, fences keep them honest."""

    def __init__(
        self,
        *,
        jobs: JobStore,
        timers: TimerStore,
        leases: LeaseStore,
        runs: RunStore,
        queue: Queue,
        clock: Clock,
    ) -> None:
        self._jobs = jobs
        self._timers = timers
        self._leases = leases
        self._runs = runs
        self._queue = queue
        self._clock = clock

    def sweep(self, leases: Sequence[Lease], *, owner: str, first_shard: int, deadline: Instant) -> Swept:
        """Walk the shards, beginning at `first_shard`, and stop well before `deadline`.

        `leases` is what was read of them; `owner` names this invocation and no other. A shard in which
        something fails stays at its last commit, and its lease expires: the next tick finds the rest. The
        others are swept all the same; then an ExceptionGroup says what failed, timers put off included.
        """
        last_start = deadline - SWEEP_RESERVE_MS
        ordered = sorted(leases, key=lambda lease: (lease.shard < first_shard, lease.shard))
        triggers = timers = shards = 0
        is_finished = True
        errors: list[Exception] = []
        for lease in ordered:
            if self._clock.now() >= last_start:
                is_finished = False
            if not is_finished:
                break
            try:
                hold, is_finished = self._sweep_shard(lease, owner, last_start)
            except Exception as error:  # noqa: BLE001 - whatever it is, the other shards must not wait for it
                errors.append(error)
                continue
            if hold is not None:
                triggers, timers, shards = triggers + hold.triggers, timers + hold.timers, shards + 1
                errors += hold.faults
        if errors:
            raise ExceptionGroup("not all of the wheel was swept", errors)
        return Swept(triggers, timers, shards, is_finished)

    def _sweep_shard(self, seen: Lease, owner: str, last_start: Instant) -> tuple[_Hold | None, bool]:
        page = self._page(seen)
        if not page:
            return None, True
        now = self._clock.now()
        lease = self._leases.claim(seen, owner, now, now + LEASE_MS)
        if lease is None:
            return None, True
        hold = _Hold(lease, now)
        if lease.cursor != seen.cursor:
            page = self._page(lease)
        while page:
            if not self._turn(hold, page):
                return hold, True
            if self._clock.now() >= last_start:
                self._release(hold)
                return hold, False
            page = self._page(hold.lease)
        self._release(hold)
        return hold, True

    def _release(self, hold: _Hold) -> None:
        """Give the shard up. What sweeps of one minute find adds up: one that comes second finds little."""
        now, before = self._clock.now(), hold.lease
        is_same_minute = bucket_of(before.swept_at) == bucket_of(now)
        self._leases.release(before, hold.triggers + (before.found if is_same_minute else 0), now)

    def _page(self, lease: Lease) -> Sequence[Timer]:
        before = horizon(self._clock.now())
        return self._timers.page(lease.shard, lease.cursor, before, PAGE_TIMERS_MAX)

    def _turn(self, hold: _Hold, page: Sequence[Timer]) -> bool:
        """Do one page, or as much of it as goes between two commits; whether the shard is still held."""
        if not self._is_judged(hold, page):
            return False
        jobs = self._jobs.get_many(list(dict.fromkeys(timer.key for timer in page)))
        expansion = expand(page, jobs, hold.lease)
        if expansion.successors:
            self._timers.put(expansion.successors)
        for run in expansion.skipped:
            # Refused where it stands already: then this page is being repeated.
            self._runs.record(run)
        if not self._is_renewed(hold):
            return False
        self._send(expansion)
        now = self._clock.now()
        # The commit comes last: whatever went wrong before it is done again, with the same ids. It says by
        # when the next page is judged, too: so that costs no write of its own.
        committed = self._leases.commit(hold.lease, expansion.cursor, now + LEASE_MS, judged_at=now)
        if committed is None:
            return False
        hold.lease, hold.renewed_at = committed, now
        hold.triggers += len(expansion.messages)
        hold.timers += expansion.timers
        hold.faults += expansion.faults
        return True

    def _is_judged(self, hold: _Hold, page: Sequence[Timer]) -> bool:
        """See to it that the lease says by when this page is judged; whether the shard is still held.

        What one who died left counts for the page that it may have begun. A page that no sweep could read
        at that time has not been judged by anybody.
        """
        judged_at = hold.lease.judged_at
        if judged_at is not None and bucket_of(page[0].due_at) < horizon(judged_at):
            return True
        now = self._clock.now()
        judged = self._leases.commit(hold.lease, hold.lease.cursor, now + LEASE_MS, judged_at=now)
        if judged is None:
            return False
        hold.lease, hold.renewed_at = judged, now
        return True

    def _is_renewed(self, hold: _Hold) -> bool:
        now = self._clock.now()
        if now - hold.renewed_at < LEASE_RENEWAL_MS:
            return True
        renewed = self._leases.commit(hold.lease, hold.lease.cursor, now + LEASE_MS)
        if renewed is None:
            return False
        hold.lease, hold.renewed_at = renewed, now
        return True

    def _send(self, expansion: Expansion) -> None:
        if not expansion.messages:
            return
        now = self._clock.now()
        self._queue.send([(message, delay_of(message, now)) for message in expansion.messages])
