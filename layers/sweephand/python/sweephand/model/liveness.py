"""Whether a trigger is alive: asked by everyone about to act on one, of the job as read just now.

A job past its `expires_at` is gone for those who read it, not for its triggers: a consumer's retries or an
outage of ours can be longer than the job was to be kept, and what it owes is owed as long as it is there.
"""

from typing import Literal

from sweephand.base.instants import Instant
from sweephand.model.job import Job, Revision

#: What each answer asks for: `alive` deliver, with the job's present definition; `held` put back for as
#: long as the pause has lasted; `unknown` put back until the grace is over, since the commit may be in
#: flight; `dead` drop.
Liveness = Literal["alive", "held", "unknown", "dead"]


def ruling(job: Job | None, uid: str, rev: str) -> Revision | None:
    """The revision of that name of that very job; None if there is no such job (any more) or revision."""
    if job is None or job.uid != uid:
        return None
    return job.revision(rev)


def live(job: Job | None, *, uid: str, rev: str, due_at: Instant) -> Liveness:
    """Whether a trigger that a schedule made is alive.

    It is judged by its own revision, never by the newest: what fell due while an earlier revision
    ruled is owed by it.
    """
    revision = ruling(job, uid, rev)
    if job is None or revision is None:
        return "unknown"
    if not revision.owns(due_at):
        return "dead"
    return "alive" if job.paused_at is None else "held"


def live_by_hand(job: Job | None, *, uid: str) -> Liveness:
    """Whether a trigger that somebody asked for is alive: of that very job, paused or not."""
    return "unknown" if job is None or job.uid != uid else "alive"


def live_again(job: Job | None, *, uid: str) -> Liveness:
    """Whether a trigger that has been attempted before is alive: its first attempt settled the rest."""
    if job is None or job.uid != uid:
        return "unknown"
    return "alive" if job.paused_at is None else "held"
