"""How misfires that a resume lets lapse come to be among the runs, less what was delivered all the same."""

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
    """Write one record of a span of `series` that does not fire; harmless if it is written. StoreError.

    A job is read up to a second before its request leaves, so the first of what fell due in a pause can have
    been delivered. What has a record of its own is no part of the span; nothing else refuses this one.
    """
    left: OccurrenceRange | None = skipped
    while left is not None and not runs.record(skipped_run(source, left, job, decided_at)):
        left = left.after_first(series)
