"""Writing a flag before each record of a run that did not simply succeed (decision 110)."""

from collections.abc import Sequence
from typing import Final

from sweephand.base.instants import Instant
from sweephand.model.job import JobKey
from sweephand.model.page import Page
from sweephand.model.run import Flag, Run, State, flag_of
from sweephand.model.run_id import RunName
from sweephand.model.trigger import Trigger
from sweephand.ports.runs import FlagStore, RunStore

#: A run that enters one of these states gets a flag first.
_FLAGGED: Final[frozenset[State]] = frozenset({"retrying", "failed", "skipped"})


class FlaggedRuns:
    """ports.RunStore, with flags. Several threads may share one object.

    A run gets its flag before the write that makes it `retrying`, `failed` or `skipped`. A `running` run gets
    its flag when a check of its deadline finds it still running. So whoever crashes between the two writes
    leaves a flag too many, and no such run lacks its flag. A success writes no flag.
    """

    def __init__(self, runs: RunStore, flags: FlagStore) -> None:
        self._runs = runs
        self._flags = flags

    def claim(self, run: Run, now: Instant) -> Run | None:
        """Claim an attempt: RunStore.claim."""
        return self._runs.claim(run, now)

    def record(self, run: Run) -> bool:
        """Record the outcome of an attempt: RunStore.record."""
        if run.state in _FLAGGED:
            self._flag(run)
        return self._runs.record(run)

    def move(self, run: Run, seen: Run) -> bool:
        """Change a run that was read: RunStore.move."""
        was_checked = run.state == "running" and run.next_check_at != seen.next_check_at
        if was_checked or run.state in _FLAGGED:
            self._flag(run)
        return self._runs.move(run, seen)

    def release(self, run: Run) -> bool:
        """Remove the record of a claim: RunStore.release."""
        return self._runs.release(run)

    def of(self, trigger: Trigger) -> Run | None:
        """The run of a trigger: RunStore.of."""
        return self._runs.of(trigger)

    def of_flags(self, flags: Sequence[Flag]) -> Sequence[Run]:
        """The runs of flags: RunStore.of_flags."""
        return self._runs.of_flags(flags)

    def get(self, key: JobKey, run_id: str) -> Run | None:
        """The newest run of a name: RunStore.get."""
        return self._runs.get(key, run_id)

    def page(
        self, key: JobKey, state: State | None, before: str, limit: int, *, with_batches: bool = True
    ) -> Page[Run]:
        """A page of the runs of a key: RunStore.page."""
        return self._runs.page(key, state, before, limit, with_batches=with_batches)

    def newest(self, keys: Sequence[JobKey], limit: int) -> Sequence[Page[Run]]:
        """The first pages of several keys: RunStore.newest."""
        return self._runs.newest(keys, limit)

    def beside(
        self, key: JobKey, name: RunName, *, with_batches: bool = True
    ) -> tuple[Run | None, Run | None]:
        """The runs before and after a name: RunStore.beside."""
        return self._runs.beside(key, name, with_batches=with_batches)

    def _flag(self, run: Run) -> None:
        self._flags.put(flag_of(run))
