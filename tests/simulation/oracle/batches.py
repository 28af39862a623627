"""Checks of batches: each index of an owed occurrence leaves, none beyond, and none before its own time."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tests.simulation.oracle.enumeration import length_ms
from tests.simulation.oracle.jobs import SKEW_MS
from tests.simulation.oracle.lives import Life, Reign, told
from tests.simulation.oracle.owed import is_excused, may_be_misfire, owed
from tests.simulation.oracle.tale import Tale
from tests.simulation.oracle.windows import was_skipped
from tests.simulation.traces.trace import Mishap, Requested

#: Sweepers send what is due so much later at most.
HORIZON_MS = 180_000


class Size(NamedTuple):
    """How many triggers an occurrence has, and the time in ms over which they are spread."""

    number: int
    window_ms: int

    def after_ms(self, index: int) -> int:
        """How long after its occurrence the trigger of that index is due: evenly, in whole ms."""
        return index * self.window_ms // self.number


def size_of(definition: Mapping[str, Any]) -> Size:
    """The size of a definition's batches. Without a batch an occurrence has one trigger."""
    batch = definition.get("batch")
    if batch is None:
        return Size(1, 0)
    window = batch.get("window")
    return Size(batch["count"], 0 if window is None else length_ms(window))


def size_in(life: Life | None, rev: str) -> Size:
    """The size of the batches of a revision. A revision that was never committed has single triggers."""
    writes = [] if life is None else [each for each in life.writes if each.rev == rev]
    return size_of(writes[0].definition) if writes else Size(1, 0)


def longest_window_ms(life: Life) -> int:
    """The longest window of any of the job's revisions."""
    return max(size_of(each.definition).window_ms for each in life.writes)


def no_index_is_lost(tale: Tale) -> Iterator[str]:
    """An owed occurrence has all of its triggers, whatever happened in the middle of its batch."""
    left: dict[tuple[str, int], set[int]] = defaultdict(set)
    for each in tale.requests:
        if not each.is_on_demand:
            left[each.uid, each.due_at].add(each.index)
    for life in tale.lives.values():
        for reign, due_at in owed(tale, life):
            size, gone = size_in(life, reign.rev), left[life.uid, due_at]
            if size.number == 1 or (not gone and is_excused(tale, life, reign, due_at)):
                continue
            if _began_unseen(tale, life, reign, due_at):
                continue
            lost = [
                index
                for index in range(size.number)
                if index not in gone
                and due_at + size.after_ms(index) <= tale.through
                and not _is_over(tale, life, due_at, index)
                and not was_skipped(tale, life.uid, due_at, index)
            ]
            if lost:
                what = f"{life.name}: {life.uid} owed {size.number} triggers of {told(due_at)}"
                yield f"{what} (revision {reign.rev}); no request left for the indexes {lost}"


def no_index_is_beyond(tale: Tale) -> Iterator[str]:
    """The indexes of a batch are 0 to its count less one, and no trigger leaves before its own time."""
    for each in tale.requests:
        life = tale.lives.get(each.uid)
        if each.is_on_demand or life is None or life.reign(each.rev) is None:
            continue
        size = size_in(life, each.rev)
        at = each.due_at + size.after_ms(each.index)
        if not 0 <= each.index < size.number:
            yield f"{_named(each)} has the index {each.index} of {size.number}"
        elif each.clock_at < at:
            yield f"{_named(each)} left at {told(each.clock_at)} by its function's clock, due {told(at)}"
        elif each.at < at - SKEW_MS:
            yield f"{_named(each)} left at {told(each.at)}, earlier than any clock is ahead"


def batches_by_hand_are_whole(tale: Tale) -> Iterator[str]:
    """A batch that was asked for has as many triggers as the job's batches had at some time."""
    left: dict[tuple[str, str], set[Requested]] = defaultdict(set)
    for each in tale.requests:
        if each.is_on_demand:
            left[each.uid, each.trigger_id.rpartition("-")[2]].add(each)
    for (uid, token), requests in left.items():
        life = tale.lives.get(uid)
        if life is None or life.deleted_at is not None or life.is_held:
            continue
        due = {each.due_at for each in requests}
        is_recent = max(due) + longest_window_ms(life) > tale.through
        if is_recent or any(token in each for each in (*tale.buried, *tale.ended_by_hand)):
            continue
        if tale.ranges_buried and any(of == uid for of, _ in tale.ranges_buried):
            continue
        sizes = {size_of(each.definition).number for each in life.writes}
        for due_at in due:
            indexes = {each.index for each in requests if each.due_at == due_at}
            if len(indexes) not in sizes or max(indexes) >= max(sizes):
                what = f"{life.name}: the batch on demand {token} of {uid}, due {told(due_at)},"
                yield f"{what} has the indexes {sorted(indexes)}; its sizes were {sorted(sizes)}"


def _began_unseen(tale: Tale, life: Life, reign: Reign, due_at: int) -> bool:
    """Whether a sweeper may have died between sending the first triggers of a batch and its commit.

    Nothing shows then that the batch has begun. The next sweep decides about the whole of it by the job's
    catch-up. So it may skip the triggers that had not been sent (decision 042).
    """
    had_trouble = any(
        each.where.startswith(("tick ", "sweep ")) and each.at > due_at - HORIZON_MS
        for each in tale.of(Mishap)
    )
    return had_trouble and may_be_misfire(tale, life, reign, due_at)


def _is_over(tale: Tale, life: Life, due_at: int, index: int) -> bool:
    """Whether the trace explains that no request left for one trigger."""
    trigger_id = f"{life.uid}-{due_at}-{index}"
    # An update may have given the job a rule of overlap, which skips what is left of the batch.
    stored = tale.runs_of.get((life.uid, f"{due_at}-{index}"), [])
    return (
        any(each.reason == "overlap" for each in stored)
        or trigger_id in tale.ended_by_hand
        or trigger_id in tale.buried
        or any(uid == life.uid and first <= due_at <= last for uid, (first, last) in tale.ranges_buried)
    )


def _named(request: Requested) -> str:
    return f"{request.name}: attempt {request.attempt} of {request.trigger_id}"
