"""The list of a namespace's runs that did not simply succeed, of all of its jobs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from sweephand.base.instants import Instant
from sweephand.jobs.read import Filter
from sweephand.model.page import Page
from sweephand.model.run import Run
from sweephand.ports.jobs import JobStore
from sweephand.ports.runs import FlagStore, RunStore

#: The states of the runs in the list. A run in any other state is passed over, even if it has a flag.
ListedState = Literal["failed", "skipped", "retrying", "running", "claimed"]
LISTED_STATES: Final[tuple[ListedState, ...]] = ("failed", "skipped", "retrying", "running", "claimed")


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs of a namespace are listed: in that state, due from `since` on, of jobs with those labels.

    None stands for every listed state, and 0 for any due time.
    """

    namespace: str
    state: ListedState | None = None
    since: Instant = 0
    labels: Mapping[str, str] = field(default_factory=dict)


class FlaggedList:
    """Lists the runs that have a flag, as they are now."""

    def __init__(self, *, flags: FlagStore, runs: RunStore, jobs: JobStore) -> None:
        self._flags = flags
        self._runs = runs
        self._jobs = jobs

    def page(self, wanted: RunFilter, after: str, limit: int, now: Instant) -> Page[Run]:
        """The runs of the next `limit` flags that fit, newest due time first.

        A flag says nothing about the state of its run, so each run is read too. A run that has succeeded in
        the meantime, was cancelled, or has no record any more is passed over. So a page can be short or
        empty. Labels are those that the job has now. A run of a job that is gone has none.
        """
        flags = self._flags.page(wanted.namespace, wanted.since, after, limit)
        states = LISTED_STATES if wanted.state is None else (wanted.state,)
        found = {(run.key, run.trigger_id): run for run in self._runs.of_flags(flags.items)}
        in_order = (found.get((each.key, f"{each.uid}-{each.run}")) for each in flags.items)
        runs = [run for run in in_order if run is not None and run.state in states and not _is_gone(run, now)]
        return Page(tuple(self._labelled(runs, wanted.labels)), flags.next)

    def _labelled(self, runs: Sequence[Run], labels: Mapping[str, str]) -> Sequence[Run]:
        if not labels or not runs:
            return runs
        stored = self._jobs.get_many(list(dict.fromkeys(run.key for run in runs)))
        labelled = Filter(runs[0].key.namespace, labels=labels)
        uids = {job.uid for job in stored.values() if labelled.matches(job)}
        return [run for run in runs if run.uid in uids]


def _is_gone(run: Run, now: Instant) -> bool:
    return run.expires_at is not None and run.expires_at <= now
