"""How a job does, from the records of its newest runs, and which jobs fail, from the flags of runs."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice, takewhile
from typing import Final, NamedTuple

from sweephand.base.concurrency import Concurrently
from sweephand.base.instants import Instant
from sweephand.base.limits import BULK_EXAMINED_MAX
from sweephand.base.timing import BULK_TIME_LIMIT_MS
from sweephand.jobs.read import Filter, Selection, View, view
from sweephand.model.job import Job, JobKey
from sweephand.model.page import Page
from sweephand.model.run import Flag, Run, flag_of
from sweephand.ports.clock import Clock
from sweephand.ports.jobs import JobStore
from sweephand.ports.runs import FlagStore, RunStore
from sweephand.runs.pending import may_come

#: The newest records that are read of a job.
HEALTH_RUNS_MAX: Final = 10

#: Jobs that are read at once while failing jobs are looked for.
_AT_ONCE: Final = 25


class Health(NamedTuple):
    """How a job does: its newest runs that have a record, and those of them that fail in a row.

    Both are newest first. A run fails if it is `failed`, or if an attempt of it failed and another one
    follows. A success ends the row. Skipped, cancelled and first attempts under way neither end it nor count.
    """

    runs: tuple[Run, ...]
    failures: tuple[Run, ...]


class JobHealth(NamedTuple):
    """A job with its health."""

    view: View
    health: Health


def health_of(job: Job, newest: Sequence[Run], now: Instant) -> Health:
    """The health of a job, from its newest records, newest first; those of an earlier job do not count."""
    runs = tuple(run for run in newest if run.uid == job.uid)
    if _has_succeeded_since(job, runs, now):
        return Health(runs, ())
    row = takewhile(lambda run: run.state != "succeeded", runs)
    return Health(runs, tuple(run for run in row if _fails(run)))


def _fails(run: Run) -> bool:
    # A claim or an acceptance with a failure is that of a later attempt.
    is_tried_again = run.state in ("claimed", "running") and run.last_failure is not None
    return run.state in ("failed", "retrying") or is_tried_again


def _has_succeeded_since(job: Job, runs: Sequence[Run], now: Instant) -> bool:
    """Whether a later trigger of a job that records no success must have succeeded: it left no record."""
    if job.definition.records_successes or job.paused_at is not None or not runs:
        return False
    coming = job.series.next_after(max(runs[0].through, job.resumed_at or 0))
    return coming is not None and coming.due_at <= now and not may_come(job, coming.due_at, now)


class HealthReader:
    """Reads the health of jobs, at most ten records of each. Writes nothing."""

    def __init__(
        self, *, jobs: JobStore, runs: RunStore, flags: FlagStore, clock: Clock, concurrently: Concurrently
    ) -> None:
        self._jobs = jobs
        self._runs = runs
        self._flags = flags
        self._clock = clock
        self._concurrently = concurrently

    def of(self, views: Sequence[View], now: Instant) -> Sequence[JobHealth]:
        """Jobs with their health, in their order. One request for each, and 17 for one with batches."""
        tasks = [partial(self._health, each.job, now) for each in views]
        return [JobHealth(*each) for each in zip(views, self._concurrently(tasks), strict=True)]

    def failing(self, selection: Selection, *, limit: int, now: Instant) -> Page[JobHealth]:
        """Up to `limit` of the selected jobs whose newest runs fail; the newest failure first.

        A job stands where the flag of its newest failing run does, so each job stands in one page. A call
        looks at up to 1,000 flags within 10 s. The page can then be short or empty. Positions are those of
        flags.
        """
        until = self._clock.now() + BULK_TIME_LIMIT_MS
        flags = self._flags.page(selection.namespace, 0, selection.after, BULK_EXAMINED_MAX)
        known: dict[JobKey, JobHealth | None] = {}
        found: list[JobHealth] = []
        reached: str | None = None
        for number, flag in enumerate(flags.items):
            if flag.key not in known:
                if known and self._clock.now() >= until:
                    return Page(tuple(found), reached)
                known |= self._looked_at(_unknown(flags.items[number:], known), selection, now)
            job = known[flag.key]
            reached = flag.position
            if job is not None and _is_newest_failure(flag, job.health):
                found.append(job)
            if len(found) == limit:
                is_last = number + 1 == len(flags.items)
                return Page(tuple(found), flags.next if is_last else reached)
        return Page(tuple(found), flags.next)

    def _looked_at(
        self, keys: Sequence[JobKey], selection: Selection, now: Instant
    ) -> dict[JobKey, JobHealth | None]:
        """Those of the jobs that are selected, with their health; None for the others."""
        named = [each for each in keys if _is_named(selection, each)]
        stored = self._jobs.get_many(named) if named else {}
        views = [view(job, now) for job in stored.values() if not job.is_gone(now)]
        chosen = [each for each in views if _is_selected(selection, each)]
        return dict.fromkeys(keys) | {each.view.job.key: each for each in self.of(chosen, now)}

    def _health(self, job: Job, now: Instant) -> Health:
        page = self._runs.page(job.key, None, "", HEALTH_RUNS_MAX, with_batches=job.has_batches)
        return health_of(job, page.items, now)


def _unknown(flags: Sequence[Flag], known: dict[JobKey, JobHealth | None]) -> Sequence[JobKey]:
    """The next jobs of these flags that were not looked at, each once."""

    def keys() -> Iterator[JobKey]:
        yield from dict.fromkeys(each.key for each in flags if each.key not in known)

    return list(islice(keys(), _AT_ONCE))


def _is_named(selection: Selection, key: JobKey) -> bool:
    return key.name.startswith(selection.prefix) and selection.contains in key.name


def _is_selected(selection: Selection, seen: View) -> bool:
    definition = seen.job.definition
    is_wanted = selection.state in (None, seen.state) and selection.policy in (None, definition.policy)
    return is_wanted and Filter.matches(selection, seen.job)


def _is_newest_failure(flag: Flag, health: Health) -> bool:
    if not health.failures:
        return False
    newest = flag_of(health.failures[0])
    return (newest.uid, newest.run) == (flag.uid, flag.run)
