"""Keeping what waits while the stack is switched off, however long that takes."""

from typing import Final

from sweephand.base.errors import OffTooLongError
from sweephand.base.instants import HOUR_MS, MINUTE_MS, Instant, rfc3339
from sweephand.base.timing import (
    AUDIT_MINUTE,
    MESSAGE_DELAY_MS,
    MESSAGE_OLD_MS,
    OFF_LONG_MS,
    OFF_WARNING_MS,
    RENEWAL_MS,
    TIMER_RETENTION_MS,
)
from sweephand.ports.clock import Clock
from sweephand.ports.queue import StackQueues
from sweephand.ports.wheel import ExpirySwitch

#: The names of two queues.
_POLICY: Final = "policy"
_NORMAL: Final = "delivery"

#: A tick is done with a queue after this many messages in a row that are not old. A queue keeps no order. If
#: a fiftieth of its messages were old, 100 in a row would be young in one case of seven.
_YOUNG_MAX: Final = 100


class TimeOff:
    """Has DynamoDB remove nothing from the stack's tables, and sends the messages of its queues again.

    Two ticks may do so at once, and functions may work meanwhile. A tick may end anywhere.
    """

    def __init__(
        self, *, expiry: ExpirySwitch, queues: StackQueues, clock: Clock, polls_policies: bool
    ) -> None:
        """Unless Lambda `polls_policies`, the lane of policies, tick moves on what is left there."""
        self._polls_policies = polls_policies
        self._expiry = expiry
        self._queues = queues
        self._clock = clock

    def keep(self, off_since: Instant | None, off_at: Instant | None) -> int:
        """Keep what waits in a stack that is off since `off_since`; return how many messages were sent again.

        The stack was last found to be off for long at `off_at`. Two weeks after that, DynamoDB removes items
        again. By then, what waited was swept and received, and has the ends that it always has. Tick looks at
        that once an hour, and at a lane that nobody polls. StoreError: something was not done, and a later
        call repeats it.
        """
        now = self._clock.now()
        if off_since is None:
            is_minute = now % HOUR_MS // MINUTE_MS == AUDIT_MINUTE
            if is_minute and off_at is not None and now - off_at >= TIMER_RETENTION_MS:
                self._expiry.set(is_on=True)
            return self._move_on(now) if is_minute and not self._polls_policies else 0
        if now - off_since < OFF_LONG_MS:
            return 0
        try:
            self._expiry.set(is_on=False)
        finally:
            renewed = self._renew(now)
        return renewed

    def check(self, off_since: Instant | None) -> None:
        """Raise OffTooLongError if the stack has been off for so long that somebody has to know."""
        if off_since is not None and self._clock.now() - off_since >= OFF_WARNING_MS:
            raise OffTooLongError(
                f"The stack has been switched off since {rfc3339(off_since)}. What waits is kept, except "
                "data over 2 KB that was given with a trigger. Such data may expire from the 30th day on. "
                "Set the parameter Enabled to true, or delete the stack."
            )

    def _move_on(self, now: Instant) -> int:
        """Send what is left in the lane of policies to the normal one. It then waits in lines."""
        count = 0
        while self._clock.now() < now + RENEWAL_MS and (sent := self._queues.renew(_POLICY, 0, _NORMAL)):
            count += len(sent)
        return count

    def _renew(self, now: Instant) -> int:
        """Send old messages again, and return how many of all kinds were sent. SQS counts from the sending.

        Every message that is received is sent again. So no count of receives grows, however long the stack is
        off. The copies are delayed, so that this call does not receive them a second time. Each minute begins
        with another queue, so that a long one does not keep the others from their turn.
        """
        names, count = list(self._queues.names()), 0
        first = now // MINUTE_MS % len(names)
        for name in (*names[first:], *names[:first]):
            young = 0
            while young < _YOUNG_MAX and self._clock.now() < now + RENEWAL_MS:
                sent = self._queues.renew(name, MESSAGE_DELAY_MS)
                if not sent:
                    break
                count += len(sent)
                are_young = all(now - at < MESSAGE_OLD_MS for at in sent)
                young = young + len(sent) if are_young else 0
        return count
