"""Reading the jobs of a page of timers: briefly where a stale read suffices, and else whole and strongly."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias, TypeVar

from sweephand.base.concurrency import Concurrently, parts
from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.model.job import Job, JobBrief, JobKey, RevisionName
from sweephand.model.revisions import may_be_filed, with_filed_revision
from sweephand.model.timer import Lease, OccurrenceTimer, PlacedTimer, WatchTimer
from sweephand.model.watch import WatchMessage
from sweephand.ports.jobs import JobStore
from sweephand.wheel.shard_visit import JOBS_PER_READ

_Read = TypeVar("_Read")

#: What was read, and for each stored job that cannot be read, the reason.
_Found: TypeAlias = tuple[dict[JobKey, _Read], dict[JobKey, Exception]]


#: What a timer promises of a job: its occurrences from `first` on, or the checks of a watch.
_Promise: TypeAlias = OccurrenceTimer | WatchMessage


class DueJobs(NamedTuple):
    """The jobs of a page's timers; `unreadable` has the reason for each stored job that cannot be read.

    A job that was read whole is in `whole`. Every other one is in `briefs`, and rules for its timers.
    """

    briefs: Mapping[JobKey, JobBrief]
    whole: Mapping[JobKey, Job]
    unreadable: Mapping[JobKey, Exception]

    @property
    def jobs(self) -> Mapping[JobKey, Job | JobBrief]:
        """All jobs that could be read."""
        return {**self.briefs, **self.whole}


class DueJobReads:
    """Reads the jobs of timers, a hundred to a request and several requests at once."""

    def __init__(self, jobs: JobStore, concurrently: Concurrently) -> None:
        self._jobs = jobs
        self._concurrently = concurrently

    def of(self, placed: Sequence[PlacedTimer], lease: Lease, known: Mapping[JobKey, JobBrief]) -> DueJobs:
        """The jobs of those timers. `known` are briefs that need not be read again.

        A brief suffices if it shows that the timer's revision rules. If that is not true any more, the
        delivery function drops the triggers. All other jobs are read strongly and whole: a timer that is
        dropped because of a stale read would be lost.
        """
        promises = [promise for each in placed if (promise := _promise_of(each)) is not None]
        keys = dict.fromkeys(each.key for each in promises)
        read, unreadable = self._read(self._jobs.briefs, [key for key in keys if key not in known])
        briefs = {**{key: known[key] for key in keys if key in known}, **read}
        judged_at = _latest_judgement(lease)
        unsure = dict.fromkeys(
            each.key for each in promises if not _is_sure(each, briefs.get(each.key), judged_at)
        )
        whole, more = self._read(self._jobs.get_many, [key for key in unsure if key not in unreadable])
        sure = {key: brief for key, brief in briefs.items() if key not in unsure}
        return DueJobs(sure, self._with_filed(promises, whole), {**unreadable, **more})

    def _read(
        self, read: Callable[[Sequence[JobKey]], Mapping[JobKey, _Read]], keys: Sequence[JobKey]
    ) -> _Found[_Read]:
        found: dict[JobKey, _Read] = {}
        unreadable: dict[JobKey, Exception] = {}
        for some, unread in self._concurrently(
            [partial(_halving, read, some) for some in parts(keys, JOBS_PER_READ)]
        ):
            found |= some
            unreadable |= unread
        return found, unreadable

    def _with_filed(self, promises: Sequence[_Promise], jobs: Mapping[JobKey, Job]) -> Mapping[JobKey, Job]:
        """The jobs, with the evicted revisions added that may still owe what these timers promise."""
        asked = dict.fromkeys(
            RevisionName(each.key, each.uid, each.rev)
            for each in promises
            if may_be_filed(jobs.get(each.key), each.uid, each.rev, each.first.due_at)
        )
        if not asked:
            return jobs
        known = dict(jobs)
        for name, revision in self._jobs.filed(list(asked)).items():
            known[name.key] = with_filed_revision(known[name.key], revision)
        return known


def _promise_of(placed: PlacedTimer) -> _Promise | None:
    """What a timer promises of its job; None for a timer that is judged without the job."""
    timer = placed.timer
    if isinstance(timer, WatchTimer):
        return timer.message
    return timer if isinstance(timer, OccurrenceTimer) else None


def _halving(
    read: Callable[[Sequence[JobKey]], Mapping[JobKey, _Read]], keys: Sequence[JobKey]
) -> _Found[_Read]:
    """Read those keys. If that fails, read them in halves, until those are found that cannot be read."""
    try:
        return dict(read(keys)), {}
    except StoreError:
        raise
    except Exception as error:  # noqa: BLE001 - one job's item must not keep a whole shard waiting
        if len(keys) == 1:
            return {}, {keys[0]: error}
    middle = len(keys) // 2
    first, unread = _halving(read, keys[:middle])
    second, others = _halving(read, keys[middle:])
    return first | second, unread | others


def _latest_judgement(lease: Lease) -> Instant | None:
    """The latest instant by which a timer of the page may be judged.

    The timers of a chunk are judged by the chunk's own instant. It may be later than the lease's if another
    sweeper began the chunk, and that sweeper's clock is ahead.
    """
    chunk = lease.cursor.chunk
    if lease.judged_at is None or chunk is None:
        return lease.judged_at
    return max(lease.judged_at, chunk.judged_at)


def _is_sure(promise: _Promise, brief: JobBrief | None, judged_at: Instant | None) -> bool:
    """Whether a brief of the job, which may be stale, suffices for expanding the timer.

    The timer's revision must rule in it, the job must not be paused, and no occurrence may be late. A late
    occurrence may be skipped, which is decided once and for all, and by the whole job. A watch skips none.
    """
    if brief is None or (brief.uid, brief.rev) != (promise.uid, promise.rev) or brief.paused_at is not None:
        return False
    if isinstance(promise, WatchMessage):
        return True
    return judged_at is not None and promise.first.at > judged_at
