"""Expanding: what a page of timers yields, which depends on the timers and their jobs alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sweephand.instants import MINUTE_MS
from sweephand.jobs.job import Job, JobKey
from sweephand.jobs.live import ruling
from sweephand.schedules import Occurrence
from sweephand.timing import BUCKET_MS
from sweephand.wheel.timer import Cursor, DeadlineTimer, OccurrenceTimer, RetryTimer, Timer, bucket_of, onward
from sweephand.wheel.trigger import DeadlineMessage, TriggerMessage, message_of

#: At most this many triggers between two commits: what a crash repeats, and what memory holds.
TRIGGERS_MAX = 1_000

#: A timer that cannot be expanded is looked at again this much later: beyond the horizon, so that a sweep
#: meets it once, and soon enough for a mistake of ours that is being repaired.
PUT_OFF_MS = 5 * MINUTE_MS


@dataclass(slots=True)
class Expansion:
    """What has to be written and sent before the cursor may move to `cursor`; `faults` is for the log."""

    cursor: Cursor
    messages: list[TriggerMessage | DeadlineMessage] = field(default_factory=list)
    successors: list[OccurrenceTimer] = field(default_factory=list)
    timers: int = 0
    faults: list[Exception] = field(default_factory=list)


def expand(
    timers: Sequence[Timer],
    jobs: Mapping[JobKey, Job],
    cursor: Cursor,
    *,
    triggers_max: int = TRIGGERS_MAX,
) -> Expansion:
    """The triggers and successors of the timers at the cursor, up to `triggers_max` triggers.

    The timers are of one bucket, in the order of their keys, as TimerStore.page answers them.
    """
    expansion = Expansion(cursor)
    for timer in timers:
        within = cursor.within if timer.sort_key == cursor.key else None
        if isinstance(timer, RetryTimer):
            _expand_retry(timer, jobs.get(timer.key), expansion)
        elif isinstance(timer, DeadlineTimer):
            # A run outlives its job, and somebody has to find that its consumer is gone.
            expansion.messages.append(timer.message)
        elif not _expand_or_put_off(timer, jobs.get(timer.key), expansion, within, triggers_max):
            return expansion
        expansion.cursor = Cursor(timer.sort_key)
        expansion.timers += 1
        if len(expansion.messages) >= triggers_max:
            return expansion
    return expansion


def _expand_retry(timer: RetryTimer, job: Job | None, expansion: Expansion) -> None:
    # The delivery function asks again, of a fresh read; this only spares a message for a job that is gone.
    if job is not None and job.uid == timer.message.trigger.uid:
        expansion.messages.append(timer.message)


def _expand_or_put_off(
    timer: OccurrenceTimer,
    job: Job | None,
    expansion: Expansion,
    within: Occurrence | None,
    triggers_max: int,
) -> bool:
    sent = len(expansion.messages)
    try:
        return _expand_occurrences(timer, job, expansion, within, triggers_max)
    except Exception as error:  # noqa: BLE001 - one job's schedule must not keep a whole shard waiting
        # Zone data that lost a zone, code taken back to before it knew a form: whatever it was, the timer
        # lives on in a copy, so that nothing is lost once it can be expanded again.
        error.add_note(f"timer {timer.sort_key} was put off by {PUT_OFF_MS} ms")
        expansion.faults.append(error)
        # Its copy yields all of it: what was made so far would be sent again each time it is put off.
        del expansion.messages[sent:]
        expansion.successors.append(replace(timer, put_off_to=timer.due_at + PUT_OFF_MS))
        return True


def _expand_occurrences(
    timer: OccurrenceTimer,
    job: Job | None,
    expansion: Expansion,
    within: Occurrence | None,
    triggers_max: int,
) -> bool:
    """Whether all of the timer was expanded; if not, the expansion's cursor says how far it was."""
    revision = ruling(job, timer.uid, timer.rev)
    if job is None or revision is None:
        return True
    until = revision.until
    if until is None and job.paused_at is not None:
        # What falls due after the moment of the pause is for the resume to decide.
        until = job.paused_at
    bucket_end = bucket_of(timer.due_at) + BUCKET_MS
    reached = within
    rest = (
        timer.series.occurrences(within.due_at, known=within) if within else onward(timer.series, timer.first)
    )
    for occurrence in rest:
        if until is not None and occurrence.due_at > until:
            return True
        if occurrence.due_at >= bucket_end:
            expansion.successors.append(replace(timer, first=occurrence, put_off_to=None))
            return True
        if len(expansion.messages) >= triggers_max:
            assert reached is not None, "an expansion begins with room for a trigger"
            expansion.cursor = Cursor(timer.sort_key, reached)
            return False
        reached = occurrence
        if revision.owns(occurrence.due_at):
            expansion.messages.append(message_of(timer, occurrence, timer.armed_at))
    return True
