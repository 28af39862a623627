"""Keeping payloads over 2 KB that no job refers to: data of triggers by hand, chains, notifications."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from sweephand.base.concurrency import Concurrently
from sweephand.base.timing import KEEP_ENDING_MS, PAYLOAD_KEPT_MS
from sweephand.model.keep_round import KeepPlace, Kept
from sweephand.ports.clock import Clock
from sweephand.ports.keep import KeptPayloads

#: So many payloads are looked at, and so many requests are under way, before the time is asked again.
_PAYLOADS_MAX: Final = 100


class PayloadKeeper:
    """Lets payloads that are about to expire do so later. A message that waits may refer to one of them.

    No list says which of them a message still refers to, so all are kept.
    """

    def __init__(self, *, places: Sequence[KeptPayloads], clock: Clock, concurrently: Concurrently) -> None:
        self._places = places
        self._clock = clock
        self._concurrently = concurrently

    def keep(self, place: KeepPlace, kept: Kept, is_over: Callable[[], bool]) -> KeepPlace | None:
        """Keep the payloads after that place, until the time is over.

        Returns the place that was reached; None after the last payload.
        """
        for number, payloads in enumerate(self._places):
            name = str(number)
            if number < int(place.name or 0):
                continue
            after: str | None = place.after if name == place.name else ""
            while after is not None:
                if is_over():
                    return KeepPlace("payloads", name, after)
                page = payloads.page(after, _PAYLOADS_MAX)
                # A payload expires PAYLOAD_KEPT after it was discarded, and it was written before that.
                before = self._clock.now() - (PAYLOAD_KEPT_MS - KEEP_ENDING_MS)
                old = [each for each in page.items if each.written_at < before]
                renewals = [partial(payloads.renew, each.uid, each.ref) for each in old]
                kept.payloads += sum(self._concurrently(renewals))
                after = page.next
        return None
