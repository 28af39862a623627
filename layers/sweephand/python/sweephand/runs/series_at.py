"""Which series the triggers of a due time follow: that of the job now, or that of an earlier revision."""

from sweephand.base.instants import Instant
from sweephand.jobs.change_history import ChangeHistory, replaced_since
from sweephand.model.job import Job
from sweephand.model.revisions import had_by
from sweephand.schedules import Series


def series_at(job: Job, due_at: Instant, changes: ChangeHistory) -> Series | None:
    """The series whose triggers of a due time may still come; None if there is none, or if it is not known.

    It is that of the job now, if its present revision owns the due time. A trigger that an earlier revision
    owns may wait for a policy or for its turn. A batch lasts for up to a week (decision 042). Both follow the
    series of that revision. Then the changes since the due time are read. They do not tell of a revision that
    the job has forgotten. A change of `history` hides which runs before it have left a record.
    """
    if job.current.owns(due_at):
        return job.series
    owner = next((each for each in job.earlier if each.owns(due_at)), None)
    replaced = None if owner is None else replaced_since(job, due_at, changes)
    if owner is None or replaced is None or replaced.hides_records:
        return None
    return had_by(owner.rev, replaced.series, job.series)
