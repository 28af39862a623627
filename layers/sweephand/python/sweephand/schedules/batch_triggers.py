"""The triggers of a series, one after the other: each occurrence has one, or as many as its batch.

A trigger is an Occurrence with its index. In a series without a batch, every occurrence is its only trigger.
No function here walks through the triggers between two others, because a batch can have ten million.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from sweephand.base.instants import Instant
from sweephand.schedules.batch import Batch
from sweephand.schedules.series import Occurrence, Series


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
        window_ms = series.window_ms_of(due_at)
        for index in range(occurrence.batch_index, batch.size):
            yield Occurrence(due_at, sequence, index, batch.after_ms(index, window_ms))


def trigger_following(series: Series, trigger: Occurrence) -> Occurrence | None:
    """The trigger after this one: of the same occurrence or the first of the next; None at the end."""
    if series.batch is not None and trigger.batch_index + 1 < series.batch.size:
        return _trigger(series, series.batch, trigger, trigger.batch_index + 1)
    return series.next_after(trigger.due_at, trigger)


def trigger_after(series: Series, instant: Instant, known: Occurrence) -> Occurrence | None:
    """The first trigger that is due after the instant; None if there is none.

    `known` is a trigger of the series that is due at the instant or before.
    """
    batch = series.batch
    if batch is None:
        return series.next_after(instant, known)
    occurrence = series.last_through(instant, known)
    index = batch.due_within(instant - occurrence.due_at, series.window_ms_of(occurrence.due_at))
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
    due = batch.due_within(instant - occurrence.due_at, series.window_ms_of(occurrence.due_at))
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
    after_ms = batch.after_ms(index, series.window_ms_of(occurrence.due_at))
    return Occurrence(occurrence.due_at, occurrence.sequence, index, after_ms)
