"""Which series the triggers of a due time follow: that of the job now, or that of an earlier revision."""

from collections.abc import Mapping
from typing import Final

from sweephand.base.instants import Instant
from sweephand.base.timing import API_LIMIT_MS, CLOCK_SKEW_MAX_MS
from sweephand.jobs.change_history import ChangeHistory
from sweephand.model.change import Change
from sweephand.model.earlier_revisions import had_by, number_of
from sweephand.model.job import Job
from sweephand.schedules import Series

#: Changes that one query reads, and the most that are read in all. A job keeps fewer earlier revisions.
_PAGE_MAX: Final = 25
_CHANGES_MAX: Final = 100

#: A change is dated by its request. The revision that it replaced rules for at most so long after that.
_COMMITTED_MS: Final = API_LIMIT_MS + CLOCK_SKEW_MAX_MS


def series_at(job: Job, due_at: Instant, changes: ChangeHistory) -> Series | None:
    """The series whose triggers of a due time may still come; None if there is none, or if it is not known.

    It is that of the job now, if its present revision owns the due time. A trigger that an earlier revision
    owns may wait for a policy or for its turn, and a batch lasts for up to a week (decision 042). Both follow
    the series of that revision. Then the changes since the due time are read. They do not tell of a revision
    that the job has forgotten, nor of what an earlier release has replaced. A change of `history` hides which
    runs before it have left a record.
    """
    if job.current.owns(due_at):
        return job.series
    owner = next((each for each in job.earlier if each.owns(due_at)), None)
    replaced = None if owner is None else _replaced(job, due_at, changes)
    if owner is None or replaced is None:
        return None
    return had_by(owner.rev, replaced, job.series)


def _replaced(job: Job, due_at: Instant, changes: ChangeHistory) -> Mapping[int, Series] | None:
    """The series that changes have replaced since a due time, by the number of the last revision that had it.

    None if they are not all known.
    """
    found: dict[int, Series] = {}
    count, before = 0, ""
    while count < _CHANGES_MAX:
        page = changes.page(job.key, before, _PAGE_MAX)
        for change in page.items:
            if change.at < due_at - _COMMITTED_MS or change.what == "created":
                return found
            if change.what in ("replaced", "patched") and not _is_kept(change):
                return None
            if change.former is not None:
                found[number_of(change.former.rev)] = change.former.series
        count += len(page.items)
        if page.next is None:
            return found
        before = page.next
    return None


def _is_kept(change: Change) -> bool:
    """Whether it is known what an update has replaced, and which runs had a record before it."""
    return change.fields is not None and all(each.name != "history" for each in change.fields)
