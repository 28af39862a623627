"""Checks of jobs that go with their last run: they go then, not before, and no owed trigger is lost."""

from collections.abc import Iterator
from typing import NamedTuple

from tests.simulation.oracle.ends import OVER, is_past
from tests.simulation.oracle.jobs import SKEW_MS
from tests.simulation.oracle.lives import Life, told
from tests.simulation.oracle.owed import is_excused, owed
from tests.simulation.oracle.runs import OUR_FAULT
from tests.simulation.oracle.tale import Tale
from tests.simulation.oracle.turns import PROCESS_MS
from tests.simulation.traces.trace import Deleted, Mishap, RunStored, Written

#: The field of a job that goes with its last run.
FIELD = "deleteAfterCompletion"

#: How soon after the end of its last run a job is gone, if no fault happens.
PROMPT_MS = 60_000

#: A message of a function that dies is shown again and handled within this time.
AGAIN_MS = 360_000

#: Faults that keep a store from being read or written, and those of them that last for a while.
LASTING = {"outage", "throttled writes"}
TROUBLES = {"throttle", "loss", "part", "answer lost", *LASTING}

#: The requests by which a job's item goes, or by which another job takes its name.
DELETIONS = {"delete", "delete many", "create"}


class _End(NamedTuple):
    """When a run was over, and whether a report or a cancel ended it."""

    at: int
    run_id: str
    is_reported: bool


def only_who_wants_to_goes(tale: Tale) -> Iterator[str]:
    """A job goes by itself only if it asks for it, is not paused and nothing is to come. Its item stays."""
    for life, number in _goings(tale):
        write = life.writes[number]
        if not write.definition.get(FIELD, False):
            yield f"{_named(life, write)}, but never asked for it"
        if write.paused_at is not None:
            yield f"{_named(life, write)}, and is paused"
        ruling = life.reigns(number)[-1]
        coming = ruling.occurrences.next_after(write.at + SKEW_MS)
        if coming is not None:
            yield f"{_named(life, write)}, and has an occurrence at {told(coming)}"
    for event in tale.of(Deleted):
        if event.verb not in DELETIONS:
            what = f"{event.name}: the item of {event.uid} was removed at {told(event.at)}"
            yield f"{what}, though nobody asked for it"


def nobody_goes_before_the_last_run_is_over(tale: Tale) -> Iterator[str]:
    """When a job goes by itself, every occurrence is over, and no other run of it goes on.

    Production cannot know of an occurrence that has not begun if it is of an earlier revision, or if
    successes leave no record. The last occurrence is always known. An unknown occurrence is delivered all the
    same, as long as no other job has the name.
    """
    for life, number in _goings(tale):
        write = life.writes[number]
        dues = [each for each in owed(tale, life, number, write.at + SKEW_MS) if each[0].rev == write.rev]
        if any(each.definition.get("history") == "failures" for each in life.writes[:number]):
            dues = dues[-1:]
        for reign, due_at in dues:
            if not _is_over(tale, life, due_at, write.at) and not is_excused(tale, life, reign, due_at):
                yield f"{_named(life, write)}, and its run of {told(due_at)} is not over"
        for (uid, run_id), stored in tale.runs_of.items():
            if uid == life.uid and _goes_on(stored, write.at - PROCESS_MS, write.at):
                yield f"{_named(life, write)}, and run {run_id} of it goes on"


def who_wants_to_goes(tale: Tale) -> Iterator[str]:
    """A job that is to go with its last run has gone a minute after it.

    If the function that ended the run may have died, the job has gone when the message has come again. If a
    write failed, the job stays for the time for which jobs are kept.
    """
    from_at = undisturbed_from(tale)
    for life in tale.lives.values():
        if life.deleted_at is not None or life.is_held or not life.last.definition.get(FIELD, False):
            continue
        written_at = max(write.at for write in life.writes if write.verb not in ("expire", "keep"))
        ended = _ended(tale, life, from_at)
        if ended is None or ended.at < written_at + PROCESS_MS:
            continue
        is_calm = ended.at >= from_at
        if not is_calm and (ended.is_reported or _is_troubled(tale, ended.at)):
            continue
        late_at = ended.at + (PROMPT_MS if is_calm else AGAIN_MS)
        # The item was not kept for that long, so no function has to delete it.
        is_gone = any(write.verb == "expire" for write in life.writes) or is_past(life.last, late_at)
        if not is_gone and late_at < tale.through:
            what = f"{life.name}: the last run of {life.uid}, {ended.run_id}, was over"
            yield f"{what} at {told(ended.at)}, and the job is still there"


def undisturbed_from(tale: Tale) -> int:
    """Return from when on no fault happens and none has effects. It is the end if that is not known."""
    if tale.calm_at is None:
        return tale.ends_at
    return max([tale.calm_at, *(each.at for each in tale.of(Mishap))]) + PROCESS_MS


def _goings(tale: Tale) -> Iterator[tuple[Life, int]]:
    """Return each write by which a job has gone by itself."""
    for life in tale.lives.values():
        for number, write in enumerate(life.writes):
            if write.verb == "expire":
                yield life, number


def _is_over(tale: Tale, life: Life, due_at: int, at: int) -> bool:
    """Whether the run of an occurrence was over by then: by its record, or as a success without one."""
    run_id = f"{due_at}-0"
    stored = [each for each in tale.runs_of.get((life.uid, run_id), []) if each.at <= at]
    if stored and stored[-1].state in OVER:
        return True
    concluded = tale.conclusions_of.get(f"{life.uid}-{run_id}", [])
    return any(each.outcome == "succeeded" and each.at <= at for each in concluded)


def _goes_on(stored: list[RunStored], since: int, at: int) -> bool:
    """Whether a run had a record and was not over at some instant between two.

    A claim that was released leaves no record: its run has not begun.
    """
    before = [each for each in stored if each.at <= since]
    meanwhile = [each for each in stored if since < each.at <= at]
    ended = {*OVER, "released"}
    return bool(before) and all(each.state not in ended for each in (before[-1], *meanwhile))


def _ended(tale: Tale, life: Life, from_at: int) -> _End | None:
    """Return the end of the last of a job's runs, or None if not all are over, or if it cannot be known."""
    if life.reigns()[-1].occurrences.next_after(tale.through) is not None:
        return None
    runs = {run_id: stored[-1] for (uid, run_id), stored in tale.runs_of.items() if uid == life.uid}
    if any(each.state not in OVER for each in runs.values()):
        return None
    keeps_none = all(write.definition.get("history") == "failures" for write in life.writes)
    ends = [_End(each.at, run_id, _is_reported(tale, each)) for run_id, each in runs.items()]
    dues = [due_at for _, due_at in owed(tale, life)]
    for due_at in dues:
        run_id = f"{due_at}-0"
        if run_id in runs:
            continue
        done = [each.at for each in tale.conclusions_of.get(f"{life.uid}-{run_id}", [])]
        # Where successes leave no record, the last run does, if no fault happens.
        if not keeps_none or not done:
            return None
        if due_at == max(dues) and max(done) < from_at and _is_troubled(tale, max(done)):
            return None
        ends.append(_End(max(done), run_id, is_reported=False))
    if not dues or not ends:
        return None
    ended = max(ends)
    trigger_id, last = f"{life.uid}-{ended.run_id}", runs.get(ended.run_id)
    # After Sweephand itself failed, no function checks whether the run was the last.
    reasons = (last.reason or "" if last is not None else "", tale.buried.get(trigger_id, ""))
    is_ours = any(each.startswith(OUR_FAULT) for each in reasons)
    is_given_up = bool(tale.given_up.get(trigger_id, set()) - {"trigger", "notify"})
    # By another function's clock, before the calm, an occurrence was still to come.
    is_early = ended.at < min(max(dues) + SKEW_MS, from_at)
    return None if is_ours or is_given_up or is_early else ended


def _is_reported(tale: Tale, stored: RunStored) -> bool:
    requests = tale.requests_of.get(f"{stored.uid}-{stored.run_id}", [])
    return stored.state == "cancelled" or any(each.token is not None for each in requests)


def _is_troubled(tale: Tale, at: int) -> bool:
    """Whether jobs or runs could not be read or written at some time until the message came again."""
    for each in tale.of(Mishap):
        kind, _, lasted = each.kind.partition(" of ")
        lasted_ms = int(lasted.removesuffix(" ms")) if kind in LASTING else 0
        is_near = each.at <= at + AGAIN_MS and each.at + lasted_ms >= at - PROCESS_MS
        if is_near and kind in TROUBLES and any(port in each.where for port in ("jobs", "runs")):
            return True
    return False


def _named(life: Life, write: Written) -> str:
    return f"{life.name}: {life.uid} went by itself at {told(write.at)}"
