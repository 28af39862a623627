"""What is known of a trigger that has no record: derived from its job when it is asked for, never stored."""

from dataclasses import dataclass
from typing import Literal

from sweephand.base.instants import Instant
from sweephand.base.timing import CLOCK_SKEW_MAX_MS, PENDING_MAX_MS
from sweephand.model.job import Job
from sweephand.model.line import Line
from sweephand.model.run_id import RunName

#: `scheduled`: due later; `enqueued`: due, and on its way; `waiting`: held back, and why.
PendingState = Literal["scheduled", "enqueued", "waiting"]


@dataclass(frozen=True, slots=True)
class Pending:
    """A trigger to come; `reason` says what holds it back if it is `waiting`."""

    trigger_id: str
    run_id: str
    due_at: Instant
    sequence: int
    state: PendingState
    reason: str | None = None


def in_line(line: Line) -> list[Pending]:
    """The triggers that wait in a job's line, in the order of their due times."""
    if line.holder is None:
        return []
    reason = f"Run {line.holder.message.trigger.run_id} of this job is not over."
    return [
        Pending(
            trigger_id=each.trigger.id,
            run_id=each.trigger.run_id,
            due_at=each.trigger.due_at,
            sequence=each.trigger.sequence,
            state="waiting",
            reason=reason,
        )
        for each in line.waiting
    ]


def by_hand(job: Job, name: RunName, now: Instant) -> Pending | None:
    """The trigger by hand of that name, of which there is no record; None if none can be on its way.

    Its name is all that is kept of it before its first attempt is over. Another function's clock may have
    named it.
    """
    if name.demand is None or name.demand.kind != "manual" or name.index:
        return None
    is_recent = now - PENDING_MAX_MS < name.due_at <= now + CLOCK_SKEW_MAX_MS
    if not is_recent or name.due_at < job.created_at or not job.definition.records_successes:
        return None
    return Pending(f"{job.uid}-{name}", str(name), name.due_at, sequence=0, state="enqueued")


def pending(job: Job, due_at: Instant, now: Instant) -> Pending | None:
    """The trigger of that job due at that instant, of which there is no record; None if none is to come.

    What should have been delivered an hour ago and left no record was not kept, or is lost in an outage of
    ours: nobody can say which.
    """
    coming = job.series.next_after(due_at - 1)
    if coming is None or coming.due_at != due_at or not job.current.owns(due_at):
        return None
    if due_at <= now and (not job.definition.records_successes or due_at <= now - PENDING_MAX_MS):
        return None
    state: PendingState = "scheduled" if due_at > now else "enqueued"
    reason = None
    if job.paused_at is not None:
        told = f": {job.pause_reason}" if job.pause_reason else "."
        state, reason = "waiting", f"The job is paused{told}"
    return Pending(
        trigger_id=f"{job.uid}-{due_at}-0",
        run_id=f"{due_at}-0",
        due_at=due_at,
        sequence=coming.sequence,
        state=state,
        reason=reason,
    )
