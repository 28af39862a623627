"""Redriving and cancelling the runs of a namespace that a filter selects, as each would be alone."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from sweephand.base.concurrency import Concurrently, parts
from sweephand.base.errors import ConflictError, NotFoundError
from sweephand.base.instants import Instant
from sweephand.base.limits import BULK_EXAMINED_MAX
from sweephand.base.timing import BULK_TIME_LIMIT_MS
from sweephand.model.job import JobKey
from sweephand.model.run import Run, flag_of
from sweephand.ports.clock import Clock
from sweephand.runs.flagged_list import FlaggedList, RunFilter
from sweephand.runs.redrive import Redriver

#: Runs that are cancelled between two checks of the time limit.
_AT_ONCE: Final = 16

#: Cancels one run: its job, its name, and whose key asks. Errors are those of Callbacks.cancel().
_Cancel = Callable[[JobKey, str, str], object]


@dataclass(frozen=True, slots=True)
class BulkRunsResult:
    """How many runs were changed, and the position behind which the next call goes on; None if nowhere."""

    count: int
    reached: str | None


class BulkRuns:
    """Goes through the flags of runs, newest due time first, from the position `after` on.

    A call looks at up to 1,000 flags. With `is_dry`, it counts and changes nothing. After StoreError or
    UnavailableError, any of the runs may have been changed. Repeating a call is safe.
    """

    def __init__(
        self,
        *,
        flagged: FlaggedList,
        redriver: Redriver,
        cancel: _Cancel,
        clock: Clock,
        concurrently: Concurrently,
    ) -> None:
        self._flagged = flagged
        self._redriver = redriver
        self._cancel = cancel
        self._clock = clock
        self._concurrently = concurrently

    def redrive(self, wanted: RunFilter, after: str, *, is_dry: bool = False) -> BulkRunsResult:
        """Redrive those of the runs that have failed and whose jobs exist."""
        failed = wanted.only("failed")
        page = self._flagged.page(failed, after, BULK_EXAMINED_MAX, self._clock.now())
        return BulkRunsResult(self._redriver.redrive_all(page.items, is_dry=is_dry), page.next)

    def cancel(self, wanted: RunFilter, after: str, *, who: str, is_dry: bool = False) -> BulkRunsResult:
        """Cancel those of the runs that are retried or running, for 10 s at most. `who` is a key's name."""
        now = self._clock.now()
        page = self._flagged.page(wanted, after, BULK_EXAMINED_MAX, now)
        runs = [run for run in page.items if run.state in ("retrying", "running") and not run.is_ending]
        if is_dry:
            return BulkRunsResult(len(runs), page.next)
        count = 0
        for some in parts(runs, _AT_ONCE):
            count += sum(self._concurrently([partial(self._is_cancelled, run, who) for run in some]))
            if self._is_late(now) and some[-1] is not runs[-1]:
                return BulkRunsResult(count, flag_of(some[-1]).position)
        return BulkRunsResult(count, page.next)

    def _is_late(self, since: Instant) -> bool:
        return self._clock.now() >= since + BULK_TIME_LIMIT_MS

    def _is_cancelled(self, run: Run, who: str) -> bool:
        try:
            self._cancel(run.key, run.run_id, who)
        except (ConflictError, NotFoundError):
            return False  # it has ended meanwhile
        return True
