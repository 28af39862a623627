"""Walking through all jobs and their runs, in parts, and back through the runs of one job."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from sweephand.base.errors import UnavailableError
from sweephand.base.instants import Instant
from sweephand.base.timing import API_LIMIT_MS, ATTEMPT_DELAY_MAX_MS
from sweephand.model.job import Job, JobKey
from sweephand.model.page import Page
from sweephand.model.run import Run, latest_attempt_of
from sweephand.model.timer import OccurrenceTimer, WatchTimer
from sweephand.model.trigger import DeadlineMessage, TriggerMessage
from sweephand.ports.clock import Clock
from sweephand.ports.flow import NamespaceStore
from sweephand.ports.runs import RunStore
from sweephand.ports.wheel import TimerStore
from sweephand.runs.follow_up import deadline_of

#: How many jobs, runs, changes or namespaces one read asks for.
PAGE_MAX: Final = 100

#: How many runs one read asks for if the job has batches. Such a read makes at least 17 requests.
_BATCH_RUNS_MAX: Final = 400


class RunPage(NamedTuple):
    """Runs of one job, newest first. `before` is where the next page begins; None after the last one."""

    runs: Sequence[Run]
    before: str | None


def namespaces_from(namespaces: NamespaceStore, first: str, only: str | None) -> Iterator[str]:
    """The listed namespaces from `first` on, in the order of names; or the one of `only`, listed or not."""
    if only is not None:
        yield only
        return
    if first:
        yield first
    after: str | None = first
    while after is not None:
        page = namespaces.page(after, PAGE_MAX)
        yield from page.items
        after = page.next


def newest_runs(runs: RunStore, jobs: Sequence[Job]) -> Mapping[JobKey, Page[Run]]:
    """The first pages of the runs of several jobs, for `run_pages`. Jobs that had batches are left out."""
    keys = [job.key for job in jobs if not job.has_batches]
    return dict(zip(keys, runs.newest(keys, PAGE_MAX), strict=True))


def run_pages(
    runs: RunStore, job: Job, before: str, since: Instant, newest: Page[Run] | None = None
) -> Iterator[RunPage]:
    """The runs of this job, behind the position `before`, that may have been under way at `since` or later.

    `newest` is the first page if it was read already.

    Runs are listed by their due times. Most of them begin within an hour of it, so the last page reaches back
    by that hour and the longest time of a run. If later ones may have been under way, all runs are returned.
    """
    oldest_at = since - job.definition.run_time_max_ms - ATTEMPT_DELAY_MAX_MS
    if job.late_until is not None and job.late_until >= since:
        oldest_at = 0
    following: str | None = before
    while following is not None:
        limit = _BATCH_RUNS_MAX if job.has_batches else PAGE_MAX
        if newest is None:
            page = runs.page(job.key, None, following, limit, with_batches=job.has_batches)
        else:
            page, newest = newest, None
        is_done = bool(page.items) and page.items[-1].due_at < oldest_at
        following = None if is_done else page.next
        yield RunPage([each for each in page.items if each.uid == job.uid], following)


def awaited(run: Run, job: Job) -> TriggerMessage | DeadlineMessage | None:
    """The message that a run waits for, with the instant when it is due; None if the run waits for none.

    That is the next attempt of a run that is retried, or the check of one that a consumer has accepted.
    """
    if run.state == "retrying" and run.next_attempt_at is not None:
        return latest_attempt_of(run)._replace(
            attempt=run.attempts + 1,
            not_before=run.next_attempt_at,
            had_token=run.token is not None,
            lane=job.definition.lane,
        )
    if run.state == "running":
        check = deadline_of(run, job.shard, job.definition.priority)
        return check if run.next_check_at is None else check._replace(not_before=run.next_check_at)
    return None


def write_in_time(
    store: TimerStore, timers: Sequence[OccurrenceTimer | WatchTimer], made_at: Instant, clock: Clock
) -> None:
    """Write timers that were made at `made_at` and lie beyond what a sweeper reaches until soon after it.

    UnavailableError: writing took so long that a sweeper may have passed their places. The caller makes the
    timers again.
    """
    store.put(timers)
    if clock.now() - made_at > API_LIMIT_MS:
        raise UnavailableError("Writing the timers took too long. Call again with the same cursor.")
