"""Which schedule applied at an instant: that of the job now, or a former one that a change has kept."""

from collections.abc import Iterable
from typing import NamedTuple

from sweephand.base.instants import Instant
from sweephand.model.change import Change
from sweephand.model.job import Job, Revision
from sweephand.runs.explain.lives import Lives
from sweephand.runs.explain.subject import Subject, subject_of, width_of
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
