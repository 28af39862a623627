"""What a job owes without any excuse: its revisions' due times less what the protocol lets go."""

from collections.abc import Iterator

from tests.simulation.enumeration import length_ms
from tests.simulation.judging_jobs import SKEW_MS
from tests.simulation.lives import Life, Reign, position
from tests.simulation.misfires import catchup_of, misfires
from tests.simulation.tale import Tale
from tests.simulation.trace import Mishap

#: A job keeps its last 20 earlier revisions; a trigger that waits for more updates than that is lost.
EARLIER_MAX = 20

#: That far behind its due time a trigger may be held up by a bad day of ours.
BAD_DAY_MS = 24 * 3_600_000

#: Sweephand gives a message up when it failed to handle it that often.
FAULTS_MAX = 60

#: Found later than this (catchup.window) an occurrence is a misfire.
WINDOW_DEFAULT = "1h"


def owed(tale: Tale, life: Life) -> Iterator[tuple[Reign, int]]:
    """The reigns and due times for which a request has to have left by the end, but for what excuses it."""
    if life.deleted_at is not None or life.is_held:
        # A deleted job owes nothing, and what a paused one owes is held until it is resumed.
        return
    skipped = {
        (write.rev, due_at)
        for number, write in enumerate(life.writes)
        if write.verb == "resume"
        for due_at in misfires(life, number).skipped
    }
    for reign in life.reigns():
        yield from (
            (reign, due_at) for due_at in reign.dues(tale.through) if (reign.rev, due_at) not in skipped
        )


def is_excused(tale: Tale, life: Life, reign: Reign, due_at: int) -> bool:
    """Whether the trace explains that nothing left for what a reign owed."""
    later = life.later_revisions(reign.rev)
    if len(later) > EARLIER_MAX and later[EARLIER_MAX].at < due_at + BAD_DAY_MS:
        return True
    reasons = [tale.buried[each] for each in tale.buried if life.uid in each and str(due_at) in each]
    if reasons and len(tale.of(Mishap)) > FAULTS_MAX:
        return True
    if any(reason.startswith("received ") for reason in reasons):
        # SQS gives a message up that was in the hands of too many processes that died.
        return True
    has_overlap = any(write.definition.get("overlap", "allow") != "allow" for write in life.writes)
    if has_overlap and any(each.state == "skipped" for each in tale.runs_at(life.uid, due_at)):
        return True
    return _may_be_misfire(tale, life, due_at)


def _may_be_misfire(tale: Tale, life: Life, due_at: int) -> bool:
    """Whether a sweep may have found it so late that catch-up passes over it: a later one fires instead."""
    catchup = catchup_of(life.last.definition)
    mode = catchup.get("mode", "latest")
    latest = max((each.due_at for each in tale.requests if each.uid == life.uid), default=0)
    if mode == "all" or (mode == "latest" and latest <= due_at):
        return False
    window_ms = length_ms(catchup.get("window", WINDOW_DEFAULT))
    shards = {timer.shard for timer in tale.timers if timer.uid == life.uid}
    place = position(due_at)
    for shard in shards:
        passed_at = next((each.at for each in tale.cursors.get(shard, []) if each.key >= place), None)
        if passed_at is not None and passed_at - due_at > window_ms - SKEW_MS:
            return True
    return False
