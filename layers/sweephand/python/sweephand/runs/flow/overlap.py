"""Whose turn it is among the triggers of one job that may not run beside each other.

A job whose `overlap` is not `allow` has a line: one trigger holds it, from before its first request until its
run is over, and others may wait in the order in which they are due. What is decided here is returned; the
store's condition sees to it that nobody else has decided meanwhile (runs/flow/overlap_queue.py).
"""

from typing import Final, Literal, NamedTuple

from sweephand.base.instants import DAY_MS, HOUR_MS, Instant
from sweephand.base.timing import ATTEMPT_CLAIM_MS, DEADLINE_GRACE_MS
from sweephand.model.definition import OverlapRule
from sweephand.model.job import Job
from sweephand.model.line import Holder, Line, is_replaceable, place_of
from sweephand.model.run import Run
from sweephand.model.run_id import is_exempt
from sweephand.model.trigger import TriggerMessage

#: A holder of which nothing was seen for so long is not waited for any more: its message went to the
#: dead-letter queue after crashes. Longer than a message is ever put back for, so that its turn is not
#: taken from one that is only held up; should it come all the same, it waits for another turn.
ABANDONED_MS: Final = HOUR_MS

#: A line is kept so long after it was last written. Whoever waits in it or is held writes it in time.
LINE_RETENTION_MS: Final = 60 * DAY_MS

#: What becomes of one that arrives: its turn, or not yet, or never.
Verdict = Literal["go", "wait", "skip"]

#: The same, or `over`: it has had its turn, and this is a duplicate; or `gone`: its job is.
TurnOutcome = Literal["go", "wait", "skip", "over", "gone"]


class Arrival(NamedTuple):
    """What becomes of a trigger that arrives, and of the line.

    `woken` holds the line now and may not know it: it has to be sent before the line is written. `replaced`
    wait no more: they have to be recorded as skipped before that.
    """

    verdict: Verdict
    line: Line
    woken: TriggerMessage | None = None
    replaced: tuple[TriggerMessage, ...] = ()


def arrived(
    line: Line, message: TriggerMessage, rule: OverlapRule, *, has_ended: bool, has_begun: bool, now: Instant
) -> Arrival:
    """What becomes of a trigger that arrives at a line; `has_ended` says whether its holder's turn has.

    One that `has_begun` before is not skipped any more, nor is one that was asked for: it waits, whatever
    the rule. Where no more may wait, it does so without a place in the line, and comes round again.
    """
    if line.holder is not None and line.holder.id == message.trigger.id:
        # The turn of one that is redriven is over, and whoever should have handed the line on is dead: if it
        # were not taken anew, somebody else would take it just now.
        is_anew = message.begins_anew and line.holder.message.attempt < message.attempt
        return Arrival("go", line.held_by(message, now) if is_anew else line.taken_over_by(message))
    woken = None
    if line.holder is None or has_ended:
        if not line.waiting or place_of(message) <= place_of(line.waiting[0]):
            return Arrival("go", line.held_by(message, now))
        line = line.handed_on(now)
        woken = line.holder.message if line.holder else None
    must_wait = has_begun or message.trigger.demand is not None
    has_place = line.has(message) or (len(line.waiting) < rule.wait_max and line.has_room_for(message))
    if has_place and (must_wait or rule.mode == "wait" or line.has(message)):
        return Arrival("wait", line.joined_by(message), woken)
    if must_wait:
        return Arrival("wait", line, woken)
    if rule.mode == "waitLatest":
        fresh = tuple(each for each in line.waiting if is_replaceable(each))
        if all(place_of(each) < place_of(message) for each in fresh):
            rest = tuple(each for each in line.waiting if each not in fresh)
            return Arrival("wait", line._replace(waiting=rest).joined_by(message), woken, fresh)
    return Arrival("skip", line, woken)


def is_over(message: TriggerMessage, run: Run | None) -> bool:
    """Whether a trigger's turn has ended with its run, `run` being what is stored of it."""
    if run is None or not run.is_over:
        return False
    # One that is redriven goes on from `failed`: until its claim it looks as if it were over.
    return run.state != "failed" or run.attempts >= message.attempt or not message.begins_anew


def gives_up_at(holder: Holder, run: Run | None, job: Job) -> Instant:
    """When a holder whose run is not over is not waited for any more.

    Counted from the last that was to be seen of it. A resume gives it its time anew: the pause held its
    message up. No other write of the job does: a job may be written every hour.
    """
    last_seen_at = max(holder.since, job.cut if job.resumed_at is None else job.resumed_at)
    if run is not None and run.state == "running":
        # Its consumer reports, or its deadline ends it: unless the look at it went to the dead-letter queue.
        return run.deadline_at + DEADLINE_GRACE_MS + ABANDONED_MS
    if run is not None:
        last_seen_at = max(last_seen_at, run.claimed_until or 0, run.next_attempt_at or 0)
    return last_seen_at + ABANDONED_MS


def yields_at(holder: Holder, run: Run | None, job: Job) -> Instant | None:
    """When a holder whose next attempt a pause holds back makes way for one that was asked for by hand.

    None if it does not. Whoever took the line for it, or read the job, just before the pause is gone by then.
    """
    if job.paused_at is None:
        return None
    if run is None or run.attempts < holder.message.attempt:
        return holder.since + ATTEMPT_CLAIM_MS
    is_held = run.state == "retrying" and not run.is_redriven and not is_exempt(run.demand)
    return max(holder.since, job.paused_at) + ATTEMPT_CLAIM_MS if is_held else None


def leaves_at(message: TriggerMessage, run: Run | None, job: Job) -> Instant | None:
    """When a holder that `job` does not owe any more may give the line on; None if that is not its to do.

    Whoever read the job when it was still owed, and may be delivering it, is gone by then.
    """
    if run is not None and (run.state != "claimed" or run.attempts > message.attempt):
        # It was begun in time, and its end hands the line on.
        return None
    revision = job.revision(message.trigger.rev)
    cut = revision.until if revision is not None and revision.until is not None else job.cut
    claimed_until = run.claimed_until or 0 if run is not None else 0
    return max(cut + ATTEMPT_CLAIM_MS, claimed_until)
