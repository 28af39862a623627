"""The state of a trigger that has no record yet, and its series. The job and its changes tell both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from sweephand.base.instants import Instant, rfc3339
from sweephand.base.timing import CLOCK_SKEW_MAX_MS, PENDING_MAX_MS, TIMER_RETENTION_MS
from sweephand.jobs.change_history import ChangeHistory, replaced_since
from sweephand.jobs.policy_check import PolicyBlock
from sweephand.model.job import Job
from sweephand.model.line import Line
from sweephand.model.revisions import had_by
from sweephand.model.run_id import RunName
from sweephand.model.window import Window, holds
from sweephand.schedules import Series
from sweephand.schedules.triggers import nth_trigger_from

#: `scheduled`: due in the future. `enqueued`: due and on its way. `waiting`: held back; the reason says why.
PendingState = Literal["scheduled", "enqueued", "waiting"]


@dataclass(frozen=True, slots=True)
class Pending:
    """A trigger that is still to be delivered. If it is `waiting`, `reason` says what holds it back.

    If that is a flow policy, `policy` is its name.
    """

    trigger_id: str
    run_id: str
    due_at: Instant
    sequence: int
    state: PendingState
    reason: str | None = None
    policy: str | None = None


def waiting_in_line(line: Line) -> list[Pending]:
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


def manual_trigger(job: Job, series: Series, name: RunName, now: Instant) -> Pending | None:
    """The manual trigger of that name, which has no record; None if there can be none on its way.

    Before its first attempt is over, nothing but its name exists of a manual trigger. The clock of the
    function that made the name may differ from this one's. `series` is that of pending().
    """
    size = 1 if series.batch is None else series.batch.size
    if name.demand is None or name.demand.kind != "manual" or name.index >= size:
        return None
    is_recent = name.due_at <= now + CLOCK_SKEW_MAX_MS and may_come(job, name.due_at, now)
    if not is_recent or name.due_at < job.created_at or not job.definition.records_successes:
        return None
    return Pending(f"{job.uid}-{name}", str(name), name.due_at, sequence=0, state="enqueued")


def pending(
    job: Job, series: Series, name: RunName, now: Instant, windows: Sequence[Window] = ()
) -> Pending | None:
    """The trigger of a job whose run has that name and no record; None if the job has none to deliver.

    `series` is the one that its due time follows (series_at). `windows` are those of the namespace.

    None also for a trigger that was due an hour ago, or 14 days ago under a policy: its record was not kept,
    or an outage lost it. Nothing tells the two cases apart.
    """
    coming = series.next_after(name.due_at - 1)
    if coming is None or coming.due_at != name.due_at:
        return None
    if name.index >= (1 if series.batch is None else series.batch.size):
        return None
    at = nth_trigger_from(series, coming, name.index).at
    held = holds(windows, job, at, now)
    may_be_held = held is not None or may_come(job, at, now)
    if at <= now and not (job.definition.records_successes and may_be_held):
        return None
    state: PendingState = "scheduled" if at > now else "enqueued"
    reason = None
    if held is not None:
        state = "waiting"
        reason = f"The window {held.window.name} holds it until {rfc3339(held.closes_at)}."
    if job.paused_at is not None:
        cause = f": {job.pause_reason}" if job.pause_reason else "."
        state, reason = "waiting", f"The job is paused{cause}"
    return Pending(
        trigger_id=f"{job.uid}-{name}",
        run_id=str(name),
        due_at=name.due_at,
        sequence=coming.sequence,
        state=state,
        reason=reason,
    )


#: What a trigger under a policy waits for, by why the policy lets no trigger through.
POLICY_WAITS: Final[Mapping[PolicyBlock | None, str]] = {
    None: "It waits for a permit of the policy {policy}, or is about to be delivered.",
    "paused": "The policy {policy} is paused. The trigger waits until somebody resumes the policy.",
    "broken": "The consumer of the policy {policy} is out of order: its breaker is open. The trigger "
    "waits until a probe gets an answer.",
    "missing": "The policy {policy} does not exist. The trigger waits until the policy "
    "is created, or until the job leaves it.",
    "off": "Flow policies are off in this stack. The trigger waits for the policy {policy}.",
}


def under_policy(found: Pending | None, job: Job, block: PolicyBlock | None) -> Pending | None:
    """The trigger as `waiting`, with its policy, if it is due and its job names a policy.

    Nothing tells a trigger in the policy's line from one whose request is about to leave.
    """
    policy = job.definition.policy
    if found is None or policy is None or found.state != "enqueued":
        return found
    return replace(found, state="waiting", reason=POLICY_WAITS[block].format(policy=policy), policy=policy)


def may_come(job: Job, at: Instant, now: Instant) -> bool:
    """Whether a trigger without a record, which was due at that instant, may still be delivered."""
    longest_ms = PENDING_MAX_MS if job.definition.policy is None else TIMER_RETENTION_MS
    return now - at < longest_ms


def series_at(job: Job, due_at: Instant, changes: ChangeHistory) -> Series | None:
    """The series whose triggers of a due time may still come; None if there is none, or if it is not known.

    It is that of the job now, if its present revision owns the due time. A trigger that an earlier revision
    owns may wait for a policy or for its turn. A batch lasts for up to a week (decision 042). Both follow the
    series of that revision. Then the changes since the due time are read. They do not tell of a revision that
    the job has forgotten. A change of `history` hides which runs before it have left a record.
    """
    if job.current.owns(due_at):
        return job.series
    owner = next((each for each in job.earlier if each.owns(due_at)), None)
    replaced = None if owner is None else replaced_since(job, due_at, changes)
    if owner is None or replaced is None or replaced.hides_records:
        return None
    return had_by(owner.rev, replaced.series, job.series)
