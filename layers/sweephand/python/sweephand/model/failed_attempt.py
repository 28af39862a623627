"""What a run, and the message of its next attempt, keep of an attempt that failed (decision 239)."""

from typing import NamedTuple

from sweephand.base.instants import Instant


class FailedAttempt(NamedTuple):
    """An attempt that failed: when it began, how long it took until its result, and what that was in short.

    `text` is the beginning of the answer, or of the reason if no answer came.
    """

    attempt: int
    began_at: Instant
    took_ms: int
    response_code: int | None = None
    text: str = ""
