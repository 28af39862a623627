"""How many triggers of a series are due in each part of a span, without a walk through the triggers."""

from collections.abc import Iterator
from typing import NamedTuple

from sweephand.base.instants import Instant
from sweephand.schedules.batch_triggers import (
    TriggerRange,
    last_trigger_through,
    trigger_after,
    trigger_following,
)
from sweephand.schedules.series import Occurrence, Series


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


def due_counts(series: Series, span: Span) -> Iterator[tuple[int, int]]:
    """Each bucket in which triggers of the series are due, and how many, in the order of time.

    It takes a step for each of these buckets, however many triggers they have. ScheduleError if schedule or
    zone cannot be read.
    """
    first = _first_trigger(series, span.since)
    while first is not None and first.at < span.until:
        bucket = (first.at - span.since) // span.bucket_ms
        through = min(span.begin_of(bucket + 1), span.until) - 1
        last = last_trigger_through(series, through, first)
        yield bucket, TriggerRange(first, last).size(series.batch)
        first = trigger_following(series, last)


def _first_trigger(series: Series, since: Instant) -> Occurrence | None:
    """The first trigger that is due at the instant or after it."""
    window_ms = 0 if series.batch is None else series.batch.window_ms
    # A batch that began before the instant may still have triggers that are due after it.
    first = series.next_after(since - 1 - window_ms)
    if first is None or first.at >= since:
        return first
    return trigger_after(series, since - 1, first)
