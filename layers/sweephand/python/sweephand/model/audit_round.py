"""How far a walk through all jobs has come, and what a round of the audit of jobs is."""

from typing import Final, NamedTuple

from sweephand.base.instants import Instant


class JobProgress(NamedTuple):
    """How far a walk has come: the namespace, the job `name`, and the position `before` within its runs.

    The timers of that job are done. `before` is empty if all of its runs were examined.
    """

    namespace: str = ""
    name: str = ""
    before: str = ""


#: The progress of a walk that has not begun.
BEGINNING: Final = JobProgress()


class AuditRound(NamedTuple):
    """A round: when it began, and how far it has come; `progress` is None when it is over.

    A step is at work until `held_until` at the latest. `version` is the token of the write.
    """

    began_at: Instant
    progress: JobProgress | None
    held_until: Instant
    version: str
