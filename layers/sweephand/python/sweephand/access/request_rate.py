"""How many requests a minute a caller may send whose key has a rate. Other callers cost nothing here."""

from collections import deque
from collections.abc import Callable
from typing import Final

from sweephand.base.errors import RateError
from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.flow_ports import AllowanceStore
from sweephand.model.allowance import US_PER_MS, minute_us_of, slice_of, step_us_of
from sweephand.model.api_key import Caller

#: Keys whose slots one process remembers. When there are more, the process forgets all of them.
REMEMBERED_MAX: Final = 1_000


class RequestRates:
    """Lets requests through up to the rate of the caller's key. A function handles one request at a time.

    A minute's rate is divided into slots, as the triggers of a namespace are (model/allowance.py). A process
    takes a few slots at once, and keeps those of a later minute for that minute. So a caller that goes on
    asking takes no more slots than it may use.
    """

    def __init__(self, allowances: Callable[[], AllowanceStore]) -> None:
        self._allowances = allowances
        self._slots: dict[tuple[str, int], deque[int]] = {}

    def check(self, caller: Caller, now: Instant) -> None:
        """Raise RateError if the caller has sent as many requests in this minute as its key may.

        Without a rate, nothing is read or written. With one, a request costs at most one write. StoreError if
        the store does not answer.
        """
        per_minute = caller.requests_per_minute
        if per_minute is None:
            return
        slots = self._slots_of(caller.key_id, per_minute)
        while slots and slots[0] < minute_us_of(now):
            slots.popleft()
        if not slots:
            count, step_us = slice_of(per_minute), step_us_of(per_minute)
            first_us = self._allowances().take(f"key#{caller.key_id}", now, per_minute, count).first_us
            slots.extend(first_us + number * step_us for number in range(count))
        if slots[0] >= minute_us_of(now) + MINUTE_MS * US_PER_MS:
            wait_ms = -(-slots[0] // US_PER_MS) - now
            raise RateError(
                f"Your key may send {per_minute} requests a minute. Send the next one later.",
                -(-wait_ms // SECOND_MS),
            )
        slots.popleft()

    def _slots_of(self, key_id: str, per_minute: int) -> deque[int]:
        if len(self._slots) >= REMEMBERED_MAX and (key_id, per_minute) not in self._slots:
            self._slots.clear()
        return self._slots.setdefault((key_id, per_minute), deque())
