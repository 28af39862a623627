"""How many delivery functions tick wakes: a few in each fourth minute, and as many as a coming peak needs."""

from collections import deque
from typing import Final

from sweephand.base.concurrency import DELIVERIES_AT_ONCE
from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.base.timing import BUCKET_MS, FUNCTION_WARM_MS
from sweephand.model.timer import WheelState, bucket_of
from sweephand.ports.queue import DeliveryFunctions

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
