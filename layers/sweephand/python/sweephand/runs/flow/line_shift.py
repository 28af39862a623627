"""The time in which a worker of a line holds permits: its threads deliver, read ahead, and leave."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Final

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import FAN_OUT_MS, HELPERS_COME_MS, LINE_LOOK_MAX_MS, LINE_LOOK_MS, SETTLING_MS
from sweephand.model.policy import Policy
from sweephand.runs.flow.line_claims import READS_AT_ONCE
from sweephand.runs.flow.line_taken import TakenTrigger
from sweephand.runs.flow.line_walk import LineWalk
from sweephand.runs.flow.pace import Pace
from sweephand.runs.flow.permit import Permit
from sweephand.runs.flow.permits import Permits
from sweephand.runs.received import LineWait

if TYPE_CHECKING:
    from sweephand.runs.flow.line_worker import LineWorker

#: A thread without a permit or a trigger looks again after this.
_IDLE_MS: Final = 50

#: Triggers that a worker keeps waiting for each permit, and the most if requests end faster than it can read.
AHEAD: Final = 2
AHEAD_MAX: Final = 16

#: A worker that has nothing more to do waits for work that others may share, for so long.
_LINGER_MS: Final = 600

#: A worker begins no trigger with less time left than this.
RESERVE_MS: Final = SETTLING_MS + SECOND_MS

#: Calls of stores, one after the other, in which a worker reads ahead. Simulated workers needed up to 12.
_READ_CALLS: Final = 14

#: A worker with more time left than this reads on, however slow a call was. A single slow call says little.
_LEFT_MAX_MS: Final = 55 * SECOND_MS

#: Calls after the last request: its record, its permit and its entry, and those of _look_back().
_LAST_CALLS: Final = 6

#: Calls with which a worker releases its holder and has the next one called, and those of _look_back().
_RELEASE_CALLS: Final = 6


def threads_of(permits: int) -> int:
    """The threads of a worker with so many permits: one more reads, and others delete entries."""
    return permits + 2 + permits // 4


class Shift:
    """The time in which a worker holds permits. Every thread delivers, and one at a time reads ahead."""

    def __init__(
        self,
        worker: "LineWorker",
        policy: Policy,
        permits: Permits,
        walk: LineWalk,
        *,
        pace: Pace,
        deadline: Instant,
    ) -> None:
        self._worker = worker
        self._pace = pace
        self._permits = permits
        self._walk = walk
        self._deadline = deadline
        self._threads = threads_of(policy.holder_size)
        self._reading = Lock()
        self._is_over = False
        self._must_leave = False
        self._was_read = True
        self._was_full = False
        self._ahead = AHEAD * policy.holder_size
        self._error: Exception | None = None
        self._look_at: Instant = 0
        self._pause_ms = LINE_LOOK_MS
        self._fan_out_at: Instant = 0
        #: When helpers were called, and how many.
        self._calls: list[tuple[Instant, int]] = []
        self._slowest_ms = 0
        #: About how long a request takes, with what comes before and after it.
        self._request_ms = 1
        self._was_idle = False
        self._has_ended = False
        self._has_worked = False
        self._announced_until: Instant = 0
        #: When the worker last had something to do.
        self._worked_at: Instant = 0
        #: When the rate has its next token, if the worker left for want of one.
        self.dry_until: Instant | None = None

    def run(self, begin: Callable[[], None]) -> None:
        """Begin, and walk until there is nothing to do, or no time or permit left.

        Raises the first error in the end. Nothing is open then, and the holder is released if its store can
        be written.
        """
        try:
            begin()
            self._worker.run_all(self._threads, self._thread)
        except Exception as error:  # noqa: BLE001 - it is raised once the holder is released
            self._error = error
        if self._error is not None:
            with suppress(StoreError):
                self._leave()
            raise self._error

    def _thread(self) -> None:
        try:
            while not (self._is_over or self._error):
                request = self._worker.token()
                taken = None if self._must_leave else self._walk.take(partial(self._permits.admit, request))
                if taken is not None:
                    self._deliver(taken, request)
                elif not (self._read_ahead() or self._walk.clean()):
                    self._worker.wait_until(self._next_at())
            # The walk has left, so nobody else deletes what ended since then.
            while self._walk.clean():
                pass
        except Exception as error:  # noqa: BLE001 - run() raises it once every thread has ended
            self._error = self._error or error

    def _deliver(self, taken: TakenTrigger, request: str) -> None:
        permit = Permit(self._permits, request, may_be_begun=taken.taken.entry.may_be_begun)
        began_at = max(self._worker.now(), taken.message.not_before)
        try:
            # While stores are slow, what follows the last request takes more than is kept for it.
            late_ms = max(0, _LAST_CALLS * self._pace.slowest_ms - RESERVE_MS)
            became = self._worker.deliver(taken.message, permit, self._deadline - late_ms)
        finally:
            # Its away entry ends with the holder's life. The trigger is settled all the same.
            with suppress(StoreError):
                self._permits.end_away(request)
        if became:
            # Of two threads, one may overwrite what the other one found. It is a mean in any case.
            self._request_ms = max(1, (3 * self._request_ms + self._worker.now() - began_at) // 4)
            # Threads without a permit delete what is settled, as far as they can keep up.
            self._walk.settle(taken, became if isinstance(became, LineWait) else None)
            if self._walk.unclean > self._threads:
                self._walk.clean()
            return
        # A token that has passed is lost. The trigger is the next one of this worker again.
        self._must_leave = self._must_leave or not permit.was_refused or not self._permits.last
        self._walk.give_back(taken)

    def _read_ahead(self) -> bool:
        """Do what one thread does for all. Returns whether there may be something to take now."""
        if not self._reading.acquire(blocking=False):
            return False
        began_at = self._worker.now()
        try:
            return not self._is_over and self._read()
        finally:
            self._slowest_ms = max(self._slowest_ms, self._worker.now() - began_at)
            self._reading.release()

    def _read(self) -> bool:
        has_looked = self._pace.timed(self._permits.look)
        now, policy = self._worker.now(), self._permits.policy
        has_time = self._has_time(now) and not self._must_leave
        if policy is None or self._permits.are_lost or not has_time:
            self._leave()
            return False
        # An entry can take longer than its claim lasts.
        self._walk.renew()
        was_read = False
        self._walk.read_higher(policy)
        if self._is_look_due(now):
            if self._was_full and not self._walk.waiting:
                # The consumer is faster than the stores.
                self._ahead = min(2 * self._ahead, AHEAD_MAX * policy.holder_size)
            reads_on = partial(self._reads_on, policy)
            self._was_read = was_read = self._walk.read_ahead(policy, self._ahead, reads_on)
            self._was_full = self._walk.waiting >= self._ahead
            self._pause_ms = LINE_LOOK_MS if was_read else min(2 * self._pause_ms, LINE_LOOK_MAX_MS)
            self._look_at = now + self._pause_ms
            self._announce_if_idle(now)
        # Where only tokens are wanting, a helper would not send more.
        wants_permits = policy.rate is None or self._permits.free() <= 0
        enough = self._enough(policy.holder_size)
        if wants_permits and now >= self._fan_out_at and self._walk.sees_more(enough):
            self._fan_out(policy, enough, now)
        self.dry_until = self._permits.take_tokens(min(self._permits.free(), self._walk.waiting))
        if self.dry_until is not None or (self._has_ended and self._is_done() and not self._lingers(now)):
            self._leave()
        return was_read or has_looked

    def _fan_out(self, policy: Policy, enough: int, now: Instant) -> None:
        """Share work with others, and call some. Whoever is called comes in a moment, or much later."""
        self._calls = [(at, called) for at, called in self._calls if now - at < HELPERS_COME_MS]
        expected = sum(called for _, called in self._calls)
        done = self._worker.fan_out(policy, self._walk, self._permits, enough=enough, expected=expected)
        # Where functions are few, some groups were read, and no function is free for most of the time.
        is_vain = done.is_bounded and not done.called
        self._fan_out_at = now + (LINE_LOOK_MAX_MS if is_vain else FAN_OUT_MS)
        self._must_leave = self._must_leave or done.is_surplus
        if done.called:
            self._calls.append((now, done.called))

    def _is_look_due(self, now: Instant) -> bool:
        """Whether to look for new entries: after some were found, after a pause, and before leaving."""
        is_idle, has_ended = self._is_idle(), self._is_done()
        if not has_ended:
            self._worked_at, self._has_worked = now, True
        if (is_idle and not self._was_idle) or (has_ended and not self._has_ended):
            self._pause_ms, self._look_at = LINE_LOOK_MS // 4, now
        self._was_idle, self._has_ended = is_idle, has_ended
        return self._walk.waiting < self._ahead and (self._was_read or now >= self._look_at)

    def _reads_on(self, policy: Policy) -> bool:
        """Whether to read the next partitions, after all that were read have no work.

        A worker that has found nothing yet reads on. A worker that has nothing more to do reads on if the
        line has few partitions. While stores are slow, a worker stops reading when it has just enough time to
        walk what it finds, and to leave. When it has released its holder, it reads all partitions once more,
        or it calls a worker that does.
        """
        reads_all = not self._has_worked or policy.partitions <= READS_AT_ONCE
        return self._has_ended and reads_all and self._has_time(self._worker.now())

    def _is_idle(self) -> bool:
        """Whether a permit is free, and nothing waits here for it."""
        return not self._walk.waiting and self._permits.free() > 0

    def _is_done(self) -> bool:
        """Whether nothing waits here, and nothing is open."""
        return not (self._walk.waiting or self._permits.is_busy)

    def _announce_if_idle(self, now: Instant) -> None:
        """Let others share work if nothing was found for idle permits, and others have some."""
        if self._is_idle() and self._walk.busy_at >= now and now >= self._announced_until:
            self._announced_until = now + 2 * LINE_LOOK_MAX_MS
            self._permits.announce(self._announced_until)

    def _lingers(self, now: Instant) -> bool:
        """Whether to wait for work of others. That is faster than to leave and to be called again."""
        return now - self._worked_at < _LINGER_MS and self._walk.busy_at >= self._worked_at

    def _enough(self, permits: int) -> int:
        """How many triggers may wait here before others help: work for a second, and at least for one round.

        With many triggers for a slow consumer, a worker would go on long after all others have left.
        """
        return max(permits, min(2 * self._ahead, permits * SECOND_MS // self._request_ms))

    def _has_time(self, now: Instant) -> bool:
        """Whether the worker can read ahead once more and leave after that.

        Leaving takes about as many calls as reading ahead. While stores are slow, either takes seconds, and
        more than before if the walk has more in hand.
        """
        left_ms = self._deadline - now
        if left_ms < RESERVE_MS + 2 * self._slowest_ms:
            return False
        if left_ms >= _LEFT_MAX_MS:
            return True
        calls = _READ_CALLS + self._walk.calls_to_leave + _RELEASE_CALLS
        return left_ms >= calls * self._pace.slowest_ms

    def _leave(self) -> None:
        """Give back what has not begun, and release the holder. The caller is the one thread that reads."""
        self._is_over = True
        has_more = self._permits.is_busy
        try:
            has_more |= self._walk.leave(self._permits.until + 1)
        finally:
            # Whatever became of the line: nothing begins any more, and what is open is away until it is over.
            self._permits.release()
        if self.dry_until is not None:
            self._worker.wake_for_token(self._permits.key, self.dry_until)
        elif has_more:
            self._worker.wake(self._permits.key)

    def _next_at(self) -> Instant:
        """When a thread should look again: when a trigger or a token is due, or after a short time."""
        now = self._worker.now()
        coming = (self._walk.next_at(), self._permits.token_at(), now + _IDLE_MS)
        return min(each for each in coming if each is not None and each > now)
