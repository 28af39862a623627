"""Auditing and rebuilding: which timers the wheel must hold for a job, made from the job alone.

The timers of a revision are a chain. Each lies at the first trigger of a bucket, and its successor at the
first trigger of a later bucket. No timer is removed before 14 days are over. So if a shard was swept up to
some bucket, the first trigger from that bucket on tells the place of exactly one timer. An audit looks for
that timer.

A timer that a rebuild writes promises what the lost timers have promised, and what they may have kept
already. A sweeper treats it like any other: it decides about misfires, sends what is owed, and writes the
successor. So the chain of a timer that was not lost meets that of the new one within a bucket, and both
become one.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from sweephand.base.instants import DAY_MS, Instant
from sweephand.base.timing import (
    API_LIMIT_MS,
    BATCH_WINDOW_MAX_MS,
    BUCKET_MS,
    CLOCK_SKEW_MAX_MS,
    DIRECT_WINDOW_MS,
    TIMER_RETENTION_MS,
)
from sweephand.model.change import Former
from sweephand.model.definition import CatchUpMode
from sweephand.model.job import Job, Revision
from sweephand.model.revisions import had_by, number_of
from sweephand.model.timer import Cursor, OccurrenceTimer, StoredTimer, WatchTimer, bucket_of, instant_at
from sweephand.schedules import Occurrence, Series
from sweephand.schedules.triggers import last_trigger_of, trigger_after
from sweephand.wheel.arm import Armable
from sweephand.wheel.watch import rearmed_watch

#: A trigger that waits in the line of a policy is no misfire, however long it waits. After a loss nothing
#: tells it from one that no sweeper has found.
_NO_MISFIRES: Final[CatchUpMode] = "all"


class Past(NamedTuple):
    """What the changes of a job say of its earlier revisions.

    `formers` are those that are armed otherwise than the revision after each, by their numbers. `resumed_at`
    is when a resume made a revision, by the number of the revision. `filed` are those that the job's item has
    no room for, oldest first.
    """

    formers: Mapping[int, Former] = MappingProxyType({})
    resumed_at: Mapping[int, Instant] = MappingProxyType({})
    filed: tuple[Revision, ...] = ()


#: The past of a job whose earlier revisions owe no trigger.
NO_PAST: Final = Past()


def rebuilt_timers(
    job: Job, past: Past, *, since: Instant, now: Instant
) -> list[OccurrenceTimer | WatchTimer]:
    """The timers for all that falls due at `since` or later, and for the rest of batches that have begun.

    With NO_PAST, only the present revision gets timers of its triggers. Each revision gets its watch.

    No timer lies before the bucket of `now + 300 s`, which is as far as arming stays from the sweepers. So
    they must be written within the time limit of the API function. Until then a sweeper may run that reads
    the buckets before it. A series or zone that cannot be read raises ScheduleError.
    """
    found: list[OccurrenceTimer | WatchTimer] = []
    at = bucket_of(now + DIRECT_WINDOW_MS)
    present = Former.of(job.rev, job.series, job.definition)
    for revision in (*past.filed, *job.earlier, job.current):
        armed = had_by(revision.rev, past.formers, present)
        # The resume decides about what falls due after a pause.
        until = job.paused_at if revision.until is None else revision.until
        if revision == job.current or past is not NO_PAST:
            found += _occurrence_timers(job, revision, armed, since=since, until=until, at=at, now=now)
        if armed.alert_after_ms is not None:
            watch = rearmed_watch(
                Armable(job.key, job.uid, revision.rev, job.shard, armed.series, armed.catchup),
                since=_watched_since(job, revision, past),
                until=until,
                after_ms=armed.alert_after_ms,
                deadlines_from=since,
                at=at,
                now=now,
            )
            found += [] if watch is None else [watch]
    return found


def owed_since(job: Job, since: Instant) -> Instant:
    """The instant from which on occurrences may have triggers that fall due at `since` or later."""
    return since - BATCH_WINDOW_MAX_MS if job.has_batches else since


def may_owe(job: Job, since: Instant) -> bool:
    """Whether an earlier revision of the job may owe triggers that fall due at `since` or later."""
    return any(each.until is not None and each.until >= owed_since(job, since) for each in job.earlier)


def _occurrence_timers(
    job: Job,
    revision: Revision,
    armed: Former,
    *,
    since: Instant,
    until: Instant | None,
    at: Instant,
    now: Instant,
) -> Iterator[OccurrenceTimer]:
    first = first_trigger(armed.series, revision, since)
    if first is None or (until is not None and first.due_at > until):
        return
    catchup = armed.catchup
    if job.definition.policy is not None:
        catchup = catchup._replace(mode=_NO_MISFIRES)
    parts = list(armed.series.parts(first))
    followed_at = [part_first.due_at for _, part_first in parts[1:]]
    for (series, part_first), following in zip(parts, [*followed_at, None], strict=True):
        is_near = part_first.at < at
        yield OccurrenceTimer(
            shard=job.shard,
            key=job.key,
            uid=job.uid,
            rev=revision.rev,
            series=series,
            first=part_first,
            armed_at=now,
            catchup=catchup,
            followed_at=following,
            put_off_to=at if is_near else None,
            may_be_repeated=is_near,
        )


def first_trigger(series: Series, revision: Revision, since: Instant) -> Occurrence | None:
    """The first trigger of a revision that is due at `since` or later.

    It may lie in the middle of a batch whose occurrence was due before.
    """
    window_ms = 0 if series.batch is None else series.batch.window_ms
    occurrence = series.next_after(max(revision.since, since - 1 - window_ms))
    if occurrence is None or occurrence.due_at >= since:
        return occurrence
    return trigger_after(series, since - 1, occurrence)


def _watched_since(job: Job, revision: Revision, past: Past) -> Instant:
    """The instant after which a revision is watched: not what fell due during a pause before it."""
    resumed_at = past.resumed_at.get(number_of(revision.rev))
    if revision.rev == job.rev:
        resumed_at = job.resumed_at
    return max(revision.since, resumed_at or 0)


#: DynamoDB removes a timer 14 days after it was due. One day is spare.
KEPT_MS: Final = TIMER_RETENTION_MS - DAY_MS


def swept_to(page: Sequence[StoredTimer], cursor: Cursor, before: Instant) -> Instant:
    """The first bucket of a shard that may hold timers which no sweeper has passed.

    `page` has the first timers of the shard at `cursor`, up to the bucket of `before`. If it is empty, the
    shard has no timer left in between.
    """
    if page:
        return bucket_of(page[0].due_at)
    # A sweeper whose clock is ahead may have passed more.
    beyond = bucket_of(instant_at(cursor.key)) + BUCKET_MS if cursor.key else 0
    return max(bucket_of(before), beyond)


def due_timer(job: Job, reached: Instant, now: Instant) -> OccurrenceTimer | None:
    """The timer that the wheel holds for the present revision if it was swept up to the bucket of `reached`.

    If the series has ended before, it is the timer of its last bucket, which the wheel has held. None if it
    is not certain that there is, or was, such a timer:

    - The job is paused. The resume arms it again.
    - Its triggers may have gone straight to the queue when the job was armed.
    - The timer may have expired.
    """
    if job.paused_at is not None:
        return None
    timer = timer_from(job, reached) or _last_timer(job)
    if timer is None or bucket_of(timer.due_at) < max(timed_from(job), now - KEPT_MS):
        return None
    return timer


def timer_from(job: Job, at: Instant) -> OccurrenceTimer | None:
    """The timer of the first trigger that is due at `at` or later; None if the series has none.

    Only if a bucket begins at `at`, it is a timer that a sweeper writes.
    """
    first = first_trigger(job.series, job.current, at)
    if first is None:
        return None
    return OccurrenceTimer(job.shard, job.key, job.uid, job.rev, job.series, first, job.cut)


def timed_from(job: Job) -> Instant:
    """The first bucket all of whose triggers have gone into the wheel, whatever clock armed the job."""
    return bucket_of(job.cut + DIRECT_WINDOW_MS + CLOCK_SKEW_MAX_MS) + BUCKET_MS


def armed_from(job: Job) -> Instant:
    """The instant before which no trigger has gone into the wheel when the job was armed."""
    return job.cut + DIRECT_WINDOW_MS - API_LIMIT_MS - CLOCK_SKEW_MAX_MS


def _last_timer(job: Job) -> OccurrenceTimer | None:
    """The timer of the bucket of the last trigger; None if the end of the series is not known."""
    last_at = job.series.last_at()
    occurrence = None if last_at is None else first_trigger(job.series, job.current, last_at)
    if occurrence is None:
        return None
    return timer_from(job, bucket_of(last_trigger_of(job.series, occurrence).at))
