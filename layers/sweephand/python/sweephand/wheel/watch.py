"""When the triggers of a watched job are checked: a timer of each revision goes from check to check.

Which triggers a check covers, and when the next one comes, follows from the timer, its job and the lease. So
a sweeper may repeat it. The watch does not depend on the timers of the occurrences: it also finds triggers
that those have lost.
"""

from typing import NamedTuple

from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.base.timing import BUCKET_MS, DIRECT_WINDOW_MS
from sweephand.model.job import Job, JobBrief
from sweephand.model.revisions import revision_of
from sweephand.model.timer import WatchTimer, bucket_of
from sweephand.model.watch import WatchMessage
from sweephand.schedules import Occurrence
from sweephand.wheel.arm import Armable


class NextCheck(NamedTuple):
    """What the timer of a watch yields: the check that is due, and the timer that follows; None for none."""

    check: WatchMessage | None = None
    successor: WatchTimer | None = None


def arm_watch(
    armable: Armable, *, since: Instant, after_ms: int, now: Instant
) -> tuple[list[WatchMessage], WatchTimer | None]:
    """The checks of a revision up to `now + 300 s`, which go to the queue, and a timer for the one after.

    The checks cover the revision's triggers after `since`. The timer lies beyond any sweep that runs before
    the commit, as that of the occurrences does.
    """
    series = armable.series
    first = series.next_after(since)
    if first is None:
        return [], None
    watch = _watch(armable, first, since, after_ms, now)
    checks: list[WatchMessage] = []
    while first is not None:
        check = _covering(watch, first, earliest_at=since)
        if check.check_at > now + DIRECT_WINDOW_MS:
            return checks, _timer(armable.shard, check)
        checks.append(check)
        first = series.next_after(check.through, first)
    return checks, None


def rearmed_watch(
    armable: Armable,
    *,
    since: Instant,
    until: Instant | None,
    after_ms: int,
    deadlines_from: Instant,
    at: Instant,
    now: Instant,
) -> WatchTimer | None:
    """A timer for the checks of a watch whose timer may be lost; None if nothing is left to check.

    It is about the triggers that are due after `since` and up to `until`, and whose deadlines lie at
    `deadlines_from` or later. It does not lie before `at`. A check that is found late covers all deadlines
    that have passed (next_check()), so one timer suffices.
    """
    first = armable.series.next_after(max(since, deadlines_from - after_ms - 1))
    if first is None or not _is_owned(first, until):
        return None
    return _timer(
        armable.shard, _covering(_watch(armable, first, since, after_ms, now), first, earliest_at=at)
    )


def next_check(timer: WatchTimer, job: Job | JobBrief | None, judged_at: Instant) -> NextCheck:
    """The check that a timer stands for, and the timer of the next one.

    A check that is found late covers all triggers whose deadlines have passed by then. So one check follows
    an outage, however long it was. A watch ends with its revision, its series or its job, and at a pause.
    """
    watch = timer.message
    if watch.held_from:
        return NextCheck(watch)
    revision = revision_of(job, watch.uid, watch.rev)
    if job is None or revision is None:
        return NextCheck()
    until = job.paused_at if revision.until is None else revision.until
    first: Occurrence | None = watch.first
    if watch.first.due_at <= revision.since:
        first = watch.series.next_after(revision.since, watch.first)
    if first is None or not _is_owned(first, until):
        return NextCheck()
    check_at = max(watch.check_at, judged_at)
    through = check_at - watch.after_ms
    following: Occurrence | None = first
    check = None
    if first.due_at <= through:
        check = watch._replace(first=first, through=through, check_at=check_at)
        following = watch.series.next_after(through, first)
    if following is None or not _is_owned(following, until):
        return NextCheck(check)
    # The cursor may pass the rest of this bucket together with the timer.
    after = _covering(watch, following, earliest_at=bucket_of(timer.due_at) + BUCKET_MS)
    return NextCheck(check, _timer(timer.shard, after))


def _timer(shard: int, check: WatchMessage) -> WatchTimer | None:
    """The timer of a check. A check after the year 9999 never comes, and has none."""
    return WatchTimer(shard, check) if check.check_at <= INSTANT_MAX else None


def _watch(armable: Armable, first: Occurrence, since: Instant, after_ms: int, now: Instant) -> WatchMessage:
    """The watch of a revision from its trigger `first` on, before the instant of a check is chosen."""
    return WatchMessage(
        armable.key,
        armable.uid,
        armable.rev,
        armable.series,
        first,
        through=since,
        since=since,
        after_ms=after_ms,
        check_at=since,
        armed_at=now,
    )


def _is_owned(occurrence: Occurrence, until: Instant | None) -> bool:
    return until is None or occurrence.due_at <= until


def _covering(watch: WatchMessage, first: Occurrence, *, earliest_at: Instant) -> WatchMessage:
    """The check that begins with a trigger, at its deadline or later, and not before `earliest_at`.

    If another trigger follows soon, the check comes at the next whole period, together with the other. Two
    watches of one revision, which a fault can leave, meet at such an instant and continue as one.
    """
    check_at = first.due_at + watch.after_ms
    second = watch.series.next_after(first.due_at, first)
    if second is not None and second.due_at - first.due_at < watch.period_ms:
        check_at += -check_at % watch.period_ms
    check_at = max(check_at, earliest_at)
    return watch._replace(first=first, through=check_at - watch.after_ms, check_at=check_at)
