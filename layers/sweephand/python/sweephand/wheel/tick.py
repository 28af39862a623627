"""Ticking: once a minute, how many sweepers that minute needs, and how many delivery functions are woken.

A few functions are woken in each fourth minute, and as many as a peak needs before it comes.
"""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from sweephand.base.concurrency import DELIVERIES_AT_ONCE
from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.base.timing import BUCKET_MS, FUNCTION_WARM_MS, HEARTBEAT_GAP_MS, OFF_LONG_MS
from sweephand.model.timer import Heartbeat, Lease, WheelState, bucket_of
from sweephand.model.wheel_event import WheelEvent
from sweephand.ports.clock import Clock
from sweephand.ports.queue import DeliveryFunctions
from sweephand.ports.wheel import LeaseStore, Sweepers, WheelHistory
from sweephand.wheel.sweep import Sweeper, Swept

#: Tick wakes delivery functions in each fourth minute, so that some are always warm.
WARM_EVERY_MINUTES: Final = FUNCTION_WARM_MS // BUCKET_MS

#: Functions that are kept warm. They deliver the first triggers after an idle hour, twenty at once.
WARM_FUNCTIONS: Final = 2

#: The most functions that tick wakes for a peak. That is a tenth of an ordinary account's concurrency, and
#: takes tick about a second. Lambda gives an event source five more functions a second, so a peak reaches the
#: others later than that, one after the other.
WAKE_UPS_MAX: Final = 100

#: Messages that one function receives at once (template.yaml). Without bundles each message is one trigger.
MESSAGES_AT_ONCE: Final = 10


class WarmFunctions:
    """Wakes delivery functions, and remembers for four minutes how many have run.

    A process that has just started remembers none. It then wakes functions that are warm, which costs little.
    """

    def __init__(
        self, *, delivery_functions: DeliveryFunctions, deliveries_max: int, sends_bundles: bool
    ) -> None:
        """`deliveries_max` is how many delivery functions the event source runs at once.

        A peak gets half of them: the other half is left for deliveries that are under way.
        """
        self._delivery_functions = delivery_functions
        self._functions_max = min(-(-deliveries_max // 2), WAKE_UPS_MAX)
        self._triggers_at_once = DELIVERIES_AT_ONCE if sends_bundles else MESSAGES_AT_ONCE
        self._ran: deque[tuple[Instant, int]] = deque()

    def wake(self, peak: int, now: Instant) -> int:
        """Wake what the coming minutes need, and return how many; 0 if Lambda failed.

        `peak` is the number of triggers in the fullest second of those minutes. A function that has run
        within four minutes is warm. If the warm ones do not suffice, all that the peak needs are woken at
        once: Lambda gives a wake-up to an idle function before it starts another one.

        If Lambda fails, triggers may be late by a cold start, and no worse. So this raises no StoreError.
        """
        needed = min(-(-peak // self._triggers_at_once), self._functions_max)
        kept = WARM_FUNCTIONS if now // BUCKET_MS % WARM_EVERY_MINUTES == 0 else 0
        count = max(kept, needed if needed > self._warm(now) else 0)
        if count:
            try:
                self._delivery_functions.wake(count)
            except StoreError:
                return 0
        if count or needed:
            # If the warm functions suffice, the peak will run them.
            self._ran.append((now, max(count, needed)))
        return count

    def _warm(self, now: Instant) -> int:
        """The functions that are known to be warm.

        A tick records how many functions it has woken, or how many will run at the peak that it knows. Each
        tick knows the peak of about as many minutes ahead. So the time between two records is about the time
        between two peaks.
        """
        while self._ran and now - self._ran[0][0] >= FUNCTION_WARM_MS:
            self._ran.popleft()
        return max((count for _, count in self._ran), default=0)


def peak_known(state: WheelState, now: Instant) -> int:
    """The triggers of the fullest second that the sweeps of this minute and the one before have sent ahead.

    The peaks of all shards are added, because most herds fall due at one instant. If they do not, the sum
    is too high.
    """
    before = bucket_of(now) - BUCKET_MS
    return sum(lease.peak for lease in state.leases if lease.swept_at >= before)


#: Triggers that one sweeper sends in a small part of a minute.
TRIGGERS_PER_SWEEPER = 20_000

#: The findings of a sweep say nothing about the present minute if the sweep is older than this.
FINDINGS_AGE_MAX_MS = 3 * BUCKET_MS


class Ticked(NamedTuple):
    """The result of a tick: the number of sweepers, and its own sweep if one sweeper sufficed.

    `behind_ms` is how long ago the oldest timer was due that earlier sweeps left; usually 0. `woken` is how
    many delivery functions were woken: a few in each fourth minute, and more before a peak. `faults` are the
    errors of all that failed, those of its own sweep included. `off_since` is when tick first found the stack
    switched off; None while the stack is on. `off_at` is when it last had been off for long. `left_at` is
    when the oldest timer was due that is known to be left after this tick: by its own sweep, or by earlier
    sweeps if it has only started sweepers.
    """

    sweepers: int
    swept: Swept | None
    behind_ms: int = 0
    woken: int = 0
    faults: tuple[Exception, ...] = ()
    off_since: Instant | None = None
    off_at: Instant | None = None
    left_at: Instant | None = None

    def raise_faults(self) -> None:
        """Raise an ExceptionGroup with all faults, if there are any."""
        if self.faults:
            raise ExceptionGroup("not all of the tick was done", self.faults)


def is_behind(lease: Lease, now: Instant) -> bool:
    """Whether the last sweep of a shard left timers, or did not end."""
    if lease.owner is not None:
        # The sweeper has worked since the minute before, or has crashed.
        return now - lease.lease_until <= FINDINGS_AGE_MAX_MS
    return lease.left_at is not None and now - lease.swept_at <= FINDINGS_AGE_MAX_MS


def sweepers_needed(state: WheelState, sweepers_max: int, now: Instant) -> int:
    """The number of sweepers that this minute needs, from 1 to the number of shards.

    It follows from what the last sweeps found and left. Each shard that is behind gets a sweeper, and all the
    other shards together get one more.
    """
    found = sum(lease.found for lease in state.leases if now - lease.swept_at <= FINDINGS_AGE_MAX_MS)
    behind = sum(is_behind(lease, now) for lease in state.leases)
    sweepers = max(-(-found // TRIGGERS_PER_SWEEPER), behind + 1 if behind else 1)
    return max(1, min(sweepers, sweepers_max, len(state.leases)))


def oldest_left(state: WheelState, now: Instant) -> Instant | None:
    """The due time of the oldest timer that the last sweeps are known to have left; None if there is none."""
    left = (lease.left_at for lease in state.leases if is_behind(lease, now))
    return min((each for each in left if each is not None), default=None)


class Ticker:
    """The use case of the tick function, which EventBridge wakes every minute."""

    def __init__(
        self,
        *,
        leases: LeaseStore,
        sweeper: Sweeper,
        sweepers: Sweepers,
        warm_functions: WarmFunctions,
        clock: Clock,
        shards: int,
        sweepers_max: int,
        is_enabled: bool = True,
        limit: int = 0,
        history: WheelHistory,
    ) -> None:
        """`is_enabled` is the stack's switch. While it is off, nothing is swept and no function is woken.

        `limit` is the stack's limit of triggers a minute; 0 stands for none.
        """
        self._limit = limit
        self._history = history
        self._leases = leases
        self._sweeper = sweeper
        self._sweepers = sweepers
        self._warm_functions = warm_functions
        self._clock = clock
        self._shards = shards
        self._sweepers_max = sweepers_max
        self._is_enabled = is_enabled

    def tick(self, *, owner: str, deadline: Instant) -> Ticked:
        """Write the heartbeat, raise the number of shards if needed, and have everything due swept.

        Two ticks at once do no harm, because leases keep their sweepers apart. If its own sweep had no time
        for some shards, these get sweepers at once. Then it wakes delivery functions if too few are warm for
        what comes. A duty that fails keeps it from no other one. The failures are in the result, and the
        caller must raise them after its other duties (Ticked.raise_faults). Only if the leases cannot be
        read, tick does nothing more, and raises StoreError.
        """
        now = self._clock.now()
        if not self._is_enabled:
            return self._stay_off(now)
        faults: list[Exception] = []
        state = self._leases.state()
        self._beat(Heartbeat(now, None, self._limit, state.off_at), faults)
        if state.shards < self._shards:
            _attempt(lambda: self._leases.raise_shards(self._shards), faults)
            state = self._leases.state()
        ticked = self._sweep(state, now, owner, deadline, faults)
        # What its own sweep found is known at once, and what other sweepers find is known to the next tick.
        peak = max(peak_known(state, now), 0 if ticked.swept is None else ticked.swept.peak)
        # The wake-ups come last, so that a Lambda that is slow to answer delays no sweep.
        woken = self._warm_functions.wake(peak, now)
        return ticked._replace(woken=woken, faults=tuple(faults), off_at=state.off_at)

    def _stay_off(self, now: Instant) -> Ticked:
        """Write the heartbeat, and since when the stack is off. Every cursor stays where it is."""
        faults: list[Exception] = []
        stored = self._leases.state()
        off_since = now if stored.off_since is None else stored.off_since
        off_at = now if now - off_since >= OFF_LONG_MS else stored.off_at
        self._beat(Heartbeat(now, off_since, self._limit, off_at), faults)
        return Ticked(0, None, faults=tuple(faults), off_since=off_since, off_at=off_at)

    def _beat(self, heartbeat: Heartbeat, faults: list[Exception]) -> None:
        """Write the heartbeat, and into the history what has changed since the one before.

        A tick that crashes between the two leaves a gap in the history, and does no other harm.
        """

        def beat() -> None:
            before = self._leases.beat(heartbeat)
            events = [] if before is None else events_between(before, heartbeat)
            if events:
                self._history.put(events)

        _attempt(beat, faults)

    def _sweep(
        self, state: WheelState, now: Instant, owner: str, deadline: Instant, faults: list[Exception]
    ) -> Ticked:
        if not state.leases:
            # The first shard of a new stack could not be written.
            return Ticked(0, None)
        count = sweepers_needed(state, self._sweepers_max, now)
        oldest = oldest_left(state, now)
        behind_ms = 0 if oldest is None else max(0, now - oldest)
        # Each minute begins at another shard. So every shard has its turn, even if time suffices for a few
        # only.
        shards = _from([lease.shard for lease in state.leases], now // BUCKET_MS)
        if count > 1 and _attempt(lambda: self._sweepers.start(_spread(shards, count)), faults):
            return Ticked(count, None, behind_ms, left_at=oldest)
        # If several are needed and cannot be started, one is too few, but better than none. Leases keep it
        # apart from those that were started.
        swept = self._sweeper.sweep(
            state.leases,
            owner=owner,
            first_shard=shards[0],
            deadline=deadline,
            own_shards=len(shards) if count == 1 else 1,
        )
        faults += swept.faults
        if swept.left and count == 1:
            _attempt(lambda: self._sweepers.start(_spread(swept.left, self._sweepers_max)), faults)
        left = (swept.left_at,) if count == 1 else (swept.left_at, oldest)
        left_at = min((each for each in left if each is not None), default=None)
        return Ticked(1, swept, behind_ms, left_at=left_at)


def events_between(before: Heartbeat, now: Heartbeat) -> list[WheelEvent]:
    """The events between two heartbeats, the second of which was just written.

    A stack that was switched off did not stop: tick writes its heartbeat while the stack is off.
    """
    found = []
    if now.at - before.at > HEARTBEAT_GAP_MS:
        found.append(WheelEvent("stopped", now.at, before.at))
    if before.off_since is not None and now.off_since is None:
        found.append(WheelEvent("off", now.at, before.off_since))
    if before.limit != now.limit:
        found.append(WheelEvent("limit", now.at, before.at, before.limit))
    return found


def _attempt(duty: Callable[[], object], faults: list[Exception]) -> bool:
    """Do a duty; return whether it was done. A StoreError is added to `faults`."""
    try:
        duty()
    except StoreError as error:
        faults.append(error)
        return False
    return True


def _from(shards: Sequence[int], number: int) -> Sequence[int]:
    """The same shards in a circle, beginning at that position."""
    start = number % len(shards)
    return [*shards[start:], *shards[:start]]


def _spread(shards: Sequence[int], count: int) -> Sequence[int]:
    """The shards at which that many sweepers begin, spread as evenly as possible."""
    count = min(count, len(shards))
    return [shards[each * len(shards) // count] for each in range(count)]
