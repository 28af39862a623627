"""What a handler may return or raise besides a result and an error of its own."""

import datetime as dt
from typing import Final


class _Accepted:
    def __repr__(self) -> str:
        return "ACCEPTED"


#: A handler returns it when the work goes on elsewhere. A callback tells of its end (docs/callbacks.md).
ACCEPTED: Final = _Accepted()


class RetryAfter(Exception):  # noqa: N818 - it is an answer
    """The handler cannot do the work now. Sweephand tries again, after that time at the earliest.

    `delay` is in seconds, or a timedelta. It does not exceed the job's `retry.maxAge`.
    """

    def __init__(self, delay: float | dt.timedelta, reason: str = "Try again later.") -> None:
        self.seconds = delay.total_seconds() if isinstance(delay, dt.timedelta) else delay
        super().__init__(reason)


class FinalError(Exception):
    """The work will never succeed. Sweephand gives the trigger up."""


class Gone(Exception):  # noqa: N818 - it is an answer
    """Nobody needs this job any more. Sweephand gives the trigger up, and pauses the job."""
