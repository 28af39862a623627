"""Errors of the rebuild after a loss of the Timers table: what is armed again, from when on, and where."""

from dataclasses import replace
from typing import Any, Final
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, built_with, everywhere, mutation, replacing
from tests.simulation.workload.drills import FIRST_WITH_DRILL

from sweephand.model.change import Change
from sweephand.model.job import Job
from sweephand.model.timer import OccurrenceTimer, WatchTimer
from sweephand.runs import job_walk
from sweephand.runs import rebuild as rebuilding
from sweephand.runs.rebuild import Rebuilder
from sweephand.runs.requeue import Retention
from sweephand.wheel import rebuild
from sweephand.wheel.rebuild import Past

_TIMERS: Final[Any] = rebuild.rebuilt_timers
_FIRST: Final[Any] = rebuild.first_trigger


@mutation("A rebuild arms the present revision only", first=FIRST_WITH_DRILL)
def leaves_out_earlier_revisions() -> Broken:
    def timers(job: Job, *arguments: Any, **options: Any) -> Any:
        return _TIMERS(replace(job, earlier=()), *arguments, **options)

    return everywhere("rebuilt_timers", timers)


@mutation("A rebuild arms earlier revisions by the present schedule", first=FIRST_WITH_DRILL)
def takes_the_present_schedule() -> Broken:
    return everywhere("rebuilt_timers", lambda job, _, **options: _TIMERS(job, Past(), **options))


@mutation(
    "A rebuild takes the changes of a deleted job for those of the next one",
    shown_by="tests/unit/runs/test_rebuild.py::"
    "test_by_clocks_that_differ_a_job_is_not_armed_as_the_deleted_one_before_it",
)
def takes_changes_of_a_deleted_job() -> Broken:
    def changes_of(rebuilder: Any, job: Job) -> list[Change]:
        filed = rebuilder._changes.page(job.key, "", 100).items
        latest = [] if job.change is None else [job.change]
        return [*latest, *(each for each in filed if each not in latest)]

    return patch.object(Rebuilder, "_changes_of", changes_of)


@mutation(
    "A rebuild leaves out the rest of a batch that lasts longer than its revision",
    shown_by="tests/unit/runs/test_rebuild.py::"
    "test_the_rest_of_a_batch_is_delivered_by_the_schedule_that_began_it",
)
def forgets_long_batches() -> Broken:
    return everywhere("owed_since", lambda _, since: since)


@mutation("A rebuild arms what falls due from the present instant on", first=FIRST_WITH_DRILL)
def arms_from_now() -> Broken:
    def timers(job: Job, past: Any, *, since: int, now: int) -> Any:
        del since
        return _TIMERS(job, past, since=now, now=now)

    return everywhere("rebuilt_timers", timers)


@mutation("A rebuild writes timers where a sweeper may have passed", first=FIRST_WITH_DRILL)
def writes_behind_cursors() -> Broken:
    def timers(*arguments: Any, **options: Any) -> Any:
        found: list[OccurrenceTimer | WatchTimer] = _TIMERS(*arguments, **options)
        return [
            each._replace(put_off_to=None) if isinstance(each, OccurrenceTimer) else each for each in found
        ]

    return everywhere("rebuilt_timers", timers)


@mutation(
    "A rebuild brings no lease back",
    first=FIRST_WITH_DRILL,
    shown_by="tests/unit/runs/test_rebuild.py::test_the_number_of_shards_that_jobs_need_comes_back",
)
def brings_no_lease_back() -> Broken:
    return built_with(Rebuilder, "leases", raise_shards=lambda _: 0)


@mutation("A rebuild arms no watch", first=FIRST_WITH_DRILL)
def arms_no_watch() -> Broken:
    return patch.object(rebuild, "rearmed_watch", lambda *_, **__: None)


@mutation("A rebuild sends no retry and no deadline", first=FIRST_WITH_DRILL)
def forgets_runs() -> Broken:
    return patch.object(rebuilding, "awaited", lambda *_: None)


@mutation(
    "A rebuild leaves out the rest of batches that have begun",
    first=FIRST_WITH_DRILL,
    shown_by="tests/unit/runs/test_rebuild.py::test_the_rest_of_a_batch_that_has_begun_is_delivered",
)
@replacing(rebuild, "first_trigger")
def leaves_out_begun_batches(series: Any, revision: Any, since: int) -> Any:
    found = _FIRST(series, revision, since)
    if found is None or not found.batch_index:
        return found
    return series.next_after(found.due_at, found)


@mutation(
    "A rebuild that has stood still does not write its timers again",
    first=FIRST_WITH_DRILL,
    shown_by="tests/unit/runs/test_rebuild.py::test_timers_that_were_written_too_late_are_written_again",
)
def does_not_look_at_the_clock() -> Broken:
    return patch.object(job_walk, "API_LIMIT_MS", 10**12)


@mutation(
    "A run that begins long after it was due is not noted in its job",
    first=FIRST_WITH_DRILL,
    shown_by="tests/unit/runs/test_late_runs.py::test_a_job_without_late_runs_is_walked_as_far_as_a_run_may_last",
)
def notes_no_late_run() -> Broken:
    return patch.object(Retention, "note_late_run", lambda *_: None)
