"""The ports of runs, of the lines of jobs, of flags, of the progress of batches, and of statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sweephand.base.instants import Instant
    from sweephand.model.batch_mark import BatchName
    from sweephand.model.batch_progress import BatchHead, PageName, ProgressPage
    from sweephand.model.counters import Stats
    from sweephand.model.job import JobKey
    from sweephand.model.line import StoredLine
    from sweephand.model.page import Page
    from sweephand.model.run import Flag, Run, State
    from sweephand.model.run_id import Demand, RunName
    from sweephand.model.trigger import Trigger


class RunStore(Protocol):
    """Runs, one item each. Only model/run.py says which state may follow which.

    The tokens are `owner`, which differs for every handling of a message, with the attempt; and `version` for
    a move.
    """

    def claim(self, run: Run, now: Instant) -> Run | None:
        """Write a `claimed` run if it is granted. Returns None if so, or else the stored run that refuses it.

        It is granted in each of these cases:

        - No run is stored.
        - The stored run is at an earlier attempt, `claimed` or `retrying`. The message of a later attempt
          proves that the earlier one failed.
        - The stored run is at this attempt, `claimed`, and its `claimed_until` is not after `now`. Its holder
          has crashed. Its `token` must equal that of this claim, since an attempt keeps its token.
        - The stored run is `failed` at the attempt before, and this is the first attempt of a redrive.
        """
        ...

    def record(self, run: Run) -> bool:
        """Write the outcome of an attempt; return whether it was written.

        It is written if no run is stored, or if `run.owner` has claimed this attempt. If `run` has no
        `claimed_until`, any owner may have claimed it: the attempt needed no claim, so its job has changed
        since. A claim that another writer has changed refuses the write. It then has a `version` that is not
        `run.version`.
        """
        ...

    def move(self, run: Run, seen: Run) -> bool:
        """Change a run that was read: after a consumer's callback, a passed deadline or a user's request.

        It is written if the stored run has the state, attempt, owner and version of `seen`. Returns whether
        it was.
        """
        ...

    def release(self, run: Run) -> bool:
        """Remove the record of a first attempt that was claimed and not made; return whether it is gone.

        It is removed if the stored run is `claimed` by `run.owner` at this attempt, in the version of `run`.
        A missing run is a success.
        """
        ...

    def of(self, trigger: Trigger) -> Run | None:
        """The run of that trigger, or None."""
        ...

    def get(self, key: JobKey, run_id: str) -> Run | None:
        """The newest run of that name, of this job or an earlier job of its key; None if there is none."""
        ...

    def of_flags(self, flags: Sequence[Flag]) -> Sequence[Run]:
        """The runs that these flags (distinct, any number) name, in any order; those without a record not."""
        ...

    def page(
        self, key: JobKey, state: State | None, before: str, limit: int, *, with_batches: bool = True
    ) -> Page[Run]:
        """Up to `limit` runs of a key, newest due time first, after `before` ("": from the newest).

        With `state`, the store examines `limit` runs and returns those in that state. Without `with_batches`,
        it reads only runs with index 0, from one partition. A job that never had a batch has no others.
        """
        ...

    def newest(self, keys: Sequence[JobKey], limit: int) -> Sequence[Page[Run]]:
        """Of each key, the first page of up to `limit` runs with index 0, as page() returns it."""
        ...

    def beside(
        self, key: JobKey, name: RunName, *, with_batches: bool = True
    ) -> tuple[Run | None, Run | None]:
        """The nearest runs of a key that have other names: the one before that name, and the one after it.

        They come before and after in due time, as page() orders them. Either is None if there is none. With
        and without `with_batches` as in page(). There may be no run of that name.
        """
        ...


class LineStore(Protocol):
    """The lines of jobs whose runs take turns, one item each. The token is `version`."""

    def get(self, key: JobKey) -> StoredLine | None:
        """The line of the job of that key, or of an earlier job of its name; None if there is none."""
        ...

    def put(self, stored: StoredLine, replacing: str | None) -> bool:
        """Write it if the stored version is `replacing` (None: if there is none); return whether it did."""
        ...

    def delete(self, stored: StoredLine) -> bool:
        """Remove it if it is in that version. A missing line is a success, and another version is not."""
        ...


class FlagStore(Protocol):
    """The flags of runs that did not simply succeed. None is removed: each expires with its run."""

    def put(self, flag: Flag) -> None:
        """File a flag; filing it again changes only its `expires_at`."""
        ...

    def page(self, namespace: str, since: Instant, after: str, limit: int) -> Page[Flag]:
        """Up to `limit` flags of a namespace, newest due time first, of runs due at `since` or later.

        They come after the position `after` ("": from the newest). `next` is the position after which the
        next page begins, as long as there may be more. A flag may still be returned past its `expires_at`,
        which is rounded up to whole seconds.
        """
        ...


class StatsStore(Protocol):
    """What deliveries counted in each minute. Each minute is kept for 30 days."""

    def add(
        self, minute: Instant, part: int, counted: Mapping[str, Stats], in_time: Callable[[], bool]
    ) -> None:
        """Add the counts of some namespaces to those of the minute that begins at `minute`.

        All are added or none. `part` is any number of zero or more. Additions with different ones seldom
        meet in one partition. No try is sent unless `in_time()` is true. After a StoreError, the counts may
        have been added, and so they may have been added twice if no error is raised.
        """
        ...

    def minutes(self, namespace: str, since: Instant, until: Instant) -> Mapping[Instant, Stats]:
        """The counts of a namespace in the minutes that begin at `since` or later, and before `until`.

        Minutes without any are left out.
        """
        ...

    def sums(self, since: Instant, until: Instant) -> Mapping[str, Stats]:
        """The counts of each namespace in those minutes together. Namespaces without any are left out."""
        ...


class BatchStore(Protocol):
    """The progress of batches: a head for each batch, and pages with a mark for each run that is over.

    No write has a token of its own. Each one changes an item in one direction only, so a write that the SDK
    repeats finds its own result.
    """

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
