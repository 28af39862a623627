"""Reading jobs: what is stored, and each job's state at an instant."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal

from sweephand.base.instants import Instant
from sweephand.base.limits import BULK_EXAMINED_MAX, LIST_EXAMINED_MAX
from sweephand.base.timing import BULK_TIME_LIMIT_MS
from sweephand.jobs.policy_check import PolicyBlock, PolicyCheck
from sweephand.jobs.preconditions import existing_job
from sweephand.model.job import Job, JobKey
from sweephand.model.page import Page
from sweephand.model.run import Run
from sweephand.ports.clock import Clock
from sweephand.ports.jobs import JobStore, PayloadStore
from sweephand.ports.runs import RunStore

JobState = Literal["active", "paused", "completed"]

#: The most runs among which a job's last run is looked for. Those of an earlier job of its name may come
#: first.
_FORMER_RUNS_MAX: Final = 25


#: Jobs that are read at once by a call that may end before it has handled all of them. They are handled
#: before the next ones are read.
_PAGE_MAX: Final = 100

#: A list with a filter first looks at so many jobs at least, and at so many for each place of its page. Then
#: it looks at so many times as many as before. So a common filter reads few, and a rare one takes few turns.
_LOOK_MIN: Final = 128
_LOOKS_PER_PLACE: Final = 4
_GROWTH: Final = 8


@dataclass(frozen=True, slots=True)
class View:
    """A job as its reader sees it at an instant.

    `last_run` is the run with the newest due time. `policy_block` says why the job's policy lets no trigger
    through. They are read only if the job is read alone.
    """

    job: Job
    state: JobState
    next_run_at: Instant | None
    last_run: Run | None = None
    policy_block: PolicyBlock | None = None


def has_labels(written: Mapping[str, Any], labels: Mapping[str, str] | None) -> bool:
    """Whether what was written of a job has all these labels."""
    has: Mapping[str, str] = written.get("labels", {})
    return all(has.get(name) == value for name, value in (labels or {}).items())


@dataclass(frozen=True, slots=True)
class Filter:
    """The jobs of a call: those of a namespace with that prefix and all the labels, after `after`."""

    namespace: str
    prefix: str = ""
    labels: Mapping[str, str] | None = None
    after: str = ""

    def matches(self, job: Job) -> bool:
        """Whether a job has all the labels. The store selects by name."""
        return has_labels(job.definition.written, self.labels)


def examined_pages(
    jobs: JobStore,
    job_filter: Filter,
    clock: Clock,
    until: Instant,
    page_max: Callable[[], int] = lambda: _PAGE_MAX,
) -> Iterator[Page[Job]]:
    """The jobs with the filter's prefix, in pages sorted by name. The caller looks at their labels.

    A page has up to `page_max()` jobs, or 100. Larger pages take fewer requests and units: a store asks 16
    partitions for each page. No page is read after `until`, or after a thousand jobs. The `next` of the last
    page is then the name up to which jobs were read. There is at least one page, unless the caller comes
    after `until`.
    """
    examined = 0
    after: str | None = job_filter.after
    while after is not None and examined < BULK_EXAMINED_MAX and clock.now() < until:
        limit = min(page_max(), BULK_EXAMINED_MAX - examined)
        page = jobs.page(job_filter.namespace, job_filter.prefix, after, limit)
        yield page
        examined += len(page.items)
        after = page.next


@dataclass(frozen=True, slots=True)
class Selection(Filter):
    """The jobs of a list. `contains` is a text anywhere in the name.

    `policy` is the name of a policy, which need not exist.
    """

    contains: str = ""
    state: JobState | None = None
    policy: str | None = None

    @property
    def narrows(self) -> bool:
        """Whether each job has to be looked at to know if it is selected."""
        return bool(self.contains or self.labels or self.state or self.policy)

    def wants(self, name: str, written: Mapping[str, Any]) -> bool:
        """Whether a job has the text in its name, names the policy, and has the labels."""
        is_named = self.contains in name and self.policy in (None, written.get("policy"))
        return is_named and has_labels(written, self.labels)


class Reader:
    """Reads jobs."""

    def __init__(
        self,
        *,
        jobs: JobStore,
        runs: RunStore,
        payloads: PayloadStore,
        policies: PolicyCheck,
        clock: Clock,
    ) -> None:
        self._policies = policies
        self._clock = clock
        self._jobs = jobs
        self._runs = runs
        self._payloads = payloads

    def get(self, key: JobKey, now: Instant) -> View:
        """The job with its data, its last run and the state of its policy; NotFoundError if there is none."""
        job = existing_job(self._jobs.get(key), key, now)
        policies = self._policies.once()
        return replace(
            view(self._with_text(job), now),
            last_run=self._last_run(job),
            policy_block=policies.block(key.namespace, job.definition),
        )

    def page(self, selection: Selection, *, limit: int, now: Instant) -> Page[View]:
        """The selected jobs, sorted by name, without data over 2 KB and without their last runs.

        If only some jobs are selected by more than their prefix, up to 20,000 are looked at within 10 s.
        The page can then be short or empty, and `next` says where to go on.
        """
        if selection.narrows:
            return self._narrowed(selection, limit, now)
        page = self._jobs.page(selection.namespace, selection.prefix, selection.after, limit)
        return Page(tuple(view(job, now) for job in page.items if not job.is_gone(now)), page.next)

    def _narrowed(self, selection: Selection, limit: int, now: Instant) -> Page[View]:
        found: list[View] = []
        reached: str | None = selection.after
        until = self._clock.now() + BULK_TIME_LIMIT_MS
        look, left = max(_LOOK_MIN, limit * _LOOKS_PER_PLACE), LIST_EXAMINED_MAX
        while reached is not None and len(found) < limit and left > 0 and self._clock.now() < until:
            page = self._jobs.search(
                selection.namespace, selection.prefix, reached, min(look, left), selection.wants
            )
            for job in page.items:
                if len(found) == limit:
                    return Page(tuple(found), reached)
                reached = job.key.name
                if job.is_gone(now):
                    continue
                seen = view(job, now)
                if selection.state in (None, seen.state):
                    found.append(seen)
            left, look, reached = left - look, look * _GROWTH, page.next
        return Page(tuple(found), reached)

    def _last_run(self, job: Job) -> Run | None:
        """The job's run with the newest due time. Runs of an earlier job of this name do not count.

        These usually have older due times. They are newer only if all of this job's runs are backfilled.
        """
        newest = partial(self._runs.page, job.key, None, "", with_batches=job.has_batches)
        runs = newest(1).items
        if runs and runs[0].uid != job.uid:
            runs = newest(_FORMER_RUNS_MAX).items
        return next((run for run in runs if run.uid == job.uid), None)

    def _with_text(self, job: Job) -> Job:
        payload = job.definition.payload
        if payload is None or payload.text is not None or payload.ref is None:
            return job
        text = self._payloads.get(job.uid, payload.ref)
        return replace(job, definition=replace(job.definition, payload=payload._replace(text=text)))


def view(job: Job, now: Instant) -> View:
    """The state of a job: paused, or active while a trigger is left, or else completed.

    A job that fires only on demand is active until its `ttl`, or forever without one. An occurrence that is
    due at this very instant is still left, because its delivery cannot have begun before.
    """
    if job.paused_at is not None:
        return View(job, "paused", None)
    if job.series.is_on_demand:
        return View(job, "completed" if job.series.has_ended(now) else "active", None)
    coming = job.series.next_after(now - 1)
    if coming is None:
        return View(job, "completed" if job.series.has_ended(now - 1) else "active", None)
    return View(job, "active", coming.due_at)
