"""A sweeper's visit to a shard: which jobs it reads there, and how much it handles between two commits.

A portion of a page is small enough that the sweeper finishes it even if stores are slow.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias, TypeVar

from sweephand.base.concurrency import REQUESTS_AT_ONCE, Concurrently, parts
from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.model.job import Job, JobBrief, JobKey, RevisionName
from sweephand.model.revisions import may_be_filed, with_filed_revision
from sweephand.model.timer import Lease, OccurrenceTimer, PlacedTimer, WatchTimer
from sweephand.model.watch import WatchMessage
from sweephand.ports.jobs import JobStore
from sweephand.wheel.expand import TRIGGERS_MAX, Expansion
from sweephand.wheel.span import Seen

#: How many keys, items and messages one request of DynamoDB or SQS takes. A sweeper divides its work into
#: parts of this size, which it then reads, writes and sends at once.
JOBS_PER_READ: Final = 100
TIMERS_PER_WRITE: Final = 25
MESSAGES_PER_SEND: Final = 10

#: Timers that are read at once. One-off jobs make one trigger each, and as many triggers fit between two
#: commits.
PAGE_TIMERS_MAX: Final = 1_000

#: Requests for each timer, at most: a hundredth of a BatchGetItem, a twenty-fifth of a BatchWriteItem, and a
#: record of a skipped range. A round is as many requests as are made at once.
_ROUNDS_PER_TIMER: Final = (1 / JOBS_PER_READ + 1 / TIMERS_PER_WRITE + 1) / REQUESTS_AT_ONCE

#: Rounds of requests for each trigger.
_ROUNDS_PER_TRIGGER: Final = 1 / MESSAGES_PER_SEND / REQUESTS_AT_ONCE

#: Rounds that any portion takes: one more of each kind of request, a renewal, and the commit.
_ROUNDS_AT_LEAST: Final = 6

#: Each claim that reached no commit divides the next portion by this. After five in a row, a sweeper tries a
#: single timer.
_SHRINKING: Final = 4


class Portion(NamedTuple):
    """How many timers, and how many triggers and skipped ranges, go between two commits at most."""

    timers: int
    triggers: int


class Pace:
    """The time that requests have taken in one sweep."""

    def __init__(self) -> None:
        self._round_ms = 0.0

    def record(self, took_ms: int, rounds: float = 1) -> None:
        """Record how long that many rounds took. A slow round counts at once, and is forgotten slowly."""
        self._round_ms = max(took_ms / max(1, rounds), self._round_ms / 2)

    def has_time(self, remaining_ms: int) -> bool:
        """Whether the remaining time suffices for one more portion and a release."""
        return remaining_ms >= (_ROUNDS_AT_LEAST + 2) * self._round_ms

    def portion(self, remaining_ms: int, claims_without_commit: int) -> Portion:
        """What a sweeper can do in half of the remaining time; at least one timer and one trigger.

        `claims_without_commit` is the number of claims of the shard in a row that reached no commit, because
        of a time limit or a failure. With each of them the portion shrinks, down to one timer. So the shard
        advances as long as one timer can be handled.
        """
        timers, triggers = PAGE_TIMERS_MAX, TRIGGERS_MAX
        if self._round_ms:
            rounds = remaining_ms / 2 / self._round_ms - _ROUNDS_AT_LEAST
            # Half of the rounds are for the requests that each timer needs, and half for its triggers.
            timers = min(timers, int(rounds / 2 / _ROUNDS_PER_TIMER))
            triggers = min(triggers, int(rounds / 2 / _ROUNDS_PER_TRIGGER))
        shrunk = _SHRINKING**claims_without_commit
        return Portion(max(1, timers // shrunk), max(1, triggers // shrunk))


def rounds(timers: int, messages: int, records: int) -> float:
    """The rounds of requests that a portion of that size took; each kind counts as one round at least."""
    requests = timers / JOBS_PER_READ + timers / TIMERS_PER_WRITE + messages / MESSAGES_PER_SEND + records
    return 4 + requests / REQUESTS_AT_ONCE


class Done(NamedTuple):
    """What a sweeper has committed in one shard.

    `found` is the number of messages sent and runs recorded. `seconds` counts the triggers that were sent
    ahead, by the second in which they fall due.
    """

    triggers: int = 0
    timers: int = 0
    found: int = 0
    seconds: Mapping[int, int] = MappingProxyType({})
    faults: tuple[Exception, ...] = ()

    @property
    def peak(self) -> int:
        """The triggers of the second that has the most."""
        return max(self.seconds.values(), default=0)

    def plus(self, expansion: Expansion, now: Instant) -> "Done":
        """The same with an expansion that is sent `now`."""
        ahead = (each.not_before // SECOND_MS for each in expansion.messages if each.not_before > now)
        return Done(
            self.triggers + len(expansion.messages),
            self.timers + expansion.timers,
            self.found + expansion.size,
            Counter(self.seconds) + Counter(ahead),
            (*self.faults, *expansion.faults),
        )


@dataclass(slots=True, eq=False, repr=False)
class ShardVisit:
    """A sweeper's visit to a shard: the lease as last written, when it was renewed, and what was done.

    `is_over` says whether the sweeper must leave the shard. `left_at` is the due time of the first timer
    left. `seen` has the timers of the bucket that begins at `bucket_at`. `briefs` were read by the last turn.
    """

    lease: Lease
    renewed_at: Instant
    is_over: Callable[[Instant], bool]
    done: Done = field(default_factory=Done)
    left_at: Instant | None = None
    bucket_at: Instant = 0
    seen: Seen = field(default_factory=Seen)
    briefs: Mapping[JobKey, JobBrief] = field(default_factory=dict)

    def seen_in(self, bucket_at: Instant) -> Seen:
        """The timers that this sweeper has met in that bucket."""
        if bucket_at != self.bucket_at:
            self.bucket_at, self.seen = bucket_at, Seen()
        return self.seen


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
        keys = dict.fromkeys([each.key for each in promises])
        read, unreadable = self._read(self._jobs.briefs, [key for key in keys if key not in known])
        briefs = {**{key: known[key] for key in keys if key in known}, **read}
        judged_at = _latest_judgement(lease)
        unsure = dict.fromkeys(
            each.key for each in promises if not _is_sure(each, briefs.get(each.key), judged_at)
        )
        whole, more = self._read(self._jobs.get_many, [key for key in unsure if key not in unreadable])
        sure = {key: brief for key, brief in briefs.items() if key not in unsure}
        return DueJobs(sure, self._with_filed(promises, whole), {**unreadable, **more})

    def ahead(
        self, placed: Sequence[PlacedTimer], known: Mapping[JobKey, JobBrief]
    ) -> tuple[Mapping[JobKey, JobBrief], Sequence[Callable[[], None]]]:
        """The briefs of those timers' jobs: the known ones, and tasks that read the others and add them.

        A task that fails adds nothing, and of() reads what is missing.
        """
        keys = dict.fromkeys([promise.key for each in placed if (promise := _promise_of(each)) is not None])
        briefs = {key: known[key] for key in keys if key in known}

        def read(some: Sequence[JobKey]) -> None:
            with suppress(Exception):
                briefs.update(self._jobs.briefs(some))

        missing = [key for key in keys if key not in known]
        return briefs, [partial(read, some) for some in parts(missing, JOBS_PER_READ)]

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
    if isinstance(timer, OccurrenceTimer):
        return timer
    return timer.message if isinstance(timer, WatchTimer) else None


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
    if brief is None or brief.paused_at is not None:
        return False
    if brief.uid != promise.uid or brief.rev != promise.rev:
        return False
    if isinstance(promise, WatchMessage):
        return True
    return judged_at is not None and promise.first.at > judged_at
