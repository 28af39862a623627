"""What an audit of jobs has found."""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sweephand.base.instants import Instant
from sweephand.base.limits import BULK_EXAMINED_MAX
from sweephand.model.audit_round import JobProgress
from sweephand.model.job import JobKey

#: A call reports at most this many findings, and ends there.
_FINDINGS_MAX: Final = 100


class LostTimer(NamedTuple):
    """A job whose timer was lost: the first trigger that no timer promises is due at `due_at`."""

    key: JobKey
    due_at: Instant


class LostRun(NamedTuple):
    """A run that would not have ended: what it waited for was due at `due_at`."""

    key: JobKey
    run_id: str
    due_at: Instant


class NotAudited(NamedTuple):
    """A job that could not be examined, and why."""

    key: JobKey
    reason: str


@dataclass(slots=True)
class Audited:
    """The result of a part of an audit: how many jobs were examined, and what was found.

    `late` counts jobs that were not judged, because the sweepers are late with their shard. `written` is how
    many timers and messages were written, and `kept` how many entries of lines would have expired: none if
    the audit only reports. `reached` is None if everything was examined.
    """

    jobs: int = 0
    late: int = 0
    timers: list[LostTimer] = field(default_factory=list)
    runs: list[LostRun] = field(default_factory=list)
    failed: list[NotAudited] = field(default_factory=list)
    written: int = 0
    kept: int = 0
    reached: JobProgress | None = None

    @property
    def is_full(self) -> bool:
        """Whether the call has examined or found as much as it reports."""
        findings = len(self.timers) + len(self.runs) + len(self.failed)
        return self.jobs >= BULK_EXAMINED_MAX or findings >= _FINDINGS_MAX
