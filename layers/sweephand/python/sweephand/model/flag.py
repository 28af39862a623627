"""What a flag is: it names a run that did not simply succeed, so that a namespace can list such runs."""

from typing import NamedTuple

from sweephand.base.instants import Instant
from sweephand.model.job import JobKey
from sweephand.model.run_id import RunName


class Flag(NamedTuple):
    """One flag: the job and the name of a run, and until when the flag is kept (None: for ever).

    A flag is written before the state that it announces, and is never removed. So it says nothing about the
    state of its run: whoever reads it reads the run too (decision 130).
    """

    key: JobKey
    uid: str
    run: RunName
    expires_at: Instant | None = None
