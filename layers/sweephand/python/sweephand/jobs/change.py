"""What a change of a job is: when, who, what and why."""

from dataclasses import dataclass
from typing import Literal

from sweephand.instants import Instant

What = Literal["created", "replaced", "patched", "paused", "resumed", "deleted"]

#: Who paused a job, where Sweephand did by itself.
SWEEPHAND = "sweephand"


@dataclass(frozen=True, slots=True)
class Change:
    """One write of a job. `who` is the id of the key that asked for it, or SWEEPHAND."""

    at: Instant
    who: str
    what: What
    reason: str | None = None
