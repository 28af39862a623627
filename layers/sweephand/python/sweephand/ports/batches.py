"""The port of the progress of batches.

No write has a token of its own. Each one changes an item in one direction only, so a write that the SDK
repeats finds its own result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sweephand.base.instants import Instant
    from sweephand.model.batch_mark import BatchName
    from sweephand.model.batch_progress import BatchHead, PageName, ProgressPage
    from sweephand.model.job import JobKey
    from sweephand.model.page import Page
    from sweephand.model.run_id import Demand


class BatchStore(Protocol):
    """The progress of batches: a head for each batch, and pages with a mark for each run that is over."""

    def advance(self, head: BatchHead) -> BatchHead:
        """Write the head if none is stored, or one of an earlier stage; return the head as it then is."""
        ...

    def get(self, name: BatchName) -> BatchHead | None:
        """The head of that batch, or None."""
        ...

    def find(self, key: JobKey, due_at: Instant, demand: Demand | None) -> BatchHead | None:
        """The head of the batch of that name, of this job or an earlier job of its key; None if none is.

        If several jobs of the key have had such a batch, it is any of theirs.
        """
        ...

    def page(self, key: JobKey, before: str, limit: int) -> Page[BatchHead]:
        """Up to `limit` heads of a key, newest due time first, after the position `before` ("": all)."""
        ...

    def marks(self, names: Sequence[PageName]) -> Mapping[PageName, ProgressPage]:
        """Those of the pages (distinct names, any number) that exist; the others are left out."""
        ...

    def mark(self, page: ProgressPage, seen: ProgressPage) -> tuple[bool, ProgressPage]:
        """Write those words of a page that differ from `seen`, if the stored ones are still as in `seen`.

        A page that is not stored has no mark. Returns whether the words were written, and the page as it then
        is, with the words that others have written. `expires_at` is stored with them.
        """
        ...
