"""Checks of what DynamoDB removes when its time to live is over: no owed trigger is lost with it.

semantics.md, "States": a job that has ended is kept for `retention`, and a run for `historyRetention`. An
acknowledged trigger is delivered though its job has ended long ago.
"""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice, pairwise

from tests.simulation.oracle.enumeration import length_ms
from tests.simulation.oracle.jobs import SKEW_MS
from tests.simulation.oracle.lives import Life, told
from tests.simulation.oracle.overlap import QUEUE_DELAY_MAX_MS
from tests.simulation.oracle.stack import times_off
from tests.simulation.oracle.tale import Tale
from tests.simulation.oracle.turns import OVER, PROCESS_MS, is_taken_back
from tests.simulation.traces.trace import Deleted, LineStored, Removed, Requested, RunStored

#: How long runs are kept by default, and jobs that have ended.
HISTORY_DEFAULT = "720h"
HISTORY_MIN_MS = 24 * 3_600_000
RETENTION_DEFAULT = "168h"

#: Duplicates of a trigger that is over come within a day: a message is received again after minutes, and an
#: outage lasts hours.
DUPLICATES_MS = 24 * 3_600_000

#: A job is kept for an hour after its last expected attempt, in case that one begins late. It is kept for as
#: long after the end of a run. The deadline of the run is checked five seconds later.
LATE_MS = 3_595_000

#: The name of a run by hand begins so.
MANUAL = "manual-"

#: In no seed has a series that ends more occurrences than this.
OCCURRENCES_MAX = 5_000


def what_is_over_does_not_come_back(tale: Tale) -> Iterator[str]:
    """A day after its run is over no request of a trigger leaves, unless a caller redrives it.

    A sweeper repeats a page of the wheel with the same ids until its cursor is committed. A first attempt
    that a repetition sends again may leave until a day after that commit.
    """
    for (uid, run_id), stored in tale.runs_of.items():
        trigger_id = f"{uid}-{run_id}"
        asked = [each.at for each in tale.run_asked_of.get((uid, run_id), []) if each.verb == "redrive"]
        asked += [
            each.at
            for each in tale.run_asked
            if each.verb == "redrive many" and stored[0].name.startswith(each.name)
        ]
        times = [each.at for each in stored]
        for request in tale.requests_of.get(trigger_id, []):
            before = stored[: bisect_right(times, request.at - DUPLICATES_MS)]
            if not before or before[-1].state not in OVER:
                continue
            if request.attempt == 1 and (
                _is_of_a_replay(tale, request) or _is_resumed_without_a_record(tale, run_id, request)
            ):
                continue
            over_at = before[-1].at
            is_redriven = any(over_at <= at <= request.at for at in asked)
            if not is_redriven and not _goes_on_again(stored, over_at, request.at):
                what = f"{request.name}: {trigger_id} was {before[-1].state} at {told(over_at)}"
                yield f"{what}, and attempt {request.attempt} left at {told(request.at)}"


def _is_of_a_replay(tale: Tale, request: Requested) -> bool:
    """Whether a day before a request left, the cursor had not passed the timer of its trigger."""
    timers = [
        each
        for each in tale.timers
        if each.kind == "occurrence" and (each.uid, each.rev) == (request.uid, request.rev)
    ]
    began_at = max(
        (each.first_due_at for each in timers if each.first_due_at <= request.due_at), default=None
    )
    until = request.at - DUPLICATES_MS
    return any(
        each.first_due_at == began_at and each.at <= request.at and not tale.is_passed(each, until)
        for each in timers
    )


def _is_resumed_without_a_record(tale: Tale, run_id: str, request: Requested) -> bool:
    """Whether a resume sent a trigger again after DynamoDB had removed the record of its run.

    Clocks differ, so a pause that is written just after a due time may begin before it. Then the resume has
    only the record to tell that the trigger is over.
    """
    gone_at = removed_at(tale, request.uid, run_id, request.at)
    if gone_at is None or request.uid not in tale.lives:
        return False
    return any(
        after.verb == "resume"
        and gone_at <= after.at <= request.at
        and before.paused_at is not None
        and before.paused_at <= request.due_at <= before.paused_at + 2 * SKEW_MS
        for before, after in pairwise(tale.lives[request.uid].writes)
    )


def removed_at(tale: Tale, uid: str, run_id: str, until: int) -> int | None:
    """Return when DynamoDB last removed the record of a run before an instant, None if it did not."""
    gone = (each for each in tale.of(Removed) if (each.uid, each.run_id) == (uid, run_id))
    return max((each.at for each in gone if each.at <= until), default=None)


def jobs_stay_while_they_owe(tale: Tale) -> Iterator[str]:
    """A job that no client deletes can be found while a trigger of it waits, runs or is to be tried again.

    There are two exceptions (docs/promises.md). The trigger is delivered in both of them, unless somebody
    gives the name to another job. An occurrence of an earlier revision may begin late, after the job has gone
    with its last run. So may any occurrence of a job that records no success. And a job may end while the
    wheel stands still in which the trigger waits.
    """
    for life in tale.lives.values():
        for at, why in _gone(tale, life):
            for trigger_id, what in _going_on(tale, life, at):
                if life.last.verb == "expire" and _is_late_and_unseen(tale, life, trigger_id):
                    continue
                if _stands_still(tale, life, trigger_id, at):
                    continue
                yield f"{life.name}: {life.uid} {why} at {told(at)}, and {trigger_id} {what}"


def jobs_stay_for_their_retention(tale: Tale) -> Iterator[str]:
    """A job that ends is not gone before its last occurrence and its `retention` are over.

    A job on demand ends with its `ttl`, and is never gone without one.
    """
    for life in tale.lives.values():
        for write, occurrences in zip(life.writes, life.occurrences, strict=True):
            if write.expires_at is None or write.verb == "expire":
                continue
            timing = occurrences.timing
            if timing.is_on_demand and timing.ttl_at is None:
                yield f"{life.name}: revision {write.rev} fires on demand, and has an expiry"
                continue
            dues = (at for at, _ in islice(timing.numbered(), OCCURRENCES_MAX))
            last_at = max(dues, default=(timing.is_on_demand and timing.ttl_at) or 0)
            kept_ms = length_ms(write.definition.get("retention", RETENTION_DEFAULT))
            # A job that goes with its last run keeps the end that it has.
            has_gone = any(each.verb == "expire" for each in life.writes)
            if write.expires_at < last_at + kept_ms and not has_gone:
                what = f"{life.name}: revision {write.rev} is gone at {told(write.expires_at)}"
                yield f"{what}; its last occurrence is at {told(last_at)}, and it is kept for {kept_ms} ms"


def lines_stay_while_somebody_waits(tale: Tale) -> Iterator[str]:
    """No line is removed that a trigger waits in, or that is held by one whose run is not over.

    A job whose runs do not take turns any more needs no line: its triggers leave without one.
    """
    for event in tale.of(Removed):
        life = tale.lives.get(event.uid)
        if event.item == "line" and life is not None and _is_there(life, event.at):
            present = [each for each in life.writes if each.at <= event.at][-1]
            if present.definition.get("overlap", "allow") == "allow":
                continue
            for trigger_id, what in _in_line(tale, life, event.at):
                yield f"{event.name}: its line was removed at {told(event.at)}, and {trigger_id} {what}"


def records_stay(tale: Tale) -> Iterator[str]:
    """The record of a run is removed when the run is over, and `historyRetention` after its last attempt."""
    for event in tale.of(Removed):
        life = tale.lives.get(event.uid)
        if event.item != "run" or life is None:
            continue
        stored = [each for each in tale.runs_of[event.uid, event.run_id] if each.at <= event.at]
        last, what = stored[-1], f"{event.name}: the record of run {event.uid}-{event.run_id} was removed"
        if last.state in ("running", "retrying"):
            yield f"{what} at {told(event.at)}, and the run is {last.state}"
        elif last.state in OVER:
            kept_ms = min(_history_ms(life, stored, last))
            if event.at < _began_at(stored) - PROCESS_MS + kept_ms - SKEW_MS:
                what = f"{what} at {told(event.at)}; it was over at {told(last.at)}"
                yield f"{what}, and is kept for {kept_ms} ms"


def _history_ms(life: Life, stored: list[RunStored], last: RunStored) -> Iterator[int]:
    """Return how long every version of the job that may have been read keeps its runs."""
    numbers = list(life.stood(_began_at(stored) - PROCESS_MS, last.at)) or [len(life.writes) - 1]
    for number in numbers:
        kept = life.writes[number].definition.get("historyRetention", HISTORY_DEFAULT)
        yield max(length_ms(kept), HISTORY_MIN_MS)


def _began_at(stored: list[RunStored]) -> int:
    """Return when the last attempt of a run began. Without a claim this is about when it ended.

    Misfires are skipped as of when a sweep first saw them, which is after the first of them was due.
    """
    if stored[-1].reason == "misfire":
        return int(stored[-1].run_id.partition("-")[0])
    return next((each.at for each in reversed(stored) if each.state == "claimed"), stored[-1].at)


def _goes_on_again(stored: list[RunStored], over_at: int, at: int) -> bool:
    """Whether a redrive has begun the run again since it was over."""
    return any(each.before == "failed" and over_at < each.at <= at for each in stored)


def _gone(tale: Tale, life: Life) -> Iterator[tuple[int, str]]:
    """Return when a job that no client deleted could not be found, and why."""
    deleted = {each.uid: each for each in tale.of(Deleted)}
    if life.removed_at is not None:
        yield life.removed_at, "was removed"
    if life.uid in deleted and deleted[life.uid].verb == "create":
        at = deleted[life.uid].at
        if not _is_about_time_off(tale, at):
            yield at, "was replaced by another job of its name"
    for number, write in enumerate(life.writes):
        if write.expires_at is None or write.verb == "expire":
            continue
        # A message that is put back and comes again may keep the job.
        at = write.expires_at + QUEUE_DELAY_MAX_MS + SKEW_MS + PROCESS_MS
        if _is_about_time_off(tale, at):
            continue
        if at < tale.ends_at and _is_there(life, at) and list(life.stood(write.expires_at, at)) == [number]:
            yield at, "could not be found any more"


def _is_about_time_off(tale: Tale, at: int) -> bool:
    """Whether the stack was switched off at that instant, or had been on again for less than a day.

    The API does not show a job that has ended, and another job may take its name (docs/operations.md). If no
    other job takes its name, DynamoDB keeps the item, so its triggers are still delivered.
    """
    return any(off_at <= at <= on_at + DUPLICATES_MS for off_at, on_at in times_off(tale))


def _stands_still(tale: Tale, life: Life, trigger_id: str, at: int) -> bool:
    """Whether no sweep has passed the retry or the deadline of a trigger, so that its job has ended before.

    The job has to be kept for an hour after the retry or the deadline was due. While no sweep succeeds,
    nothing keeps it for longer. Before DynamoDB removes the job, it removes the timer.
    """
    if life.removed_at is not None and life.removed_at <= at:
        return False
    kinds = ("retry", "deadline")
    stored = [each for each in tale.timers if each.at <= at and each.kind in kinds]
    timer = next((each for each in reversed(stored) if each.trigger_id == trigger_id), None)
    expires_at = life.writes[list(life.stood(at, at))[-1]].expires_at
    if timer is None or expires_at is None or tale.is_passed(timer, at):
        return False
    return timer.due_at + LATE_MS <= expires_at


def _is_there(life: Life, at: int) -> bool:
    ended = [each for each in (life.deleted_at, life.removed_at) if each is not None]
    return not ended or min(ended) > at


def _going_on(tale: Tale, life: Life, at: int) -> Iterator[tuple[str, str]]:
    """Return the triggers of a job that wait, run or are to be tried again, with their states."""
    yield from _in_line(tale, life, at)
    for (uid, run_id), stored in tale.runs_of.items():
        before = [each for each in stored if each.at <= at]
        if uid == life.uid and before and before[-1].state in ("running", "retrying"):
            yield f"{uid}-{run_id}", f"was {before[-1].state}"


def _is_late_and_unseen(tale: Tale, life: Life, trigger_id: str) -> bool:
    """Whether a trigger had no event before its job went with the run that seemed to be its last.

    The job has no occurrence for triggers of an earlier revision and triggers by hand. If it keeps no record
    of a success, any trigger may come after the last one (docs/promises.md).
    """
    keeps_none = any(write.definition.get("history") == "failures" for write in life.writes)
    name = trigger_id.removeprefix(f"{life.uid}-")
    due_at = name.partition("-")[0]
    is_by_hand = name.startswith(MANUAL)
    is_owned = not due_at.isdigit() or life.reigns()[-1].owns(int(due_at))
    if not is_by_hand and not keeps_none and is_owned:
        return False
    for event in tale.turns_of.get(life.uid, []):
        if event.at >= life.last.at:
            break
        if isinstance(event, LineStored):
            places = (event.holder, *event.waiting)
            if any(place is not None and place.trigger_id == trigger_id for place in places):
                return False
        elif isinstance(event, RunStored) and f"{event.uid}-{event.run_id}" == trigger_id:
            return False
    return True


def _in_line(tale: Tale, life: Life, at: int) -> Iterator[tuple[str, str]]:
    """Return the triggers in a job's line whose runs are not over at an instant."""
    lines = [each for each in tale.turns_of.get(life.uid, []) if isinstance(each, LineStored)]
    line = next((each for each in reversed(lines) if each.at < at), None)
    if line is None:
        return
    holders = () if line.holder is None else (line.holder,)
    for place in (*holders, *line.waiting):
        run_id = place.trigger_id.removeprefix(f"{life.uid}-")
        before = [each for each in tale.runs_of.get((life.uid, run_id), []) if each.at <= at]
        # A dead letter may hold its line until the next trigger comes.
        is_buried = tale.buried_at.get(place.trigger_id, at + 1) <= at
        is_over = is_buried or (bool(before) and before[-1].state in OVER)
        if not is_over and not is_taken_back(life, place, at):
            yield place.trigger_id, "was in its line"
