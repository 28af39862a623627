"""Arming: what of a revision goes straight to the queue, and which timer promises the rest."""

from collections.abc import Iterable, Iterator
from itertools import takewhile
from typing import NamedTuple

from sweephand.base.instants import Instant
from sweephand.base.timing import DIRECT_WINDOW_MS, UNKNOWN_DELAY_MS
from sweephand.model.definition import CatchUpPolicy
from sweephand.model.job import JobKey
from sweephand.model.timer import OccurrenceTimer, occurrences_from
from sweephand.model.trigger import (
    DeadlineMessage,
    Message,
    RangeMessage,
    TriggerMessage,
    message_of,
)
from sweephand.schedules import Occurrence, Series
from sweephand.wheel.catchup import OccurrenceRange

#: More triggers than this travel as one span: sending them one by one would outlast the API's patience.
SINGLES_MAX = 1_000

#: A span is split into this many parts, each a message again, so that the splitting spreads over functions.
SPAN_PARTS = 10


class Arming(NamedTuple):
    """What has to be written before the revision is: messages, delayed when they are sent, and timers.

    There is one timer at most, but for a long list of instants, each part of which has its own.
    """

    messages: tuple[Message, ...]
    timers: tuple[OccurrenceTimer, ...]


class Armable(NamedTuple):
    """The revision that is to be armed, before it is committed."""

    key: JobKey
    uid: str
    rev: str
    shard: int
    series: Series
    catchup: CatchUpPolicy


def arm(armable: Armable, *, after: Instant, now: Instant, singles_max: int = SINGLES_MAX) -> Arming:
    """Every trigger after `after` and up to `now + 300 s` as messages, and a timer for the first beyond.

    The window is wider than a sweep's horizon and the API's time limit together: no sweep passes the
    timer's place before the job is committed. A list has a timer for each part that it travels in: by the
    time the first is swept a later revision may have taken the list out of the job.
    """
    series, end = armable.series, now + DIRECT_WINDOW_MS
    near, beyond = None, series.next_after(after)
    if beyond is not None and beyond.due_at <= end:
        near = OccurrenceRange(beyond, series.last_through(end, beyond))
        beyond = series.next_after(near.last.due_at, near.last)
    messages: Iterable[Message] = ()
    if near is not None and near.count > singles_max:
        # After a pause this may be millions: they are counted, never listed.
        messages = [span_message(armable, near, now)]
    elif near is not None:
        messages = (message_of(armable, each, now) for each in _each(near, series))
    parts = [] if beyond is None else list(armable.series.parts(beyond))
    followed_at = [first.due_at for _, first in parts[1:]]
    timers = (
        OccurrenceTimer(
            shard=armable.shard,
            key=armable.key,
            uid=armable.uid,
            rev=armable.rev,
            series=part,
            first=first,
            armed_at=now,
            catchup=armable.catchup,
            followed_at=following,
        )
        for (part, first), following in zip(parts, [*followed_at, None], strict=False)
    )
    return Arming(tuple(messages), tuple(timers))


def delay_of(message: Message, now: Instant) -> int:
    """For how many ms the queue holds a message back; a span, none: splitting it takes time of its own."""
    if isinstance(message, RangeMessage) and message.are_skipped:
        # Before its commit it would only be put back.
        return UNKNOWN_DELAY_MS
    return max(0, message.not_before - now) if isinstance(message, TriggerMessage | DeadlineMessage) else 0


def split(span: RangeMessage) -> Iterator[Message]:
    """The parts of a span: single triggers if there are at most ten, else ten spans of about one size."""
    series, first = span.series, span.first
    whole = OccurrenceRange(first, series.last_through(span.until, first))
    if whole.count <= SPAN_PARTS:
        for each in _each(whole, series):
            yield message_of(span, each, span.armed_at, span.demand)._replace(is_owed=span.is_owed)
        return
    size = -(-whole.count // SPAN_PARTS)
    for number in range(first.sequence, whole.last.sequence + 1, size):
        begins = series.numbered(number, first)
        ends = series.numbered(min(number + size - 1, whole.last.sequence), begins)
        yield span._replace(first=begins, until=ends.due_at, faults=0)


def _each(span: OccurrenceRange, series: Series) -> Iterator[Occurrence]:
    return takewhile(lambda each: each.due_at <= span.last.due_at, occurrences_from(series, span.first))


def span_message(
    source: Armable | OccurrenceTimer, span: OccurrenceRange, armed_at: Instant, *, are_skipped: bool = False
) -> RangeMessage:
    """The message of many triggers of a revision, or of those that do not fire: then it is to be recorded."""
    return RangeMessage(
        key=source.key,
        uid=source.uid,
        rev=source.rev,
        series=source.series,
        first=span.first,
        until=span.last.due_at,
        armed_at=armed_at,
        are_skipped=are_skipped,
    )
