"""Whether a trigger is alive: each function judges this by the job as it was just read.

Callers of the API no longer see a job past its `expires_at`, but its triggers do. A consumer's retries or an
outage can last longer than the job's retention. As long as the item is there, its triggers are owed.
"""

from typing import Literal

from sweephand.base.instants import Instant
from sweephand.model.job import Job, JobBrief, Revision

#: What the delivery function does for each answer. `alive`: deliver with the job's present definition.
#: `held`: requeue while the job is paused. `unknown`: requeue until the grace is over, because the commit may
#: be in flight. `dead`: drop.
Liveness = Literal["alive", "held", "unknown", "dead"]


def revision_of(job: Job | JobBrief | None, uid: str, rev: str) -> Revision | None:
    """The revision `rev` of the job with that uid; None if that job or revision is not there (any more)."""
    if job is None or job.uid != uid:
        return None
    return job.revision(rev)


def liveness_by_revision(job: Job | None, *, uid: str, rev: str, due_at: Instant) -> Liveness:
    """Whether the first attempt at a trigger of a schedule is alive.

    The trigger's own revision decides, never the newest one: an earlier revision still owes the triggers that
    fell due in its period.
    """
    revision = revision_of(job, uid, rev)
    if job is None or revision is None:
        return "unknown"
    if not revision.owns(due_at):
        return "dead"
    return "alive" if job.paused_at is None else "held"


def liveness_on_demand(job: Job | None, *, uid: str) -> Liveness:
    """Whether a trigger on demand is alive: it is if its job is there, paused or not."""
    return "unknown" if job is None or job.uid != uid else "alive"


def liveness_of_retry(job: Job | None, *, uid: str) -> Liveness:
    """Whether a later attempt is alive. The first attempt already decided whether the revision owes it."""
    if job is None or job.uid != uid:
        return "unknown"
    return "alive" if job.paused_at is None else "held"
