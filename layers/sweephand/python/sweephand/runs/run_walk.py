"""Walking back through the runs of a job, past the many runs of one due time."""

from collections.abc import Iterator
from typing import Final

from sweephand.base.instants import Instant
from sweephand.model.job import JobKey
from sweephand.model.run import Run
from sweephand.model.run_id import AFTER_UIDS, RunName, run_position
from sweephand.ports.runs import RunStore

#: Runs that are read at once, and how often. A caller that looks for a record of misfires may have to pass
#: as many runs on demand of later due times.
_RUNS_MAX: Final = 100
_PAGES_MAX: Final = 100


def runs_before(runs: RunStore, key: JobKey, until: Instant) -> Iterator[Run]:
    """The runs of a key that were due before an instant, the latest first. Of a batch it is the first run.

    There can be many runs on demand of one due time. Those that the page which meets them does not hold are
    passed over by their position. At most 100 pages are read. StoreError.
    """
    before: str | None = run_position(RunName(until, 0), "")
    for _ in range(_PAGES_MAX):
        if before is None:
            return
        page = runs.page(key, None, before, _RUNS_MAX, with_batches=False)
        yield from page.items
        before = page.next
        last = page.items[-1] if page.items else None
        if before is not None and last is not None and last.demand is not None:
            before = run_position(RunName(last.due_at, 0), AFTER_UIDS)
