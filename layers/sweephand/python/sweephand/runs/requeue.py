"""Where what has to wait waits: in the queue up to a quarter of an hour, in the wheel beyond."""

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import QUEUE_DELAY_MAX_MS
from sweephand.model.timer import DeadlineTimer, RetryTimer
from sweephand.model.trigger import (
    DeadlineMessage,
    Message,
    RangeMessage,
    TriggerMessage,
)
from sweephand.ports import Clock, Queue, TimerStore


class Requeue:
    """Sends messages for later; the message that they follow may be acknowledged when this returns."""

    def __init__(self, *, queue: Queue, timers: TimerStore, clock: Clock) -> None:
        self._queue = queue
        self._timers = timers
        self._clock = clock

    def put_back(self, message: Message, until: Instant) -> None:
        """Send a copy that is looked at again at that instant, or in 900 s if it lies beyond.

        One that is not early waits a second at least: the queue rounds less down to none, and would show it
        again at once, and so on until that instant.
        """
        is_early = not isinstance(message, RangeMessage) and until <= message.not_before
        delay_ms = max(until - self._clock.now(), 0 if is_early else SECOND_MS)
        delay_ms = min(delay_ms, QUEUE_DELAY_MAX_MS)
        self._queue.send([(message, delay_ms)])

    def send_at(self, message: TriggerMessage | DeadlineMessage, shard: int) -> None:
        """Have the message received when it may be handled, however far ahead; `shard` is its job's."""
        delay_ms = message.not_before - self._clock.now()
        if delay_ms <= QUEUE_DELAY_MAX_MS:
            self._queue.send([(message, max(0, delay_ms))])
        elif isinstance(message, DeadlineMessage):
            self._timers.put([DeadlineTimer(shard, message)])
        else:
            self._timers.put([RetryTimer(shard, message)])
