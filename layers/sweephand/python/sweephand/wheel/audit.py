"""Auditing: which timer the wheel must hold for a job, as long as no timer was lost. Made from the job alone.

The timers of a revision are a chain. Each lies at the first trigger of a bucket, and its successor at the
first trigger of a later bucket. No timer is removed before 14 days are over. So if a shard was swept up to
some bucket, the first trigger from that bucket on tells the place of exactly one timer.
"""

from collections.abc import Sequence
from typing import Final

from sweephand.base.instants import DAY_MS, Instant
from sweephand.base.timing import (
    API_LIMIT_MS,
    BUCKET_MS,
    CLOCK_SKEW_MAX_MS,
    DIRECT_WINDOW_MS,
    TIMER_RETENTION_MS,
)
from sweephand.model.job import Job
from sweephand.model.timer import Cursor, OccurrenceTimer, StoredTimer, bucket_of, instant_at
from sweephand.schedules.triggers import last_trigger_of
from sweephand.wheel.rebuild import first_trigger

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
