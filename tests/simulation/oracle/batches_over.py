"""Checks of the progress of batches: it shows exactly what is over, and the end of a batch is told."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tests.simulation.oracle.batches import size_in, size_of
from tests.simulation.oracle.chains import batch_end_in
from tests.simulation.oracle.ends import OVER, WHEN, in_force
from tests.simulation.oracle.lives import Life, told
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.rare_events import BatchEnded, BatchTold, Marked

#: What a mark says of a run in each state. A run that was skipped was never delivered.
_MARKS: Final = {state: "cancelled" if state == "skipped" else state for state in OVER}

#: The marks of one run may only become greater.
_RANKS: Final = {"failed": 1, "cancelled": 2, "succeeded": 3}


class Batch(NamedTuple):
    """The uid of a job, and the name of a batch within it: the name of its runs without the index."""

    uid: str
    name: str

    def run_id(self, index: int) -> str:
        """Return the name of the run of that index."""
        kind, _, rest = self.name.partition("-")
        if not rest:
            return f"{self.name}-{index}"
        due_at, _, token = rest.partition("-")
        return f"{kind}-{due_at}-{index}-{token}"


def progress_shows_what_is_over(tale: Tale) -> Iterator[str]:
    """At the end, each run of a counted batch that is over is marked as its record says."""
    last = {(batch, each.index): each.end for batch, marks in _marks(tale).items() for each in marks}
    for (uid, run_id), stored in tale.runs_of.items():
        run, life = stored[-1], tale.lives.get(uid)
        if run.state not in OVER or not run.is_counted or run.at > tale.through:
            continue
        if life is None or life.deleted_at is not None:
            # The batch ended with its job.
            continue
        shown = last.get(_place(uid, run_id))
        if shown == _MARKS[run.state] or (shown == "succeeded" and _has_succeeded(tale, uid, run_id)):
            continue
        what = f"{run.name}: {uid}-{run_id} is {run.state} since {told(run.at)}"
        yield f"{what}, and its batch shows it as {shown}"


def marks_have_a_cause(tale: Tale) -> Iterator[str]:
    """A run is marked only as it has ended."""
    for batch, marks in _marks(tale).items():
        for each in marks:
            run_id = batch.run_id(each.index)
            stored = tale.runs_of.get((batch.uid, run_id), [])
            is_recorded = any(_MARKS.get(run.state) == each.end and run.at <= each.at for run in stored)
            # A record is what could not be written, if a trigger is given up while the store is down. A
            # success may have no record at all.
            is_buried = each.end == "failed" and f"{batch.uid}-{run_id}" in tale.buried
            is_taken = each.end == "succeeded" and _has_succeeded(tale, batch.uid, run_id)
            if not is_recorded and not is_buried and not is_taken:
                yield f"{each.name}: {batch.uid}-{run_id} is marked as {each.end}, and had not ended so"


def marks_move_on(tale: Tale) -> Iterator[str]:
    """A mark is never taken back: only a run that has failed gets another one."""
    for batch, marks in _marks(tale).items():
        ranks: dict[int, int] = defaultdict(int)
        for each in marks:
            if _RANKS[each.end] <= ranks[each.index]:
                yield f"{each.name}: {batch.uid}-{batch.run_id(each.index)} is marked again as {each.end}"
            ranks[each.index] = _RANKS[each.end]


def batches_end_after_their_last_run(tale: Tale) -> Iterator[str]:
    """A batch ends when each of its indexes is marked, and not before."""
    marks = _marks(tale)
    for ended in tale.batches_ended:
        life, what = tale.lives.get(ended.uid), f"{ended.name}: the batch {ended.batch} of {ended.uid}"
        if _is_of_two_sizes(tale, life, _batch(ended)):
            continue
        over = {each.index for each in marks[_batch(ended)] if each.at <= ended.at}
        if over != set(range(ended.total)):
            yield f"{what} ended at {told(ended.at)} with {len(over)} of {ended.total} runs over"
        if life is not None and ended.total not in {size_of(each.definition).number for each in life.writes}:
            yield f"{what} has {ended.total} triggers"


def every_batch_ends(tale: Tale) -> Iterator[str]:
    """Each batch has ended whose runs are all over, unless its job is paused.

    A function may crash between the end of the last run and that of its batch. Then the trigger of that run
    comes again. A pause lets it wait for the resume.
    """
    ended = {_batch(each) for each in tale.batches_ended}
    for batch, marks in _marks(tale).items():
        life = tale.lives.get(batch.uid)
        is_there = life is not None and life.deleted_at is None
        if batch in ended or life is None or not is_there or life.writes[-1].paused_at is not None:
            continue
        first, sizes = _first_at(marks), _sizes(tale, life, batch)
        if sizes == {len(first)} and max(first.values()) <= tale.through:
            what = f"{life.name}: all {len(first)} runs of the batch {batch.name} of {batch.uid} are over"
            yield f"{what}, and it has not ended"


def every_batch_end_is_told(tale: Tale) -> Iterator[str]:
    """The end of a batch is told to the job's `onComplete`, or triggers the job that follows."""
    known = {(each.name, each.batch) for each in _told(tale)}
    for ended in tale.batches_ended:
        life = tale.lives.get(ended.uid)
        if life is None or life.deleted_at is not None or ended.at > tale.through:
            continue
        on_complete = in_force(tale, life, ended.at)
        if on_complete is None or (ended.name, ended.batch) in known:
            continue
        first = f"{ended.uid}-{_batch(ended).run_id(0)}"
        if first not in tale.ended_chains and _is_owed(tale, ended, on_complete):
            what = f"{ended.name}: the batch {ended.batch} of {ended.uid} ended at {told(ended.at)}"
            yield f"{what}, and no notification left"


def only_batch_ends_are_told(tale: Tale) -> Iterator[str]:
    """Only a batch that has ended is told of: always under one id, and with the counts of its end."""
    marks, said = _marks(tale), dict[tuple[str, str, str], BatchTold]()
    for each in _told(tale):
        what = f"{each.name}: the end of the batch {each.batch}"
        of = [end for end in tale.batches_ended if _is_about(each, end)]
        if any(_is_of_two_sizes(tale, tale.lives.get(end.uid), _batch(end)) for end in of):
            continue
        if not of:
            yield f"{what} was told, and it had not ended"
            continue
        first = said.setdefault((each.uid, each.name, each.batch), each)
        if each.uid and (first.notice_id, first.counts) != (each.notice_id, each.counts):
            yield f"{what} was told as {first.notice_id} {first.counts}, then {each.notice_id} {each.counts}"
        possible = [_succeeded(marks[_batch(end)], end) for end in of]
        if sum(each.counts) != each.total or not any(low <= each.counts[0] <= high for low, high in possible):
            yield f"{what} was told with {each.counts} of {each.total}; {possible} had succeeded"
        if (each.state == "succeeded") != (each.counts[0] == each.total):
            yield f"{what} was told as {each.state} with {each.counts} of {each.total}"


def _sizes(tale: Tale, life: Life, batch: Batch) -> set[int]:
    """Return how many triggers the batch has, by the revisions that sent them."""
    requests = tale.requests_of
    indexes = {each.index for each in tale.marked if _batch(each) == batch}
    sent = (each for index in indexes for each in requests.get(f"{batch.uid}-{batch.run_id(index)}", []))
    return {size_in(life, each.rev).number for each in sent}


def _is_of_two_sizes(tale: Tale, life: Life | None, batch: Batch) -> bool:
    """Whether two revisions with different batches sent one occurrence.

    An update was committed by a clock that was behind, after a clock that was ahead had begun the batch.
    """
    return life is not None and len(_sizes(tale, life, batch)) > 1


def _is_about(notice: BatchTold, ended: BatchEnded) -> bool:
    is_same = (ended.name, ended.batch) == (notice.name, notice.batch)
    return is_same and notice.uid in ("", ended.uid)


def _succeeded(marks: Sequence[Marked], ended: BatchEnded) -> tuple[int, int]:
    """Return how many had succeeded when the last run was first over, and when the end was recorded."""
    last_at = max(_first_at(marks).values(), default=0)
    taken = [each.at for each in marks if each.end == "succeeded" and each.at <= ended.at]
    return sum(at <= last_at for at in taken), len(taken)


def _first_at(marks: Sequence[Marked]) -> dict[int, int]:
    """Return when the run of each index was first over."""
    first: dict[int, int] = {}
    for each in marks:
        first.setdefault(each.index, each.at)
    return first


def _is_owed(tale: Tale, ended: BatchEnded, on_complete: Mapping[str, Any]) -> bool:
    """Whether a notification has to have left. For a chain, the next job has to be there and not paused."""
    if on_complete["type"] != "job":
        return True
    state = "succeeded" if ended.succeeded == ended.total else "failed"
    return state in WHEN[on_complete.get("when", "succeeded")] and any(
        life.name == on_complete["name"]
        and life.writes[0].at <= ended.at
        and life.deleted_at is None
        and not life.is_held
        and not any("-chained-" in each for each in tale.buried if each.startswith(life.uid))
        for life in tale.lives.values()
    )


def _told(tale: Tale) -> Iterator[BatchTold]:
    yield from tale.of(BatchTold)
    for request in tale.requests:
        end = batch_end_in(request)
        if end is not None:
            yield end


def _marks(tale: Tale) -> dict[Batch, list[Marked]]:
    found: dict[Batch, list[Marked]] = defaultdict(list)
    for each in tale.marked:
        found[Batch(each.uid, each.batch)].append(each)
    return found


def _batch(event: BatchEnded | Marked) -> Batch:
    return Batch(event.uid, event.batch)


def _place(uid: str, run_id: str) -> tuple[Batch, int]:
    """Return the batch and the index of a run, by its name."""
    parts = run_id.split("-")
    at = 1 if parts[0].isdigit() else 2
    return Batch(uid, "-".join(parts[:at] + parts[at + 1 :])), int(parts[at])


def _has_succeeded(tale: Tale, uid: str, run_id: str) -> bool:
    """Whether a consumer took the trigger once, or its record said so at some time."""
    stored = tale.runs_of.get((uid, run_id), [])
    return any(each.state == "succeeded" for each in stored) or any(
        each.outcome == "succeeded" for each in tale.conclusions_of.get(f"{uid}-{run_id}", [])
    )
