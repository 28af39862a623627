"""Checks of runs and attempts: legal states, attempts that follow one another, and an end for each."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from tests.simulation.oracle.lives import Life, told
from tests.simulation.oracle.removal import removed_at
from tests.simulation.oracle.tale import Tale, is_redrive, killer_of
from tests.simulation.traces.rare_events import LimitSet, WindowSet
from tests.simulation.traces.trace import LineStored, Mishap, Requested, RunStored, TimerStored, Written
from tests.simulation.workload.weeks import LATE_MS

#: semantics.md, "States": the states that may follow each state. The claim of a dead holder is taken over by
#: the next.
LEAVES_TO = {
    None: {"claimed", "running", "retrying", "succeeded", "failed", "skipped", "cancelled"},
    "claimed": {
        "claimed",
        "succeeded",
        "running",
        "retrying",
        "failed",
        "skipped",
        "cancelled",
        "released",
    },
    "running": {"running", "succeeded", "retrying", "failed", "cancelled"},
    "retrying": {"claimed", "retrying", "cancelled"},
    "succeeded": set(),
    "failed": {"claimed", "failed"},
    "skipped": set(),
    "cancelled": set(),
}

#: The states of a run after the claim of an attempt that was not made is undone: as before, or its job is
#: deleted.
UNDONE = {"retrying", "failed", "cancelled"}

#: The reason of a message that SQS itself gives up. A function that begins a trigger counts its crashes, and
#: gives the trigger up long before that.
IN_VAIN = "received "

#: Reasons about Sweephand instead of the consumer: failures to handle a message, and crashes meanwhile.
OUR_FAULT = ("Sweephand failed", IN_VAIN)

#: A part of the reason of a run whose data was gone.
DATA_GONE = "not in the payload store"

#: The reason of a trigger that crashed every function that began it: the function that gives it up claims it
#: first.
CRASHED = "functions crashed while handling it"

#: The number of functions that one message of a trigger may crash before the trigger is given up.
CRASHES_MAX = 5

#: A revision may send what falls due so soon to the queue at once.
SENT_AT_ONCE_MS = 300_000

#: Mishaps after which no trigger travels in two messages. Each message counts its own crashes.
DOUBLE_NOTHING = ("delay", "stumble", "shortage", "received in vain", "no ticks", "raised shards")

#: What follows the uid in the id of a trigger that no pause holds.
EXEMPT_FROM_PAUSE = ("-manual-", "-backfill-")

#: How long a message waits in the queue at most. Longer waits have timers.
QUEUE_DELAY_MAX_MS = 900_000

#: A claim lasts 180 s by clocks that differ by up to 90 s. Its holder's request leaves within the 90 s of its
#: function. So no two requests leave within this time. The simulator's clocks differ by 60 s.
HOLD_MIN_MS = 180_000 - 60_000 - 90_000


def run_states_are_legal(tale: Tale) -> Iterator[str]:
    """A run changes only as the table of states allows, and only a redrive leaves the end."""
    for (uid, run_id), stored in tale.runs_of.items():
        for each in stored:
            if each.state not in LEAVES_TO.get(each.before, set()):
                yield f"{each.name}: run {run_id} of {uid} went from {each.before} to {each.state}"


def attempts_never_decrease(tale: Tale) -> Iterator[str]:
    """The number of attempts of a run grows or stays, unless a claim is undone without an attempt.

    If that was the first attempt, no record is left, and a resume may record that the trigger is skipped.
    A run whose record DynamoDB has removed has a new one.
    """
    for (uid, run_id), stored in tale.runs_of.items():
        for before, after in pairwise(stored):
            undone = (before.attempts - 1, "claimed")
            is_undone = (after.attempts, before.state) == undone and after.state in UNDONE
            released = (1, "released", None, "skipped")
            is_released = (before.attempts, before.state, after.before, after.state) == released
            if after.attempts >= before.attempts or is_undone or is_released:
                continue
            gone_at = removed_at(tale, uid, run_id, after.at) if after.before is None else None
            if gone_at is None or gone_at < before.at:
                yield f"{after.name}: run {run_id} of {uid} went back to attempt {after.attempts}"


def attempts_follow_one_another(tale: Tale) -> Iterator[str]:
    """There is no second attempt without a first, and none follows a success."""
    for trigger_id, requests in tale.requests_of.items():
        made: set[int] = set()
        uid, _, run_id = trigger_id.partition("-")
        redriven = {each.attempts for each in tale.runs_of.get((uid, run_id), []) if is_redrive(each)}
        for request in requests:
            # A trigger that was given up before an attempt was made may be redriven, and more than once.
            is_anew = request.attempt in redriven and trigger_id in tale.buried
            if request.attempt > 1 and request.attempt - 1 not in made and not is_anew:
                yield f"{request.name}: attempt {request.attempt} of {trigger_id} skips the one before it"
            made.add(request.attempt)


def later_attempts_have_one_holder(tale: Tale) -> Iterator[str]:
    """Of two messages for one later attempt one is let through, until its claim of 180 s has ended."""
    for trigger_id, requests in tale.requests_of.items():
        latest: dict[int, int] = {}
        for request in requests:
            before = latest.get(request.attempt)
            if before is not None and request.attempt > 1 and request.at - before < HOLD_MIN_MS:
                what = f"{request.name}: attempt {request.attempt} of {trigger_id}"
                yield f"{what} left at {told(before)}, and at {told(request.at)} again"
            latest[request.attempt] = request.at


def dead_letters_have_a_reason(tale: Tale) -> Iterator[str]:
    """A trigger is given up after a failed attempt, or after Sweephand itself failed or crashed often.

    An attempt whose consumer reports its failure has failed, even if its request is still open or its sender
    has crashed.
    """
    for trigger_id, reason in tale.buried.items():
        outcomes = [each.outcome for each in tale.conclusions_of.get(trigger_id, [])]
        has_failed = {"failed", "lost", "accepted"} & set(outcomes) or _was_reported_failed(tale, trigger_id)
        if not has_failed and not reason.startswith(OUR_FAULT):
            yield f"{trigger_id} was buried ({reason}) and never failed"
        if reason.startswith(IN_VAIN) and trigger_id in tale.requests_of:
            yield f"{trigger_id} was buried ({reason}), and an attempt had begun"
        if CRASHED in reason and not _was_claimed(tale, trigger_id):
            yield f"{trigger_id} was buried ({reason}), and no attempt had begun"


def crashing_triggers_end(tale: Tale) -> Iterator[str]:
    """A trigger that crashes functions is given up after five of them, however its message travels.

    A trigger that has waited for its turn has two messages: its own, and that of its job's line. Each counts
    its own crashes. So does each redrive of a run that was given up. So does what another revision sends
    again while the trigger is under way, as a resume does. A trigger that a window or the valve lets wait
    counts anew afterwards. The valve does so once, and after each change of a limit.
    """
    if tale.losses:
        # What a rebuild promises again travels in two messages.
        return
    waited = {each.trigger_id for line in tale.of(LineStored) for each in line.waiting}
    killed_at: defaultdict[str, list[int]] = defaultdict(list)
    for each in tale.of(Mishap):
        trigger_id = killer_of(each)
        if trigger_id is not None:
            killed_at[trigger_id].append(each.at)
        elif not each.kind.startswith(DOUBLE_NOTHING):
            return
    waits = len(tale.of(WindowSet)) + len(tale.of(LimitSet))
    revisions = {(each.uid, each.rev): each for each in reversed(tale.of(Written))}.values()
    sent_at = [(each.uid, each.at) for each in revisions if each.verb != "create"]
    for trigger_id, ats in killed_at.items():
        since = ats[0] - SENT_AT_ONCE_MS
        again = sum(trigger_id.startswith(uid) and at > since for uid, at in sent_at)
        rounds = 1 + tale.redrives_of[trigger_id] + waits + again
        limit = rounds * CRASHES_MAX * (2 if trigger_id in waited else 1)
        if len(ats) > limit:
            yield f"{trigger_id} crashed {len(ats)} functions, and was not given up after {limit}"


def _was_reported_failed(tale: Tale, trigger_id: str) -> bool:
    """Whether the consumer of an attempt reported its failure before the trigger was given up."""
    uid, _, run_id = trigger_id.partition("-")
    buried_at, requests = tale.buried_at[trigger_id], tale.requests_of.get(trigger_id, [])
    return any(
        each.verb == "fail" and each.at <= buried_at and each.attempt in (None, request.attempt)
        for each in tale.run_asked_of.get((uid, run_id), [])
        for request in requests
        if request.at <= each.at
    )


def _was_claimed(tale: Tale, trigger_id: str) -> bool:
    uid, _, run_id = trigger_id.partition("-")
    buried_at = tale.buried_at[trigger_id]
    return any(
        each.state == "claimed" and each.at <= buried_at for each in tale.runs_of.get((uid, run_id), [])
    )


def every_trigger_ends(tale: Tale) -> Iterator[str]:
    """A trigger that was begun ends in a success or a dead letter, or waits for its next attempt."""
    for trigger_id, requests in tale.requests_of.items():
        first = requests[0]
        life = tale.lives.get(first.uid)
        if life is None or life.deleted_at is not None or first.due_at > tale.through:
            continue
        if life.is_held and not trigger_id.startswith(EXEMPT_FROM_PAUSE, len(first.uid)):
            continue
        has_succeeded = any(each.outcome == "succeeded" for each in tale.conclusions_of.get(trigger_id, []))
        if has_succeeded or trigger_id in tale.buried or _is_over(tale, first):
            continue
        if taken_back(life, requests):
            continue
        if not _is_waiting(tale, trigger_id):
            yield (
                f"{first.name}: {trigger_id} was last tried at {told(requests[-1].at)} "
                f"(attempt {requests[-1].attempt}), and nothing follows"
            )


def runs_end_with_their_job(tale: Tale) -> Iterator[str]:
    """No run of a deleted job is left in a state that says it will be tried again."""
    for (uid, run_id), stored in tale.runs_of.items():
        last, life, trigger_id = stored[-1], tale.lives.get(uid), f"{uid}-{run_id}"
        if last.state != "retrying" or life is None or life.deleted_at is None:
            continue
        if _is_lost(tale, trigger_id):
            # A rebuild arms jobs. The retry of a deleted job is lost with its timer, and its record expires.
            continue
        # The function that recorded it may have been slow: the retry came before, and found nothing to end.
        is_before = last.at <= life.deleted_at
        if is_before and trigger_id not in tale.buried and not _is_waiting(tale, trigger_id):
            deleted_at = told(life.deleted_at)
            yield f"{last.name}: run {trigger_id} is retrying, and its job was deleted at {deleted_at}"


def is_redriven_without_data(stored: Sequence[RunStored]) -> bool:
    """Whether a run ended as its data was gone, and was redriven so late that it may be gone.

    The data of a trigger by hand is kept for two weeks after its last attempt, which is LATE_MS in a seed.
    """
    is_late = any(is_redrive(claim) and claim.at - over.at >= LATE_MS for over, claim in pairwise(stored))
    return is_late and DATA_GONE in (stored[-1].reason or "")


def _is_lost(tale: Tale, trigger_id: str) -> bool:
    """Whether a timer of the trigger's next attempt was in the wheel when the wheel was lost."""
    timers = (each for each in tale.of(TimerStored) if each.kind == "retry" and trigger_id in each.sort_key)
    return any(each.at <= loss.at for each in timers for loss in tale.losses)


def _is_over(tale: Tale, request: Requested) -> bool:
    """Whether its run is over by its record. Other checks judge reports (oracle/reports.py)."""
    run_id = request.trigger_id.removeprefix(f"{request.uid}-")
    stored = tale.runs_of.get((request.uid, run_id), [])
    over = {"skipped", "cancelled"}
    if any(each.token is not None for each in tale.requests_of[request.trigger_id]):
        over |= {"succeeded", "running"}
    return bool(stored) and stored[-1].state in over


def taken_back(life: Life, requests: Sequence[Requested]) -> bool:
    """Whether a later cut lies before its due time, by a clock that was behind. Then it is owed no more.

    This counts only if the process died that made its first attempt. Otherwise the outcome of that attempt
    would count.
    """
    reign = life.reign(requests[0].rev)
    is_first = all(each.attempt == 1 for each in requests)
    return is_first and reign is not None and not reign.owns(requests[0].due_at)


def _is_waiting(tale: Tale, trigger_id: str) -> bool:
    """Whether another attempt is on its way: in a queue that shows it later, or in the wheel."""
    timers = (each for each in tale.timers if each.kind == "retry" and trigger_id in each.sort_key)
    if any(not tale.is_passed(each) or each.due_at > tale.ends_at - QUEUE_DELAY_MAX_MS for each in timers):
        return True
    request = tale.requests_of[trigger_id][-1]
    stored = tale.runs_of.get((request.uid, trigger_id.removeprefix(f"{request.uid}-")), [])
    seen_at = max([request.at, *(each.at for each in stored)])
    return seen_at > tale.ends_at - QUEUE_DELAY_MAX_MS
