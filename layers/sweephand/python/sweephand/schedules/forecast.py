"""How many triggers of a series are due in each part of a span, without a walk through the triggers."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from sweephand.base.instants import Instant
from sweephand.schedules.batch_triggers import (
    TriggerRange,
    last_trigger_through,
    trigger_after,
    trigger_following,
    triggers_from,
)
from sweephand.schedules.series import Occurrence, Series

#: Triggers of one bucket that are walked before the rest is counted.
_WALKED_MAX: Final = 64


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

    The few triggers of a sparse bucket are walked. Those of a dense one are counted by arithmetic, which
    takes as long as walking some hundred. ScheduleError if schedule or zone cannot be read.
    """
    first = _first_trigger(series, span.since)
    coming = iter(()) if first is None else triggers_from(series, first)
    first = next(coming, None)
    walked_max = _WALKED_MAX
    while first is not None and first.at < span.until:
        bucket = (first.at - span.since) // span.bucket_ms
        end = min(span.begin_of(bucket + 1), span.until)
        last, count = first, 1
        following = next(coming, None)
        while following is not None and following.at < end and count < walked_max:
            last, count = following, count + 1
            following = next(coming, None)
        if following is not None and following.at < end:
            last = last_trigger_through(series, end - 1, following)
            count = TriggerRange(first, last).size(series.batch)
            following = trigger_following(series, last)
            coming = iter(()) if following is None else triggers_from(series, following)
            following = next(coming, None)
        # The bucket after a dense one is probably dense too.
        walked_max = 1 if count > _WALKED_MAX else _WALKED_MAX
        yield bucket, count
        first = following


def _first_trigger(series: Series, since: Instant) -> Occurrence | None:
    """The first trigger that is due at the instant or after it."""
    window_ms = 0 if series.batch is None else series.batch.window_ms
    # A batch that began before the instant may still have triggers that are due after it.
    first = series.next_after(since - 1 - window_ms)
    if first is None or first.at >= since:
        return first
    return trigger_after(series, since - 1, first)
