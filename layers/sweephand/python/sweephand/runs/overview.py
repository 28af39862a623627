"""What an operator of many namespaces looks at first: what fails, is late, waits and is paused in each."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from sweephand.base.concurrency import Concurrently
from sweephand.base.instants import HOUR_MS, MINUTE_MS, Instant
from sweephand.base.limits import BULK_EXAMINED_MAX
from sweephand.base.timing import BULK_TIME_LIMIT_MS
from sweephand.jobs.policy_reader import PolicyReader, WaitingTriggers
from sweephand.jobs.read import Filter, JobState, examined_pages, view
from sweephand.model.counters import Stats, no_stats
from sweephand.model.run import Run, State
from sweephand.ports.clock import Clock
from sweephand.ports.jobs import JobStore
from sweephand.runs.delivery_stats import StatsReader
from sweephand.runs.flagged_list import FlaggedList, RunFilter

#: Policies of a namespace that are looked at.
_POLICIES_MAX: Final = 200

#: The span that an overview counts is divided into so many equal parts.
PARTS_OF_SPAN: Final = 24


@dataclass(frozen=True, slots=True)
class NamespaceOverview:
    """What is wrong in a namespace, by the flags of its newest runs.

    `runs` counts the listed runs by state, and `jobs` those jobs of which a run failed or is being retried.
    `newest_at` is the due time of the newest such run. `job_states` counts jobs by state, if they were read.
    `failures` counts runs that failed or are being retried in each part of the span, oldest first.
    `last_hour` is what deliveries counted; None in a stack that does not count. It `is_partial` if there are
    more flags or jobs than were looked at.
    """

    namespace: str
    runs: Mapping[State, int]
    jobs: int
    newest_at: Instant | None
    paused_policies: int
    job_states: Mapping[JobState, int] | None
    is_partial: bool
    failures: Sequence[int]
    waiting: WaitingTriggers
    last_hour: Stats | None


class Overview:
    """Reads overviews of namespaces. Writes nothing."""

    def __init__(
        self,
        *,
        flagged: FlaggedList,
        jobs: JobStore,
        policies: PolicyReader,
        stats: StatsReader,
        clock: Clock,
        concurrently: Concurrently,
    ) -> None:
        self._flagged = flagged
        self._jobs = jobs
        self._policies = policies
        self._stats = stats
        self._clock = clock
        self._concurrently = concurrently

    def of(
        self, namespaces: Sequence[str], since: Instant, now: Instant, *, with_jobs: bool
    ) -> Sequence[NamespaceOverview]:
        """Overviews of these namespaces, in their order, of runs that were due at `since` or later.

        For each: up to 1,000 flags and their runs, its policies and their lines, and with_jobs up to 1,000
        jobs. For all together, what deliveries counted in the last hour.
        """
        hour = self._stats.sums(now - HOUR_MS - now % MINUTE_MS, now + 1) if namespaces else None
        last = {each: None if hour is None else hour.get(each, no_stats()) for each in namespaces}
        tasks = [partial(self._one, each, since, now, last[each], with_jobs=with_jobs) for each in namespaces]
        return list(self._concurrently(tasks))

    def _one(
        self, namespace: str, since: Instant, now: Instant, last_hour: Stats | None, *, with_jobs: bool
    ) -> NamespaceOverview:
        page = self._flagged.page(RunFilter(namespace, since=since), "", BULK_EXAMINED_MAX, now)
        failing = [run for run in page.items if run.state in ("failed", "retrying")]
        states, more_jobs = self._job_states(namespace, now) if with_jobs else (None, None)
        policies = [each.policy for each in self._policies.page(namespace, "", _POLICIES_MAX).items]
        return NamespaceOverview(
            namespace,
            Counter(run.state for run in page.items),
            len({run.key for run in failing}),
            max((run.due_at for run in failing), default=None),
            sum(each.paused_at is not None for each in policies),
            states,
            page.next is not None or more_jobs is not None,
            _in_parts(failing, since, now),
            self._policies.waiting(policies),
            last_hour,
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


def _in_parts(runs: Sequence[Run], since: Instant, until: Instant) -> Sequence[int]:
    """How many of the runs were due in each part of the span, or later in the last part."""
    found = [0] * PARTS_OF_SPAN
    length_ms = max(until - since, 1)
    for run in runs:
        found[min(max(run.due_at - since, 0) * PARTS_OF_SPAN // length_ms, PARTS_OF_SPAN - 1)] += 1
    return found
