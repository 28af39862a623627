"""What may be wrong with the progress of batches: how runs are counted, and when the end is told."""

from collections.abc import Iterable
from typing import Final

from tests.simulation.mutations.registry import Broken, everywhere, mutation, replacing
from tests.simulation.world.faults import FIRST_BATCHED

from sweephand.base.instants import Instant
from sweephand.model.batch_mark import Mark, RunEnd, mark_of
from sweephand.model.batch_progress import PAGE_SIZE, BatchHead, ProgressPage
from sweephand.model.run import Run
from sweephand.runs.batch_progress import BatchProgress
from sweephand.runs.received import Handled

_MARKED: Final = ProgressPage.with_marks
_MARK: Final = BatchProgress._mark
_WRITE: Final = BatchProgress._write


@mutation("The progress of a batch is counted instead of marked", first=FIRST_BATCHED)
@replacing(ProgressPage, "with_marks")
def counts_instead_of_marking(
    page: ProgressPage, ends: Iterable[tuple[int, RunEnd]], expires_at: Instant
) -> ProgressPage:
    """The next free places stand for the runs, whichever they are."""
    first = page.counts.over
    return _MARKED(page, [(first + each, end) for each, (_, end) in enumerate(ends)], expires_at)


@mutation("The end of a batch is told before its last run is over", first=FIRST_BATCHED)
@replacing(BatchProgress, "_mark")
def ends_batches_early(
    self: BatchProgress, head: BatchHead, level: int, count: int, ends: Iterable[tuple[int, RunEnd]]
) -> list[int]:
    return _MARK(self, head, level, max(count - 1, 1), ends)


@mutation(
    "The end of a batch is never told if a function crashes between the last mark and the message",
    first=FIRST_BATCHED,
)
@replacing(BatchProgress, "_write")
def tells_only_after_its_own_mark(
    self: BatchProgress, page: ProgressPage, ends: Iterable[tuple[int, RunEnd]], expires_at: Instant
) -> ProgressPage:
    if _MARKED(page, ends, expires_at).words == page.words:
        return ProgressPage(page.name)
    return _WRITE(self, page, list(ends), expires_at)


@mutation(
    "A redriven run is counted in addition to its failure",
    shown_by="tests/unit/runs/test_batch_progress.py::test_a_redrive_turns_a_failure_into_a_success_and_tells_nobody_again",
)
def counts_redriven_runs_twice() -> Broken:
    def marked(run: Run | None) -> Mark | None:
        mark = mark_of(run)
        if mark is None or run is None or not run.is_redriven:
            return mark
        return Mark(mark.batch, mark.size, (mark.run_index + 1) % PAGE_SIZE, mark.end, mark.expires_at)

    return everywhere("mark_of", marked)


@mutation("A message is acknowledged though its run could not be marked", first=FIRST_BATCHED)
@replacing(BatchProgress, "shows")
def acknowledges_what_is_not_marked(self: BatchProgress, handled: Iterable[Handled]) -> list[Handled]:
    every = list(handled)
    self.record([each.outcome.ended for each in every if each.outcome.ended])
    return every
