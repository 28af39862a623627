"""The latest due time of a job, whichever of its revisions owned it."""

from sweephand.base.instants import Instant
from sweephand.model.job import Job
from sweephand.model.revisions import had_by, number_of
from sweephand.runs.explain.lives import Lives, uncounted
from sweephand.runs.explain.subject import before_count
from sweephand.schedules import Series


def latest_of_present(job: Job, now: Instant) -> Instant | None:
    """The latest due time up to now that the present revision owns; None if there is none."""
    return _last_between(job.series, job.current.since, now)


def latest_of_earlier(job: Job, lives: Lives) -> Instant | None:
    """The latest due time before the present revision; None if none is known.

    `lives` has the changes since the oldest revision that the job keeps. Where the series of a revision was
    not kept, the one that followed it stands for it. So the due time may be one that the job never had: what
    is said of it has to follow from what was kept.

    Due times of a pause lie between two revisions if the resume has not caught them up. They also do if the
    job was written during the pause. All of them count, because the schedule had them.
    """
    formers = (each.former for each in lives.changes if each.former is not None)
    replaced = {number_of(each.rev): each.series for each in formers}
    following, following_since = job.series, job.current.since
    for revision in reversed(job.earlier):
        series = had_by(revision.rev, replaced, job.series)
        is_same = uncounted(series) == uncounted(following)
        through = following_since if is_same or revision.until is None else revision.until
        found = _last_between(series, revision.since, through)
        if found is not None:
            return found
        following, following_since = series, revision.since
    return None


def _last_between(series: Series, after: Instant, through: Instant) -> Instant | None:
    """The last due time of a series after an instant, up to and including another one; None if none is."""
    series = before_count(series, through)
    first = series.next_after(after)
    if first is None or first.due_at > through:
        return None
    return series.last_through(through, first).due_at
