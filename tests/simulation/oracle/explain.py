"""What the list of runs and explanations say at the end of a world: it has to be what the trace shows.

Explanations are asked for by name and instant, after the world has come to rest. Nothing changes any more.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tests.simulation.oracle.lives import Life
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.trace import Deleted, Removed, RunStored

#: Two clocks differ by up to this much, so a change may be dated so much later or earlier than it was made.
CLOCKS_MS = 90_000

#: The verdict that follows from the record of a run, by its state. A skipped run says why.
OF_STATES: Final = {
    "succeeded": "delivered",
    "failed": "failed",
    "retrying": "retrying",
    "cancelled": "cancelled",
    "claimed": "running",
    "running": "running",
}
OF_RECORDS: Final = {*OF_STATES.values(), "misfire", "overlap"}

#: Verdicts that may stand before that of the record: the pause, or what moved the trigger.
BEFORE_RECORDS: Final = {"paused", "clock-change", "jitter"}

#: A trigger of which one of these is true never leaves.
NEVER_SENT: Final = {
    "not-created",
    "on-demand",
    "before-due-time",
    "after-ttl",
    "repeats-used",
    "not-scheduled",
    "misfire",
    "overlap",
    "scheduled",
}


@dataclass(frozen=True, slots=True)
class Explained:
    """What an explanation said of an instant, about the job of a name. `due_at` is that of the trigger."""

    name: str
    at: int
    verdict: str
    due_at: int | None


def explanations_are_true(tale: Tale, explained: Sequence[Explained]) -> Iterator[str]:
    """Nothing is said of a trigger that its record, its requests or its job contradict."""
    records = _last_records(tale)
    for each in explained:
        for why in _contradictions(tale, each, records):
            yield f"{each.name} at {each.at} is explained by {each.verdict}, but {why}"


def runs_that_need_a_look_are_listed(tale: Tale, flagged: Collection[tuple[str, str]]) -> Iterator[str]:
    """Each run that failed, was skipped or is retried has a flag. `flagged` are uids and run ids."""
    for (uid, run_id), record in _last_records(tale).items():
        if record.state in ("failed", "skipped", "retrying") and (uid, run_id) not in flagged:
            yield f"run {run_id} of {record.name} is {record.state}, and it has no flag"


def _last_records(tale: Tale) -> dict[tuple[str, str], RunStored]:
    """The record of each run at the end, by uid and run id, without those that expired or were released."""
    gone = {(each.uid, each.run_id) for each in tale.of(Removed) if each.item == "run"}
    stored = {(each.uid, each.run_id): each for each in tale.of(RunStored)}
    return {run: each for run, each in stored.items() if run not in gone and each.state != "released"}


def _contradictions(
    tale: Tale, explained: Explained, records: dict[tuple[str, str], RunStored]
) -> Iterator[str]:
    verdict, at = explained.verdict, explained.at if explained.due_at is None else explained.due_at
    lives = [life for life in tale.lives.values() if life.name == explained.name]
    run_id = f"{at}-0"
    uids = {life.uid for life in lives}
    # Of a batch, an explanation is about the first trigger.
    found = [each for (uid, run), each in records.items() if uid in uids and run == run_id]
    said = {_of_record(each) for each in found}
    if verdict in OF_RECORDS - {"misfire"} and verdict not in said:
        yield f"the records say {sorted(said) or 'nothing'}"
    if len(lives) == 1 and said and verdict not in said | BEFORE_RECORDS:
        yield f"its record says {sorted(said)}"
    was_sent = len(lives) == 1 and tale.requests_of.get(f"{lives[0].uid}-{run_id}")
    if was_sent and verdict in NEVER_SENT and not _was_skipped_again(tale, lives[0], run_id, verdict):
        yield "it was sent"
    if verdict == "paused" and not any(_may_be_paused(life, at) for life in lives):
        yield "the job was not paused"
    asked = {each.uid for each in tale.of(Deleted) if each.verb in ("delete", "delete many")}
    if verdict == "deleted" and not any(
        _may_be_deleted(life, at) or (life.uid not in asked and _has_expired_since(life, at))
        for life in lives
    ):
        yield "nobody had deleted it"


def _was_skipped_again(tale: Tale, life: Life, run_id: str, verdict: str) -> bool:
    """Whether a trigger was skipped after a delivery that left no record, so that nothing told of it.

    Its job keeps no record of successes, and its first attempt was not claimed. After a loss of timers, a
    sweeper may find the trigger again and skip it by the rules of catch-up. A copy of its message may be
    skipped by those of overlap.
    """
    requests = tale.requests_of[f"{life.uid}-{run_id}"]
    stored = tale.runs_of.get((life.uid, run_id), [])
    left_none = all(each.token is None and each.attempt == 1 for each in requests)
    skipped_at = min((each.at for each in stored), default=tale.ends_at)
    if any(each.state != "skipped" for each in stored) or skipped_at < requests[0].at or not left_none:
        return False
    if verdict == "overlap":
        return bool(stored)
    return verdict == "misfire" and bool(tale.losses)


def _of_record(record: RunStored) -> str:
    if record.state == "skipped":
        return "misfire" if record.reason == "misfire" else "overlap"
    return OF_STATES[record.state]


def _may_be_deleted(life: Life, at: int) -> bool:
    """Whether the job was deleted by then. A repeated creation may have brought it back."""
    deletions = [*life.gone_at.values(), *([] if life.deleted_at is None else [life.deleted_at])]
    return any(each < at + CLOCKS_MS for each in deletions)


def _has_expired_since(life: Life, at: int) -> bool:
    """Whether the job was there, and had an end.

    When it is gone, its changes do not tell this end from a deletion that failed (decision 010).
    """
    return life.writes[0].at < at and life.writes[-1].expires_at is not None


def _may_be_paused(life: Life, at: int) -> bool:
    """Whether some pause of the job may have held a trigger that was due at that instant.

    If a pause is shorter than clocks may differ, its end may be dated before its beginning. The history then
    shows another order.
    """
    for number, write in enumerate(life.writes):
        if write.paused_at is None:
            continue
        resumed_at = next((each.at for each in life.writes[number:] if each.paused_at is None), None)
        has_begun = write.paused_at < at or resumed_at is None
        if has_begun and resumed_at is not None and resumed_at - write.at < CLOCKS_MS:
            return True
        if has_begun and (resumed_at is None or at <= resumed_at + CLOCKS_MS):
            return True
    return False
