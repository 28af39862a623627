"""What a change of a job is, and how none of them is lost: the latest one travels in the job.

Whoever writes the job next files the change of the version that it found, before its own commit. So every
change that is filed was committed, whoever is killed where; and what a write costs more, it costs when the
next one comes.
"""

from typing import Literal, NamedTuple

from sweephand.instants import Instant

What = Literal["created", "replaced", "patched", "paused", "resumed", "deleted"]

#: Who paused a job, where Sweephand did by itself.
SWEEPHAND = "sweephand"


class Change(NamedTuple):
    """One write of a job. `who` is the id of the key that asked for it, or SWEEPHAND.

    `version` is the token of the write: of two changes at one instant each has its own place.
    """

    at: Instant
    who: str
    what: What
    version: str
    reason: str | None = None

    @property
    def position(self) -> str:
        """Where it lies among the changes of its job: sortable as text."""
        return f"{self.at:014d}#{self.version}"
