"""Errors in writing and arming a job."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from tests.simulation.mutations.registry import (
    Broken,
    Deferred,
    Instead,
    Ports,
    built,
    everywhere,
    mutation,
    together,
    wrapping,
    wrapping_in,
)
from tests.simulation.world.processes import LIMITS_MS

from sweephand.base.concurrency import always
from sweephand.base.instants import HOUR_MS, SECOND_MS
from sweephand.jobs import commit
from sweephand.jobs.commit import Commits, Draft
from sweephand.jobs.write import Writer
from sweephand.model.definition import Definition
from sweephand.model.job import Job, Revision
from sweephand.model.trigger import Message, RangeMessage
from sweephand.wheel.arm import split_range


@mutation("A job is committed before it is armed")
def commits_before_arming() -> Broken:
    def change(ports: Ports) -> None:
        deferred, jobs = Deferred(), ports["jobs"]

        def put(job: Job, replacing: str | None, in_time: Callable[[], bool]) -> bool:
            is_written: bool = jobs.put(job, replacing, in_time)
            (deferred.make if is_written else deferred.forget)()
            return is_written

        ports["jobs"] = Instead(jobs, put=put)
        ports["timers"] = Instead(ports["timers"], put=deferred.of(ports["timers"].put))
        ports["queue"] = Instead(ports["queue"], send=deferred.of(ports["queue"].send))

    return built(Commits, change)


@mutation("The API has no time limit")
def has_no_time_limit() -> Broken:
    return together(patch.dict(LIMITS_MS, {"api": HOUR_MS}), everywhere("REQUEST_TIME_LIMIT_MS", HOUR_MS))


@mutation(
    "The API does not give up by itself before Lambda ends its function",
    masked_by="the function's time limit: the caller has no answer, that is all",
)
def does_not_give_up() -> Broken:
    return everywhere("REQUEST_TIME_LIMIT_MS", HOUR_MS)


@mutation(
    "Lambda does not end the API's function at a time limit",
    masked_by="each write asks the clock as it leaves, so that a function that goes on late commits nothing",
)
def is_not_ended() -> Broken:
    return patch.dict(LIMITS_MS, {"api": HOUR_MS})


@mutation("A function that is thawed late commits without another look at its clock")
def commits_when_thawed() -> Broken:
    return together(
        patch.dict(LIMITS_MS, {"api": HOUR_MS}), patch.object(commit, "within_time_limit", lambda *_: always)
    )


@mutation("A write of a job has no condition on the stored version")
def overwrites() -> Broken:
    def change(ports: Ports) -> None:
        jobs = ports["jobs"]

        def put(job: Job, _: str | None, in_time: Callable[[], bool]) -> bool:
            while True:
                stored = jobs.get(job.key)
                if jobs.put(job, stored.version if stored else None, in_time):
                    return True

        ports["jobs"] = Instead(jobs, put=put)

    return built(Commits, change)


@mutation("A trigger of an earlier revision is judged by the newest cut")
@wrapping(Job, "revision")
def judges_by_newest_cut(find: Callable[..., Revision | None], job: Job, rev: str) -> Revision | None:
    found = find(job, rev)
    return found if found is None or found.until is None else found._replace(until=job.cut)


@mutation("A version rules from before its request if the clock has gone back since")
@wrapping(Commits, "_cut")
def rules_from_before_its_request(
    cut: Callable[..., Job], commits: Commits, draft: Draft, stored: Job | None
) -> Job:
    asked_at = draft.job.updated_at
    early = replace(draft, job=replace(draft.job, updated_at=min(asked_at, commits._clock.now())))
    written = cut(commits, early, stored)
    return replace(written, updated_at=max(written.updated_at, asked_at))


@mutation("The direct window is as long as the horizon (180 s)")
def arms_up_to_horizon() -> Broken:
    return everywhere("DIRECT_WINDOW_MS", 180 * SECOND_MS)


@mutation("The direct window leaves no margin for clocks that differ (205 s)")
def arms_without_room_for_skew() -> Broken:
    return everywhere("DIRECT_WINDOW_MS", 205 * SECOND_MS)


@mutation("A range is split without its last part")
def loses_last_part() -> Broken:
    def shortened(message: RangeMessage) -> Iterator[Message]:
        parts = list(split_range(message))
        return iter(parts[:-1] or parts)

    return everywhere("split_range", shortened)


@mutation("A resume records the skipped misfires only after its commit, if it still can")
@wrapping(Commits, "_arm")
def records_skips_at_best(arm: Callable[..., None], commits: Commits, draft: Draft) -> None:
    arm(commits, replace(draft, skipped=None))


@mutation("Each write of a job begins a new series")
def moves_anchor() -> Broken:
    return patch.object(Definition, "has_same_timing", lambda *_: False)


@mutation("A cut may lie before the previous cut")
@wrapping_in(Writer, "jobs", "get")
def cuts_backwards(get: Callable[..., Job | None], *args: Any) -> Job | None:
    job: Job | None = get(*args)
    # Every clock is then past the cut that the writer compares with.
    return job and replace(job, cut=0)
