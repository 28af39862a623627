"""The triggers of a series, one after the other, and how many are due when.

Each occurrence has one trigger, or as many as its batch. A trigger is an Occurrence with its index. In a
series without a batch, every occurrence is its only trigger. No function here walks through the triggers
between two others, because a batch can have ten million.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, NamedTuple

from sweephand.base.instants import Instant
from sweephand.schedules.series import Batch, Occurrence, Series


class TriggerRange(NamedTuple):
    """All triggers of one series from `first` to `last`, both included."""

    first: Occurrence
    last: Occurrence

    def size(self, batch: Batch | None) -> int:
        """The number of triggers. `batch` is that of the series."""
        size = 1 if batch is None else batch.size
        first, last = self
        return (last.sequence - first.sequence) * size + last.batch_index - first.batch_index + 1


def triggers_from(series: Series, first: Occurrence) -> Iterator[Occurrence]:
    """The trigger `first` of a series and all that follow it, lazily and in the order of their due times."""
    occurrences = chain((first,), series.occurrences(first.due_at, known=first))
    return occurrences if series.batch is None else _spread(series, series.batch, occurrences)


def _spread(series: Series, batch: Batch, occurrences: Iterable[Occurrence]) -> Iterator[Occurrence]:
    for occurrence in occurrences:
        due_at, sequence = occurrence.due_at, occurrence.sequence
        window_ms = series.window_ms_of(occurrence)
        for index in range(occurrence.batch_index, batch.size):
            yield Occurrence(due_at, sequence, index, batch.after_ms(index, window_ms))


def trigger_following(series: Series, trigger: Occurrence) -> Occurrence | None:
    """The trigger after this one: of the same occurrence or the first of the next; None at the end."""
    if series.batch is not None and trigger.batch_index + 1 < series.batch.size:
        return _trigger(series, series.batch, trigger, trigger.batch_index + 1)
    return series.following(trigger)


def trigger_after(series: Series, instant: Instant, known: Occurrence) -> Occurrence | None:
    """The first trigger that is due after the instant; None if there is none.

    `known` is a trigger of the series that is due at the instant or before.
    """
    batch = series.batch
    if batch is None:
        return series.next_after(instant, known)
    occurrence = series.last_through(instant, known)
    index = batch.due_within(instant - occurrence.due_at, series.window_ms_of(occurrence))
    if index < batch.size:
        return _trigger(series, batch, occurrence, index)
    return series.next_after(occurrence.due_at, occurrence)


def last_trigger_through(series: Series, instant: Instant, known: Occurrence) -> Occurrence:
    """The last trigger that is due at the instant or before.

    `known` is a trigger of the series that is due at the instant or before. The result is `known` if no other
    one lies between.
    """
    occurrence = series.last_through(instant, known)
    batch = series.batch
    if batch is None:
        return occurrence
    due = batch.due_within(instant - occurrence.due_at, series.window_ms_of(occurrence))
    return _trigger(series, batch, occurrence, due - 1)


def last_trigger_of(series: Series, occurrence: Occurrence) -> Occurrence:
    """The last trigger of an occurrence."""
    batch = series.batch
    return occurrence if batch is None else _trigger(series, batch, occurrence, batch.size - 1)


def nth_trigger_from(series: Series, first: Occurrence, number: int) -> Occurrence:
    """The trigger that lies `number` triggers after `first`. The series must have that many."""
    batch = series.batch
    if batch is None:
        return series.numbered(first.sequence + number, first)
    more, index = divmod(first.batch_index + number, batch.size)
    return _trigger(series, batch, series.numbered(first.sequence + more, first), index)


def _trigger(series: Series, batch: Batch, occurrence: Occurrence, index: int) -> Occurrence:
    after_ms = batch.after_ms(index, series.window_ms_of(occurrence))
    return Occurrence(occurrence.due_at, occurrence.sequence, index, after_ms)


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
        _add(counts, occurrence, batch, series.window_ms_of(occurrence), span)
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
