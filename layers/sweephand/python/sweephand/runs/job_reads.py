"""Reading the job of a message recently enough, and whether its trigger is alive by that read."""

from typing import Final, NamedTuple

from sweephand.base.instants import Instant
from sweephand.base.timing import JOB_READ_AGE_MAX_MS
from sweephand.model.earlier_revisions import may_be_filed, owes_nothing, would_be_filed
from sweephand.model.job import Job, JobKey, Revision, RevisionName
from sweephand.model.liveness import (
    Liveness,
    liveness_by_revision,
    liveness_of_retry,
    liveness_on_demand,
    revision_of,
)
from sweephand.model.run_id import is_exempt_from_pause
from sweephand.model.trigger import HasRevision, TriggerMessage
from sweephand.ports import Clock, JobStore


class JobRead(NamedTuple):
    """A job and the instant at which it was read. `job` is None if the job did not exist."""

    job: Job | None
    at: Instant


#: A read that is too old to be used. Whoever needs the job reads it again.
UNREAD: Final = JobRead(None, 0)


class JobReads:
    """Reads jobs again when the last read has grown too old."""

    def __init__(self, *, jobs: JobStore, clock: Clock) -> None:
        self._jobs = jobs
        self._clock = clock

    def fresh(self, key: JobKey, read: JobRead, at: Instant | None = None) -> JobRead:
        """The same read if it is at most a second old (or will be `at` that instant), otherwise a new one."""
        used_at = self._clock.now() if at is None else at
        return read if used_at - read.at <= JOB_READ_AGE_MAX_MS else self.reread(key)

    def reread(self, key: JobKey) -> JobRead:
        """A new read, even if the last one is recent."""
        now = self._clock.now()
        return JobRead(self._jobs.get(key), now)

    def revision(self, of: HasRevision, job: Job | None, due_at: Instant) -> Revision | None:
        """The revision of a trigger or range, from its job or from where it was filed; None if none owes it.

        `due_at` is the due time of the first trigger. The job may have forgotten the revision; only then does
        this cost a read.
        """
        if not may_be_filed(job, of.uid, of.rev, due_at):
            return revision_of(job, of.uid, of.rev)
        name = RevisionName(of.key, of.uid, of.rev)
        return self._jobs.filed([name]).get(name)

    def mark_owed(self, message: TriggerMessage, read: JobRead) -> TriggerMessage:
        """The message, marked by its revision as owed or not, if its job does not keep the revision.

        A trigger that waits was marked when it arrived. An update may have ended the revision before the due
        time of the trigger since then, if the delivery function's clock was ahead. So the mark of a revision
        that the job does not keep is made again. A job with a full item neither keeps nor files a revision in
        which nothing fell due.
        """
        trigger = message.trigger
        is_judged_by_revision = message.attempt == 1 and message.redrive is None and trigger.demand is None
        if not is_judged_by_revision:
            return message
        if owes_nothing(read.job, trigger.uid, trigger.rev):
            return message._replace(is_owed=False)
        if not may_be_filed(read.job, trigger.uid, trigger.rev, trigger.due_at):
            return message
        name = RevisionName(trigger.key, trigger.uid, trigger.rev)
        filed = self._jobs.filed([name]).get(name)
        if filed is None and not would_be_filed(trigger.due_at, self._clock.now()):
            # The filed revision may have been removed at the end of its time to live.
            return message
        return message._replace(is_owed=filed is not None and filed.owns(trigger.due_at))


def liveness_of(message: TriggerMessage, read: JobRead) -> Liveness:
    """Whether the trigger of a message is alive by that read of its job."""
    trigger = message.trigger
    if message.redrive is not None or is_exempt_from_pause(trigger.demand):
        return liveness_on_demand(read.job, uid=trigger.uid)
    if message.attempt > 1 or trigger.demand is not None:
        return liveness_of_retry(read.job, uid=trigger.uid)
    liveness = liveness_by_revision(read.job, uid=trigger.uid, rev=trigger.rev, due_at=trigger.due_at)
    if liveness == "unknown" and message.is_owed:
        # The job has forgotten the revision, but the job still owes what that revision owed.
        return liveness_of_retry(read.job, uid=trigger.uid)
    return liveness
