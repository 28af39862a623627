"""Errors in pausing, resuming and deleting many jobs at once."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any
from unittest.mock import patch

from tests.simulation.mutations.registry import (
    Broken,
    Instead,
    Ports,
    built,
    built_with,
    mutation,
    replacing,
    wrapping,
    wrapping_in,
)
from tests.simulation.world.processes import Killed, Scheduler

from sweephand.base.concurrency import Concurrently
from sweephand.base.errors import BadRequestError, StoreError, UnavailableError
from sweephand.base.instants import Instant
from sweephand.jobs import read
from sweephand.jobs.bulk import Bulk, BulkResult
from sweephand.jobs.commit import Commits, Draft
from sweephand.jobs.read import Filter
from sweephand.model.job import Job
from sweephand.model.page import Page
from sweephand.runtime import machine
from sweephand.wheel.arm import Arming


def _acting(act: Callable[..., bool]) -> Broken:
    """Change how a bulk call handles each job."""
    return patch.object(Bulk, "_is_done", act)


def _paging(change: Callable[[Page[Job], int], Page[Job]]) -> Broken:
    """Change which jobs a bulk call reads. `change` is given the number of jobs that it asked for."""

    def other(ports: Ports) -> None:
        jobs = ports["jobs"]

        def page(namespace: str, prefix: str, after: str, limit: int) -> Page[Job]:
            return change(jobs.page(namespace, prefix, after, limit), limit)

        ports["jobs"] = Instead(jobs, page=page)

    return built(Bulk, other)


@mutation("A bulk call counts jobs that it could not write, and acknowledges the call")
def bulk_counts_what_failed() -> Broken:
    is_done = Bulk._is_done

    def act(self: Bulk, job: Job, act: Any) -> bool:
        with suppress(StoreError):
            return is_done(self, job, act)
        return True

    return _acting(act)


@mutation("The API acknowledges a bulk call before it has written the jobs")
def bulk_acknowledges_first() -> Broken:
    def change(ports: Ports) -> None:
        def begun(tasks: Sequence[Callable[[], bool]]) -> list[bool]:
            scheduler: Scheduler = machine.write_pool()._scheduler  # type: ignore[attr-defined]
            for task in tasks:
                scheduler.spawn(partial(_undisturbed, task))
            return [True] * len(tasks)

        ports["concurrently"] = begun

    return built(Bulk, change)


def _undisturbed(task: Callable[[], bool]) -> None:
    with suppress(StoreError, BadRequestError, UnavailableError, Killed):
        task()


@mutation("The API acknowledges a bulk pause and writes nothing")
def bulk_pauses_nothing() -> Broken:
    return built_with(Bulk, "pauser", pause=lambda *_, **__: None)


@mutation("A bulk call skips the last job of a page")
def bulk_skips_last_of_page() -> Broken:
    def short(page: Page[Job], limit: int) -> Page[Job]:
        return Page(page.items[:-1], page.next) if len(page.items) == limit else page

    return _paging(short)


@mutation("A bulk delete skips the first job after its cursor")
@wrapping(Bulk, "_each")
def bulk_skips_first_behind_cursor(
    each: Callable[..., BulkResult], self: Bulk, chosen: Filter, *args: Any
) -> BulkResult:
    skipped = self._jobs.page(chosen.namespace, chosen.prefix, chosen.after, 1).items
    after = skipped[0].key.name if chosen.after and skipped else chosen.after
    return each(self, Filter(chosen.namespace, chosen.prefix, chosen.labels, after), *args)


@mutation("A bulk call that ran out of time returns the cursor of its page's end")
@wrapping(Bulk, "_handle")
def bulk_forgets_rest_of_page(
    deal_with: Callable[..., BulkResult], self: Bulk, jobs: Sequence[Job], act: Any, until: Instant
) -> BulkResult:
    done = deal_with(self, jobs, act, until)
    return done if done.reached is None else BulkResult(done.count, jobs[-1].key.name)


@mutation("A bulk call that reached its limit of jobs returns no cursor")
@wrapping(Bulk, "_each")
def bulk_ends_with_first_page(each: Callable[..., BulkResult], self: Bulk, *args: Any) -> BulkResult:
    return BulkResult(each(self, *args).count, None)


@mutation("A bulk resume forgets its `catchup`")
@wrapping_in(Bulk, "resumer", "resume")
def bulk_resumes_by_own_mode(resume: Callable[..., Job], *args: Any, **kwargs: Any) -> Job:
    resumed: Job = resume(*args, **{**kwargs, "mode": None})
    return resumed


@mutation("A bulk call by a label changes every job")
def bulk_ignores_labels() -> Broken:
    return patch.object(Filter, "matches", lambda *_: True)


@mutation("A bulk call counts every job that it reads, changed or not")
@wrapping(Bulk, "_each")
def bulk_counts_what_it_read(
    each: Callable[..., BulkResult], self: Bulk, wanted: Filter, act: Any, _: Any
) -> BulkResult:
    whole = each(self, wanted, act, _)
    seen = self._jobs.page(wanted.namespace, wanted.prefix, wanted.after, read._PAGE_MAX)
    return BulkResult(max(whole.count, len(seen.items)), whole.reached)


@mutation("A bulk delete pauses its jobs")
@replacing(Bulk, "delete")
def bulk_deletes_by_pausing(self: Bulk, wanted: Filter, *, who: str) -> BulkResult:
    return self.pause(wanted, reason=None, who=who)


@mutation("A bulk call stops at the first job that fails, and acknowledges the call")
@wrapping(Bulk, "_handle")
def bulk_stops_at_first_failure(
    deal_with: Callable[..., BulkResult], self: Bulk, jobs: Sequence[Job], act: Any, until: Instant
) -> BulkResult:
    counted = 0
    for number in range(len(jobs)):
        deal = partial(deal_with, self, jobs[number : number + 1], act, until)
        try:
            counted += deal().count
        except StoreError:
            break
    return BulkResult(counted, None)


@mutation("A bulk write commits its jobs before it arms them")
@wrapping(Commits, "create")
def bulk_write_commits_first(
    create: Callable[..., Any], self: Commits, drafts: Sequence[Draft], concurrently: Concurrently
) -> Any:
    arming = Commits._arming
    with patch.object(Commits, "_arming", lambda *_: Arming((), ())):
        results = create(self, drafts, concurrently)
    for draft in drafts:
        late = arming(self, draft)
        self._put_timers(late.timers)
        self._send(late.messages)
    return results


@mutation("A bulk write says that it created a job which another call had created")
@wrapping(Commits, "_create_one")
def bulk_write_denies_the_other(create_one: Callable[..., Any], self: Commits, draft: Draft) -> Any:
    return create_one(self, draft) or draft.job


@mutation("A bulk write leaves out the timers of the jobs that it creates")
@wrapping(Commits, "create")
def bulk_write_leaves_out_timers(
    create: Callable[..., Any], self: Commits, drafts: Sequence[Draft], concurrently: Concurrently
) -> Any:
    with patch.object(Commits, "_put_timers", lambda *_: None):
        return create(self, drafts, concurrently)
