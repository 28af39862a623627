"""The consumer of a world with one policy. It counts the requests that are open and judges each of them."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from tests.simulation.flow.pauses import Pauses, held, job_of
from tests.simulation.flow.platform import LIMIT_MS, NOON, Platform
from tests.simulation.flow.tenants import Tenants
from tests.simulation.world.processes import MachineClock

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.flow.permit import Permit
from sweephand.flow.turn import Deliver
from sweephand.model.definition import Definition
from sweephand.model.job import JobKey
from sweephand.model.policy import PolicyKey
from sweephand.model.trigger import LineWait, Trigger, TriggerMessage

KEY: Final = PolicyKey("ns", "mailer")

#: Where nothing goes wrong, no request begins later than this after the policy was paused.
_STOPPED_AFTER_MS: Final = 2 * SECOND_MS


@dataclass
class Waiting:
    """A trigger of the world: the attempt that is owed, and the last one that was begun."""

    message: TriggerMessage
    owed: int = 1
    begun: int = 0
    begun_at: Instant | None = None


class Consumer:
    """Takes the requests of all functions. `put_again` brings a trigger back whose attempt failed."""

    def __init__(
        self,
        platform: Platform,
        request_ms: tuple[int, int],
        pauses: Pauses,
        put_again: Callable[[TriggerMessage], None],
        tenants: Tenants | None = None,
    ) -> None:
        self._platform = platform
        self._request_ms = request_ms
        self._pauses = pauses
        self._put_again = put_again
        self._tenants = tenants
        #: The keys of the requests that are open, in a world of tenants.
        self.keys: dict[object, str | None] = {}
        #: When each function has read the jobs for the last time, and which were paused.
        self._read: dict[MachineClock, tuple[Instant, Mapping[int, Instant]]] = {}
        #: Says of a permit whether its request, which began then, finds the consumer in order.
        self.outages: Callable[[Permit, Instant], bool] | None = None
        self.triggers: dict[str, Waiting] = {}
        #: The requests that are open, with the ids of their triggers.
        self.open: dict[object, str] = {}
        self.begun_at: list[Instant] = []
        #: Every limit that was stored, and when. That of a paused policy is 0.
        self.limits: list[tuple[Instant, int]] = []

    def trigger(self, due_at: Instant, job: str = "job") -> TriggerMessage:
        """A new trigger of the world."""
        number = len(self.triggers)
        made = Trigger(JobKey("ns", job), "uid0000000000001", "1-aaaa", due_at, 1, NOON, index=number)
        message = TriggerMessage(made, not_before=due_at)
        self.triggers[made.id] = Waiting(message)
        return message

    def paused_ms(self, since: Instant) -> int:
        """For how long the policy was paused after that instant, until it was resumed for the last time."""
        ends = [at for at, _ in self.limits[1:]]
        pauses = [(at, end) for (at, limit), end in zip(self.limits, ends, strict=False) if limit == 0]
        return sum(max(0, end - max(at, since)) for at, end in pauses)

    def undelivered(self) -> Iterator[Waiting]:
        """The triggers of which an attempt is owed that was never begun."""
        return (each for each in self.triggers.values() if each.begun < each.owed)

    def close(self, requests: set[object]) -> None:
        """A function was killed that had these requests open."""
        for each in requests:
            self.open.pop(each, None)
            self.keys.pop(each, None)

    def of_function(self, clock: MachineClock, mine: set[object]) -> Deliver:
        """The consumer of one function, whose requests are added to `mine`."""
        return _OfFunction(self, clock, mine)

    def deliver(
        self,
        clock: MachineClock,
        mine: set[object],
        message: TriggerMessage,
        permit: Permit,
        deadline: Instant,
    ) -> bool | LineWait:
        """As turn.Deliver of one function, whose requests are added to `mine`."""
        assert permit.key == KEY
        platform, scheduler = self._platform, self._platform.scheduler
        if (paused_at := self._paused_at(clock, message)) is not None:
            platform.figures["held"] += 1
            # It waits in the delivery queue.
            self._put_again(held(message, paused_at, clock.now()))
            return True
        if message.not_before - clock.now() >= SECOND_MS:
            # The clock of the function that enqueued it is ahead. It waits in the delivery queue.
            self._put_again(message)
            return True
        clock.wait_until(message.not_before)
        if (elsewhere := self._other_key(message, permit)) is not None:
            return elsewhere
        request_ms = platform.random.randint(*self._request_ms)
        if deadline - clock.now() < self._request_ms[1] + 5 * SECOND_MS:
            return False
        permit.wait()
        if not permit.may_leave():
            platform.figures["refused"] += 1
            return False
        waiting = self.triggers[message.trigger.id]
        if message.attempt <= waiting.begun:
            platform.figures["duplicates"] += 1
        before = waiting.begun
        waiting.begun = max(before, message.attempt)
        waiting.begun_at = waiting.begun_at or scheduler.now
        request, began_at = object(), scheduler.now
        mine.add(request)
        self.open[request] = message.trigger.id
        self.keys[request] = permit.name.key
        self.begun_at.append(scheduler.now)
        self._judge()
        if self._tenants is not None:
            may_have = self._tenants.may_have(message.trigger.key, permit.name.key, scheduler.now)
            platform.complaints["key"] += not may_have
        try:
            scheduler.sleep(request_ms)
        finally:
            self.open.pop(request, None)
            self.keys.pop(request, None)
        counts = self._is_answered(message, permit, waiting, began_at)
        # A copy of the trigger may be at a later attempt.
        if not counts and waiting.begun == message.attempt:
            waiting.begun = before
        return counts

    def _is_answered(
        self, message: TriggerMessage, permit: Permit, waiting: Waiting, began_at: Instant
    ) -> bool:
        """Let the request that began then be answered. Returns whether the attempt counts."""
        platform = self._platform
        is_out = self.outages is not None and not self.outages(permit, began_at)
        if permit.was_in_vain:
            return False
        if is_out or (platform.mishaps and platform.random.random() < 0.1 and message.attempt < 4):
            self._retry(message, waiting)
        return True

    def _other_key(self, message: TriggerMessage, permit: Permit) -> LineWait | None:
        """The trigger as it has to wait under another key, which its job has got meanwhile."""
        if self._tenants is None:
            return None
        tenants, key = self._tenants, message.trigger.key
        definition: Definition = self._platform.called(lambda: tenants.definition(key))
        if permit.is_for(definition, key.name):
            return None
        self._platform.figures["another key"] += 1
        return LineWait(KEY, "normal", message, definition)

    def _paused_at(self, clock: MachineClock, message: TriggerMessage) -> Instant | None:
        """Since when the job of a trigger is paused, by a read that is at most a second old."""
        now = self._platform.scheduler.now
        read_at, paused = self._read.get(clock, (0, {}))
        if now - read_at > SECOND_MS:
            paused = self._platform.called(lambda: self._pauses.paused)
            self._read[clock] = self._platform.scheduler.now, paused
        return paused.get(job_of(message))

    def _retry(self, message: TriggerMessage, waiting: Waiting) -> None:
        """The attempt failed, or has to wait: the trigger comes back by way of the delivery queue."""
        platform = self._platform
        at = platform.scheduler.now + platform.random.choice((1, 5, 15)) * SECOND_MS
        following = message._replace(attempt=message.attempt + 1, not_before=at)
        waiting.owed = max(waiting.owed, following.attempt)
        self._put_again(following)

    def _judge(self) -> None:
        """No more requests are open than the limit allowed at any time within a function's life."""
        since = self._platform.scheduler.now - LIMIT_MS - SECOND_MS
        before = [limit for at, limit in self.limits if at <= since]
        allowed = max([limit for at, limit in self.limits if at > since] + before[-1:], default=0)
        if max(Counter(self.keys.values()).values(), default=0) > allowed:
            self._platform.complaints["limit"] += 1
        # Functions go on for longer where one may be frozen between its read of the policy and its request.
        since = self._platform.scheduler.now - _STOPPED_AFTER_MS
        if not self._platform.mishaps and self.limits[-1][1] == 0 and self.limits[-1][0] < since:
            self._platform.complaints["paused"] += 1


class _OfFunction:
    """turn.Deliver of one function."""

    def __init__(self, consumer: Consumer, clock: MachineClock, mine: set[object]) -> None:
        self._consumer = consumer
        self._clock = clock
        self._mine = mine

    def __call__(self, message: TriggerMessage, permit: Permit, deadline: Instant) -> bool | LineWait:
        return self._consumer.deliver(self._clock, self._mine, message, permit, deadline)

    def flush(self) -> None:
        """Nothing is to be done."""
