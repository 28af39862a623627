"""Which schedule applied at an instant, and when a schedule named an instant last.

It is the schedule of the job now, or a former one that a change has kept.
"""

from collections.abc import Iterable
from typing import NamedTuple

from sweephand.base.instants import Instant
from sweephand.model.change import Change
from sweephand.model.job import Job, Revision
from sweephand.model.revisions import had_by, number_of
from sweephand.runs.explain.lives import Lives, uncounted
from sweephand.runs.explain.subject import Subject, before_count, subject_of, width_of
from sweephand.schedules import Series


class Former(NamedTuple):
    """A schedule that applied then, and the change that ended it.

    `revisions` are those that had it from the instant on, oldest first.
    """

    series: Series
    change: Change
    revisions: tuple[Revision, ...]

    def owns(self, instant: Instant) -> bool:
        """Whether a trigger due at an instant belongs to it."""
        return any(each.owns(instant) for each in self.revisions)


def former_at(job: Job, lives: Lives, at: Instant) -> tuple[Former, Subject] | None:
    """The schedule that applied at an instant and does not any more, with what it says of the instant.

    None if it was not kept, or if another one applied to a part of what the instant stands for. It is kept if
    the revision of that time is among those in the job's item, and the change that ended the schedule has it.
    Other changes up to that one left the times of the job as they were. From the request of an update until
    its commit, both schedules apply.
    """
    ended = lives.retimed_after(at, job.series)
    if ended is None or ended.former is None:
        return None
    earlier = job.earlier
    names = [each.rev for each in earlier]
    owner = next((place for place, each in enumerate(earlier) if each.owns(at)), None)
    if owner is None or ended.former.rev not in names[owner:]:
        return None
    last = names.index(ended.former.rev)
    retimed = {each.former.rev for each in lives.changes if each.former is not None}
    former = Former(ended.former.series, ended, earlier[owner : last + 1])
    subject = subject_of(former.series, at)
    meant = (at, at + width_of(at) - 1, *(() if subject.due_at is None else (subject.due_at,)))
    others = (*earlier[:owner], *earlier[last + 1 :], job.current)
    is_alone = all(map(former.owns, meant)) and not _own_some(others, min(meant), max(meant))
    if not is_alone or not retimed.isdisjoint(names[owner:last]):
        return None
    return former, _within(former, subject)


def _own_some(revisions: Iterable[Revision], first: Instant, last: Instant) -> bool:
    """Whether some instant from the first to the last belongs to one of the revisions."""
    return any(each.since < last and (each.until is None or first <= each.until) for each in revisions)


def _within(former: Former, subject: Subject) -> Subject:
    """The same without nearest due times that the schedule has where it did not apply."""
    before, after = subject.before, subject.after
    if before is not None and not former.owns(before):
        before = None
    if after is not None and not former.owns(after):
        after = None
    return subject._replace(before=before, after=after)


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
