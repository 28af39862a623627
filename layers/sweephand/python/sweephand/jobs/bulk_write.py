"""Writing many jobs in one call: new ones are read and armed together, and each is committed by itself."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Final, NamedTuple, TypeAlias

from sweephand.base.concurrency import Concurrently
from sweephand.base.errors import InvalidError, StoreError, SweephandError, UnavailableError
from sweephand.base.instants import Instant
from sweephand.jobs.commit import Commits, Draft
from sweephand.jobs.draft import shard_of
from sweephand.jobs.left_policy import LeftPolicy
from sweephand.jobs.quotas import Quotas
from sweephand.jobs.write import Writer, WriteResult
from sweephand.model.definition import Definition
from sweephand.model.job import Job, JobKey
from sweephand.ports.clock import Ids
from sweephand.ports.jobs import JobStore

#: Fewer new jobs than this are written one by one, which takes as few requests.
_TOGETHER_MIN: Final = 2


class JobToWrite(NamedTuple):
    """One job of a call."""

    key: JobKey
    definition: Definition


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
        left_policy: LeftPolicy,
        quotas: Quotas,
        ids: Ids,
        shards: Callable[[], int],
        concurrently: Concurrently,
    ) -> None:
        self._jobs = jobs
        self._writer = writer
        self._commits = commits
        self._left_policy = left_policy
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
        left_policies = self._left_policy.of_call()
        writer = self._writer.for_call(left_policies)
        # After a failure here no job of it is committed, and each is written as if it were the only one. So
        # one job that cannot be read or armed does not stop the others.
        with suppress(StoreError, UnavailableError):
            self._create(wanted, results, writer, caller, requested_at)
        left = [each for each in wanted if each.key not in results]
        tasks = [partial(_put, each, writer, caller, requested_at) for each in left]
        for each, result in zip(left, self._concurrently(tasks), strict=True):
            results[each.key] = result
        left_policies.confirm_all()
        return [results[each.key] for each in wanted]

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
            if each.key in stored:
                continue
            try:
                drafts.append(
                    writer.draft_new(
                        each.key, each.definition, caller=caller, requested_at=requested_at, shard=shard
                    )
                )
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


def _put(each: JobToWrite, writer: Writer, caller: str, requested_at: Instant) -> Written:
    try:
        return writer.put(each.key, each.definition, caller=caller, requested_at=requested_at)
    except SweephandError as error:
        return error


def _has_stored_data(definition: Definition) -> bool:
    return definition.payload is not None and not definition.payload.is_inline
