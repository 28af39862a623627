"""The order to end a pause, which a message or a timer carries until then."""

from typing import NamedTuple

from sweephand.base.instants import Instant
from sweephand.model.job import JobKey


class ResumeMessage(NamedTuple):
    """The order to resume the job if its pause is to end at `not_before` or has ended before.

    The job itself says until when it is paused, and what fires then (PauseEnd). So an order that comes twice,
    or whose pause a caller has changed, does nothing. `armed_at` and `faults` are as in other messages.
    """

    key: JobKey
    uid: str
    not_before: Instant
    armed_at: Instant
    faults: int = 0
