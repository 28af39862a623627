"""Earlier revisions that a job has no room for: which are filed apart, and when one is asked for again.

A job's item keeps its last earlier revisions. A write that pushes one out files it before it commits. So a
revision that a job has forgotten can be read as long as a trigger of it may be under way.
"""

from dataclasses import replace

from sweephand.base.instants import Instant
from sweephand.base.timing import REVISION_RETENTION_MS
from sweephand.model.job import EARLIER_REVISIONS_MAX, Job, Revision


def remembered(stored: Job, until: Instant) -> tuple[Revision, ...]:
    """The earlier revisions in a job's item when its present one ends: the last ones that owe something.

    A revision under which nothing fell due owes nothing: where there is no room it is left out.
    """
    last = stored.current._replace(until=until)
    coming = stored.series.next_after(last.since)
    is_idle = coming is None or coming.due_at > until
    if is_idle and len(stored.earlier) >= EARLIER_REVISIONS_MAX:
        return stored.earlier
    return (*stored.earlier, last)[-EARLIER_REVISIONS_MAX:]


def pushed_out(stored: Job, job: Job, now: Instant) -> tuple[Revision, ...]:
    """The earlier revisions of `stored` that `job`, which follows it, has no room for and may still owe."""
    kept = {each.rev for each in job.earlier}
    return tuple(each for each in stored.earlier if each.rev not in kept and now < filed_until(each))


def filed_until(revision: Revision) -> Instant:
    """Until when an earlier revision that was filed is kept: its last trigger is gone by then."""
    assert revision.until is not None, "the revision that rules is in the job"
    return revision.until + REVISION_RETENTION_MS


def may_be_filed(job: Job | None, uid: str, rev: str, due_at: Instant) -> bool:
    """Whether that job may have forgotten a revision that owes what falls due then.

    It forgets the oldest ones. So a later one is remembered, which ended later: what falls due after that
    later end is owed by none that is forgotten.
    """
    if job is None or job.uid != uid or job.revision(rev) is not None:
        return False
    number = _number(rev)
    later = next((each for each in job.earlier if _number(each.rev) > number), None)
    return later is not None and later.until is not None and due_at <= later.until


def with_filed(job: Job, revision: Revision) -> Job:
    """The job as if it had room for an earlier revision that was filed."""
    return replace(job, earlier=(revision, *job.earlier))


def _number(rev: str) -> int:
    """The place of a revision among those of its job: `12` of `12-n2c1cyr2jzj5b8hv`."""
    return int(rev.partition("-")[0])
