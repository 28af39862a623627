"""How many triggers of a series are due in each part of a span, without a walk through the triggers."""

from collections import Counter
from typing import Final, NamedTuple

from sweephand.base.instants import Instant
from sweephand.schedules.batch import Batch
from sweephand.schedules.series import Occurrence, Series

#: Occurrences of one bucket that are walked before the rest is counted. A count takes as long.
WALKED_MAX: Final = 16

_ONE_TRIGGER: Final = Batch(1)


class Span(NamedTuple):
    """From `since` on and before `until`, in buckets of `bucket_ms`. The last bucket may be cut short."""

    since: Instant
    until: Instant
    bucket_ms: int

    @property
    def buckets(self) -> int:
        """The number of buckets."""
        return -(-(self.until - self.since) // self.bucket_ms)

    def begin_of(self, bucket: int) -> Instant:
        """The first instant of a bucket. The first bucket has the number 0."""
        return self.since + bucket * self.bucket_ms


def due_counts(series: Series, span: Span) -> Counter[int]:
    """The buckets in which triggers of the series are due, in the order of time, and how many.

    The few occurrences of a sparse bucket are walked. Those of a dense one are counted by arithmetic. No
    occurrence beyond the span is looked for, because the next one can lie centuries ahead. ScheduleError if
    schedule or zone cannot be read.
    """
    counts: Counter[int] = Counter()
    batch = series.batch or _ONE_TRIGGER
    # A batch that began before the span may still have triggers that are due in it.
    after = span.since - 1 - batch.window_ms
    last = series.number_through(span.until - 1)
    if series.number_through(after) == last:
        return counts
    coming = series.occurrences(after)
    occurrence = next(coming)
    # A step over a batch that has a window takes as long as a count.
    few = 1 if batch.window_ms else WALKED_MAX
    bucket, walked, walked_max = -1, 0, few
    while True:
        _add(counts, occurrence, batch, series.window_ms_of(occurrence.due_at), span)
        if occurrence.sequence == last:
            return counts
        if (occurrence.due_at - span.since) // span.bucket_ms != bucket:
            bucket, walked = (occurrence.due_at - span.since) // span.bucket_ms, 0
        walked += 1
        # Batches that end in a later bucket are walked. Their windows do not overlap, so they are few.
        through = min(span.begin_of(bucket + 1), span.until) - 1 - batch.window_ms
        if walked >= walked_max and occurrence.due_at < through and bucket >= 0:
            number = series.number_through(through, occurrence)
            counted = number - occurrence.sequence
            counts[bucket] += counted * batch.size
            if number == last:
                return counts
            # The bucket after a dense one is probably dense too.
            walked_max = 1 if walked + counted > few else few
            coming = series.occurrences(through, occurrence)
        occurrence = next(coming)


def _add(counts: Counter[int], occurrence: Occurrence, batch: Batch, window_ms: int, span: Span) -> None:
    """Add the triggers of one occurrence to the buckets of the span in which they are due."""
    due_at = occurrence.due_at
    added = batch.due_within(span.since - 1 - due_at, window_ms) if due_at < span.since else 0
    bucket = (max(due_at, span.since) - span.since) // span.bucket_ms
    while added < batch.size and bucket < span.buckets:
        end = min(span.begin_of(bucket + 1), span.until)
        due = batch.due_within(end - 1 - due_at, window_ms)
        if due > added:
            counts[bucket] += due - added
        added, bucket = due, bucket + 1
