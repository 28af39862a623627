"""Checks of asynchronous completion: reports count, silence is found, and no run hangs."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from tests.simulation.oracle.enumeration import length_ms
from tests.simulation.oracle.jobs import SKEW_MS
from tests.simulation.oracle.lives import told
from tests.simulation.oracle.patience import is_given_up_for_its_age
from tests.simulation.oracle.runs import OUR_FAULT, is_redriven_without_data
from tests.simulation.oracle.tale import Tale
from tests.simulation.oracle.turns import SIMULATED_SKEW_MS
from tests.simulation.traces.trace import Concluded, RunAnswered, RunAsked, RunStored, TimerStored

#: The defaults of a job (semantics.md, "Delivery").
HEARTBEAT_TIMEOUT_DEFAULT = "5m"
RUN_TIME_DEFAULT = "24h"

#: The grace of a deadline. The simulated clocks differ by more than it, so they may end a run too early, or
#: find it later by as much.
GRACE_MS = 5_000

#: How long after its due time a deadline message may come: SQS has to deliver it, or a sweep has to reach it.
LOOK_MS = 150_000

#: How long a deadline message whose handling failed is put back, at most.
PUT_BACK_MAX_MS = 900_000

#: How long before its consumer's answer a job may have been read: its function's time limit, and a second.
READ_BEFORE_MS = 91_000

#: How long after a loss of the Timers table an operator rebuilds it, at most (workload/drills.py).
REBUILT_MS = 540_000

#: The refusals that tell a consumer to stop.
REFUSALS = {"GoneError", "ConflictError", "NotFoundError"}

#: The states in which a consumer may have the trigger, and those to which its reports lead.
GOING_ON = {"claimed", "running"}
SAID = {"heartbeat": set(), "complete": {"succeeded"}, "fail": {"retrying", "failed"}}


def every_end_has_a_cause(tale: Tale) -> Iterator[str]:
    """A run succeeds or fails by its consumer's answer or report of that attempt, or fails by silence.

    It is cancelled if somebody asked for it, or its job was deleted. The token of another attempt changes
    nothing. A caller without a token acts on the attempt that goes on.
    """
    for stored in tale.runs_of.values():
        for number, each in enumerate(stored):
            if each.state == each.before or _is_claim_undone(each, stored[:number]):
                continue
            what = f"{named(each)} became {each.state} at attempt {each.attempts}"
            if each.state == "succeeded" and not _has_cause(tale, each, {"succeeded"}, "complete"):
                yield f"{what}, which never succeeded"
            elif each.state == "cancelled" and not _was_called_off(tale, each):
                yield f"{what}, though nobody asked for it"
            elif each.state in ("retrying", "failed") and not (
                _has_failed(tale, each) or is_redriven_without_data(stored[: number + 1])
            ):
                yield f"{what}, which never failed, nor was silent for too long"


def no_run_hangs(tale: Tale) -> Iterator[str]:
    """A run whose consumer is silent, or takes longer than it may, is found in time.

    A rebuild arms jobs. If a job is deleted between a loss of the Timers table and the rebuild, its runs lose
    their deadlines with their timers (docs/recovery.md).
    """
    for stored in tale.runs_of.values():
        is_given_up = "deadline" in tale.given_up.get(trigger_id_of(stored[0]), ())
        if is_given_up or _is_lost_with_its_job(tale, stored[0]):
            continue
        accepted_at: dict[int, int] = {}
        for each, following in zip(stored, [*stored[1:], None], strict=True):
            if each.state != "running":
                continue
            begun_at = accepted_at.setdefault(each.attempts, each.at)
            left_at = tale.through if following is None else following.at
            if left_at > _found_by(tale, each, begun_at):
                what = f"{named(each)} is running since {told(begun_at)}, heard of at {told(each.at)}"
                yield f"{what}, and nothing followed until {told(left_at)}"


def _is_lost_with_its_job(tale: Tale, stored: RunStored) -> bool:
    """Whether the last deadline of a run was in the wheel that was lost, and no rebuild found its job."""
    life = tale.lives.get(stored.uid)
    if not tale.losses or life is None or life.deleted_at is None:
        return False
    written_at = [
        each.at
        for each in tale.of(TimerStored)
        if each.kind == "deadline" and each.trigger_id == trigger_id_of(stored)
    ]
    return bool(written_at) and any(
        loss.back_to < written_at[-1] <= loss.at and life.deleted_at <= loss.at + REBUILT_MS
        for loss in tale.losses
    )


def acknowledged_reports_stand(tale: Tale) -> Iterator[str]:
    """A report that was taken is of the attempt that went on, and its run has the reported state."""
    for answer in tale.run_answers:
        asked, verb = answer.asked, answer.asked.verb
        if answer.error is not None or not asked.run_id:
            continue
        runs = [tale.runs_of.get(run, []) for run in tale.meant_by(asked)]
        what = (
            f"{asked.name}: the {verb} of run {asked.run_id} of {asked.uid}, answered at {told(answer.at)},"
        )
        became = {"complete": "succeeded", "cancel": "cancelled"}.get(verb)
        if became is not None and not any(
            each.state == became and each.at <= answer.at for stored in runs for each in stored
        ):
            yield f"{what} was acknowledged, and the run never {became}"
        if verb in SAID:
            states = GOING_ON | SAID[verb] | ({became} if became else set())
            if not _is_repetition(tale, asked) and not any(
                asked.attempt in (None, each.attempts) and each.state in states
                for stored in runs
                for each in _stood(stored, answer)
            ):
                yield f"{what} was taken from attempt {asked.attempt}, which was not the one that went on"


def first_report_rules(tale: Tale) -> Iterator[str]:
    """Of two reports that end an attempt differently one is taken, and a completed run is not given up."""
    for (uid, run_id), answers in tale.run_answers_of.items():
        trigger_id = f"{uid}-{run_id}"
        taken: dict[str, set[int]] = defaultdict(set)
        for each in answers:
            if each.error is None and each.asked.attempt is not None:
                taken[each.asked.verb].add(each.asked.attempt)
        for attempt in taken["complete"] & taken["fail"]:
            if not _is_made_between(tale, trigger_id, attempt, answers):
                what = f"attempt {attempt} of {trigger_id} was reported as complete and as failed"
                yield f"{what}, and both reports were taken"
        reason = tale.buried.get(trigger_id)
        is_ours = reason is None or reason.startswith(OUR_FAULT)
        # A function buried the trigger and died before it had recorded that, so the attempt was made once
        # more.
        completed = (each for each in answers if each.asked.verb == "complete" and each.error is None)
        asked_at = min((each.asked.at for each in completed), default=0)
        is_before = tale.buried_at.get(trigger_id, 0) < asked_at
        if taken["complete"] and not (is_ours or is_before or trigger_id in tale.redriven_from):
            yield f"{trigger_id} was reported as complete, and was buried ({reason})"


def _is_made_between(tale: Tale, trigger_id: str, attempt: int, answers: Sequence[RunAnswered]) -> bool:
    """Whether any two different reports that were taken are of two requests of that attempt.

    The function that made the first request died before the end of its run was recorded. So the message came
    again, and the attempt was made once more: each of its two requests has an end of its own.
    """
    made = [each.at for each in tale.requests_of.get(trigger_id, []) if each.attempt == attempt]
    reports = sorted(
        (each.asked.at, each.asked.verb)
        for each in answers
        if each.error is None and each.asked.attempt == attempt and each.asked.verb in {"complete", "fail"}
    )
    return all(
        verb == following or any(asked_at < at < following_at for at in made)
        for (asked_at, verb), (following_at, following) in pairwise(reports)
    )


def _is_repetition(tale: Tale, asked: RunAsked) -> bool:
    """Whether the same was reported before of the same attempt. A repetition is safe, whatever the run is."""
    return any(
        (each.verb, each.attempt) == (asked.verb, asked.attempt) and each.at < asked.at
        for each in tale.run_asked_of.get((asked.uid, asked.run_id), [])
    )


def who_goes_on_is_not_refused(tale: Tale) -> Iterator[str]:
    """A consumer that reports on the attempt that goes on is not told to stop."""
    for answer in tale.run_answers:
        asked = answer.asked
        if answer.error not in REFUSALS or asked.verb not in SAID:
            continue
        stood = list(_stood(tale.runs_of.get((asked.uid, asked.run_id), []), answer))
        goes_on = all(
            each.state in GOING_ON and not each.is_ending and each.attempts == asked.attempt for each in stood
        )
        is_another = len(tale.namesakes[asked.name, asked.run_id]) > 1
        begun_at = _answered_at(tale, answer) or _accepted_at(tale, answer)
        shortest_ms = min(_run_times(tale, asked.uid), default=0)
        # A clock that is ahead ends maxRunTime early.
        is_late = begun_at is not None and answer.at - begun_at >= shortest_ms - SIMULATED_SKEW_MS
        if stood and goes_on and not is_another and not is_late:
            what = f"{asked.name}: the {asked.verb} of run {asked.uid}-{asked.run_id}"
            yield f"{what} was refused at {told(answer.at)}, and attempt {asked.attempt} goes on"


def late_reports_are_refused(tale: Tale) -> Iterator[str]:
    """Nothing is taken from a consumer after `maxRunTime`, however late the check of its deadline is."""
    for answer in tale.run_answers:
        asked, begun_at = answer.asked, _accepted_at(tale, answer)
        if answer.error is not None or asked.verb not in SAID or begun_at is None:
            continue
        longest_ms = max(_run_times(tale, asked.uid), default=0)
        took_ms = asked.at - begun_at
        stood = _stood(tale.runs_of.get((asked.uid, asked.run_id), []), answer)
        # An operator may have completed the run before. The same by its consumer then changes nothing.
        was_going_on = any(each.state in GOING_ON for each in stood)
        is_late = took_ms > longest_ms + GRACE_MS + SIMULATED_SKEW_MS
        if is_late and was_going_on and not _is_repetition(tale, asked):
            what = f"{asked.name}: the {asked.verb} of run {asked.uid}-{asked.run_id}"
            yield f"{what} was taken at {told(answer.at)}, and it runs since {told(begun_at)}"


def _answered_at(tale: Tale, answer: RunAnswered) -> int | None:
    """When the consumer accepted the attempt of a report; None if it never did before the answer.

    `maxRunTime` begins then. The function may be paused before it records that the attempt runs.
    """
    asked = answer.asked
    concluded = tale.conclusions_of.get(f"{asked.uid}-{asked.run_id}", [])
    return min(
        (
            each.at
            for each in concluded
            if (each.attempt, each.outcome) == (asked.attempt, "accepted") and each.at <= answer.at
        ),
        default=None,
    )


def _accepted_at(tale: Tale, answer: RunAnswered) -> int | None:
    """When the attempt of a report was last recorded as running, up to the answer; None if it never was."""
    stored = tale.runs_of.get((answer.asked.uid, answer.asked.run_id), [])
    return max(
        (
            each.at
            for each in stored
            if each.state == "running" != each.before
            and each.attempts == answer.asked.attempt
            and each.at <= answer.at
        ),
        default=None,
    )


def _run_times(tale: Tale, uid: str) -> list[int]:
    """The `maxRunTime` of each version of a job."""
    life = tale.lives.get(uid)
    writes = life.writes if life is not None else []
    return [length_ms(write.definition.get("maxRunTime", RUN_TIME_DEFAULT)) for write in writes]


def tokens_are_of_one_attempt(tale: Tale) -> Iterator[str]:
    """Each attempt has a token of its own, which is the same whenever its request leaves."""
    tokens: dict[tuple[str, int], set[str]] = defaultdict(set)
    attempts: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for request in tale.requests:
        if request.token is not None:
            tokens[request.trigger_id, request.attempt].add(request.token)
            attempts[request.token].add((request.trigger_id, request.attempt))
    for (trigger_id, attempt), named in tokens.items():
        if len(named) > 1:
            yield f"attempt {attempt} of {trigger_id} left with {len(named)} tokens"
    for named_by in attempts.values():
        if len(named_by) > 1:
            yield f"one token is that of {sorted(named_by)}"


def _has_cause(tale: Tale, stored: RunStored, outcomes: set[str], verb: str) -> bool:
    """Whether its attempt had such an answer or report by then."""
    return _is_answered(tale, stored, outcomes) or any(
        each.verb == verb and each.attempt in (None, stored.attempts) and each.at <= stored.at
        for each in tale.run_asked_of.get((stored.uid, stored.run_id), [])
    )


def _is_answered(tale: Tale, stored: RunStored, outcomes: set[str]) -> bool:
    return any(each.outcome in outcomes for each in _conclusions(tale, stored))


def _conclusions(tale: Tale, stored: RunStored) -> list[Concluded]:
    """Return the answers to an attempt by the time when its run was stored."""
    concluded = tale.conclusions_of.get(trigger_id_of(stored), [])
    return [each for each in concluded if each.attempt == stored.attempts and each.at <= stored.at]


def _was_called_off(tale: Tale, stored: RunStored) -> bool:
    asked = tale.run_asked_of.get((stored.uid, stored.run_id), [])
    deletions = tale.lives[stored.uid].deletions if stored.uid in tale.lives else []
    is_open = stored.before in ("claimed", "retrying")
    is_deleted = any(each <= stored.at for each in deletions) and is_open
    return is_deleted or any(each.verb == "cancel" and each.at <= stored.at for each in asked)


def _is_claim_undone(stored: RunStored, before: Sequence[RunStored]) -> bool:
    """Whether a redriven run is what it was before a claim, whose attempt was not made."""
    was_so = any((each.state, each.attempts) == (stored.state, stored.attempts) for each in before)
    return (stored.before, stored.state) == ("claimed", "failed") and was_so


def _has_failed(tale: Tale, stored: RunStored) -> bool:
    is_ours = (stored.reason or "").startswith(OUR_FAULT) or is_given_up_for_its_age(stored)
    return is_ours or _has_cause(tale, stored, {"failed", "lost"}, "fail") or _was_silent(tale, stored)


def _was_silent(tale: Tale, stored: RunStored) -> bool:
    """Whether the consumer that accepted an attempt had been silent, or at work, for too long by then."""
    accepted = [each.at for each in _conclusions(tale, stored) if each.outcome == "accepted"]
    if not accepted:
        return False
    accepted_at = max(accepted)
    beats = (
        each.asked.at
        for each in tale.run_answers_of.get((stored.uid, stored.run_id), [])
        if each.asked.verb == "heartbeat"
        and each.error is None
        and each.asked.attempt == stored.attempts
        and each.at <= stored.at
    )
    silent_ms = stored.at - max([accepted_at, *beats])
    life = tale.lives[stored.uid]
    standing = [life.writes[each].definition for each in life.stood(accepted_at - READ_BEFORE_MS, stored.at)]
    standing = standing or [write.definition for write in life.writes]
    timeouts_ms = [length_ms(each.get("heartbeatTimeout", HEARTBEAT_TIMEOUT_DEFAULT)) for each in standing]
    times_ms = [length_ms(each.get("maxRunTime", RUN_TIME_DEFAULT)) for each in standing]
    is_silent = silent_ms >= min(timeouts_ms) - SIMULATED_SKEW_MS
    return is_silent or stored.at - accepted_at >= min(times_ms) - SIMULATED_SKEW_MS


def _found_by(tale: Tale, stored: RunStored, accepted_at: int) -> int:
    """Return by when a function has seen that a run which showed activity then goes on for too long."""
    silent_until = stored.at + _longest(tale, stored, "heartbeatTimeout", HEARTBEAT_TIMEOUT_DEFAULT)
    until = min(silent_until, accepted_at + _longest(tale, stored, "maxRunTime", RUN_TIME_DEFAULT))
    found_by = until + GRACE_MS + SKEW_MS + LOOK_MS
    if tale.calm_at is None or until + GRACE_MS - SKEW_MS > tale.calm_at:
        return found_by
    # Before the calm, handling a deadline message may have failed. It is put back for a time that grows.
    return max(found_by, tale.calm_at + PUT_BACK_MAX_MS + LOOK_MS)


def _longest(tale: Tale, stored: RunStored, field: str, otherwise: str) -> int:
    writes = tale.lives[stored.uid].writes
    return max(length_ms(write.definition.get(field, otherwise)) for write in writes)


def _stood(stored: Sequence[RunStored], answer: RunAnswered) -> Iterator[RunStored]:
    """Return what was stored of the run at some instant between a request and its answer."""
    for each, following in zip(stored, [*stored[1:], None], strict=True):
        if each.at <= answer.at and (following is None or answer.asked.at <= following.at):
            yield each


def trigger_id_of(stored: RunStored) -> str:
    """The id of the trigger of a run."""
    return f"{stored.uid}-{stored.run_id}"


def named(stored: RunStored) -> str:
    """The job and the run, as a complaint names them."""
    return f"{stored.name}: run {trigger_id_of(stored)}"
