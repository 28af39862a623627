"""How far a batch is: which of its runs are over, and how each of them ended."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from sweephand.base.instants import MINUTE_MS, Instant
from sweephand.model.batch_mark import BatchName, BatchSize, RunEnd
from sweephand.model.run_id import BatchEnd, Counts

#: Two bits for each index: 0 for a run that is not over, and else one of these. A later mark wins only if its
#: code is greater. So marks can be repeated and come in any order, and a redrive turns `failed` into another.
_CODES: Final[Mapping[RunEnd, int]] = {"failed": 1, "cancelled": 2, "succeeded": 3}
_ENDS: Final[Mapping[int, RunEnd]] = {code: end for end, code in _CODES.items()}
_BITS: Final = 2
_MASK: Final = 3

#: The number of indexes of a page, and of a word. A page is one item and a word is one attribute, so that
#: functions which deliver neighbouring triggers at once seldom write the same word. A word has 31 digits.
PAGE_SIZE: Final = 1_000
WORD_SIZE: Final = 50
WORDS: Final = PAGE_SIZE // WORD_SIZE

#: A batch overran if it ended later than the end of its window and a grace: the window divided by this, and
#: this time at most. Its last trigger is due `window / count` before the end of the window. Without a grace,
#: it would have overrun whenever its consumer takes longer than that.
_GRACE_PART: Final = 10
_GRACE_MAX_MS: Final = MINUTE_MS

#: The low bit of each code of a word.
_LOW_BITS: Final = sum(1 << _BITS * each for each in range(WORD_SIZE))


class PageName(NamedTuple):
    """Which page of which batch.

    Pages of level 0 have a mark for each trigger. Those of a higher level have a mark for each page of the
    level below that is full.
    """

    batch: BatchName
    level: int
    number: int


@dataclass(frozen=True, slots=True)
class ProgressPage:
    """The marks of up to 1,000 indexes, in words of 50."""

    name: PageName
    words: tuple[int, ...] = (0,) * WORDS
    expires_at: Instant = 0

    def with_marks(self, ends: Iterable[tuple[int, RunEnd]], expires_at: Instant) -> "ProgressPage":
        """The page with those indexes and their ends. The indexes count from the page's first one."""
        words = list(self.words)
        for index, end in ends:
            number, within = divmod(index, WORD_SIZE)
            code, shift = _CODES[end], within * _BITS
            before = words[number] >> shift & _MASK
            if code > before:
                words[number] += code - before << shift
        return replace(self, words=tuple(words), expires_at=max(self.expires_at, expires_at))

    @property
    def counts(self) -> Counts:
        """How many indexes have which mark."""
        succeeded = failed = cancelled = 0
        for word in self.words:
            if word:
                low, high = word & _LOW_BITS, word >> 1 & _LOW_BITS
                succeeded += (low & high).bit_count()
                failed += (low & ~high).bit_count()
                cancelled += (high & ~low).bit_count()
        return Counts(succeeded, failed, cancelled)

    @property
    def ends(self) -> dict[int, RunEnd]:
        """Each marked index with its end."""
        return {
            number * WORD_SIZE + within: _ENDS[code]
            for number, word in enumerate(self.words)
            if word
            for within in range(WORD_SIZE)
            if (code := word >> within * _BITS & _MASK)
        }


class BatchHead(NamedTuple):
    """What is known of a batch as a whole: its size, and once all runs are over, when that was.

    A head is written when the first run is over. `began_at` is when the first attempt of that run began,
    or None if it had none. `counts` are those of the batch's end. A redrive does not
    change them any more, so the notification says the same however often it is sent. `was_told` says that
    `onComplete` needs no notification of the end any more.
    """

    name: BatchName
    size: BatchSize
    ended_at: Instant | None = None
    counts: Counts | None = None
    was_told: bool = False
    expires_at: Instant = 0
    began_at: Instant | None = None

    @property
    def stage(self) -> int:
        """How far the batch is: 0 begun, 1 ended, 2 told. A head is replaced only by one of a later stage."""
        if self.ended_at is None:
            return 0
        return 2 if self.was_told else 1

    @property
    def overran(self) -> bool:
        """Whether the last run was over later than the end of the batch's window and its grace.

        The window begins when the batch is due. A batch on demand may begin later: a backfilled one is due in
        the past. Then the window begins with it. A batch of the schedule that begins late has less time. A
        batch without a window cannot overrun.
        """
        window_ms = self.size.window_ms
        grace_ms = min(window_ms // _GRACE_PART, _GRACE_MAX_MS)
        begins_at = self.name.due_at
        if self.name.demand is not None and self.began_at is not None:
            begins_at = max(begins_at, self.began_at)
        latest = begins_at + window_ms + grace_ms
        return self.ended_at is not None and window_ms > 0 and self.ended_at > latest

    @property
    def end(self) -> BatchEnd | None:
        """How the batch had ended when all of its runs were over for the first time. None before that."""
        return None if self.counts is None else BatchEnd(self.size.total, self.counts, self.overran)
