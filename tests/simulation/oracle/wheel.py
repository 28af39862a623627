"""Checks of the wheel: cursors that move, and chains of timers that neither die nor go on for ever."""

from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from tests.simulation.oracle.batches import size_in
from tests.simulation.oracle.lives import Life, position, told
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.trace import CursorStored, TimerStored

#: Triggers of a revision that are due up to here go straight to the queue (300 s), by clocks that differ (90
#: s).
QUEUE_REACH_MS = 390_000

#: A process may be stopped this long and then write what it had read: five minutes, and ten in the API.
STOPPED_MAX_MS = 600_000

#: How long the API may take for a request. The first sweep of what it arms comes minutes later.
ARMED_MAX_MS = 25_000

MINUTE_MS = 60_000

#: How long after the beginning of its own minute a sweep reads, and by how much two clocks differ at most.
SWEPT_AHEAD_MS = 180_000
CLOCKS_APART_MAX_MS = 90_000


def cursors_move_on(tale: Tale) -> Iterator[str]:
    """A shard's cursor, and the fence under which it moves, never go back.

    A loss may set the fence back, too. A sweeper that began before the loss can then hold the same number as
    one that began after it. Either may write its own cursor, which repeats triggers and loses none.
    """
    for shard, cursors in tale.cursors.items():
        for before, after in pairwise(cursors):
            if any(loss.back_to and loss.at < after.at < loss.at + STOPPED_MAX_MS for loss in tale.losses):
                continue
            if _place(after) < _place(before):
                yield f"the cursor of shard {shard} went back from {before.key} to {after.key}"
            if after.fence < before.fence:
                what = f"the cursor of shard {shard} was moved at {told(after.at)}"
                yield f"{what} by a sweeper that had lost the lease"


def timers_lie_beyond_sweeps(tale: Tale) -> Iterator[str]:
    """No sweep passes the place of a timer before its revision is committed, whatever two clocks say.

    The place of a packed timer is that of its pack.
    """
    for timer in tale.timers:
        if timer.armed_at is None:
            continue
        if timer.sort_key < _reached(timer.armed_at):
            what = "in reach of a sweep before its commit"
            yield f"{_named(timer)} was armed at {told(timer.armed_at)}, {what}"


def cursors_reach_what_is_due(tale: Tale) -> Iterator[str]:
    """No cursor stands still: in the end each has passed every timer of its shard that was due."""
    for timer in tale.timers:
        if timer.due_at <= tale.through and not tale.is_passed(timer):
            yield f"{timer.name}: the cursor of shard {timer.shard} has not reached {timer.sort_key}"


def chains_live(tale: Tale) -> Iterator[str]:
    """A job whose series goes on has a timer ahead of the cursor that leads to its next occurrence."""
    ahead = [each for each in tale.timers if each.kind == "occurrence" and not tale.is_passed(each)]
    for life in tale.lives.values():
        if life.deleted_at is not None or life.is_held:
            continue
        ruling = life.reigns()[-1]
        following = ruling.occurrences.next_after(max(tale.ends_at + QUEUE_REACH_MS, ruling.since))
        if following is None:
            continue
        mine = [each for each in ahead if (each.uid, each.rev) == (life.uid, ruling.rev)]
        if not any(each.due_at <= following for each in mine):
            what = f"{life.name}: no timer of revision {ruling.rev}"
            yield f"{what} leads to its occurrence at {told(following)}"


def chains_end(tale: Tale) -> Iterator[str]:
    """After the end of a series, a reign or a job no function writes timers of it any more."""
    uncommitted: dict[tuple[str, str], set[int]] = defaultdict(set)  # when their timers were written
    for timer in tale.timers:
        life = tale.lives.get(timer.uid)
        if timer.kind != "occurrence" or timer.put_off_by_ms:
            # A timer that was put off is no further timer, but an earlier one at a later place.
            continue
        reign = life.reign(timer.rev) if life is not None else None
        if life is None or reign is None:
            uncommitted[timer.uid, timer.rev].add(timer.at)
        elif reign.occurrences.next_after(timer.due_at - 1 - size_in(life, timer.rev).window_ms) is None:
            yield f"{_named(timer)} was written; its series ends before that"
        elif (ended_at := _ended_at(life, timer)) is not None and timer.at > ended_at + STOPPED_MAX_MS:
            yield f"{_named(timer)} was written at {told(timer.at)}; it was over at {told(ended_at)}"
    for (uid, rev), written in uncommitted.items():
        # Arming writes all of them. A list has several timers, and none comes later.
        later = [at for at in written if at > min(written) + ARMED_MAX_MS]
        if later:
            yield f"revision {rev} of {uid} was never committed, and {len(later)} timers go on with it"


def chains_are_single(tale: Tale) -> Iterator[str]:
    """In the calm, no two timers are written that promise the same trigger of one revision.

    Trouble may leave a second one, with which a chain would be twice as expensive for ever. A sweeper passes
    over it when it meets both in one bucket. What was put off is met five minutes later.
    """
    if tale.echo_ends_at is None:
        return
    places: dict[tuple[str, str, int], set[tuple[str, str]]] = defaultdict(set)
    for timer in tale.timers:
        if timer.kind == "occurrence" and not timer.put_off_by_ms and timer.at > tale.echo_ends_at:
            places[timer.uid, timer.rev, timer.due_at].add(timer.place)
            if len(places[timer.uid, timer.rev, timer.due_at]) == 2:
                yield f"{_named(timer)} was written at two places"


@lru_cache(maxsize=1_024)
def _reached(armed_at: int) -> str:
    """Return how far a sweep may reach before what was armed then is committed."""
    swept_at = armed_at + ARMED_MAX_MS + CLOCKS_APART_MAX_MS
    return position(swept_at - swept_at % MINUTE_MS + SWEPT_AHEAD_MS)


def _ended_at(life: Life, timer: TimerStored) -> int | None:
    """Return the true time from which on no function had a reason to write that timer."""
    if life.deleted_at is not None:
        return life.deleted_at
    reign = life.reign(timer.rev)
    # A batch goes on in the revision in which it began.
    began_at = timer.due_at - size_in(life, timer.rev).window_ms
    if reign is None or reign.until is None or began_at <= reign.until:
        return None
    return life.later_revisions(timer.rev)[0].at


def _place(cursor: CursorStored) -> tuple[tuple[str, str], bool, int]:
    return cursor.place, cursor.within_at is None, cursor.within_at or 0


def _named(timer: TimerStored) -> str:
    return f"{timer.name}: a timer of revision {timer.rev} for {told(timer.due_at)}"
