"""A worker: it handles one work message, by taking permits of the policy and walking its line with them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, Literal, NamedTuple, Protocol

from sweephand.base.concurrency import Concurrently
from sweephand.base.instants import Instant
from sweephand.base.timing import (
    CLOCK_SKEW_MAX_MS,
    COVER_SLACK_MS,
    EARLY_WAIT_MAX_MS,
    HELP_MS,
    HOLDER_MS,
    LINE_AHEAD_MS,
    TOKEN_LEAD_MS,
)
from sweephand.model.policy import Policy, PolicyKey
from sweephand.model.trigger import TriggerMessage
from sweephand.model.work_message import WorkMessage
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.flow import PermitStore, PolicyLines, PolicyStore
from sweephand.runs.flow.line_shift import RESERVE_MS, Shift
from sweephand.runs.flow.line_taken import nothing
from sweephand.runs.flow.line_walk import LineWalk
from sweephand.runs.flow.pace import Pace
from sweephand.runs.flow.permit import Permit
from sweephand.runs.flow.permits import Permits
from sweephand.runs.flow.take_permits import HoldersInUse, is_surplus, take_permits
from sweephand.runs.received import LineWait
from sweephand.wheel.sending import LineUp

#: What became of a work message: it came too early and was sent again; there is no such policy; a message for
#: the next token is on its way; every permit is in use; it called for help too long ago; or the line was
#: walked.
WorkOutcome = Literal["early", "missing", "marked", "full", "outdated", "walked"]

#: A worker calls at most so many others at once.
_HELPERS_MAX: Final = 4


class FanOut(NamedTuple):
    """How many others a worker has called, and what it has found.

    `is_bounded` says that the stack has fewer functions than the policy has holders. If there `is_surplus`,
    the policy has more workers than it may have, and this one has to leave.
    """

    called: int
    is_bounded: bool = False
    is_surplus: bool = False


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
        workers_max: int,
        concurrently: Concurrently,
        read_concurrently: Concurrently,
        before_delete: Callable[[], None] = nothing,
    ) -> None:
        """`workers_max` is how many workers one policy may have at once."""
        self._workers_max = workers_max
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

        StoreError: the message must come again. The holder is released by then, unless that failed too.
        """
        key = PolicyKey(message.namespace, message.policy)
        now = self._clock.now()
        permits_until, is_first = now + HOLDER_MS, receives == 1
        if is_first and message.until is not None and now > message.until:
            # While permits are free and functions are not, such calls would heap up in the queue, before the
            # messages of other policies. Who called goes on, and looks at the line before it leaves.
            return "outdated"
        if not is_first:
            # The first worker may have died with the last free holder or with the claim of a partition, and
            # this one may do so. By its clock the message may have come in time, and by this one too early.
            # It may also have set a wake mark, and died before it sent the message for the next token.
            self._line_up.wake(key, permits_until + 1, clears_mark=True)
        if message.not_before - now >= EARLY_WAIT_MAX_MS:
            self._line_up.wake(key, message.not_before, clears_mark=message.clears_mark)
            return "early"
        if not is_first:
            acknowledge()
        self._clock.wait_until(message.not_before)
        is_waker = message.clears_mark or not is_first
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
            workers_max=self._workers_max,
            policies=self._policies,
            permits=self._permits,
            clock=self._clock,
            ids=self._ids,
            concurrently=self._read_concurrently,
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
        shift = Shift(self, policy, permits, walk, pace=pace, deadline=deadline)
        shift.run(lambda: walk.begin(policy, message.hint))
        if shift.dry_until is None:
            self._look_back(policy, walk, deadline - max(RESERVE_MS, 3 * pace.slowest_ms))
        return "walked"

    def _drop(self, message: WorkMessage, why: WorkOutcome) -> WorkOutcome:
        """Drop a message, once its time has come by every clock. Until then let one come again for it.

        Who has the permits looks at the line before it leaves, and sees what is due by its own clock. Who
        called for help does so too, and need not be called again.
        """
        if message.until is None:
            self._come_again(message)
        return why

    def _come_again(self, message: WorkMessage) -> None:
        """Have a message come once the time of this one has come by every clock, unless one is on its way."""
        key = PolicyKey(message.namespace, message.policy)
        due_at, now = message.not_before + CLOCK_SKEW_MAX_MS, self._clock.now()
        if due_at > now and self._permits.bucket(key).covered_until < due_at:
            again = message._replace(not_before=message.not_before + COVER_SLACK_MS, clears_mark=False)
            covered_until = due_at + COVER_SLACK_MS
            self._line_up.send_again(again, covered_until)
            self._permits.cover(key, covered_until)

    def _look_back(self, policy: Policy, walk: LineWalk, ends_at: Instant) -> None:
        """Have the line looked after from now on: another worker may have found every permit taken.

        What is due later has its own message, and whoever drops that before its time sends it again.
        """
        before = self._clock.now() + LINE_AHEAD_MS
        at = walk.unclaimed_from(policy, before, ends_at)
        if at is not None:
            self._line_up.wake(policy.key, at)
        elif walk.has_newer:
            # Whoever called this worker may have written them. The newer version needs a message when it is
            # back.
            self._come_again(WorkMessage(*policy.key, self._clock.now()))

    def wake_for_token(self, key: PolicyKey, at: Instant) -> None:
        """Send a work message for the next token, unless a mark says that one is on its way.

        Its worker comes a bit before the token. It has to take permits and to read the line first.
        """
        now = self._clock.now()
        if self._permits.mark(key, now, at + CLOCK_SKEW_MAX_MS, self._ids.token()):
            self._line_up.wake(key, at - TOKEN_LEAD_MS, clears_mark=True)

    def fan_out(self, policy: Policy, walk: LineWalk, held: Permits, *, enough: int, expected: int) -> FanOut:
        """Share work if holders are free for more workers, or have idle permits.

        A worker is called for each free holder that can help, less the `expected` ones that were called
        before and may not have come yet. A worker with idle permits finds its share. Of a policy with more
        holders than workers, the groups are read that have its workers, and else a random one.
        """
        holders = HoldersInUse(policy, self._workers_max, self._permits, self._clock, self._read_concurrently)
        is_bounded = holders.is_bounded
        if is_bounded:
            found = holders.read(held)
        else:
            found = self._permits.holders(policy.key, int(self._ids.fraction() * policy.groups))
        now = self._clock.now()
        free = sum(each.is_takeable(policy, now) for each in found)
        if is_bounded:
            free = min(free, self._workers_max - sum(each.is_owned(now) for each in found))
        free = max(0, free - expected)
        idle = sum(each.is_idle(now) for each in found)
        helpers = walk.share(policy, min(free + idle, _HELPERS_MAX), enough) if free or idle else 0
        called = min(free, helpers)
        call = partial(self._line_up.wake, policy.key, now, until=now + HELP_MS)
        self._read_concurrently([call] * called)
        return FanOut(called, is_bounded, is_bounded and is_surplus(held, found, self._workers_max, now))

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

    def run_all(self, threads: int, task: Callable[[], None]) -> Sequence[None]:
        """Run a task in so many threads."""
        return list(self._concurrently([task] * threads))
