"""Recording which runs of a batch are over, and sending the notification of the batch's end.

A function marks all runs that it has ended in one received batch of messages at once: one read, and one write
for each page of 1,000 indexes. A message is acknowledged only after that. So whatever crashes, a message
comes again, finds that its run is over, and marks it again. A mark that is there already costs no write.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from sweephand.base.errors import StoreError
from sweephand.base.instants import DAY_MS, Instant
from sweephand.model.batch_mark import BatchName, Mark, RunEnd
from sweephand.model.batch_progress import PAGE_SIZE, BatchHead, PageName, ProgressPage
from sweephand.model.run_id import Counts
from sweephand.model.trigger import BatchPlace, NotifyMessage, Trigger
from sweephand.ports.clock import Clock
from sweephand.ports.jobs import JobStore
from sweephand.ports.queue import Queue
from sweephand.ports.runs import BatchStore
from sweephand.runs.received import Handled

#: How often a word is read and written until no other function came between. At most 50 functions, which
#: deliver one trigger each, mark runs of one word. Each write that is refused means that another one was
#: made.
_WRITES_MAX: Final = 60

#: The marks of a batch are kept for so much longer than the records of its runs. Its other triggers may wait
#: in a pause, or for a policy. The end of the batch is told only if no mark is lost meanwhile.
_WAIT_MAX_MS: Final = 365 * DAY_MS

#: How many pages one read asks for. 10,000,000 triggers have 10,000 pages.
_PAGES_READ: Final = 1_000


class BatchProgress:
    """Marks the runs of batches. Several threads may share one object."""

    def __init__(self, *, batches: BatchStore, jobs: JobStore, queue: Queue, clock: Clock) -> None:
        self._batches = batches
        self._jobs = jobs
        self._queue = queue
        self._clock = clock

    def record(self, marks: Iterable[Mark]) -> dict[BatchName, StoreError]:
        """Mark those runs, and tell of each batch that has ended. Marking a run again is harmless.

        Returns the batches for which that failed, each with its error. Any of their runs may be marked. They
        have to be marked again.
        """
        of_batches: dict[BatchName, list[Mark]] = defaultdict(list)
        for mark in marks:
            of_batches[mark.batch].append(mark)
        failed: dict[BatchName, StoreError] = {}
        for batch, of_batch in of_batches.items():
            try:
                self._record(batch, of_batch)
            except StoreError as error:
                failed[batch] = error
        return failed

    def shows(self, handled: Iterable[Handled]) -> list[Handled]:
        """The same, after the progress of their batches shows the runs that are over.

        Where that fails, the message is not done. It comes again, and marks the run that it finds.
        """
        every = list(handled)
        marks = [each.outcome.ended for each in every if each.outcome.ended is not None]
        failed = self.record(marks) if marks else {}
        return [
            each
            if each.outcome.ended is None or each.outcome.ended.batch not in failed
            else each._replace(is_done=False, error=failed[each.outcome.ended.batch])
            for each in every
        ]

    def _record(self, batch: BatchName, marks: Sequence[Mark]) -> None:
        ends = [(mark.run_index, mark.end) for mark in marks if mark.end is not None]
        if not ends:
            self._look(batch, {mark.run_index // PAGE_SIZE for mark in marks})
            return
        # Another revision may have given the batch another size. Only runs that are over count.
        marks = [mark for mark in marks if mark.end is not None]
        size, kept_until = marks[0].size, max(mark.expires_at for mark in marks)
        # The first runs of a batch can be over a whole window before the last.
        starts = [mark.started_at for mark in marks if mark.started_at is not None]
        head = BatchHead(
            batch,
            size,
            expires_at=kept_until + size.window_ms + _WAIT_MAX_MS,
            began_at=min(starts, default=self._clock.now()),
        )
        self._climb(head, self._mark(head, 0, size.total, ends))

    def _look(self, batch: BatchName, numbers: Iterable[int]) -> None:
        """End a batch if that is all that is missing, given pages of which it may be missing.

        A function may have crashed after the last mark, and its message may be owed no more.
        """
        head = self._batches.get(batch)
        if head is not None:
            pages = self._batches.marks([PageName(batch, 0, number) for number in numbers]).values()
            self._climb(head, [page.name.number for page in pages if _is_full(page, head.size.total)])

    def _climb(self, head: BatchHead, full: Sequence[int]) -> None:
        """End the batch if all of its pages are full, given those that are known to be full now.

        A page of the next level has a mark for each full page of a level.
        """
        level, count = 0, head.size.total
        while full:
            if count <= PAGE_SIZE:
                self._end(head)
                return
            level, count = level + 1, -(-count // PAGE_SIZE)
            full = self._mark(head, level, count, [(each, "succeeded") for each in full])

    def _mark(self, head: BatchHead, level: int, count: int, ends: Iterable[tuple[int, RunEnd]]) -> list[int]:
        """Write marks to the pages of a level, which has `count` marks in all. Returns the full pages.

        A page that was full before is among them. A function may have crashed after it filled the page.
        """
        of_pages: dict[int, list[tuple[int, RunEnd]]] = defaultdict(list)
        for index, end in ends:
            number, within = divmod(index, PAGE_SIZE)
            of_pages[number].append((within, end))
        names = [PageName(head.name, level, number) for number in of_pages]
        stored = self._batches.marks(names)
        if any(name not in stored for name in names):
            # The first mark of a page. The head must be there before, so that the batch can be found.
            self._batches.advance(head)
        full = []
        for name in names:
            page = self._write(stored.get(name) or ProgressPage(name), of_pages[name.number], head.expires_at)
            if _is_full(page, count):
                full.append(name.number)
        return full

    def _write(
        self, page: ProgressPage, ends: Sequence[tuple[int, RunEnd]], expires_at: Instant
    ) -> ProgressPage:
        for _ in range(_WRITES_MAX):
            marked = page.with_marks(ends, expires_at)
            if marked.words == page.words:
                return page
            was_written, page = self._batches.mark(marked, page)
            if was_written:
                return page
        raise StoreError(f"page {page.name.number} of batch {page.name.batch} kept changing")

    def _end(self, head: BatchHead) -> None:
        """Record that all runs of a batch are over, and send the notification of that once.

        It is sent again if a function crashes before it has recorded that it was sent.
        """
        ended = self._batches.get(head.name) or head
        if ended.ended_at is None:
            counts = counts_of(self._batches, head)
            ending = head._replace(began_at=ended.began_at, ended_at=self._clock.now(), counts=counts)
            ended = self._batches.advance(ending)
        if ended.was_told:
            return
        job = self._jobs.get(ended.name.key)
        is_there = job is not None and job.uid == ended.name.uid
        if job is not None and is_there and job.definition.on_complete is not None:
            self._queue.send([(end_message(ended, self._clock.now()), 0)])
        self._batches.advance(ended._replace(was_told=True))


def _is_full(page: ProgressPage, count: int) -> bool:
    """Whether a page has all its marks, in a level that has `count` marks."""
    return page.counts.over >= min(PAGE_SIZE, count - page.name.number * PAGE_SIZE)


def counts_of(batches: BatchStore, head: BatchHead) -> Counts:
    """How the runs of a batch have ended so far. It reads one item for each 1,000 triggers."""
    pages = -(-head.size.total // PAGE_SIZE)
    counts = Counts()
    for first in range(0, pages, _PAGES_READ):
        numbers = range(first, min(first + _PAGES_READ, pages))
        for page in batches.marks([PageName(head.name, 0, number) for number in numbers]).values():
            counts = Counts(*map(sum, zip(counts, page.counts, strict=True)))
    return counts


def end_message(head: BatchHead, sent_at: Instant) -> NotifyMessage:
    """The message that a batch has ended. Its trigger is the first of the batch."""
    name, size, end = head.name, head.size, head.end
    assert head.ended_at is not None, "the batch has ended"
    assert end is not None, "the counts are stored with the end"
    place = BatchPlace(*size, after_ms=0)
    # Nobody asks for the revision or the number of a trigger whose run is over.
    trigger = Trigger(name.key, name.uid, "-", name.due_at, 0, name.due_at, demand=name.demand, batch=place)
    return NotifyMessage(
        trigger=trigger,
        state=end.state,
        attempts=1,
        started_at=None,
        ended_at=head.ended_at,
        response_code=None,
        reason=None,
        not_before=sent_at,
        batch_end=end,
    )
