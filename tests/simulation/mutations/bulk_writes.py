"""Errors in calls that write many jobs: in arming them together, and in the result of each."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from typing import Any, Final
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, Instead, mutation, replacing, together, wrapping
from tests.simulation.workload.bulk_writes import FIRST_TOGETHER

from sweephand.base.concurrency import Concurrently
from sweephand.base.errors import StoreError, SweephandError, UnavailableError
from sweephand.base.instants import MINUTE_MS
from sweephand.jobs import bulk as jobs_bulk
from sweephand.jobs import commit
from sweephand.jobs.bulk import BulkWriter, JobToWrite, Written
from sweephand.jobs.commit import Commits, Draft
from sweephand.jobs.write import WriteResult
from sweephand.model.job import Job, JobKey
from sweephand.model.timer import OccurrenceTimer, TimerPack, bucket_of, pack_key
from sweephand.web.routes import bulk
from sweephand.wheel import packing

_CREATE: Final[Any] = Commits.create
_CREATE_ONE: Final[Any] = Commits._create_one


def _instead(commits: Commits, **others: object) -> Commits:
    """Return the commits with other attributes or methods, for one call of one process."""
    changed = copy(commits)
    vars(changed).update(others)
    return changed


def _concluding(change: Callable[[Sequence[Any]], Sequence[Any]]) -> Broken:
    """Change what became of the new jobs of a call."""

    def create(self: Commits, drafts: Sequence[Draft], concurrently: Concurrently) -> Sequence[Any]:
        return change(_CREATE(self, drafts, concurrently))

    return patch.object(Commits, "create", create)


def _forgiving(name: str) -> Broken:
    """Let the first step of a call, arming, go on after a failure of that method."""

    def create(self: Commits, drafts: Sequence[Draft], concurrently: Concurrently) -> Any:
        def careless(entries: Sequence[Any]) -> None:
            with suppress(StoreError):
                getattr(self, name)(entries)

        return _CREATE(_instead(self, **{name: careless}), drafts, concurrently)

    return patch.object(Commits, "create", create)


def _packing(pack: Callable[[Sequence[OccurrenceTimer]], Sequence[OccurrenceTimer | TimerPack]]) -> Broken:
    return patch.object(commit, "packed_new", pack)


@mutation("A bulk write writes the packs of its jobs after it has committed them", first=FIRST_TOGETHER)
@replacing(Commits, "create")
def bulk_write_packs_last(self: Commits, drafts: Sequence[Draft], concurrently: Concurrently) -> Any:
    timers: list[Any] = []
    results = _CREATE(_instead(self, _put_timers=timers.extend), drafts, concurrently)
    self._put_timers(timers)
    return results


@mutation("A bulk write creates a job whatever is stored under its name", first=FIRST_TOGETHER)
@replacing(Commits, "_create_one")
def bulk_write_ignores_its_condition(self: Commits, draft: Draft) -> Any:
    jobs = self._jobs

    def put(job: Job, _: str | None, in_time: Callable[[], bool]) -> bool:
        found = jobs.get(job.key)
        return jobs.put(job, found.version if found else None, in_time)

    return _CREATE_ONE(_instead(self, _jobs=Instead(jobs, put=put)), draft)


@mutation("A bulk write refuses a job that another caller creates meanwhile", first=FIRST_TOGETHER)
def bulk_write_refuses_losers() -> Broken:
    def refused(results: Sequence[Any]) -> Sequence[Any]:
        return [UnavailableError("another caller was first") if each is None else each for each in results]

    return _concluding(refused)


@mutation("A bulk write fails all its new jobs if one of them fails", first=FIRST_TOGETHER)
def bulk_write_fails_as_one() -> Broken:
    def failed(results: Sequence[Any]) -> Sequence[Any]:
        error = next((each for each in results if isinstance(each, SweephandError)), None)
        return results if error is None else [error] * len(results)

    return _concluding(failed)


@mutation("A bulk write packs the timers of five minutes together, where these begin", first=FIRST_TOGETHER)
def bulk_write_packs_into_the_horizon() -> Broken:
    def pack(timers: Sequence[OccurrenceTimer]) -> Sequence[OccurrenceTimer | TimerPack]:
        with patch.object(packing, "bucket_of", lambda due_at: due_at - due_at % (5 * MINUTE_MS)):
            return packing.packed_new(timers)

    return _packing(pack)


@mutation("A pack of new jobs is named after a job's name, which other calls share", first=FIRST_TOGETHER)
def bulk_write_names_packs_by_jobs() -> Broken:
    def named(each: OccurrenceTimer | TimerPack) -> OccurrenceTimer | TimerPack:
        if isinstance(each, OccurrenceTimer):
            return each
        first = each.timers[0]
        name = packing._hashed("created", first.key.name)
        return TimerPack(each.shard, pack_key(bucket_of(first.due_at), name), each.timers)

    return _packing(lambda timers: list(map(named, packing.packed_new(timers))))


@mutation("A bulk write believes a stale read of a job that has the same definition", first=FIRST_TOGETHER)
@wrapping(BulkWriter, "_create")
def bulk_write_believes_stale_reads(
    create: Callable[..., None],
    self: BulkWriter,
    wanted: Sequence[JobToWrite],
    results: dict[JobKey, Written],
    *args: Any,
) -> None:
    read = self._jobs.get_many([each.key for each in wanted], may_be_stale=True)
    for each in wanted:
        job = read.get(each.key)
        if job is not None and job.definition.equals(each.definition):
            results[each.key] = WriteResult(job, "unchanged")
    create(self, [each for each in wanted if each.key not in results], results, *args)


@mutation(
    "A key that DynamoDB leaves unprocessed in the read of a bulk write counts as a job that does not exist",
    masked_by="the condition of the commit: a job that exists is then written as a PUT writes it",
    first=FIRST_TOGETHER,
)
@wrapping(BulkWriter, "_create")
def bulk_write_takes_unread_for_absent(create: Callable[..., None], self: BulkWriter, *args: Any) -> None:
    jobs, careless = self._jobs, copy(self)

    def get_many(keys: Sequence[JobKey], *, may_be_stale: bool) -> Any:
        return jobs.get_many(keys[::2], may_be_stale=may_be_stale)

    vars(careless)["_jobs"] = Instead(jobs, get_many=get_many)
    create(careless, *args)


@mutation("A bulk write does not send again the messages that SQS refused", first=FIRST_TOGETHER)
def bulk_write_forgets_refused_messages() -> Broken:
    return _forgiving("_send")


@mutation("A bulk write does not write again the packs that DynamoDB left unprocessed", first=FIRST_TOGETHER)
def bulk_write_forgets_unprocessed_packs() -> Broken:
    return _forgiving("_put_timers")


@mutation("A bulk write gives its answers in another order than its jobs", first=FIRST_TOGETHER)
@wrapping(BulkWriter, "put")
def bulk_write_mixes_up_answers(
    put: Callable[..., Sequence[Written]], self: BulkWriter, wanted: Sequence[JobToWrite], **kwargs: Any
) -> Sequence[Written]:
    return [*reversed(put(self, wanted, **kwargs))]


@mutation(
    "A bulk write says of a job whose write was not answered that it is not written", first=FIRST_TOGETHER
)
@wrapping(bulk, "_result")
def bulk_write_denies_what_it_may_have_written(
    result: Callable[..., Any], job: JobToWrite, written: Written, *, is_dry: bool
) -> Any:
    told = UnavailableError("no answer") if isinstance(written, StoreError) else written
    return result(job, told, is_dry=is_dry)


@mutation("A bulk write takes a name that it has written already for another job", first=FIRST_TOGETHER)
def bulk_write_takes_names_twice() -> Broken:
    put_jobs = BulkWriter.put

    def put_twice(self: BulkWriter, wanted: Sequence[JobToWrite], **kwargs: Any) -> Sequence[Written]:
        return [put_jobs(self, [each], **kwargs)[0] for each in wanted]

    parse = bulk._parse_entry

    def careless(services: Any, document: Any, _: set[str], *args: Any) -> Any:
        return parse(services, document, set(), *args)

    return together(patch.object(bulk, "_parse_entry", careless), patch.object(BulkWriter, "put", put_twice))


@mutation("A bulk write forgets the data of a new job that is stored apart", first=FIRST_TOGETHER)
def bulk_write_forgets_data() -> Broken:
    return patch.object(jobs_bulk, "_has_stored_data", lambda _: False)
