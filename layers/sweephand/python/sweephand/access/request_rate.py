"""How many requests a minute a caller may send whose key has a rate. Other callers cost nothing here."""

from collections import deque
from typing import Final

from sweephand.base.errors import RateError
from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.model.allowance import US_PER_MS, minute_us_of, slice_of, step_us_of
from sweephand.model.api_key import Caller
from sweephand.ports.flow import AllowanceStore

#: Keys whose slots one process remembers. When there are more, the process forgets all of them.
REMEMBERED_MAX: Final = 1_000


class RequestRates:
    """Lets requests through up to the rate of the caller's key. A function handles one request at a time.

    A minute's rate is divided into slots, as the triggers of a namespace are (model/allowance.py). A process
    takes a few slots at once, and none of a later minute: a burst over many processes would else use up the
    minutes to come. A process that was refused asks again in the next minute.
    """

    def __init__(self, allowances: AllowanceStore) -> None:
        self._allowances = allowances
        self._slots: dict[tuple[str, int], deque[int]] = {}
        self._free_us: dict[tuple[str, int], int] = {}

    def check(self, caller: Caller, now: Instant) -> None:
        """Raise RateError if the caller has sent as many requests in this minute as its key may.

        Without a rate, nothing is read or written. With one, a request costs at most one write. StoreError if
        the store does not answer.
        """
        per_minute = caller.requests_per_minute
        if per_minute is None:
            return
        known = caller.key_id, per_minute
        slots = self._slots_of(known)
        begin_us = minute_us_of(now)
        end_us = begin_us + MINUTE_MS * US_PER_MS
        while slots and slots[0] < begin_us:
            slots.popleft()
        free_us = slots[0] if slots else self._free_us.get(known, 0)
        if not slots and free_us < end_us:
            count, step_us = slice_of(per_minute), step_us_of(per_minute)
            free_us = self._allowances.take(f"key#{known[0]}", now, per_minute, count, end_us).first_us
            if free_us < end_us:
                slots.extend(free_us + number * step_us for number in range(count))
        if free_us >= end_us:
            self._free_us[known] = free_us
            wait_ms = -(-free_us // US_PER_MS) - now
            raise RateError(
                f"Your key may send {per_minute} requests a minute. Send the next one later.",
                -(-wait_ms // SECOND_MS),
            )
        slots.popleft()

    def _slots_of(self, known: tuple[str, int]) -> deque[int]:
        if len(self._slots) >= REMEMBERED_MAX and known not in self._slots:
            self._slots.clear()
            self._free_us.clear()
        return self._slots.setdefault(known, deque())
