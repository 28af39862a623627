"""How skipped misfires are recorded as runs, without those that were delivered after all."""

from sweephand.base.instants import Instant
from sweephand.model.job import Job
from sweephand.model.trigger import HasRevision
from sweephand.ports import RunStore
from sweephand.schedules import Series
from sweephand.wheel.catchup import OccurrenceRange, skipped_run


def record_skipped(
    runs: RunStore,
    source: HasRevision,
    skipped: OccurrenceRange,
    series: Series,
    job: Job,
    *,
    decided_at: Instant,
) -> None:
    """Write one record of a range of `series` that does not fire; a repetition is harmless. StoreError.

    The delivery function reads a job up to a second before it sends a request. So the first occurrences that
    fell due in a pause may have been delivered. A store refuses a record only if its first occurrence has a
    run already. Such an occurrence is taken out of the range.
    """
    left: OccurrenceRange | None = skipped
    while left is not None and not runs.record(skipped_run(source, left, job, decided_at)):
        left = left.after_first(series)
