"""Checks of what follows the end of a run: notifications, chains, cancels, redrives, pauses."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.simulation.oracle.chains import CHAINED, End, batch_end_in, end_in, followed, is_of_batch
from tests.simulation.oracle.jobs import SKEW_MS
from tests.simulation.oracle.lives import Life, told
from tests.simulation.oracle.runs import DOUBLE_NOTHING, OUR_FAULT, is_redriven_without_data
from tests.simulation.oracle.stack import times_off
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.rare_events import BatchTold
from tests.simulation.traces.trace import LineStored, Mishap, Requested, RunStored, Told, Written

#: The states in which a run is over.
OVER = {"succeeded", "failed", "skipped", "cancelled"}

#: The states that a chain follows, by its `when` (docs/notifications.md).
WHEN = {"succeeded": {"succeeded"}, "failed": {"failed"}, "always": OVER}

#: How long before the end of its run the job may have been read by the function that notifies.
READ_BEFORE_MS = 100_000

#: How long a function that has recorded an end may take until the notification leaves. All retries of a
#: notification are over within this time.
TELLING_MS = 600_000

#: The same where nothing fails.
TOLD_IN_CALM_MS = 60_000

#: A message that was received in vain, because Lambda had no function for it, comes again within this time.
IN_VAIN_MS = 240_000


def cancelled_runs_stay_cancelled(tale: Tale) -> Iterator[str]:
    """After a run was cancelled no attempt of it begins.

    A first attempt needs no claim, so two copies of it can be under way: at least once.
    """
    for (uid, run_id), stored in tale.runs_of.items():
        cancelled_at = next((each.at for each in stored if each.state == "cancelled"), None)
        if cancelled_at is None:
            continue
        for request in tale.requests_of.get(f"{uid}-{run_id}", []):
            is_unclaimed = request.attempt == 1 and request.token is None
            if request.at > cancelled_at and not (is_unclaimed and _may_be_doubled(tale, request.at)):
                what = f"{request.name}: attempt {request.attempt} of {request.trigger_id}"
                yield f"{what} left at {told(request.at)}; its run was cancelled at {told(cancelled_at)}"


def _may_be_doubled(tale: Tale, by: int) -> bool:
    """Whether a mishap may have made a second message of a trigger by then."""
    mishaps = tale.of(Mishap)
    return bool(tale.losses) or any(
        each.at <= by and not each.kind.startswith(DOUBLE_NOTHING) for each in mishaps
    )


def only_redrives_take_up_what_failed(tale: Tale) -> Iterator[str]:
    """A run that was given up is attempted again only if a caller redrives it."""
    for stored in tale.runs_of.values():
        for each in stored:
            if each.before == "failed" and each.state == "claimed" and not _is_redriven(tale, each):
                yield f"{each.name}: run {each.uid}-{each.run_id} was taken up, though nobody redrove it"


def redrives_are_attempted(tale: Tale) -> Iterator[str]:
    """A redrive that was acknowledged leads to the next attempt of the same trigger, paused or not."""
    for answer in tale.run_answers:
        if answer.error is not None or answer.at > tale.through:
            continue
        if answer.asked.verb == "redrive" and answer.attempts is not None:
            trigger = answer.asked.uid, answer.asked.run_id
            yield from _unattempted(tale, *trigger, answer.attempts)
        elif answer.asked.verb == "redrive many":
            for (uid, run_id), stored in tale.runs_of.items():
                before = [each for each in stored if each.at <= answer.asked.at]
                meanwhile = [each for each in stored if answer.asked.at < each.at <= answer.at]
                is_meant = stored[0].name.startswith(answer.asked.name) and not meanwhile
                life = tale.lives.get(uid)
                goes_on = life is not None and life.reigns()[-1].occurrences.next_after(answer.at) is not None
                if before and before[-1].state == "failed" and is_meant and goes_on:
                    yield from _unattempted(tale, uid, run_id, before[-1].attempts)


def what_was_asked_with_stays(tale: Tale) -> Iterator[str]:
    """A trigger by hand carries the same data at every attempt, and a chained one the same end.

    A redrive keeps them.
    """
    carried: dict[str, set[object]] = defaultdict(set)
    for request in tale.requests:
        if "-manual-" in request.trigger_id:
            carried[request.trigger_id].add(request.data)
        elif CHAINED in request.trigger_id:
            carried[request.trigger_id].add(end_in(request) or batch_end_in(request) or request.data)
    for trigger_id, things in carried.items():
        ends = {each for each in things if isinstance(each, End)}
        if ends == things and _are_of_copies(tale, ends):
            continue
        if len(things) > 1 or (
            CHAINED in trigger_id and not all(isinstance(each, End | BatchTold) for each in things)
        ):
            yield f"{trigger_id} left with {' and '.join(sorted(map(str, things)))}"


def _are_of_copies(tale: Tale, ends: set[End]) -> bool:
    """Whether the ends are those of two deliveries of one first attempt that was not claimed.

    The consumer accepted one delivery, and its job keeps no record of successes. A copy of the message was
    delivered later, and that delivery ended otherwise. Both ends are told under one id, since they are of one
    attempt. So whoever keeps to the id follows the first end that was told.
    """
    attempts = {(each.uid, each.trigger_id, each.attempts) for each in ends}
    if len(attempts) != 1 or "succeeded" not in {each.state for each in ends}:
        return False
    [(uid, trigger_id, attempt)] = attempts
    made = [each for each in tale.requests_of.get(trigger_id, []) if each.attempt == attempt]
    stored = tale.runs_of.get((uid, trigger_id.removeprefix(f"{uid}-")), [])
    is_unrecorded = not any((each.state, each.attempts) == ("succeeded", attempt) for each in stored)
    is_unclaimed = attempt == 1 and any(not _is_claimed(stored, each) for each in made)
    return is_unrecorded and is_unclaimed and len(made) > 1


def _is_claimed(stored: Sequence[RunStored], request: Requested) -> bool:
    """Whether the run of a request was stored, or its consumer was to report, when the request left."""
    return request.token is not None or any(each.at <= request.at for each in stored)


def every_end_is_told(tale: Tale) -> Iterator[str]:
    """Every end of a run is notified, and a job that follows it is triggered."""
    known = {each.end for each in followed(tale)}
    for end, at in _ends(tale):
        if is_of_batch(tale, end.uid, end.trigger_id.removeprefix(f"{end.uid}-")):
            # The end of the batch is told, and not that of each run.
            continue
        life = tale.lives.get(end.uid)
        if life is None:
            # The job was never committed, and a trigger that was armed for it crashed too many functions.
            continue
        on_complete = in_force(tale, life, at)
        if on_complete is None or at > tale.through or end in known:
            continue
        # Where Sweephand itself failed, the end is notified if the job can be read at that moment.
        is_ours = tale.buried.get(end.trigger_id, "").startswith(OUR_FAULT)
        is_given_up = is_ours or end.trigger_id in tale.ended_chains
        if not is_given_up and _is_owed(tale, end, at, on_complete):
            what = f"{life.name}: {end.trigger_id} {end.state} after attempt {end.attempts} at {told(at)}"
            yield f"{what}, and no notification left"


def ends_are_told_soon_in_calm(tale: Tale) -> Iterator[str]:
    """In the calm, the notification of an end leaves soon after it. A chain may wait for its turn.

    A trigger that left late stood behind others that are too many for its lane. So may the notification of
    its end.
    """
    if tale.echo_ends_at is None:
        return
    left_at: dict[End, int] = {}
    for each in tale.of(Told):
        left_at.setdefault(End(each.uid, each.trigger_id, each.attempts, each.state), each.at)
    for end, at in _ends(tale):
        is_late = left_at.get(end, at) - at > TOLD_IN_CALM_MS
        if at > tale.echo_ends_at and is_late and not _left_late(tale, end.trigger_id):
            what = f"{end.trigger_id} {end.state} at {told(at)}"
            yield f"{what}, and its notification left at {told(left_at[end])}"


def _left_late(tale: Tale, trigger_id: str) -> bool:
    """Whether the first request of a trigger left long after its due time."""
    made = tale.requests_of.get(trigger_id, [])
    return any(each.attempt == 1 and each.at - each.due_at > TOLD_IN_CALM_MS for each in made)


def only_ends_are_told(tale: Tale) -> Iterator[str]:
    """Every end that is notified has happened: the run ended so after that attempt.

    A trigger may be skipped in its line while a resume skips it as a misfire, which is not told by itself.
    """
    happened: dict[End, int] = {}
    for end, at in _ends(tale):
        happened.setdefault(end, at)
    for end, at in _ends(tale, of_misfires=True):
        if _has_waited(tale, end):
            happened.setdefault(end, at)
    for concluded in (each for some in tale.conclusions_of.values() for each in some):
        if concluded.outcome == "succeeded":
            end = End(concluded.uid, concluded.trigger_id, concluded.attempt, "succeeded")
            happened[end] = min(happened.get(end, concluded.at), concluded.at)
    for each in followed(tale):
        if happened.get(each.end, each.at + 1) > each.at:
            what = f"{each.end.trigger_id} {each.end.state} after attempt {each.end.attempts}"
            yield f"{each.name} was notified that {what}; it had not"


def ends_have_one_identity(tale: Tale) -> Iterator[str]:
    """An end is always notified under the same id, which belongs to no other end.

    A single trigger is due when the run before it was due, and a batch begins when that run has ended. So a
    job that becomes a batch, or no longer is one, may follow an end under two ids.
    """
    ids: dict[tuple[str, str, str, int], set[str]] = defaultdict(set)
    ends: dict[str, set[tuple[str, int]]] = defaultdict(set)
    for each in followed(tale):
        end = each.end
        ids[each.name, each.uid, end.trigger_id, end.attempts].add(each.id)
        ends[each.id].add((end.trigger_id, end.attempts))
    for (name, uid, trigger_id, attempts), named in ids.items():
        is_chained = all(CHAINED in each for each in named)
        if len(named) > (2 if is_chained and _is_batch_at_times(tale, uid) else 1):
            what = f"{name}: the end of {trigger_id} after attempt {attempts}"
            yield f"{what} was notified under {sorted(named)}"
    for named_id, of in ends.items():
        if len(of) > 1:
            yield f"{named_id} names {len(of)} ends"


def _is_batch_at_times(tale: Tale, uid: str) -> bool:
    life = tale.lives.get(uid)
    return life is not None and len({"batch" in each.definition for each in life.writes}) > 1


def on_error_is_heeded(tale: Tale) -> Iterator[str]:
    """A job with `"onError": "pause"` is paused when a trigger of it is given up."""
    for (uid, run_id), stored in tale.runs_of.items():
        life = tale.lives.get(uid)
        for each in stored:
            if each.state != "failed" or life is None or (each.reason or "").startswith(OUR_FAULT):
                continue
            requests = tale.requests_of.get(f"{uid}-{run_id}", [])
            left_at = max((r.at for r in requests if r.at <= each.at), default=each.at)
            stood = [life.writes[number] for number in life.stood(left_at - READ_BEFORE_MS, each.at)]
            may_send = stood and all(write.definition.get("onError") == "pause" for write in stood)
            is_deleted = life.deleted_at is not None and life.deleted_at <= each.at
            # After its time to live is over, no function finds the job to pause it.
            is_there = not is_deleted and not any(is_past(write, each.at) for write in stood)
            if may_send and is_there and not any(write.paused_at is not None for write in stood):
                yield f"{life.name}: run {uid}-{run_id} failed at {told(each.at)}, and its job was not paused"


def is_past(write: Written, at: int) -> bool:
    """Whether by some clock the job's time to live was over then, so that no reader finds it."""
    return write.expires_at is not None and write.expires_at <= at + SKEW_MS


def _unattempted(tale: Tale, uid: str, run_id: str, attempts: int) -> Iterator[str]:
    trigger_id, life = f"{uid}-{run_id}", tale.lives.get(uid)
    requests: list[Requested] = tale.requests_of.get(trigger_id, [])
    is_given_up = tale.buried.get(trigger_id, "").startswith(OUR_FAULT) or trigger_id in tale.ended_by_hand
    is_given_up = is_given_up or is_redriven_without_data(tale.runs_of[uid, run_id])
    if life is None or life.deleted_at is not None:
        # A job that was never committed has a run only if its trigger crashed too many functions.
        return
    if not is_given_up and all(each.attempt <= attempts for each in requests):
        yield f"{life.name}: {trigger_id} was redriven after attempt {attempts}, and no other left"


def _is_redriven(tale: Tale, stored: RunStored) -> bool:
    asked = tale.run_asked_of.get((stored.uid, stored.run_id), [])
    in_bulk = (each for each in tale.run_asked if each.verb == "redrive many")
    return any(each.verb == "redrive" and each.at <= stored.at for each in asked) or any(
        stored.name.startswith(each.name) and each.at <= stored.at for each in in_bulk
    )


def _has_waited(tale: Tale, end: End) -> bool:
    """Whether a trigger has waited in the line of its job."""
    lines = (each for each in tale.turns_of.get(end.uid, ()) if isinstance(each, LineStored))
    return any(place.trigger_id == end.trigger_id for line in lines for place in line.waiting)


def _ends(tale: Tale, *, of_misfires: bool = False) -> Iterator[tuple[End, int]]:
    """Return the ends that were recorded, with their instants, or those of misfires that do not fire.

    A redrive that is claimed and not begun makes its run what it was before. That is no end.
    """
    for (uid, run_id), stored in tale.runs_of.items():
        attempts = 0
        for each in stored:
            is_undone = each.state == "failed" and each.before == "claimed" and each.attempts < attempts
            attempts = each.attempts
            if (
                each.state in OVER
                and (each.reason == "misfire") == of_misfires
                and each.state != each.before
                and not is_undone
            ):
                yield End(uid, f"{uid}-{run_id}", each.attempts, each.state), each.at


def in_force(tale: Tale, life: Life, at: int) -> Mapping[str, Any] | None:
    """Return the `onComplete` of the versions of a job that count from then on, or None if they differ."""
    if life.deleted_at is not None:
        return None
    stood = [life.writes[number] for number in life.stood(at - READ_BEFORE_MS, _told_by(tale, at))]
    wishes = [write.definition.get("onComplete") for write in stood]
    if not wishes or any(each != wishes[0] for each in wishes):
        return None
    first: Mapping[str, Any] | None = wishes[0]
    return first


def _told_by(tale: Tale, at: int) -> int:
    """Return when the notification of an end at that instant has left at the latest."""
    until = at + TELLING_MS
    for off_at, on_at in times_off(tale):
        if off_at < until and at < on_at:
            until = max(until, on_at + TELLING_MS)
    for mishap in tale.of(Mishap):
        if mishap.kind == "received in vain" and at <= mishap.at <= until:
            until = max(until, mishap.at + IN_VAIN_MS)
    return until


def _is_owed(tale: Tale, end: End, at: int, on_complete: Mapping[str, Any]) -> bool:
    """Whether a notification has to have left. For a chain, the next job has to be there and not paused."""
    if on_complete["type"] != "job":
        return True
    if end.state not in WHEN[on_complete.get("when", "succeeded")]:
        return False
    return any(
        life.name == on_complete["name"]
        and life.writes[0].at <= at
        and life.deleted_at is None
        and not life.is_held
        and not any("-chained-" in each for each in tale.buried if each.startswith(life.uid))
        for life in tale.lives.values()
    )
