"""A worker: it handles one work message, by taking permits of the policy and walking its line with them."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from threading import Lock
from typing import Final, Literal, Protocol

from sweephand.base.concurrency import Concurrently
from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import (
    CLOCK_SKEW_MAX_MS,
    COVER_SLACK_MS,
    EARLY_WAIT_MAX_MS,
    FAN_OUT_MS,
    HOLDER_MS,
    LINE_AHEAD_MS,
    LINE_LOOK_MS,
    SETTLING_MS,
)
from sweephand.flow_ports import PermitStore, PolicyLines, PolicyStore
from sweephand.model.policy import Policy, PolicyKey
from sweephand.model.trigger import TriggerMessage, WorkMessage
from sweephand.ports import Clock, Ids
from sweephand.runs.flow.line_taken import TakenTrigger
from sweephand.runs.flow.line_walk import LineWalk, nothing
from sweephand.runs.flow.pace import Pace
from sweephand.runs.flow.permit import Permit
from sweephand.runs.flow.permits import Permits, take_permits
from sweephand.runs.outcome import LineWait
from sweephand.wheel.line_up import LineUp

#: What became of a work message: it came too early and was sent again; there is no such policy; a message for
#: the next token is on its way; every permit is in use; or the line was walked.
WorkOutcome = Literal["early", "missing", "marked", "full", "walked"]

#: A thread without a permit or a trigger looks again after this.
_IDLE_MS: Final = 50

#: A worker calls at most so many others at once.
_HELPERS_MAX: Final = 4

#: Triggers that a worker keeps waiting for each permit, and the most if requests end faster than it can read.
AHEAD: Final = 2
AHEAD_MAX: Final = 16

#: A worker begins no trigger with less time left than this.
_RESERVE_MS: Final = SETTLING_MS + SECOND_MS

#: Calls of stores, one after the other, in which a worker reads ahead. It seldom needs more.
_READ_CALLS: Final = 10

#: A worker with more time left than this reads on, however slow a call was. A single slow call says little.
_LEFT_MAX_MS: Final = 55 * SECOND_MS

#: Calls after the last request: its record, its permit and its entry, and those of _look_back().
_LAST_CALLS: Final = 6

#: Calls with which a worker releases its holder and has the next one called, and those of _look_back().
_RELEASE_CALLS: Final = 6


def threads_of(permits: int) -> int:
    """The threads of a worker with so many permits: one more reads, and others delete entries."""
    return permits + 2 + permits // 4


class Delivery(Protocol):
    """Handles a trigger that has a permit."""

    def __call__(self, message: TriggerMessage, permit: Permit, deadline: Instant) -> bool | LineWait:
        """Deliver the trigger, or find that it must wait elsewhere or needs no attempt.

        Returns whether the line need not keep the trigger. If it must, no request was sent: the permit was
        refused, or the longest attempt would not end before `deadline`. If the trigger has to wait in a line,
        this one or another, it is returned as it has to stand there. StoreError: the line must keep it.
        """
        ...


class LineWorker:
    """Handles work messages, each in one call. The caller acknowledges a message for which work() returns."""

    def __init__(
        self,
        *,
        policies: PolicyStore,
        permits: PermitStore,
        lines: PolicyLines,
        line_up: LineUp,
        deliver: Delivery,
        clock: Clock,
        ids: Ids,
        concurrently: Concurrently,
        read_concurrently: Concurrently,
        before_delete: Callable[[], None] = nothing,
    ) -> None:
        self._policies = policies
        self._permits = permits
        self._lines = lines
        self._deliver = deliver
        self._clock = clock
        self._ids = ids
        self._concurrently = concurrently
        self._read_concurrently = read_concurrently
        self._line_up = line_up
        self._before_delete = before_delete

    def work(
        self, message: WorkMessage, receives: int, deadline: Instant, acknowledge: Callable[[], None]
    ) -> WorkOutcome:
        """Handle a work message that SQS has delivered so often. At `deadline` the function's time is up.

        `acknowledge` removes the message from its queue. It is called before the work if a copy takes the
        message's place. Otherwise each receive of a message that crashes its worker would add a copy.

        StoreError: the message must come again. What was taken then ends by itself.
        """
        key = PolicyKey(message.namespace, message.policy)
        now = self._clock.now()
        if message.not_before - now >= EARLY_WAIT_MAX_MS:
            self._line_up.wake(key, message.not_before, clears_mark=message.clears_mark)
            return "early"
        permits_until = now + HOLDER_MS
        if receives > 1:
            # The first worker may have died with the last free holder, and this one may do so.
            self._line_up.wake(key, permits_until + 1)
            acknowledge()
        self._clock.wait_until(message.not_before)
        is_waker = message.clears_mark or receives > 1
        if is_waker:
            self._permits.clear_mark(key)
        policy = self._policies.get(key)
        if policy is None or policy.deleted_at is not None:
            return self._drop(message, "missing")
        if policy.rate is not None and not is_waker and self._permits.bucket(key).is_marked(now):
            return self._drop(message, "marked")
        pace = Pace(self._clock)
        permits = take_permits(
            policy,
            permits_until,
            policies=self._policies,
            permits=self._permits,
            clock=self._clock,
            ids=self._ids,
        )
        if permits is None:
            return self._drop(message, "full")
        walk = LineWalk(
            key,
            lines=self._lines,
            line_up=self._line_up,
            clock=self._clock,
            ids=self._ids,
            concurrently=self._read_concurrently,
            pace=pace,
            before_delete=self._before_delete,
        )
        shift = _Shift(self, policy, permits, walk, pace=pace, deadline=deadline)
        shift.run()
        if shift.dry_until is None:
            self._look_back(policy, walk, deadline - max(_RESERVE_MS, 3 * pace.slowest_ms))
        return "walked"

    def _drop(self, message: WorkMessage, why: WorkOutcome) -> WorkOutcome:
        """Drop a message, once its time has come by every clock. Until then let one come again for it.

        Who has the permits looks at the line before it leaves, and sees what is due by its own clock.
        """
        key = PolicyKey(message.namespace, message.policy)
        due_at, now = message.not_before + CLOCK_SKEW_MAX_MS, self._clock.now()
        if due_at > now and self._permits.bucket(key).covered_until < due_at:
            again = message._replace(not_before=message.not_before + COVER_SLACK_MS, clears_mark=False)
            covered_until = due_at + COVER_SLACK_MS
            self._line_up.send_again(again, covered_until)
            self._permits.cover(key, covered_until)
        return why

    def _look_back(self, policy: Policy, walk: LineWalk, ends_at: Instant) -> None:
        """Have the line looked after from now on: another worker may have found every permit taken.

        What is due later has its own message, and whoever drops that before its time sends it again.
        """
        before = self._clock.now() + LINE_AHEAD_MS
        at = walk.unclaimed_from(policy, before, ends_at)
        if at is not None:
            self._line_up.wake(policy.key, at)

    def wake_for_token(self, key: PolicyKey, at: Instant) -> None:
        """Send a work message for the next token, unless a mark says that one is on its way."""
        now = self._clock.now()
        if self._permits.mark(key, now, at + CLOCK_SKEW_MAX_MS, self._ids.token()):
            self._line_up.wake(key, at, clears_mark=True)

    def fan_out(self, policy: Policy, walk: LineWalk, enough: int) -> None:
        """Share work if holders are free, of those in a random group, and send a message for each helper."""
        group = self._permits.holders(policy.key, int(self._ids.fraction() * policy.groups))
        now = self._clock.now()
        free = sum(each.is_takeable(policy, now) for each in group)
        if free:
            helpers = walk.share(policy, min(free, _HELPERS_MAX), enough)
            self._read_concurrently([partial(self._line_up.wake, policy.key, now)] * helpers)

    def wake(self, key: PolicyKey) -> None:
        """Send a work message at once."""
        self._line_up.wake(key, self._clock.now())

    def deliver(self, message: TriggerMessage, permit: Permit, deadline: Instant) -> bool | LineWait:
        """Deliver a trigger that has a permit."""
        return self._deliver(message, permit, deadline)

    def now(self) -> Instant:
        """The present instant."""
        return self._clock.now()

    def wait_until(self, instant: Instant) -> None:
        """Return at that instant."""
        self._clock.wait_until(instant)

    def token(self) -> str:
        """An id for a request."""
        return self._ids.token()

    def run_all(self, threads: int, task: "_Task") -> Sequence[None]:
        """Run a task in so many threads."""
        return list(self._concurrently([task] * threads))


class _Task(Protocol):
    def __call__(self) -> None: ...


class _Shift:
    """The time in which a worker holds permits. Every thread delivers, and one at a time reads ahead."""

    def __init__(
        self,
        worker: LineWorker,
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
        self._looked_at: Instant = 0
        self._fanned_at: Instant = 0
        self._slowest_ms = 0
        #: When the rate has its next token, if the worker left for want of one.
        self.dry_until: Instant | None = None

    def run(self) -> None:
        """Walk until there is nothing to do, or no time or permit left. Raises the first error in the end."""
        self._worker.run_all(self._threads, self._thread)
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
        permit = Permit(self._permits, request)
        try:
            # While stores are slow, what follows the last request takes more than is kept for it.
            late_ms = max(0, _LAST_CALLS * self._pace.slowest_ms - _RESERVE_MS)
            became = self._worker.deliver(taken.message, permit, self._deadline - late_ms)
        finally:
            self._permits.end_away(request)
        if became:
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
        if self._walk.waiting < self._ahead and (self._was_read or now - self._looked_at >= LINE_LOOK_MS):
            if self._was_full and not self._walk.waiting:
                # The consumer is faster than the stores.
                self._ahead = min(2 * self._ahead, AHEAD_MAX * policy.holder_size)
            self._was_read = was_read = self._walk.read_ahead(policy, self._ahead)
            self._was_full = self._walk.waiting >= self._ahead
            self._looked_at = now
        # Where only tokens are wanting, a helper would not send more.
        wants_permits = policy.rate is None or self._permits.free() <= 0
        may_call = wants_permits and now - self._fanned_at >= FAN_OUT_MS
        enough = 2 * self._ahead
        if may_call and self._walk.sees_more(enough):
            self._fanned_at = now
            self._worker.fan_out(policy, self._walk, enough)
        self.dry_until = self._permits.take_tokens(min(self._permits.free(), self._walk.waiting))
        if self.dry_until is not None or not (self._walk.waiting or self._permits.is_busy):
            self._leave()
        return was_read or has_looked

    def _has_time(self, now: Instant) -> bool:
        """Whether the worker can read ahead once more and leave after that.

        Leaving takes about as many calls as reading ahead. While stores are slow, either takes seconds, and
        more than before if the walk has more in hand.
        """
        left_ms = self._deadline - now
        if left_ms < _RESERVE_MS + 2 * self._slowest_ms:
            return False
        if left_ms >= _LEFT_MAX_MS:
            return True
        calls = _READ_CALLS + self._walk.calls_to_leave + _RELEASE_CALLS
        return left_ms >= calls * self._pace.slowest_ms

    def _leave(self) -> None:
        """Give back what has not begun, and release the holder. The caller is the one thread that reads."""
        self._is_over = True
        has_more = self._permits.is_busy
        has_more |= self._walk.leave(self._permits.until + 1)
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
