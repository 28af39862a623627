"""Checking whether the triggers of a watched job have succeeded in time, and sending the alert if not."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final

from sweephand.base.instants import MINUTE_MS, Instant
from sweephand.base.timing import UNKNOWN_GRACE_MS
from sweephand.model.job import Job, Revision
from sweephand.model.run import OVERLAP, WINDOW, Run, State
from sweephand.model.run_id import RunName, parse_run_name, run_position
from sweephand.model.trigger import NotifyMessage
from sweephand.model.watch import ALERT_WINDOW_MS, WatchMessage, window_of
from sweephand.model.window import Window, may_hold
from sweephand.ports.clock import Clock
from sweephand.ports.queue import Queue
from sweephand.ports.runs import RunStore
from sweephand.runs.delivery import JobRead, JobReads
from sweephand.runs.notification import Missed, alert_of
from sweephand.runs.received import Outcome
from sweephand.runs.requeue import Requeue
from sweephand.schedules import Occurrence

#: Runs that are read at once.
_PAGE_MAX: Final = 1_000

#: Triggers of one check. After an outage of days, a job that fires every second has many more, which further
#: checks cover. Their records are read in some seconds.
CHECKED_MAX: Final = 5_000

#: Two alerts of a job lie at least this far apart, even if an hour ends between them.
ALERTS_APART_MS: Final = 30 * MINUTE_MS

#: The ends with which a trigger needs no alert: it has succeeded, or somebody has cancelled it. A trigger
#: that was skipped for another run that is watched needs none. If it was skipped for a run that is not
#: watched, that run must have one of these ends.
_FINE: Final[frozenset[State]] = frozenset({"succeeded", "cancelled"})


class Watch:
    """Checks the triggers of watched jobs. Several threads may share one object.

    Whether a trigger was missed follows from the record of its run, and whether an alert is sent follows from
    the missed triggers. Nothing is stored. So a check that is repeated sends the same alert under the same
    id, and a check that is delayed sends no other one.
    """

    def __init__(
        self,
        *,
        runs: RunStore,
        queue: Queue,
        job_reads: JobReads,
        requeue: Requeue,
        windows: Callable[[str], Sequence[Window]],
        clock: Clock,
    ) -> None:
        """`windows` returns those of a namespace. What they hold or skip is not missed."""
        self._runs = runs
        self._queue = queue
        self._job_reads = job_reads
        self._requeue = requeue
        self._windows = windows
        self._clock = clock

    def check(self, message: WatchMessage, read: JobRead) -> Outcome:
        """Send an alert if a trigger of the check was missed, and if no earlier alert stands for it.

        Nothing is sent for a job that was deleted, or that has no `onAlert` now. StoreError: the message must
        come again.
        """
        read = self._job_reads.fresh(message.key, read)
        revision = self._job_reads.revision(message, read.job, message.first.due_at)
        if read.job is None or read.job.uid != message.uid or revision is None:
            if self._clock.now() - message.armed_at < UNKNOWN_GRACE_MS:
                # Its commit may be in flight.
                self._requeue.await_commit(message, message.armed_at)
                return Outcome("unknown")
            return Outcome("dropped")
        if read.job.definition.on_alert is None:
            return Outcome("dropped")
        return self._check(message, read.job, revision)

    def _check(self, message: WatchMessage, job: Job, revision: Revision) -> Outcome:
        until = job.paused_at if revision.until is None else revision.until
        through = message.through if until is None else min(message.through, until)
        since = max(message.since, revision.since)
        checked = _part(message, since, message.first.due_at - 1, through)
        if not checked:
            return Outcome("checked")
        missed = self._missed(message, job, since, checked)
        if missed and (alert := self._alert(message, job, missed, since)) is not None:
            self._queue.send([(alert, 0)])
            return Outcome("alerted")
        if not missed and len(checked) == CHECKED_MAX:
            # The triggers before these get a check of their own.
            self._queue.send([(message._replace(through=checked[0].due_at - 1), 0)])
        return Outcome("checked")

    def _alert(
        self, message: WatchMessage, job: Job, missed: Sequence[Missed], since: Instant
    ) -> NotifyMessage | None:
        """The alert about missed triggers; None if an earlier check has sent one that stands for them.

        That one was about the same clock hour, or it was sent less than half an hour before.
        """
        after_ms = message.after_ms
        window_at = window_of(missed[-1].due_at + after_ms)
        # Deadlines of this clock hour and of the one before.
        from_at = max(since, window_at - ALERT_WINDOW_MS - after_ms - 1)
        # Only what is due before the first trigger of the check was checked before.
        before = self._missed(message, job, since, _part(message, since, from_at, message.first.due_at - 1))
        if before and window_of(before[-1].due_at + after_ms) == window_at:
            return None
        if before and missed[0].due_at - before[0].due_at < ALERTS_APART_MS:
            return None
        # After an outage, a check can cover days. An alert counts what it would count without one.
        counted = [each for each in (*before, *missed) if each.due_at > from_at]
        return alert_of(message, counted, window_at, self._clock.now())

    def _missed(
        self, message: WatchMessage, job: Job, since: Instant, checked: Sequence[Occurrence]
    ) -> list[Missed]:
        """Those of the triggers that were missed, in their order. The watch begins after `since`.

        A trigger is not missed if a window of its job was open between its due time and its deadline.
        """
        if not checked:
            return []
        runs = {each.due_at: each for each in self._runs_between(message, checked[0], checked[-1])}
        unwatched = self._unwatched(message, since, runs.values())
        windows = self._windows(message.key.namespace)
        return [
            Missed(each.due_at, each.sequence, run)
            for each in checked
            if not _is_fine(run := runs.get(each.due_at), unwatched, each.due_at + message.after_ms)
            and not may_hold(windows, job, each.due_at, each.due_at + message.after_ms)
        ]

    def _unwatched(self, message: WatchMessage, since: Instant, runs: Iterable[Run]) -> dict[str, Run | None]:
        """The runs for which triggers were skipped and that may have no watch, by their names.

        A run on demand has none. A run that was due before this watch began may have none either: an update
        has added the watch, or a resume has caught up the trigger. One read for each.
        """
        names = {each.skipped_for for each in runs if each.skipped_for is not None}
        parsed = {each: parse_run_name(each) for each in names}
        found = {
            each: self._runs.get(message.key, each)
            for each, name in parsed.items()
            if name is not None and (name.demand or name.due_at <= since)
        }
        return {
            name: run if run is not None and run.uid == message.uid else None for name, run in found.items()
        }

    def _runs_between(self, message: WatchMessage, first: Occurrence, last: Occurrence) -> Iterator[Run]:
        """The stored runs of those triggers and of all between them, from the last on."""
        before: str | None = run_position(RunName(last.due_at + 1, 0), "")
        while before is not None:
            page = self._runs.page(message.key, None, before, _PAGE_MAX, with_batches=False)
            for each in takewhile(lambda run: run.due_at >= first.due_at, page.items):
                if each.uid == message.uid and each.demand is None:
                    yield each
            is_all = bool(page.items) and page.items[-1].due_at < first.due_at
            before = None if is_all else page.next


def _part(message: WatchMessage, since: Instant, after: Instant, through: Instant) -> list[Occurrence]:
    """The watched triggers that are due after `after` and up to `through`: the last CHECKED_MAX of them."""
    series = message.series
    first = series.next_after(max(since, after))
    if first is None or first.due_at > through:
        return []
    last = series.last_through(through, first)
    first = series.numbered(max(first.sequence, last.sequence - CHECKED_MAX + 1), first)
    following = series.occurrences(first.due_at, first)
    return [first, *takewhile(lambda each: each.due_at <= last.due_at, following)]


def _is_fine(run: Run | None, unwatched: Mapping[str, Run | None], deadline_at: Instant) -> bool:
    if run is None or run.ended_at is None or run.ended_at > deadline_at:
        return False
    if run.state == "skipped" and run.reason is not None and run.reason.startswith(WINDOW):
        return True
    if run.state == "skipped" and run.reason == OVERLAP:
        blocker = run.skipped_for
        return blocker is None or blocker not in unwatched or _is_fine(unwatched[blocker], {}, deadline_at)
    return run.state in _FINE
