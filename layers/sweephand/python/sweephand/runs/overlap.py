"""Which trigger of a job may run when the job limits overlap: the decisions about its line.

A job whose `overlap` is not `allow` has a line. One trigger holds the line, from before its first request
until its run is over. Other triggers may wait in the order of their due times. The functions return
decisions. runs/overlap_queue.py writes them, on the condition that the line has not changed meanwhile.
"""

from typing import Final, Literal, NamedTuple

from sweephand.base.instants import DAY_MS, HOUR_MS, Instant
from sweephand.base.timing import ATTEMPT_CLAIM_MS, DEADLINE_GRACE_MS
from sweephand.model.definition import OverlapRule
from sweephand.model.job import Job
from sweephand.model.line import Holder, Line, is_replaceable, place_of
from sweephand.model.run import Run
from sweephand.model.run_id import is_exempt_from_pause
from sweephand.model.trigger import TriggerMessage

#: A holder that has shown no sign of life for so long is given up: after crashes its message went to the
#: dead-letter queue. The time is longer than any delay of a message, so that a holder whose message merely
#: waits keeps the line. If the message comes later all the same, its trigger waits like any other.
ABANDONED_MS: Final = HOUR_MS

#: How long a line is kept after its last write. A trigger that waits in it, or is held back, writes it in
#: time.
LINE_RETENTION_MS: Final = 60 * DAY_MS

#: Whether a trigger that arrives is delivered now, waits, or is skipped.
Verdict = Literal["go", "wait", "skip"]

#: The same, or `over`: the trigger's run has ended, and this is a duplicate; or `gone`: its job was deleted.
AdmissionOutcome = Literal["go", "wait", "skip", "over", "gone"]


class ArrivalDecision(NamedTuple):
    """What a trigger that arrives does, and the line as it is then to be written.

    `new_holder` is a trigger that has just become the holder and may not know it: its message must be sent
    before the line is written. `replaced` triggers wait no more: they must be recorded as skipped before the
    line is written.
    """

    verdict: Verdict
    line: Line
    new_holder: TriggerMessage | None = None
    replaced: tuple[TriggerMessage, ...] = ()


def decide_arrival(
    line: Line, message: TriggerMessage, rule: OverlapRule, *, has_ended: bool, has_begun: bool, now: Instant
) -> ArrivalDecision:
    """Decide about a trigger that arrives at a line. `has_ended` says whether its holder's run is over.

    A trigger that `has_begun` before is never skipped, and neither is one that was requested by hand.
    Whatever the rule is, such a trigger waits. If the line is full, it waits without a place, and its message
    comes again.
    """
    if line.holder is not None and line.holder.id == message.trigger.id:
        # The invocation that should have advanced the line has crashed, and a redrive of the holder arrives.
        # The redrive takes the line again. Otherwise another trigger could take it now, as the last round
        # is over.
        is_redriven = message.begins_redrive and line.holder.message.attempt < message.attempt
        return ArrivalDecision(
            "go", line.held_by(message, now) if is_redriven else line.taken_over_by(message)
        )
    new_holder = None
    if line.holder is None or has_ended:
        if not line.waiting or place_of(message) <= place_of(line.waiting[0]):
            return ArrivalDecision("go", line.held_by(message, now))
        line = line.advanced(now)
        new_holder = line.holder.message if line.holder else None
    must_wait = has_begun or message.trigger.demand is not None
    has_place = line.has(message) or (len(line.waiting) < rule.wait_max and line.has_room_for(message))
    if has_place and (must_wait or rule.mode == "wait" or line.has(message)):
        return ArrivalDecision("wait", line.joined_by(message), new_holder)
    if must_wait:
        return ArrivalDecision("wait", line, new_holder)
    if rule.mode == "waitLatest":
        fresh = tuple(each for each in line.waiting if is_replaceable(each))
        if all(place_of(each) < place_of(message) for each in fresh):
            rest = tuple(each for each in line.waiting if each not in fresh)
            return ArrivalDecision("wait", line._replace(waiting=rest).joined_by(message), new_holder, fresh)
    return ArrivalDecision("skip", line, new_holder)


def is_superseded(message: TriggerMessage, run: Run | None) -> bool:
    """Whether a later attempt than the message's has begun or is to come; that attempt has its own message.

    A copy of the earlier attempt must not take the later attempt's place in the line. If it did, the line
    would wake the copy, which cannot begin.
    """
    if run is None:
        return False
    return run.attempts > message.attempt or (run.state == "retrying" and run.attempts == message.attempt)


def gives_up_at(holder: Holder, run: Run | None, job: Job) -> Instant:
    """When a holder whose run is not over is given up.

    The time counts from the holder's last sign of life. A resume starts it again, because the pause held the
    holder's message back. Other writes of the job do not, because a job may be written every hour.
    """
    last_seen_at = max(holder.since, job.cut if job.resumed_at is None else job.resumed_at)
    if run is not None and run.state == "running":
        # A callback or the deadline ends the run, unless the message that checks the deadline was lost to the
        # dead-letter queue.
        return run.deadline_at + DEADLINE_GRACE_MS + ABANDONED_MS
    if run is not None:
        last_seen_at = max(last_seen_at, run.claimed_until or 0, run.next_attempt_at or 0)
    return last_seen_at + ABANDONED_MS


def yields_at(holder: Holder, run: Run | None, job: Job) -> Instant | None:
    """When a holder that a pause holds back makes way for a trigger that was requested by hand.

    None if it does not make way. By that time, any delivery that began just before the pause is over. A
    holder that was requested by hand or redriven runs during a pause too, so it never makes way.
    """
    is_exempt = holder.message.redrive is not None or is_exempt_from_pause(holder.message.trigger.demand)
    if job.paused_at is None or is_exempt:
        return None
    if run is None or run.attempts < holder.message.attempt:
        return holder.since + ATTEMPT_CLAIM_MS
    is_held = run.state == "retrying" and not run.is_redriven and not is_exempt_from_pause(run.demand)
    return max(holder.since, job.paused_at) + ATTEMPT_CLAIM_MS if is_held else None


def is_held_by_window(run: Run | None, now: Instant) -> bool:
    """Whether a window holds the retry of a holder. It then makes way for triggers that pass windows."""
    return run is not None and run.state == "retrying" and now < (run.held_until or 0)


def leaves_at(message: TriggerMessage, run: Run | None, job: Job) -> Instant | None:
    """When a holder that `job` does not owe any more may give up the line; None if its run does that.

    By that time, any delivery that read the job while it still owed the trigger is over.
    """
    if run is not None and (run.state != "claimed" or run.attempts > message.attempt):
        # The run began in time, and its end advances the line.
        return None
    revision = job.revision(message.trigger.rev)
    cut = revision.until if revision is not None and revision.until is not None else job.cut
    claimed_until = run.claimed_until or 0 if run is not None else 0
    return max(cut + ATTEMPT_CLAIM_MS, claimed_until)
