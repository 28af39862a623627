"""Where a message waits: in the queue for up to 15 minutes, and as a timer in the wheel for longer."""

from collections.abc import Callable

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import API_LIMIT_MS, QUEUE_DELAY_MAX_MS, UNKNOWN_DELAY_MS
from sweephand.model.trigger import (
    DeadlineMessage,
    Message,
    RangeMessage,
    TriggerMessage,
)
from sweephand.model.watch import WatchMessage
from sweephand.ports import Clock, PayloadStore, Queue, TimerStore
from sweephand.runs.kept_data import KeptData


class Requeue:
    """Sends messages that wait. When a method returns, the message that it replaces may be acknowledged.

    The data of a trigger is kept for as long as its message waits. `data` keeps it.
    """

    def __init__(
        self,
        *,
        queue: Queue,
        timers: Callable[[], TimerStore],
        payloads: PayloadStore,
        clock: Clock,
    ) -> None:
        self.data = KeptData(payloads=payloads, clock=clock)
        self._queue = queue
        self._timers = timers
        self._clock = clock

    def put_back(self, message: Message, until: Instant) -> None:
        """Send a copy of the message that is received at that instant, or in 900 s if that is earlier.

        A message that is not early waits at least one second. SQS rounds a shorter delay down to zero, so it
        would deliver the message again and again until that instant.
        """
        is_early = not isinstance(message, RangeMessage) and until <= message.not_before
        now = self._clock.now()
        delay_ms = max(until - now, 0 if is_early else SECOND_MS)
        delay_ms = min(delay_ms, QUEUE_DELAY_MAX_MS)
        if isinstance(message, TriggerMessage):
            message = self.data.of_trigger(message, now + delay_ms)
        elif isinstance(message, RangeMessage):
            message = self.data.of_range(message, now + delay_ms)
        self._queue.send([(message, delay_ms)])

    def await_commit(self, message: TriggerMessage | RangeMessage | WatchMessage, armed_at: Instant) -> None:
        """Send a copy of a message whose revision, armed at that instant, is not stored (yet)."""
        now = self._clock.now()
        age_ms = now - armed_at
        delay_ms = UNKNOWN_DELAY_MS if age_ms < API_LIMIT_MS else max(UNKNOWN_DELAY_MS, age_ms // 2)
        self.put_back(message, now + delay_ms)

    def send_at(self, message: TriggerMessage | DeadlineMessage, shard: int) -> None:
        """Send a message so that it is received when it may be handled, however far ahead that is.

        `shard` is the shard of its job.
        """
        if isinstance(message, TriggerMessage):
            message = self.data.of_trigger(message, message.not_before)
        delay_ms = message.not_before - self._clock.now()
        if delay_ms <= QUEUE_DELAY_MAX_MS:
            self._queue.send([(message, max(0, delay_ms))])
            return
        from sweephand.model.timer import DeadlineTimer, RetryTimer  # noqa: PLC0415 - few messages wait so long

        if isinstance(message, DeadlineMessage):
            self._timers().put([DeadlineTimer(shard, message)])
        else:
            self._timers().put([RetryTimer(shard, message)])
