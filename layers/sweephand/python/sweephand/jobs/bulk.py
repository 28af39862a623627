"""Work on many jobs in one call: pausing, resuming, deleting and writing them, each as if it were alone."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from sweephand.base.concurrency import Concurrently
from sweephand.base.errors import InvalidError, NotFoundError, StoreError, SweephandError, UnavailableError
from sweephand.base.instants import Instant
from sweephand.base.timing import BULK_TIME_LIMIT_MS
from sweephand.jobs.commit import Commits, Draft
from sweephand.jobs.draft import shard_of
from sweephand.jobs.pause import Pauser
from sweephand.jobs.quotas import Quotas
from sweephand.jobs.read import Filter, examined_pages
from sweephand.jobs.resume import Resumer
from sweephand.jobs.write import Writer, WriteResult
from sweephand.model.definition import CatchUpMode, Definition
from sweephand.model.job import Job, JobKey, PauseEnd
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.jobs import JobStore

#: Jobs that are handled between two checks of the time limit.
_AT_ONCE: Final = 16

#: Changes one job. The instant is that of the request for this job.
_Act: TypeAlias = Callable[[Job, Instant], object]


@dataclass(frozen=True, slots=True)
class BulkResult:
    """How many jobs were changed, and the name up to which jobs were examined; None if all were."""

    count: int
    reached: str | None


class Bulk:
    """Does for many jobs what Pauser, Resumer and Writer do for one. The caller may safely ask again."""

    def __init__(
        self,
        *,
        jobs: JobStore,
        pauser: Pauser,
        resumer: Resumer,
        writer: Writer,
        clock: Clock,
        concurrently: Concurrently,
    ) -> None:
        self._jobs = jobs
        self._pauser = pauser
        self._resumer = resumer
        self._writer = writer
        self._clock = clock
        self._concurrently = concurrently

    def pause(
        self, job_filter: Filter, *, reason: str | None, who: str, end: PauseEnd | None = None
    ) -> BulkResult:
        """Pause those jobs. After StoreError or UnavailableError, any of them may have been paused."""

        def act(job: Job, now: Instant) -> object:
            return self._pauser.pause(job.key, reason=reason, who=who, requested_at=now, end=end)

        return self._each(job_filter, act, lambda job: job.paused_at is None or job.pause_end != end)

    def resume(self, job_filter: Filter, *, mode: CatchUpMode | None, who: str) -> BulkResult:
        """Resume those jobs. After StoreError or UnavailableError, any of them may have been resumed."""

        def act(job: Job, now: Instant) -> object:
            return self._resumer.resume(job.key, who=who, requested_at=now, mode=mode)

        return self._each(job_filter, act, lambda job: job.paused_at is not None)

    def delete(
        self, job_filter: Filter, *, who: str, only: Callable[[Job], bool] = lambda _: True
    ) -> BulkResult:
        """Delete those jobs of which `only` holds.

        After StoreError or UnavailableError, any of them may have been deleted.
        """

        def act(job: Job, now: Instant) -> object:
            self._writer.delete(job.key, who=who, requested_at=now)
            return job

        return self._each(job_filter, act, only)

    def _each(self, job_filter: Filter, act: _Act, is_concerned: Callable[[Job], bool]) -> BulkResult:
        until = self._clock.now() + BULK_TIME_LIMIT_MS
        count = 0
        after: str | None = job_filter.after
        for page in examined_pages(self._jobs, job_filter, self._clock, until):
            found = [job for job in page.items if job_filter.matches(job) and is_concerned(job)]
            reached = self._handle(found, act, until)
            count += reached.count
            if reached.reached is not None:
                return BulkResult(count, reached.reached)
            after = page.next
        return BulkResult(count, after)

    def _handle(self, jobs: Sequence[Job], act: _Act, until: Instant) -> BulkResult:
        """Change the jobs of a page, some at a time; `reached` is set if time ran out before its end."""
        count = 0
        for start in range(0, len(jobs), _AT_ONCE):
            some = jobs[start : start + _AT_ONCE]
            count += sum(self._concurrently([partial(self._is_done, job, act) for job in some]))
            if self._clock.now() >= until and start + _AT_ONCE < len(jobs):
                return BulkResult(count, some[-1].key.name)
        return BulkResult(count, None)

    def _is_done(self, job: Job, act: _Act) -> bool:
        now = self._clock.now()
        if job.is_gone(now):
            return False
        try:
            act(job, now)
        except NotFoundError:
            return False
        return True


#: Fewer new jobs than this are written one by one, which takes as few requests.
_TOGETHER_MIN: Final = 2


class JobToWrite(NamedTuple):
    """One job of a call. `traceparent` is the trace context of the call, and `reason` says why it is made.

    `if_match` and `if_absent` are those of Writer.put().
    """

    key: JobKey
    definition: Definition
    traceparent: str | None = None
    reason: str | None = None
    if_match: tuple[str, ...] | None = None
    if_absent: bool = False


#: What became of one job: the result of its write, or the error that Writer.put() would have raised.
Written: TypeAlias = WriteResult | SweephandError


class BulkWriter:
    """Does for many jobs what Writer.put() does for one, with fewer requests.

    A call of 100 new jobs makes one read, a few writes of timers, a few sends, and one commit for each job.
    It reads each policy and secret that the jobs name once.
    """

    def __init__(
        self,
        *,
        jobs: JobStore,
        writer: Writer,
        commits: Commits,
        quotas: Quotas,
        ids: Ids,
        shards: Callable[[], int],
        concurrently: Concurrently,
    ) -> None:
        self._jobs = jobs
        self._writer = writer
        self._commits = commits
        self._quotas = quotas
        self._ids = ids
        self._shards = shards
        self._concurrently = concurrently

    def put(self, wanted: Sequence[JobToWrite], *, caller: str, requested_at: Instant) -> Sequence[Written]:
        """Create or replace the jobs, whose keys are distinct; return the result of each, in their order.

        A job that is refused does not stop the others. If another caller creates one of the jobs meanwhile,
        that job is written as Writer.put() writes it. Nothing is raised: an error stands in its job's place,
        and means what it means when Writer.put() raises it.
        """
        results: dict[JobKey, Written] = {}
        writer = self._writer.for_call()
        # After a failure here no job of it is committed, and each is written as if it were the only one. So
        # one job that cannot be read or armed does not stop the others.
        with suppress(StoreError, UnavailableError):
            self._create(wanted, results, writer, caller, requested_at)
        left = [each for each in wanted if each.key not in results]
        tasks = [partial(_put, each, writer, caller, requested_at) for each in left]
        for each, result in zip(left, self._concurrently(tasks), strict=True):
            results[each.key] = result
        return [results[each.key] for each in wanted]

    def check(self, wanted: Sequence[JobToWrite], *, caller: str, requested_at: Instant) -> Sequence[Written]:
        """What put() would return, in the order of the jobs, but for QuotaError. Nothing is written."""
        writer = self._writer.for_call()
        tasks = [partial(_put, each, writer, caller, requested_at, is_dry=True) for each in wanted]
        return list(self._concurrently(tasks))

    def _create(
        self,
        wanted: Sequence[JobToWrite],
        results: dict[JobKey, Written],
        writer: Writer,
        caller: str,
        requested_at: Instant,
    ) -> None:
        """Create the jobs that do not exist, and add what became of them to the results.

        Data that is stored apart from its job is left to Writer.put(), and so are jobs that have expired.
        """
        small = [each for each in wanted if not _has_stored_data(each.definition)]
        if len(small) < _TOGETHER_MIN:
            return
        self._commits.check_time_limit(requested_at)
        # A stale read costs half as much, and decides nothing: the commit of a job that exists is refused.
        # Then Writer.put() reads strongly.
        stored = self._jobs.get_many([each.key for each in small], may_be_stale=True)
        shard, drafts = shard_of(self._ids.token(), self._shards()), []
        for each in small:
            if each.key in stored or each.if_match is not None:
                continue
            try:
                draft = writer.draft_new(
                    each.key, each.definition, caller=caller, requested_at=requested_at, shard=shard
                )
                drafts.append(draft.with_origin(each.traceparent).with_reason(each.reason))
            except InvalidError as error:
                results[each.key] = error
        for draft, written in zip(drafts, self._create_drafts(drafts), strict=True):
            if isinstance(written, SweephandError):
                results[draft.job.key] = written
            elif written is not None:
                results[draft.job.key] = WriteResult(written, "created")

    def _create_drafts(self, drafts: Sequence[Draft]) -> Sequence[Job | SweephandError | None]:
        """As Commits.create(). Each job first takes a place among those that its namespace may store.

        All jobs of a call are of one namespace. A job without a place is left to Writer.put(). It may exist,
        since it was read stalely, and a replacement needs no place.
        """
        if not drafts:
            return []
        reserved = self._quotas.reserve(drafts[0].job.key.namespace, len(drafts))
        try:
            placed = [each.with_place(reserved.counted_in) for each in drafts[: reserved.places]]
            created = self._commits.create(placed, self._concurrently)
        except (StoreError, UnavailableError):
            self._quotas.release(reserved, reserved.places)  # nothing was committed
            raise
        lost = sum(each is None or isinstance(each, UnavailableError) for each in created)
        self._quotas.release(reserved, lost)
        return [*created, *([None] * (len(drafts) - len(created)))]


def _put(
    each: JobToWrite, writer: Writer, caller: str, requested_at: Instant, *, is_dry: bool = False
) -> Written:
    try:
        return writer.put(
            each.key,
            each.definition,
            caller=caller,
            requested_at=requested_at,
            if_match=each.if_match,
            if_absent=each.if_absent,
            traceparent=each.traceparent,
            reason=each.reason,
            is_dry=is_dry,
        )
    except SweephandError as error:
        return error


def _has_stored_data(definition: Definition) -> bool:
    return definition.payload is not None and not definition.payload.is_inline
