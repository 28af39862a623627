"""Arming: which triggers of a revision go straight to the queue, and which timer promises the rest."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from sweephand.base.instants import Instant
from sweephand.base.timing import DIRECT_WINDOW_MS, QUEUE_DELAY_MAX_MS, SHARDS_AGE_MAX_MS, UNKNOWN_DELAY_MS
from sweephand.model.definition import CatchUpPolicy, Payload
from sweephand.model.job import Job, JobKey
from sweephand.model.orders import ResumeMessage
from sweephand.model.policy_names import LANE_DEFAULT, Lane
from sweephand.model.run_id import Demand
from sweephand.model.timer import OccurrenceTimer, WatchTimer
from sweephand.model.trigger import (
    BundleMessage,
    DeadlineMessage,
    Message,
    RangeMessage,
    Readable,
    TriggerMessage,
    message_of,
)
from sweephand.model.watch import WatchMessage
from sweephand.ports.clock import Clock
from sweephand.ports.wheel import LeaseStore
from sweephand.schedules import Batch, Occurrence, Series
from sweephand.schedules.triggers import (
    TriggerRange,
    last_trigger_of,
    last_trigger_through,
    nth_trigger_from,
    trigger_after,
    trigger_following,
    triggers_from,
)
from sweephand.wheel.catchup import OccurrenceRange

#: More triggers than this are sent as one range. Sending them one by one would exceed the API's time limit.
SINGLES_MAX = 1_000

#: A range is split into this many messages, so that many functions share the work of splitting.
RANGE_PARTS = 10


class Arming(NamedTuple):
    """All that must be written before the revision is committed: messages for the queue, and timers.

    There is at most one timer of occurrences. Only a long list of instants has several, one for each part of
    the list. A job with a watch has one timer of the watch.
    """

    messages: tuple[Message, ...]
    timers: tuple[OccurrenceTimer, ...]
    watch: WatchTimer | None = None


class Armable(NamedTuple):
    """A revision that is to be armed before it is committed."""

    key: JobKey
    uid: str
    rev: str
    shard: int
    series: Series
    catchup: CatchUpPolicy
    lane: Lane = LANE_DEFAULT


def arm(armable: Armable, *, after: Instant, now: Instant, singles_max: int = SINGLES_MAX) -> Arming:
    """Messages for every trigger after `after` and up to `now + 300 s`, and a timer for the first one beyond.

    The triggers are those of the occurrences after `after`. A batch that is still running then belongs to an
    earlier revision, whose timers go on until it is done (decision 042).

    This window is longer than a sweeper's horizon and the API's time limit together. So no sweeper passes the
    timer's position before the job is committed. A list has a timer for each of its
    parts, which carries the part: a later revision may have removed the list from the job before the sweep.
    """
    series, end = armable.series, now + DIRECT_WINDOW_MS
    near, beyond = None, series.next_after(after)
    if beyond is not None and beyond.due_at <= end:
        near = TriggerRange(beyond, last_trigger_through(series, end, beyond))
        beyond = trigger_following(series, near.last)
    messages: Iterable[Message] = ()
    if near is not None and near.size(series.batch) > singles_max:
        # After a pause there may be millions of triggers. They are counted, not listed.
        messages = [range_message(armable, near, now)._replace(lane=armable.lane)]
    elif near is not None:
        singles = (message_of(armable, each, now) for each in _each(near, series))
        messages = (each._replace(lane=armable.lane) for each in singles)
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


def batch_on_demand(
    job: Job, batch: Batch, demand: Demand, payload: Payload | None, *, due_at: Instant, now: Instant
) -> RangeMessage:
    """A batch of a job that begins at `due_at` because somebody asked for it, as one message.

    So either all of the batch is in the queue or nothing. The delivery function splits it, and leaves what is
    due later to a timer (later_batch()).
    """
    # The occurrence is not one of the job's series, so its number is 0.
    series = Series(None, job.series.timezone, due_at, due_at, counted=-1, batch=batch)
    first = Occurrence(due_at, 0)
    last = last_trigger_of(series, first)
    return RangeMessage(
        job.key,
        job.uid,
        job.rev,
        series,
        first,
        due_at,
        now,
        demand=demand,
        last=last,
        payload=payload,
        lane=job.definition.lane,
    )


def later_batch(
    message: RangeMessage, shard: int, now: Instant
) -> tuple[RangeMessage, OccurrenceTimer | None]:
    """The part of a range on demand that a queue can delay, and a timer for the rest; None if there is none.

    A repetition makes another timer, which begins later. In the next bucket both continue as one. The part
    that has no timer is split further, and makes none: it does not end with its series.
    """
    series, end, last = message.series, now + QUEUE_DELAY_MAX_MS, message.last
    if message.demand is None or last is None or last.at <= end or message.first.at > end:
        return message, None
    if trigger_following(series, last) is not None:
        return message, None
    beyond = trigger_after(series, end, message.first)
    assert beyond is not None, "the last trigger lies beyond"
    near = last_trigger_through(series, end, message.first)
    timer = OccurrenceTimer(
        shard,
        message.key,
        message.uid,
        message.rev,
        series,
        beyond,
        message.armed_at,
        demand=message.demand,
        payload=message.payload,
    )
    return message._replace(last=near, until=near.due_at), timer


def delay_of(message: Readable, now: Instant) -> int:
    """The time in ms for which the queue delays a message; 0 for a range, whose splitting takes time."""
    if isinstance(message, RangeMessage) and message.are_skipped:
        # A function that received it before the commit would only requeue it.
        return UNKNOWN_DELAY_MS
    if isinstance(message, TriggerMessage | BundleMessage | DeadlineMessage | WatchMessage | ResumeMessage):
        return max(0, message.not_before - now)
    return 0


def split_range(message: RangeMessage) -> Iterator[Message]:
    """The parts of a range: its triggers if there are at most ten, else ten ranges of about equal size."""
    series, first = message.series, message.first
    whole = TriggerRange(first, message.last or series.last_through(message.until, first))
    count = whole.size(series.batch)
    if count <= RANGE_PARTS:
        for each in _each(whole, series):
            single = message_of(message, each, message.armed_at, message.demand, message.payload)
            yield single._replace(lane=message.lane)
        return
    size = -(-count // RANGE_PARTS)
    for number in range(0, count, size):
        begins = nth_trigger_from(series, first, number)
        ends = nth_trigger_from(series, begins, min(size, count - number) - 1)
        last = None if series.batch is None else ends
        yield message._replace(first=begins, until=ends.due_at, faults=0, last=last)


def _each(triggers: TriggerRange, series: Series) -> Iterator[Occurrence]:
    return islice(triggers_from(series, triggers.first), triggers.size(series.batch))


def range_message(
    source: Armable | OccurrenceTimer,
    triggers: TriggerRange | OccurrenceRange,
    armed_at: Instant,
    *,
    are_skipped: bool = False,
) -> RangeMessage:
    """The message of many triggers of a revision, or of skipped misfires that are to be recorded."""
    return RangeMessage(
        key=source.key,
        uid=source.uid,
        rev=source.rev,
        series=source.series,
        first=triggers.first,
        until=triggers.last.due_at,
        armed_at=armed_at,
        are_skipped=are_skipped,
        # Skipped misfires are whole occurrences.
        last=None if source.series.batch is None or are_skipped else triggers.last,
    )


class ShardCount:
    """The number of shards, cached for SHARDS_AGE_MAX_MS. Threads may share an instance.

    A process that finds the stored number lower raises it to `shards`. So the first job of a new stack need
    not wait for the first tick.
    """

    def __init__(self, *, leases: LeaseStore, clock: Clock, shards: int) -> None:
        self._leases = leases
        self._clock = clock
        self._shards = shards
        self._known: tuple[int, Instant] | None = None

    def __call__(self) -> int:
        """The stored number, at least `shards`. Each shard has a lease, so sweepers find it."""
        now = self._clock.now()
        if self._known is None or not 0 <= now - self._known[1] < SHARDS_AGE_MAX_MS:
            count = self._leases.state().shards
            if count < self._shards:
                count = self._leases.raise_shards(self._shards)
            self._known = (count, now)
        return self._known[0]
