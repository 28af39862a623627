"""What a job owes: the due times of its revisions, without those that the protocol excuses."""

import re
from collections.abc import Iterator

from tests.simulation.oracle.enumeration import length_ms
from tests.simulation.oracle.jobs import SKEW_MS
from tests.simulation.oracle.lives import Life, Reign
from tests.simulation.oracle.misfires import WINDOW_DEFAULT, catchup_of, misfires
from tests.simulation.oracle.tale import Tale
from tests.simulation.oracle.windows import REASON, was_skipped
from tests.simulation.traces.trace import Buried, Mishap, TimerStored

#: After this many failures to handle a message, Sweephand gives it up.
FAULTS_MAX = 60

#: The reason of a message that Sweephand failed to handle so often.
FAULTY = re.compile(r"Sweephand failed to handle it \d+ times")

#: What makes a message come again without an end: as many of these as Sweephand counts crashes.
DEATHS = ("kill", "time limit", "pause", "received in vain")
CRASHES_MAX = 5

#: Who handles messages, and who has no function for them, at the beginning of where a mishap happened.
HANDLERS = ("deliver ", "Lambda")

#: The reasons of a message over which too many processes died, by SQS and by Sweephand.
CRASHED = ("received ", "Sweephand failed to handle it: ")


#: How long a timer waits that could not be expanded. The last such wait does not count as lateness.
PUT_OFF_MS = 300_000

#: A sweeper that has written a copy moves its cursor within this time, or its function has ended.
COMMIT_MAX_MS = 180_000


def owed(tale: Tale, life: Life, number: int = -1, through: int | None = None) -> Iterator[tuple[Reign, int]]:
    """Return the reigns and due times for which a request has to have left, unless the trace excuses it.

    If a write's number and an instant are given, they are those of the job as of that write, up to that
    instant. A job that came back after its deletion does not owe what fell due before.
    """
    if number == -1 and (life.deleted_at is not None or life.is_held):
        # A deleted job owes nothing. A paused job's triggers are held until it is resumed.
        return
    skipped = {
        (write.rev, due_at)
        for resumed, write in enumerate(life.writes)
        if write.verb == "resume"
        for due_at in misfires(life, resumed).skipped
    }
    until = tale.through if through is None else through
    back_at = life.came_back_at or 0
    for reign in life.reigns(number):
        dues = (due_at for due_at in reign.dues(until) if due_at > back_at)
        yield from ((reign, due_at) for due_at in dues if (reign.rev, due_at) not in skipped)


def is_excused(tale: Tale, life: Life, reign: Reign, due_at: int) -> bool:
    """Whether the trace explains that no request left for an owed due time."""
    if f"{life.uid}-{due_at}-0" in tale.ended_by_hand:
        return True
    if _is_given_up(tale, life, due_at) or was_skipped(tale, life.uid, due_at):
        return True
    has_overlap = any(write.definition.get("overlap", "allow") != "allow" for write in life.writes)
    if has_overlap and any(each.reason == "overlap" for each in tale.runs_at(life.uid, due_at)):
        return True
    return may_be_misfire(tale, life, reign, due_at)


def _is_given_up(tale: Tale, life: Life, due_at: int) -> bool:
    """Whether the message was given up, after as many faults or deaths as that takes."""
    return any(
        _has_cause(tale, life, due_at, letter)
        for letter in tale.of(Buried)
        if _is_about(letter, life, due_at)
    )


def _is_about(letter: Buried, life: Life, due_at: int) -> bool:
    if letter.due_range is not None:
        return letter.uid == life.uid and letter.due_range[0] <= due_at <= letter.due_range[1]
    trigger_id = letter.trigger_id or ""
    return letter.of == "trigger" and life.uid in trigger_id and str(due_at) in trigger_id


def _has_cause(tale: Tale, life: Life, due_at: int, letter: Buried) -> bool:
    """Whether that went wrong before the letter which its reason says.

    A range is given up for a reason that its triggers share.
    """
    before = [each for each in tale.of(Mishap) if each.at <= letter.at]
    if FAULTY.match(letter.reason) and len(before) > FAULTS_MAX:
        return True
    # A worker of a line that finds an abandoned claim counts a crash of each trigger that may have begun.
    deaths = [each for each in before if each.kind.startswith(DEATHS) and each.where.startswith(HANDLERS)]
    is_own = any(f"{life.uid}-{due_at}" in each.where for each in deaths)
    is_crashed = letter.due_range is not None or letter.reason.startswith(CRASHED)
    return is_crashed and (is_own or len(deaths) >= CRASHES_MAX)


def may_be_misfire(tale: Tale, life: Life, reign: Reign, due_at: int) -> bool:
    """Whether a sweep may have found it so late that catch-up skips it: then a later one fires instead."""
    catchup = catchup_of(next(each for each in life.writes if each.rev == reign.rev).definition)
    mode = catchup.get("mode", "latest")
    window_ms = length_ms(catchup.get("window", WINDOW_DEFAULT))

    def is_late(due_at: int) -> bool:
        found = _found_at(tale, life, reign, due_at)
        return any(found_at - due_at > window_ms - SKEW_MS for found_at in found)

    if mode == "all" or not is_late(due_at):
        return False
    fired = {each.due_at for each in tale.requests if each.uid == life.uid}
    # The one that fires may be skipped for another run, or for a window.
    fired |= {
        int(run_id.partition("-")[0])
        for (uid, run_id), stored in tale.runs_of.items()
        if uid == life.uid and (stored[-1].reason or "").startswith(("overlap", REASON))
    }
    # The one that fires may crash its functions, without a request, until it is given up.
    fired |= {
        int(due_at)
        for uid, _, run_id in (each.partition("-") for each in tale.buried)
        for due_at, _, index in [run_id.partition("-")]
        if uid == life.uid and due_at.isdigit() and index == "0"
    }
    later = {each for each in fired if each > due_at}
    return mode == "none" or any(reign.owns(each) and is_late(each) for each in later)


def _found_at(tale: Tale, life: Life, reign: Reign, due_at: int) -> Iterator[int]:
    """Return when sweeps were done with an occurrence.

    That is when the cursor passed its timer. A copy counts from its first judgement, or without its last
    wait. If the cursor passed the timer long after the copy was written, the sweeper with the copy had ended.
    Another one judged the timer anew.
    """
    of_it = (each for each in tale.timers if (each.uid, each.rev) == (life.uid, reign.rev))
    before = [each for each in of_it if each.kind == "occurrence" and each.first_due_at <= due_at]
    if not before:
        return
    last = max(before, key=lambda each: (each.first_due_at, each.due_at))
    passed_at = _passed_at(tale, last, due_at)
    if passed_at is not None:
        waited_ms = min(last.put_off_by_ms, PUT_OFF_MS)
        yield passed_at - waited_ms if last.judged_at is None else last.judged_at
    for each in before:
        if each.first_due_at == last.first_due_at and each.put_off_by_ms == 0 < last.put_off_by_ms:
            passed_at = _passed_at(tale, each, due_at)
            if passed_at is not None and passed_at > last.at + COMMIT_MAX_MS:
                yield passed_at


def _passed_at(tale: Tale, timer: TimerStored, due_at: int) -> int | None:
    """Return when the cursor passed a timer, or its occurrence at that instant; None if it has not."""
    return next(
        (
            each.at
            for each in tale.cursors.get(timer.shard, [])
            if each.has_passed(timer.place)
            or (each.place == timer.place and each.within_at is not None and each.within_at >= due_at)
        ),
        None,
    )
