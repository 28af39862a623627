"""The changes of a job or policy: the filed ones, and the latest one, which it carries itself.

They also tell of the series that the updates of a job have replaced.
"""

from collections.abc import Callable, Mapping
from typing import Final, Generic, NamedTuple, TypeVar

from sweephand.base.errors import NotFoundError
from sweephand.base.instants import Instant
from sweephand.base.timing import API_LIMIT_MS, BATCH_WINDOW_MAX_MS, CLOCK_SKEW_MAX_MS
from sweephand.model.change import Change
from sweephand.model.job import Job, JobKey
from sweephand.model.page import Page
from sweephand.model.policy import Policy, PolicyKey
from sweephand.model.revisions import number_of
from sweephand.ports.flow import PolicyStore
from sweephand.ports.jobs import ChangeStore, JobStore
from sweephand.schedules import Series

Key = TypeVar("Key", JobKey, PolicyKey)


class _History(Generic[Key]):
    """Reads the changes of one kind of thing, also of those that were deleted."""

    def __init__(self, kind: str, stored: Callable[[Key], Job | Policy | None], changes: ChangeStore) -> None:
        self._kind = kind
        self._stored: Callable[[Key], Job | Policy | None] = stored
        self._changes = changes

    def page(self, key: Key, before: str, limit: int) -> Page[Change]:
        """Up to `limit` changes under a key, newest first, after the position `before` ("": newest).

        Raises NotFoundError if there is neither anything stored nor any change.
        """
        stored, filed = self._stored(key), self._changes.page(key, before, limit)
        if stored is None and not filed.items and not before:
            kind = self._kind
            raise NotFoundError(
                f"There is no {kind} and no change of a {kind} {key.name} in namespace {key.namespace}."
            )
        latest = None if stored is None else stored.change
        found = {each.position: each for each in filed.items}
        if latest is not None and (not before or latest.position < before):
            # It may be filed already: a writer files it before its commit, and may then lose or crash.
            found[latest.position] = latest
        page = tuple(found[position] for position in sorted(found, reverse=True)[:limit])
        has_more = filed.next is not None or len(found) > len(page)
        return Page(page, page[-1].position if has_more else None)


class ChangeHistory(_History[JobKey]):
    """Reads the changes of jobs, deleted jobs included."""

    def __init__(self, *, jobs: JobStore, changes: ChangeStore) -> None:
        super().__init__("job", jobs.get, changes)


class PolicyChangeHistory(_History[PolicyKey]):
    """Reads the changes of policies, deleted policies included."""

    def __init__(self, *, policies: PolicyStore, changes: ChangeStore) -> None:
        super().__init__("policy", policies.get, changes)


#: Changes that one query reads, and the most that are read in all. A job keeps fewer earlier revisions.
_PAGE_MAX: Final = 25
_CHANGES_MAX: Final = 100

#: A change is dated by its request. The revision that it replaced rules for at most so long after that.
_COMMITTED_MS: Final = API_LIMIT_MS + CLOCK_SKEW_MAX_MS


class Replaced(NamedTuple):
    """The series that updates have replaced, by the number of the last revision that had each.

    `hides_records` says that an update has changed `history`. Then it is not known which runs before it have
    left a record.
    """

    series: Mapping[int, Series]
    hides_records: bool


def replaced_since(job: Job, since: Instant, changes: ChangeHistory) -> Replaced | None:
    """What updates have replaced since an instant; None if there are more changes than are read."""
    found: dict[int, Series] = {}
    hides_records = False
    count, before = 0, ""
    while count < _CHANGES_MAX:
        page = changes.page(job.key, before, _PAGE_MAX)
        for change in page.items:
            if change.uid not in ("", job.uid):
                continue
            if change.at < since - _COMMITTED_MS or change.what == "created":
                return Replaced(found, hides_records)
            if change.what in ("replaced", "patched"):
                hides_records = hides_records or any(each.name == "history" for each in change.fields or ())
            if change.former is not None:
                found[number_of(change.former.rev)] = change.former.series
        count += len(page.items)
        if page.next is None:
            return Replaced(found, hides_records)
        before = page.next
    return None


def former_window_ms(job: Job, at: Instant, changes: ChangeHistory) -> int:
    """For how long a batch may go on at most that an earlier series of the job began and that ran at `at`.

    It reads the changes only if a revision has ended so late that one of its batches may have run then.
    """
    since = at - BATCH_WINDOW_MAX_MS
    if not any(each.until is not None and each.until > since for each in job.earlier):
        return 0
    replaced = replaced_since(job, since, changes)
    if replaced is None:
        return BATCH_WINDOW_MAX_MS
    batches = (each.batch for each in replaced.series.values())
    return max((each.window_ms for each in batches if each is not None), default=0)
