"""Checks of what was stored and acknowledged of jobs: revisions, cuts, pauses."""

from collections.abc import Iterator
from dataclasses import replace

from tests.simulation.oracle.enumeration import length_ms
from tests.simulation.oracle.lives import Life, begins_ahead_at, told
from tests.simulation.oracle.misfires import misfires, pause_end
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.trace import Answered, Deleted, Written

#: The clocks of any two functions differ by at most 90 s (protocol.md, "Clocks"): each by half of it from
#: true time.
SKEW_MS = 45_000

#: The time limit of the API function, after which no write of a request is made.
REQUEST_MAX_MS = 25_000

#: Bulk calls.
OF_MANY = ("pause many", "resume many", "delete many")

#: The `since` of a new job lies just before its request: within this time.
JUST_BEFORE_MS = 1_000


def acknowledged_writes_stand(tale: Tale) -> Iterator[str]:
    """An acknowledged revision was written, and an acknowledged deletion has deleted."""
    written = {(each.uid, each.rev): each.at for each in reversed(tale.of(Written))}
    # A job that a repeated creation brought back may be deleted again.
    deleted = {each.uid: each.at for each in reversed(tale.of(Deleted))}
    for answer in tale.of(Answered):
        if answer.error is not None or answer.uid is None:
            continue
        if answer.verb == "delete":
            if deleted.get(answer.uid, answer.at + 1) > answer.at:
                yield f"{answer.name}: the deletion of {answer.uid} was acknowledged, and it stands"
        elif answer.rev is not None and written.get((answer.uid, answer.rev), answer.at + 1) > answer.at:
            yield f"{answer.name}: revision {answer.rev} was acknowledged, but nobody wrote it"


def nobody_is_refused_for_his_own_write(tale: Tale) -> Iterator[str]:
    """No client is told that a job is not there, or not as it asked, because of its own request.

    The SDK repeats a write whose answer was lost, and the repeated write finds what the first one wrote.
    """
    for answer in tale.of(Answered):
        after = answer.refused_after
        if after is None or answer.verb in OF_MANY:
            continue
        changes: list[Written | Deleted] = [*tale.of(Written), *tale.of(Deleted)]
        meanwhile = [each for each in changes if each.name == answer.name and after <= each.at <= answer.at]
        if len(meanwhile) == 1:
            what = f"{answer.name}: the {answer.verb} that changed it at {told(after)} was refused"
            yield f"{what} at {told(answer.at)}, though nobody else had changed it: {answer.error}"


def a_deletion_removes_one_job(tale: Tale) -> Iterator[str]:
    """A repeated deletion does not delete a job that another client has created under the name meanwhile."""
    for answer in tale.of(Answered):
        if answer.verb == "delete" and len(set(answer.changed)) > 1:
            jobs = " and ".join(sorted(set(answer.changed)))
            yield f"{answer.name}: the deletion that was answered at {told(answer.at)} changed {jobs}"


def cuts_are_sound(tale: Tale) -> Iterator[str]:
    """`cut` is max(now, the stored cut), read between request and commit: it never decreases.

    It may be raised to the instant of a pause, which is where the revision before it ends. No two revisions
    of a job have one name.
    """
    for life, number, before, write in _writes(tale):
        what = f"{life.name}: revision {write.rev}"
        if before is not None and write.cut < before.cut:
            yield f"{what} has its cut at {told(write.cut)}, before the cut at {told(before.cut)}"
        if before is not None and write.rev == before.rev:
            if (write.cut, write.since) != (before.cut, before.since):
                yield f"{what} has another cut, but is no new revision"
            continue
        carried = max(before.cut, before.paused_at or 0) if before else 0
        # The clock of a function that no client asked is not in the trace.
        ahead_ms = SKEW_MS if write.by_itself else write.ahead_ms
        # Two readings of a clock that steps meanwhile differ by more than the time between them.
        stepped_ms = 2 * SKEW_MS if tale.has_clock_stepped(write.at - REQUEST_MAX_MS, write.at) else 0
        latest = max(write.at + ahead_ms, carried) + stepped_ms
        if not write.asked_at - stepped_ms <= write.cut <= latest:
            yield f"{what} has its cut at {told(write.cut)}, not between its request and its commit"
        namesakes = [each for each in life.writes[: max(number - 1, 0)] if each.rev == write.rev]
        if namesakes and not _is_repeated(life, number, namesakes):
            yield f"{what} has the name of an earlier revision"


def reigns_begin_where_they_should(tale: Tale) -> Iterator[str]:
    """`since` is just before a request that begins a series, at the pause for a resume, else at the cut.

    If the series before ended by its bounds, a revision that continues it may begin at its last trigger. With
    another jitter a revision begins as much later or earlier as its series has been moved. So each time of
    the schedule belongs to one revision.
    """
    for life, number, before, write in _writes(tale):
        if before is not None and write.rev == before.rev:
            continue
        lowest, highest, why = _since(life, number, before, write)
        if not lowest <= write.since <= highest:
            yield (
                f"{life.name}: revision {write.rev} rules since {told(write.since)}; "
                f"expected {told(lowest)} to {told(highest)}, {why}"
            )


def jitter_is_stable(tale: Tale) -> Iterator[str]:
    """A job is moved by less than its window, and always by the same offset with that window."""
    seen: dict[tuple[str, str], int] = {}
    for life, _, _, write in _writes(tale):
        window = write.definition.get("jitter")
        if not 0 <= write.jitter_ms < max(length_ms(window) if window else 1, 1):
            yield f"{life.name}: revision {write.rev} is moved by {write.jitter_ms} ms, beyond its window"
        elif window is not None and seen.setdefault((life.name, window), write.jitter_ms) != write.jitter_ms:
            yield f"{life.name}: revision {write.rev} is moved by a different offset, {write.jitter_ms} ms"


def pauses_are_kept(tale: Tale) -> Iterator[str]:
    """Only a pause pauses a job, at its own instant. Only a resume ends the pause, with a new revision."""
    for life, _, before, write in _writes(tale):
        kept = before.paused_at if before else None
        what = f"{life.name}: the {write.verb} that is revision {write.rev}"
        if write.verb == "pause":
            if write.paused_at is None:
                yield f"{what} did not pause it"
            elif kept is None and not (
                write.asked_at - SKEW_MS <= write.paused_at <= max(write.at + SKEW_MS, write.cut)
            ):
                yield f"{what} has its pause at {told(write.paused_at)}"
        elif write.verb == "resume":
            if write.paused_at is not None:
                yield f"{what} left it paused"
            elif before is not None and before.rev == write.rev:
                yield f"{what} wrote no revision of its own"
        elif write.paused_at != kept:
            yield f"{what} changed whether it is paused"


def pauses_end_by_themselves(tale: Tale) -> Iterator[str]:
    """A pause ends by itself if a client asked for that: never early, and at its end. No other pause does."""
    for life, number, before, write in _writes(tale):
        if write.verb != "resume" or not write.by_itself:
            continue
        end = pause_end(life, number - 1)
        what = f"{life.name}: revision {write.rev} was resumed by itself at {told(write.at)}"
        if before is None or end is None:
            yield f"{what}, and nobody had asked for that"
        elif write.asked_at < end.until:
            yield f"{what}, before {told(end.until)}"
    for life in tale.lives.values():
        is_there = life.deleted_at is None and life.removed_at is None
        end = pause_end(life) if is_there and life.is_held else None
        if end is not None and end.until <= tale.through:
            yield f"{life.name}: its pause was to end at {told(end.until)}, and nothing ended it"


def _is_repeated(life: Life, number: int, namesakes: list[Written]) -> bool:
    """Whether the SDK repeated an earlier write of the job after the job was deleted and came back.

    The repeated creation brings back the version that the repeated write replaces.
    """
    write, first = life.writes[number], life.first_since_return(number)
    is_same = any(replace(each, at=write.at) == write for each in namesakes)
    return is_same and all(each.rev != write.rev for each in life.writes[first : max(number - 1, first)])


def _since(life: Life, number: int, before: Written | None, write: Written) -> tuple[int, int, str]:
    if before is None or life.began[number]:
        earliest = write.asked_at - JUST_BEFORE_MS
        if before is not None and before.definition.get("schedule") == write.definition.get("schedule"):
            earliest += min(0, write.jitter_ms - before.jitter_ms)
        return earliest, write.asked_at - 1, "just before its request, or earlier by less jitter"
    if write.verb == "resume":
        moment = before.paused_at if before.paused_at is not None else write.cut
        moment = max(moment, begins_ahead_at(before))
        # The skipped misfires may belong to no revision.
        return moment, max([moment, *misfires(life, number).skipped]), "the moment of the pause"
    moved_ms = write.jitter_ms - before.jitter_ms
    ahead = begins_ahead_at(before)
    earlier = life.occurrences[number - 1]
    if before.paused_at is not None or earlier.next_after(write.cut) is not None:
        ended = write.cut if before.paused_at is None or not moved_ms else before.paused_at
        since = max(ended, ahead) + moved_ms
        return since, since, "where the revision before it ends, moved as its series is"
    left = [due_at for due_at, _ in earlier.between(write.asked_at, write.cut)]
    lowest, highest = max([write.asked_at, ahead, *left]), max(write.cut, ahead)
    why = "the last trigger of the series that ended, or its cut"
    return lowest + moved_ms, highest + moved_ms, why


def _writes(tale: Tale) -> Iterator[tuple[Life, int, Written | None, Written]]:
    for life in tale.lives.values():
        for number, write in enumerate(life.writes):
            yield life, number, life.before(number), write
