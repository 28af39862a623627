"""What the API says at the end of a world: runs, explanations, forecasts and counts agree with the trace."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tests.simulation.oracle.lives import Life
from tests.simulation.oracle.misfires import pause_end
from tests.simulation.oracle.tale import Tale
from tests.simulation.oracle.windows import REASON
from tests.simulation.traces.trace import Concluded, Deleted, Mishap, Removed, Requested, RunAsked, RunStored

from sweephand.base.instants import Instant
from sweephand.model.counters import Stats

#: Two clocks differ by up to this much, so a change may be dated so much later or earlier than it was made.
CLOCKS_MS = 90_000

#: A message is in its queue for up to this long before it is due.
QUEUED_MS = 900_000

#: The verdict that follows from the record of a run, by its state. A skipped run says why.
OF_STATES: Final = {
    "succeeded": "delivered",
    "failed": "failed",
    "retrying": "retrying",
    "cancelled": "cancelled",
    "claimed": "running",
    "running": "running",
}
OF_RECORDS: Final = {*OF_STATES.values(), "misfire", "overlap", "window"}

#: Verdicts that may stand before that of the record: the pause, or what moved the trigger.
BEFORE_RECORDS: Final = {"paused", "calendar", "clock-change", "jitter"}

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

    Its job keeps no record of successes, and its first attempt was not claimed. After a loss of timers or
    a sweep without a commit, a sweeper may find the trigger again and skip it by catch-up. A copy of its
    message may be skipped by the rules of overlap, or for a window.
    """
    requests = tale.requests_of[f"{life.uid}-{run_id}"]
    stored = tale.runs_of.get((life.uid, run_id), [])
    left_none = all(each.token is None and each.attempt == 1 for each in requests)
    skipped_at = min((each.at for each in stored), default=tale.ends_at)
    if any(each.state != "skipped" for each in stored) or skipped_at < requests[0].at or not left_none:
        return False
    if verdict in ("overlap", "window"):
        return bool(stored)
    return verdict == "misfire" and (bool(tale.losses) or _may_be_swept_again(tale, requests[0], skipped_at))


def _may_be_swept_again(tale: Tale, sent: Requested, by: int) -> bool:
    """Whether a sweep that may have sent that trigger met a mishap, so that another one decided anew."""
    swept = (each.at for each in tale.of(Mishap) if each.where.startswith(("tick ", "sweep ")))
    return any(sent.at - QUEUED_MS <= at <= by for at in swept)


def _of_record(record: RunStored) -> str:
    if record.state == "skipped" and (record.reason or "").startswith(REASON):
        return "window"
    if record.state == "skipped":
        return "misfire" if record.reason == "misfire" else "overlap"
    return OF_STATES[record.state]


def _may_be_deleted(life: Life, at: int) -> bool:
    """Whether the job was deleted by then. A repeated creation may have brought it back."""
    return any(each < at + CLOCKS_MS for each in life.deletions)


def _has_expired_since(life: Life, at: int) -> bool:
    """Whether the job was there, and had an end.

    When it is gone, its changes do not tell this end from a deletion that failed (decision 002).
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


@dataclass(frozen=True, slots=True)
class Forecasted:
    """The answer to a question for a forecast: the triggers of each bucket, and how many jobs there are.

    The span is `since <= due < until`. Buckets without triggers are left out.
    """

    since: int
    until: int
    bucket_ms: int
    triggers: Mapping[int, int]
    jobs: int
    paused: int


def forecast_is_what_jobs_owe(tale: Tale, said: Forecasted) -> Iterator[str]:
    """The forecast has the triggers that are due in each bucket, and counts the jobs that are there."""
    there = [life for life in tale.lives.values() if _is_there(life, said.since)]
    if any("batch" in life.last.definition for life in there):
        # The oracle enumerates the occurrences of a batch, and no triggers (oracle/batches.py).
        return
    begins = {life.uid: _fires_from(life, said) for life in there}
    active = [life for life in there if begins[life.uid] < said.until]
    if (said.jobs, said.paused) != (len(active), len(there) - len(active)):
        yield (
            f"the forecast counts {said.jobs} jobs and {said.paused} paused ones, "
            f"and there are {len(active)} and {len(there) - len(active)}"
        )
    owed = Counter(
        (due_at - said.since) // said.bucket_ms
        for life in active
        for due_at, _ in life.occurrences[-1].between(begins[life.uid] - 1, said.until - 1)
    )
    if owed != Counter(said.triggers):
        yield f"the forecast says {dict(said.triggers)} by buckets, and the jobs owe {dict(owed)}"


def _fires_from(life: Life, said: Forecasted) -> int:
    """From when on a job fires in the span of a forecast."""
    if not life.is_held:
        return said.since
    end = pause_end(life)
    return said.until if end is None else max(said.since, end.until)


def _is_there(life: Life, at: int) -> bool:
    expires_at = life.last.expires_at
    is_expired = expires_at is not None and expires_at <= at and not life.is_held
    return life.deleted_at is None and life.removed_at is None and not is_expired


#: Answers by which a consumer takes a trigger.
_TAKEN: Final = ("succeeded", "accepted")

#: Mishaps of a process name it first. These delivery functions deliver, and flow functions too.
_DELIVERS: Final = "deliver "

#: Mishaps of a whole store or queue.
_WIDE: Final = ("outage", "throttled writes")


def counts_are_what_consumers_saw(tale: Tale, counted: Stats, uncounted: int) -> Iterator[str]:
    """The counts agree with the answers of consumers. `uncounted` is how many calls could not count."""
    answers = Counter(each.outcome for each in tale.of(Concluded))
    taken = sum(answers[each] for each in _TAKEN)
    refused = answers.total() - taken
    counted_taken = counted.outcomes["succeeded"] + counted.outcomes["running"]
    counted_refused = counted.outcomes["retrying"] + counted.outcomes["failed"]
    first = sum(each.attempt == 1 for each in tale.of(Requested))
    if counted_taken > taken:
        yield f"{counted_taken} attempts are counted as taken, and consumers took {taken}"
    if counted.lateness.total() > first:
        yield f"the lateness of {counted.lateness.total()} first attempts is counted, and {first} were made"
    if uncounted or _had_trouble(tale):
        return
    if counted_taken < taken:
        yield f"consumers took {taken} attempts, and only {counted_taken} are counted as taken"
    # A deadline ends an attempt that its consumer took, so more may be counted.
    if counted_refused < refused - _ruled_by_callbacks(tale):
        yield f"consumers refused {refused} attempts, and only {counted_refused} are counted so"


def _ruled_by_callbacks(tale: Tale) -> int:
    """How many refused attempts had a callback before their answer: the consumer's answer was lost."""
    called_at: dict[tuple[str, int | None], Instant] = {}
    for asked in tale.of(RunAsked):
        called_at.setdefault((f"{asked.uid}-{asked.run_id}", asked.attempt), asked.at)
    return sum(
        called_at.get((each.trigger_id, each.attempt), each.at) < each.at
        for each in tale.of(Concluded)
        if each.outcome not in _TAKEN
    )


def _had_trouble(tale: Tale) -> bool:
    """Whether a function that delivers may have lost a count."""
    return any(each.where.startswith(_DELIVERS) or each.kind.startswith(_WIDE) for each in tale.of(Mishap))
