"""Whether a trigger of a revision is alive, and what becomes of earlier revisions without room in their job.

A job's item keeps the latest of its earlier revisions. A write that evicts a revision from the item files it
before the commit. So an evicted revision can be read as long as one of its triggers may be under way.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal, TypeVar

from sweephand.base.instants import MINUTE_MS, Instant
from sweephand.base.timing import REVISION_RETENTION_MS
from sweephand.model.job import EARLIER_REVISIONS_MAX, Job, JobBrief, Revision

Had = TypeVar("Had")


def retained_revisions(stored: Job, until: Instant) -> tuple[Revision, ...]:
    """The earlier revisions that a job's item keeps when its present revision ends at `until`.

    These are the latest ones. If the item is full and nothing fell due in the present revision, that revision
    is left out, because it owes nothing. A resume that skips misfires makes a revision that begins at the due
    time of the last one. That revision still owes their record.
    """
    last = stored.current._replace(until=until)
    coming = stored.series.next_after(last.since - 1)
    is_idle = coming is None or coming.due_at > until
    if is_idle and len(stored.earlier) >= EARLIER_REVISIONS_MAX:
        return stored.earlier
    return (*stored.earlier, last)[-EARLIER_REVISIONS_MAX:]


def evicted_revisions(stored: Job, job: Job, now: Instant) -> tuple[Revision, ...]:
    """The earlier revisions of `stored` that its next version `job` does not keep and that may still owe."""
    kept = {each.rev for each in job.earlier}
    return tuple(each for each in stored.earlier if each.rev not in kept and now < filed_until(each))


def filed_until(revision: Revision) -> Instant:
    """The instant until which a filed revision is kept. Its last trigger is gone by then."""
    assert revision.until is not None, "the present revision is never filed"
    return revision.until + REVISION_RETENTION_MS


def may_be_filed(job: Job | None, uid: str, rev: str, due_at: Instant) -> bool:
    """Whether a revision that the job no longer keeps may owe the trigger that is due at `due_at`.

    A job evicts its oldest revisions first, so it keeps every later revision, and that one ended later. A
    trigger that is due after that later end belongs to no evicted revision.
    """
    later_end = _later_end(job, uid, rev)
    return later_end is not None and due_at <= later_end


def owes_nothing(job: Job | None, uid: str, rev: str, due_at: Instant) -> bool:
    """Whether the job shows that a revision that it does not keep owes no trigger that is due at `due_at`.

    Either the job had room for it, so nothing fell due in it, or it was never committed. Or a later revision,
    which ended later, ended before the due time.
    """
    if job is None or job.uid != uid or not job.earlier or job.revision(rev) is not None:
        return False
    had_room = number_of(job.earlier[0].rev) < number_of(rev) <= number_of(job.rev)
    later_end = _later_end(job, uid, rev)
    return had_room or (later_end is not None and later_end < due_at)


def _later_end(job: Job | None, uid: str, rev: str) -> Instant | None:
    """When the first later revision that the job keeps ended; None if it keeps none, or keeps this one."""
    if job is None or job.uid != uid or job.revision(rev) is not None:
        return None
    return next((each.until for each in job.earlier if number_of(each.rev) > number_of(rev)), None)


def would_be_filed(due_at: Instant, now: Instant) -> bool:
    """Whether an evicted revision that owns `due_at` must still be filed. A minute is left for clocks."""
    return now < due_at + REVISION_RETENTION_MS - MINUTE_MS


def with_filed_revision(job: Job, revision: Revision) -> Job:
    """The job with a filed revision added to its earlier ones, as if its item had room for it."""
    return replace(job, earlier=(revision, *job.earlier))


def number_of(rev: str) -> int:
    """The number of a revision within its job: `12` of `12-n2c1cyr2jzj5b8hv`."""
    return int(rev.partition("-")[0])


def had_by(rev: str, replaced: Mapping[int, Had], present: Had) -> Had:
    """What a revision of a job had, such as its series: `present`, or what a later write has replaced.

    `replaced` is what writes have replaced since the beginning of that revision, by the number of the last
    revision that had it. A job does not keep each of its revisions. The next one whose value was replaced has
    the value of those before it.
    """
    number = number_of(rev)
    last = min((each for each in replaced if each >= number), default=None)
    return present if last is None else replaced[last]


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
