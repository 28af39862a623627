"""What an audit of jobs has found, how far it has come, and how it finds the runs that lost their message."""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sweephand.base.instants import Instant
from sweephand.base.limits import BULK_EXAMINED_MAX
from sweephand.base.timing import ATTEMPT_DELAY_MAX_MS
from sweephand.model.job import Job, JobKey
from sweephand.model.policy_names import PolicyKey
from sweephand.model.run import Run, latest_attempt_of
from sweephand.model.trigger import DeadlineMessage, TriggerMessage
from sweephand.runs.audit_lines import LineAudit
from sweephand.runs.job_walk import awaited


class JobProgress(NamedTuple):
    """How far a walk has come: the namespace, the job `name`, and the position `before` within its runs.

    The timers of that job are done. `before` is empty if all of its runs were examined. `waiting` is the
    place in the list of keys that wait under the next policy.
    """

    namespace: str = ""
    name: str = ""
    before: str = ""
    waiting: str = ""


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


class LostRuns:
    """Judges runs in one call of an audit, which began at `now`."""

    def __init__(self, lines: LineAudit, now: Instant) -> None:
        self._lines = lines
        self._now = now

    def message(self, run: Run, job: Job) -> TriggerMessage | DeadlineMessage | None:
        """The message that a run has lost, with the instant when it was due; None if that is not certain.

        It is lost if nobody has handled it an hour after it was due. A trigger may wait in the line of its
        job's policy for longer. So its hour is counted by the time that the line has come to, and not at all
        while the policy is missing. A pause puts a trigger off too, so its hour begins with the resume.
        """
        message = _awaited(run, job)
        if message is None or message.not_before > self._now - ATTEMPT_DELAY_MAX_MS:
            return None
        if isinstance(message, DeadlineMessage):
            return message
        if job.paused_at is not None:
            # It is sent again and again while the pause lasts.
            return None
        reached_at = self._reached_at(job)
        since = max(message.not_before, job.resumed_at or 0)
        return message if reached_at is not None and since <= reached_at - ATTEMPT_DELAY_MAX_MS else None

    def _reached_at(self, job: Job) -> Instant | None:
        """The instant up to which triggers of a job leave now; None if none leaves, however long it waits."""
        if job.definition.policy is None:
            return self._now
        if self._lines.policy(PolicyKey(job.key.namespace, job.definition.policy)) is None:
            return None
        first_at = self._lines.first_at(job)
        return self._now if first_at is None else min(first_at, self._now)


def _awaited(run: Run, job: Job) -> TriggerMessage | DeadlineMessage | None:
    """The message without which a run does not go on; None if the run waits for none.

    A message for an attempt that was claimed looks like one after a crash, so the claim is taken over.
    """
    message = awaited(run, job)
    if message is None and run.state == "claimed" and run.claimed_until is not None:
        claimed = latest_attempt_of(run)._replace(crashes=1, lane=job.definition.lane)
        if run.attempts == run.round_from:
            # It may not have been made, and the first attempt of a round is owed however late it is.
            claimed = claimed._replace(first_attempt_at=None)
        return claimed._replace(not_before=run.claimed_until, had_token=run.token is not None)
    return message
