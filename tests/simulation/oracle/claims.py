"""Checks that no claim of an attempt is left behind, and of what a FIFO queue drops."""

from collections import defaultdict
from collections.abc import Iterator

from tests.simulation.oracle.lives import Life, told
from tests.simulation.oracle.owed import owed
from tests.simulation.oracle.reports import (
    LOOK_MS,
    PUT_BACK_MAX_MS,
    READ_BEFORE_MS,
    named,
    trigger_id_of,
)
from tests.simulation.oracle.runs import taken_back
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.trace import Dropped, Mishap, Requested, RunStored

#: By how much clocks may differ where a function waits for the end of a claim.
CLOCKS_MS = 90_000

#: How long an attempt is claimed.
CLAIM_MS = 180_000


def claims_end(tale: Tale) -> Iterator[str]:
    """A claimed run goes on: if its holder dies, another function takes it over."""
    for (uid, _), stored in tale.runs_of.items():
        last, life = stored[-1], tale.lives.get(uid)
        if last.state != "claimed" or life is None:
            continue
        trigger_id = trigger_id_of(last)
        if life.is_held and last.attempts < tale.redriven_from.get(trigger_id, last.attempts + 1):
            continue
        requests = tale.requests_of.get(trigger_id, [])
        is_given_up = _was_given_up(tale, last)
        # By another function's clock a pause or a cut lies before the due time, so the trigger is owed no
        # more.
        is_taken_back = taken_back(life, requests) if requests else not _is_owed(tale, life, last)
        # One version of its job asked for the claim. It may succeed under another version that keeps no
        # record of successes, or whose record could not be written.
        keeps_none = any(write.definition.get("history") == "failures" for write in life.writes)
        is_unrecorded = any(
            each.outcome == "succeeded" and each.at > last.at and (keeps_none or _is_troubled(tale, each.at))
            for each in tale.conclusions_of.get(trigger_id, [])
        )
        if is_given_up or is_taken_back or is_unrecorded:
            continue
        # A message that a pause held may come again before a function finds that its job is deleted.
        deleted_by = 0 if life.deleted_at is None else life.deleted_at + PUT_BACK_MAX_MS
        if max(last.at, deleted_by) + CLAIM_MS + CLOCKS_MS + LOOK_MS < tale.through:
            yield f"{named(last)} is claimed since {told(last.at)}, and nothing follows"


def _was_given_up(tale: Tale, claim: RunStored) -> bool:
    """Whether the trigger became a dead letter after its claim, or its dead letter is the only record.

    The delivery function writes the dead letter, and then claims the run in order to record its failure. If
    the store of runs fails after that claim, the run stays claimed. The claim of a redrive is no such claim.
    """
    trigger_id = trigger_id_of(claim)
    buried_at = tale.buried_at.get(trigger_id)
    if buried_at is None:
        return False
    if buried_at > claim.at:
        return True
    is_redrive = claim.attempts >= tale.redriven_from.get(trigger_id, claim.attempts + 1)
    return not is_redrive and claim.at - buried_at < READ_BEFORE_MS and _is_troubled(tale, claim.at)


def _is_troubled(tale: Tale, at: int) -> bool:
    """Whether a fault met a record soon after that instant."""
    mishaps = (each for each in tale.of(Mishap) if at <= each.at <= at + READ_BEFORE_MS)
    return any("runs" in each.where for each in mishaps)


def _is_owed(tale: Tale, life: Life, stored: RunStored) -> bool:
    """Whether a claimed run is still owed by its job. A trigger on demand always is."""
    due_at, _, _ = stored.run_id.partition("-")
    return not due_at.isdigit() or any(each == int(due_at) for _, each in owed(tale, life))


def what_is_asked_for_again_arrives(tale: Tale) -> Iterator[str]:
    """A FIFO queue delivers an attempt after one that its consumer could report on, and one of a redrive.

    In other cases a message that the queue has taken has succeeded. Another attempt is then
    made only because an answer was lost or a copy of the attempt was refused, and the queue may drop it. The
    same attempt may be sent twice. An update may have given the job a queue instead of a consumer that
    reports. Then the trigger may come again under the new revision, with its first attempt. The queue may
    have taken that.
    """
    left: dict[tuple[str, int], int] = {}
    dropped: dict[tuple[str, int], int] = {}
    reported: dict[str, int] = {}
    unreported: dict[str, set[int]] = defaultdict(set)
    for event in tale.events:
        if isinstance(event, Requested):
            left[event.trigger_id, event.attempt] = left.get((event.trigger_id, event.attempt), 0) + 1
            if event.token is not None:
                reported.setdefault(event.trigger_id, event.attempt)
            elif event.trigger_id in reported:
                unreported[event.trigger_id].add(event.attempt)
        elif isinstance(event, Dropped):
            place = event.trigger_id, event.attempt
            dropped[place] = dropped.get(place, 0) + 1
            has_arrived = left.get(place, 0) > dropped[place]
            is_redriven = event.attempt >= tale.redriven_from.get(event.trigger_id, event.attempt + 1)
            is_after_one_reported = reported.get(event.trigger_id, event.attempt) < event.attempt
            is_after_one_reported &= all(each >= event.attempt for each in unreported[event.trigger_id])
            if not has_arrived and (is_redriven or is_after_one_reported):
                what = f"{event.name}: attempt {event.attempt} of {event.trigger_id}"
                yield f"{what}, made on request, was dropped by its queue at {told(event.at)}"
