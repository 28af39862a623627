"""Keeping messages that wait in queues: SQS counts their time from their sending, so they are sent again."""

from collections.abc import Callable
from typing import Final

from sweephand.base.instants import Instant
from sweephand.base.timing import CLOCK_SKEW_MAX_MS, KEEP_DELAY_MS
from sweephand.model.keep_round import KeepPlace, Kept
from sweephand.ports.keep import KeptQueues

#: A round is done with a queue after so many messages in a row that were sent since it began. A queue keeps
#: no order. If a hundredth of its messages were old, 300 in a row would be young in one case of twenty.
_YOUNG_MAX: Final = 300


class MessageKeeper:
    """Sends each message of the queues again, as it is. Every one that is received is sent again.

    So no count of receives grows, however long the stack is off. The copies are delayed, so that a step does
    not receive them a second time.
    """

    def __init__(self, *, queues: KeptQueues) -> None:
        self._queues = queues

    def keep(
        self, place: KeepPlace, began_at: Instant, kept: Kept, is_over: Callable[[], bool]
    ) -> KeepPlace | None:
        """Keep the messages of the queues from that place on, until the time is over.

        `began_at` is when the round began. Returns the place that was reached; None after the last queue.
        """
        names = self._queues.names()
        # A deployment may have taken away the queue that was reached.
        begun = names.index(place.name) if place.name in names else 0
        for name in names[begun:]:
            young = int(place.after) if name == place.name else 0
            while young < _YOUNG_MAX:
                if is_over():
                    return KeepPlace("messages", name, str(young))
                # The clock of SQS says when a message was sent.
                renewed = self._queues.renew(name, began_at - CLOCK_SKEW_MAX_MS, KEEP_DELAY_MS)
                if renewed.messages == 0:
                    break
                kept.messages += renewed.messages
                young = young + renewed.young if renewed.young == renewed.messages else 0
        return None
