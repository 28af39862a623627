"""What an operator of many namespaces looks at first: how many runs of each fail, and what is paused."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from sweephand.base.concurrency import Concurrently
from sweephand.base.instants import Instant
from sweephand.base.limits import BULK_EXAMINED_MAX
from sweephand.base.timing import BULK_TIME_LIMIT_MS
from sweephand.jobs.read import Filter, JobState, examined_pages, view
from sweephand.model.page import Page
from sweephand.model.policy import Policy
from sweephand.model.run import State
from sweephand.ports.clock import Clock
from sweephand.ports.jobs import JobStore
from sweephand.runs.flagged_list import FlaggedList, RunFilter

#: Policies of a namespace that are looked at.
_POLICIES_MAX: Final = 200

#: Returns a page of the policies of a namespace, by name: the namespace, the name before, and how many.
ReadPolicies = Callable[[str, str, int], Page[Policy]]


@dataclass(frozen=True, slots=True)
class NamespaceOverview:
    """What is wrong in a namespace, by the flags of its newest runs.

    `runs` counts the listed runs by state, and `jobs` those jobs of which a run failed or is being retried.
    `newest_at` is the due time of the newest such run. `job_states` counts jobs by state, if they were read.
    It `is_partial` if there are more flags or jobs than were looked at.
    """

    namespace: str
    runs: Mapping[State, int]
    jobs: int
    newest_at: Instant | None
    paused_policies: int
    job_states: Mapping[JobState, int] | None
    is_partial: bool


class Overview:
    """Reads overviews of namespaces. Writes nothing."""

    def __init__(
        self,
        *,
        flagged: FlaggedList,
        jobs: JobStore,
        policies: ReadPolicies,
        clock: Clock,
        concurrently: Concurrently,
    ) -> None:
        self._flagged = flagged
        self._jobs = jobs
        self._policies = policies
        self._clock = clock
        self._concurrently = concurrently

    def of(
        self, namespaces: Sequence[str], since: Instant, now: Instant, *, with_jobs: bool
    ) -> Sequence[NamespaceOverview]:
        """Overviews of these namespaces, in their order, of runs that were due at `since` or later.

        For each: up to 1,000 flags and their runs, its policies, and with_jobs up to 1,000 jobs.
        """
        tasks = [partial(self._one, each, since, now, with_jobs=with_jobs) for each in namespaces]
        return list(self._concurrently(tasks))

    def _one(self, namespace: str, since: Instant, now: Instant, *, with_jobs: bool) -> NamespaceOverview:
        page = self._flagged.page(RunFilter(namespace, since=since), "", BULK_EXAMINED_MAX, now)
        failing = [run for run in page.items if run.state in ("failed", "retrying")]
        states, more_jobs = self._job_states(namespace, now) if with_jobs else (None, None)
        policies = self._policies(namespace, "", _POLICIES_MAX).items
        return NamespaceOverview(
            namespace,
            Counter(run.state for run in page.items),
            len({run.key for run in failing}),
            max((run.due_at for run in failing), default=None),
            sum(each.paused_at is not None for each in policies),
            states,
            page.next is not None or more_jobs is not None,
        )

    def _job_states(self, namespace: str, now: Instant) -> tuple[Mapping[JobState, int], str | None]:
        """How many jobs are in each state, and the name up to which jobs were read; None if all were."""
        until = self._clock.now() + BULK_TIME_LIMIT_MS
        found: Counter[JobState] = Counter()
        reached: str | None = None
        for page in examined_pages(self._jobs, Filter(namespace), self._clock, until):
            found.update(view(job, now).state for job in page.items if not job.is_gone(now))
            reached = page.next
        return found, reached
