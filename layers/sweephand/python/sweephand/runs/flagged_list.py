"""The list of a namespace's runs that did not simply succeed, of all of its jobs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from sweephand.base.instants import Instant
from sweephand.jobs.read import Filter
from sweephand.model.page import Page
from sweephand.model.run import Run, last_flag_at
from sweephand.ports.jobs import JobStore
from sweephand.ports.runs import FlagStore, RunStore

#: The states of the runs in the list. A run in any other state is passed over, even if it has a flag.
ListedState = Literal["failed", "skipped", "retrying", "running", "claimed"]
LISTED_STATES: Final[tuple[ListedState, ...]] = ("failed", "skipped", "retrying", "running", "claimed")


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs of a namespace are listed: in that state, due from `since` on and before `until`.

    Their jobs have those labels, and names with that prefix. The text `reason` is in the reason of a run, in
    that of its last failure, or in its answer. None and an empty text stand for any.
    """

    namespace: str
    state: ListedState | None = None
    since: Instant = 0
    labels: Mapping[str, str] = field(default_factory=dict)
    until: Instant | None = None
    prefix: str = ""
    reason: str = ""

    def only(self, state: ListedState) -> "RunFilter":
        """The same filter for that state."""
        return replace(self, state=state)

    def says(self, run: Run) -> bool:
        """Whether a run says the text that is looked for."""
        failure = None if run.last_failure is None else run.last_failure.reason
        return any(self.reason in text for text in (run.reason, failure, run.answer) if text is not None)


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
        begun = after or ("" if wanted.until is None else last_flag_at(max(wanted.until, 0)))
        flags = self._flags.page(wanted.namespace, wanted.since, begun, limit)
        named = [each for each in flags.items if each.key.name.startswith(wanted.prefix)]
        states = LISTED_STATES if wanted.state is None else (wanted.state,)
        found = {(run.key, run.trigger_id): run for run in self._runs.of_flags(named)}
        in_order = (found.get((each.key, f"{each.uid}-{each.run}")) for each in named)
        runs = [run for run in in_order if run is not None and run.state in states and not _is_gone(run, now)]
        if wanted.reason:
            runs = [run for run in runs if wanted.says(run)]
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
