"""The verdicts that follow from the record of the run, or from where its trigger waits."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.base.names import quoted
from sweephand.base.timing import HEARTBEAT_AGE_MAX_MS, PENDING_MAX_MS
from sweephand.model.policy_names import key_parts
from sweephand.model.run import WINDOW, Run, State
from sweephand.model.window import Opening
from sweephand.runs.explain.facts import Explanation, Facts, Standstill, answer_of, attempts, span, time
from sweephand.runs.explain.of_job import moved_of, next_fire
from sweephand.runs.pending import POLICY_WAITS, may_come

#: A trigger that is later than this was not delivered to the second.
_PUNCTUAL_MS: Final = SECOND_MS


def recorded(facts: Facts) -> Explanation | None:
    """What the record of the run says."""
    run = facts.run
    return None if run is None else _OF_STATES[run.state](run, facts)


def _retrying(run: Run, facts: Facts) -> Explanation:
    said = f"{_due(run, facts)} {attempts(run.attempts)} failed. {answer_of(run)}"
    job = facts.job
    if not _is_of_job(run, facts):
        return Explanation("retrying", f"{said} The job is not there any more, so no attempt follows.")
    if job is not None and job.paused_at is not None:
        said = (
            f"{said} The job was paused at {time(job.paused_at)}, so the next attempt waits for the resume."
        )
        return Explanation("retrying", said, next_step="The resume lets the trigger go on.")
    next_at, standstill = run.next_attempt_at, _present_standstill(facts)
    if facts.opening is not None:
        said = f"{said} {_held_by(facts.opening)}"
    tail = "" if next_at is None else f" The next attempt is due at {time(next_at)}."
    step = f"Attempt {run.attempts + 1} begins."
    said = f"{said}{tail}{_during(standstill)}"
    return Explanation("retrying", said, standstill=standstill, next_at=next_at, next_step=step)


def _failed(run: Run, facts: Facts) -> Explanation:
    ended = "" if run.ended_at is None else f" at {time(run.ended_at)}"
    gave_up = f"Sweephand gave it up{ended}, after {attempts(run.attempts)}."
    said = f"{_due(run, facts)} {gave_up} {_last(run)}"
    # The API redrives no run of a job that is gone.
    step = "A redrive tries it again." if _is_of_job(run, facts) else None
    return Explanation("failed", said, next_step=step)


def _is_of_job(run: Run, facts: Facts) -> bool:
    """Whether the run is of the job that is stored now, and not of an earlier one of its name."""
    return facts.job is not None and facts.job.uid == run.uid


def _cancelled(run: Run, facts: Facts) -> Explanation:
    said = f"{_due(run, facts)} Its run was cancelled. {run.reason or ''}"
    return Explanation("cancelled", said.rstrip())


def _due(run: Run, facts: Facts) -> str:
    return f"{moved_of(facts)}The trigger was due at {time(run.due_at)}."


def _last(run: Run) -> str:
    """Why a run was given up: its reason, and the last failure if that says more."""
    last, reason = answer_of(run), run.reason
    if reason is None or reason.rstrip(".") in last:
        return last
    reason = reason if reason.endswith(".") else f"{reason}."
    return reason if last.rstrip(".") in reason else f"{reason} {last}"


def _held_by(opening: Opening) -> str:
    return f"The window {opening.window.name} of the namespace holds it until {time(opening.closes_at)}."


def held_by_window(facts: Facts) -> Explanation | None:
    """Whether a window of the namespace holds the trigger."""
    opening = facts.opening
    if opening is None or facts.run is not None:
        return None
    said = f"{_unrecorded(facts)} {_held_by(opening)}"
    spread = span(opening.window.spread_ms)
    step = f"It is delivered within {spread} after that."
    return Explanation("waiting-window", said, next_at=opening.closes_at, next_step=step)


def _skipped(run: Run, facts: Facts) -> Explanation:
    if run.reason is not None and run.reason.startswith(WINDOW):
        name = run.reason.removeprefix(WINDOW)
        said = f"{_due(run, facts)} It was skipped: the window {name} of the namespace was open then."
        return Explanation("window", said)
    if run.reason != "misfire":
        other = "Another run" if run.skipped_for is None else f"Run {run.skipped_for}"
        said = f"{_due(run, facts)} {other} of the job was not over, so it was skipped (overlap)."
        return Explanation("overlap", said, waits_for=run.skipped_for)
    last_at = run.last_due_at or run.due_at
    found = "" if run.ended_at is None else f" at {time(run.ended_at)}"
    rule = _rule(run, facts)
    said = f"The trigger was found too late{found}, and by the rule of catch-up{rule} it did not fire."
    if run.count > 1:
        said = (
            f"{said} One record stands for {run.count} such triggers, "
            f"from {time(run.due_at)} to {time(last_at)}."
        )
    standstill = _standstill(facts)
    return Explanation("misfire", f"{said}{_during(standstill)}", standstill=standstill)


def _rule(run: Run, facts: Facts) -> str:
    """The rule by which a misfire was skipped, in brackets; nothing if the job has another one by now."""
    job, decided_at = facts.job, run.ended_at
    if job is None or not _is_of_job(run, facts) or decided_at is None:
        return ""
    if facts.lives.may_have_changed("catchup", decided_at):
        return ""
    policy = job.definition.catchup
    return f" (mode {policy.mode}, window {span(policy.window_ms)})"


def _succeeded(run: Run, facts: Facts) -> Explanation:
    late_ms = run.lateness_ms
    said = f"{moved_of(facts)}It was delivered: the trigger of {time(run.due_at)} has succeeded"
    if late_ms is None or run.started_at is None or late_ms <= _PUNCTUAL_MS:
        more = "" if run.attempts <= 1 else f", with attempt {run.attempts}"
        return Explanation("delivered", f"{said}{more}.")
    said = f"{said}. Its first attempt began {span(late_ms)} late, at {time(run.started_at)}."
    standstill = _standstill(facts)
    return Explanation("delivered", f"{said}{_during(standstill)}", standstill=standstill)


def _under_way(run: Run, facts: Facts) -> Explanation:
    began = "" if run.started_at is None else f" It began at {time(run.started_at)}."
    if run.state == "running" and run.heartbeat_by is not None and run.run_until is not None:
        by = min(run.heartbeat_by, run.run_until)
        said = f"{_due(run, facts)} The consumer has accepted it and works on it.{began}"
        step = "The attempt counts as failed if the consumer has not called back."
        return Explanation("running", said, next_at=by, next_step=step)
    said = f"{_due(run, facts)} Attempt {run.attempts} is under way.{began}"
    step = "If the function that makes it has crashed, the attempt is made again."
    return Explanation("running", said, next_at=run.claimed_until, next_step=step)


#: What the record says in each state.
_OF_STATES: Final[Mapping[State, Callable[[Run, Facts], Explanation]]] = {
    "skipped": _skipped,
    "succeeded": _succeeded,
    "retrying": _retrying,
    "failed": _failed,
    "cancelled": _cancelled,
    "claimed": _under_way,
    "running": _under_way,
}


def _standstill(facts: Facts) -> Standstill | None:
    """The standstill of the stack in which the trigger fell due."""
    due_at = facts.due_at
    for event in facts.events:
        if event.kind != "limit" and event.since < due_at < event.at:
            return Standstill(event.kind, event.since, event.at)
    present = _present_standstill(facts)
    return present if present is not None and present.since < due_at else None


def _present_standstill(facts: Facts) -> Standstill | None:
    wheel = facts.wheel
    if wheel.off_since is not None:
        return Standstill("off", wheel.off_since)
    beat_at = wheel.heartbeat_at
    if beat_at is not None and facts.now - beat_at > HEARTBEAT_AGE_MAX_MS:
        return Standstill("stopped", beat_at)
    return None


def _during(standstill: Standstill | None) -> str:
    if standstill is None:
        return ""
    kind, since, until = standstill
    if until is None:
        state = "is switched off" if kind == "off" else "has not ticked"
        return f" The stack {state} since {time(since)}."
    state = "was switched off" if kind == "off" else "did not tick"
    return f" The stack {state} from {time(since)} until {time(until)}."


def coming(facts: Facts) -> Explanation | None:
    """Whether the trigger is not due yet."""
    if facts.due_at <= facts.now or facts.run is not None:
        return None
    said = f"{moved_of(facts)}It is due at {time(facts.due_at)}, in {span(facts.due_at - facts.now)}."
    standstill = _present_standstill(facts)
    said = f"{said}{_during(standstill)}"
    policy = None if facts.job is None else facts.job.definition.policy
    if facts.policy_block is not None and policy is not None:
        said = f"{said} {POLICY_WAITS[facts.policy_block].format(policy=policy)}"
    found = Explanation("scheduled", said, policy=policy, standstill=standstill)
    return replace(found, next_at=facts.due_at, next_step=next_fire(facts, "The job fires."))


def held_by_stack(facts: Facts) -> Explanation | None:
    """Whether the trigger is due and the stack stands still now."""
    standstill = _present_standstill(facts)
    if facts.run is not None or standstill is None or not _is_held_since(standstill.since, facts):
        return None
    said = f"{_unrecorded(facts)}{_during(standstill)}"
    if standstill.kind == "off":
        said = f"{said} Once the stack is on again, {_late(facts)}"
        return Explanation("switched-off", said, standstill=standstill, next_step="Set Enabled to true.")
    return Explanation("stopped", f"{said} Once the stack ticks again, {_late(facts)}", standstill=standstill)


def _is_held_since(since: Instant, facts: Facts) -> bool:
    """Whether a trigger without a record has surely not left before the instant at which the stack stopped.

    A trigger that was due shortly before may have been on its way. Its success would have a record.
    """
    if facts.due_at > since:
        return True
    records = facts.job is not None and facts.job.definition.records_successes
    return records and facts.due_at > since - PENDING_MAX_MS


def _late(facts: Facts) -> str:
    """What becomes of a trigger that is delivered late: the end of a sentence, and the rule of catch-up."""
    policy = None if facts.job is None else facts.job.definition.catchup
    if policy is None or policy.mode == "all":
        return "the trigger is delivered."
    return (
        f"the trigger is delivered. If it is more than {span(policy.window_ms)} late by then, "
        f"the rule of catch-up (mode {policy.mode}) may skip it."
    )


def held_by_turn(facts: Facts) -> Explanation | None:
    """Whether the trigger waits for another run of its job."""
    line = facts.line
    if line is None or line.holder is None or facts.run is not None:
        return None
    if not any(each.trigger.due_at == facts.due_at and each.trigger.demand is None for each in line.waiting):
        return None
    holder = line.holder.message.trigger.run_id
    said = f"{_unrecorded(facts)} It waits for its turn: run {holder} of this job is not over (overlap)."
    return Explanation("waiting-turn", said, waits_for=holder)


def held_by_sweep(facts: Facts) -> Explanation | None:
    """Whether the sweep of the job's shard has not come to the trigger."""
    if facts.unswept_at is None or facts.run is not None:
        return None
    said = f"{_unrecorded(facts)} The sweep of its shard is behind: it has come to {time(facts.unswept_at)}."
    return Explanation("not-swept", said, next_step="The next sweeps go on from there.")


def held_by_limit(facts: Facts) -> Explanation | None:
    """Whether the trigger may wait for a policy, or for a limit of triggers a minute."""
    job, limit = facts.job, facts.limit
    if job is None or facts.run is not None or not job.definition.records_successes:
        return None
    due, policy = _unrecorded(facts), job.definition.policy
    if policy is not None and may_come(job, facts.due_at, facts.now):
        said = f"{due} {POLICY_WAITS[facts.policy_block].format(policy=policy)}"
        if facts.policy_key is not None:
            by, value = key_parts(facts.policy_key)
            said = (
                f"{said} The policy counts by {by}, and the trigger waits for its turn under {quoted(value)}."
            )
        resume = "Resume the policy." if facts.policy_block == "paused" else None
        return Explanation("waiting-policy", said, policy=policy, next_step=resume)
    if limit is None:
        return None
    said = (
        f"{due} More is due than the limit of the {limit.level} allows: "
        f"{limit.per_minute} triggers a minute. "
        f"The slots until {time(limit.taken_until)} are taken."
    )
    return Explanation("waiting-limit", said, limit=limit, next_at=limit.taken_until)


def _unrecorded(facts: Facts) -> str:
    return f"{moved_of(facts)}The trigger was due at {time(facts.due_at)} and has no record."


def without_record(facts: Facts) -> Explanation:
    """What can be said of a trigger that is due, has no record, and waits for nothing that is known."""
    job = facts.job
    due = f"{moved_of(facts)}The trigger was due at {time(facts.due_at)}, and there is no record of it."
    age_ms = facts.now - facts.due_at
    if job is not None and not job.definition.records_successes:
        history = f"history is {job.definition.history}"
        said = f"{due} The job records no success ({history}), so it"
        if facts.policy_block is None or not may_come(job, facts.due_at, facts.now):
            return Explanation("not-kept", f"{said} probably succeeded.", is_kept=False)
        policy = job.definition.policy
        said = f"{said} has succeeded or waits. {POLICY_WAITS[facts.policy_block].format(policy=policy)}"
        return Explanation("not-kept", said, policy=policy, is_kept=False)
    if age_ms < PENDING_MAX_MS:
        since = "just now" if age_ms < MINUTE_MS else f"{span(age_ms)} ago"
        said = f"{moved_of(facts)}The trigger was due {since}, at {time(facts.due_at)}, and is on its way."
        return Explanation("enqueued", said, next_step="It is delivered, or its first attempt is being made.")
    if job is not None and age_ms >= job.definition.history_retention_ms:
        kept = span(job.definition.history_retention_ms)
        return Explanation("not-kept", f"{due} Records of this job are kept for {kept}.", is_kept=False)
    standstill = _standstill(facts)
    said = f"{due} Nothing that was kept says what became of it.{_during(standstill)}"
    return replace(Explanation("not-kept", said, is_kept=False), standstill=standstill)
