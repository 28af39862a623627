"""Checking whether the triggers of a watched job have succeeded in time, and sending the alert if not."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from operator import eq, le
from typing import Final

from sweephand.base.instants import INSTANT_MAX, MINUTE_MS, Instant
from sweephand.base.timing import (
    CLOCK_SKEW_MAX_MS,
    NAMESPACE_AGE_MAX_MS,
    QUEUE_DELAY_MAX_MS,
    UNKNOWN_GRACE_MS,
)
from sweephand.model.definition import HISTORY_RETENTION_MIN_MS
from sweephand.model.job import Job, Revision
from sweephand.model.run import OVERLAP, WINDOW, Run, State
from sweephand.model.run_id import RunName, parse_run_name, run_position
from sweephand.model.trigger import NotifyMessage
from sweephand.model.watch import ALERT_WINDOW_MS, WatchMessage, window_of
from sweephand.model.window import Hold, Window, Windows, hold_between
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

#: So long after the time of triggers that windows held, a check looks at them again. It waits as a timer, so
#: that all checks that find triggers of one hold write the same.
LOOK_AGAIN_MS: Final = QUEUE_DELAY_MAX_MS

#: So long after a change of windows, by any clock, all checks know it.
_SETTLED_MS: Final = NAMESPACE_AGE_MAX_MS + CLOCK_SKEW_MAX_MS

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
        windows: Callable[[str], Windows],
        clock: Clock,
    ) -> None:
        """`windows` returns those of a namespace. What they skip is not missed."""
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
        ends_at = (job.paused_at if revision.until is None else revision.until) or INSTANT_MAX
        through = min(message.through, ends_at)
        since = max(message.since, revision.since)
        checked = _part(message, since, message.first.due_at - 1, through)
        if not checked:
            return Outcome("checked")
        unmet = self._unmet(message, job, since, checked)
        later = (each.hold for each in unmet if _told_at(each) > message.check_at)
        for hold in dict.fromkeys(filter(None, later)):
            self._requeue.send_at(_again(message, hold, since), job.shard)
        # A check that looks again leaves out what windows did not hold: it was told before.
        is_told = eq if message.held_from else le
        missed = [each for each in unmet if is_told(_told_at(each), message.check_at)]
        if missed and (alert := self._alert(message, job, missed, since, ends_at)) is not None:
            self._queue.send([(alert, 0)])
            return Outcome("alerted")
        if not missed and len(checked) == CHECKED_MAX:
            # The triggers before these get a check of their own.
            self._queue.send([(message._replace(through=checked[0].due_at - 1), 0)])
        return Outcome("checked")

    def _alert(
        self, message: WatchMessage, job: Job, missed: Sequence[Missed], since: Instant, ends_at: Instant
    ) -> NotifyMessage | None:
        """The alert about missed triggers; None if an earlier check has sent one that stands for them.

        The earlier alert is about the same clock hour, or it left less than half an hour before. No check
        looks at what is due after `ends_at`, so no alert stands for it. A check that ran before all knew of
        the last change of windows may have put its alert off. So it stands for no alert.
        """
        after_ms = message.after_ms
        window_at = window_of(max(each.deadline_at for each in missed))
        # Deadlines of this clock hour and of the one before.
        from_at = max(since, window_at - ALERT_WINDOW_MS - after_ms - 1)
        # Only what is due before the first trigger of the check was checked before. If windows held the
        # triggers, so was what was due after them.
        until = message.check_at - LOOK_AGAIN_MS - after_ms if message.held_from else message.first.due_at - 1
        others = self._unmet(message, job, since, _part(message, since, from_at, min(until, ends_at)))
        first = min(map(_in_order, missed))
        before = sorted((each for each in others if _in_order(each) < first), key=_in_order)
        settled_at = self._windows(message.key.namespace).changed_at + _SETTLED_MS
        told = [each for each in before if each.due_at + after_ms >= settled_at]
        if told and window_of(told[-1].deadline_at) == window_at:
            return None
        if told and first[0] - told[0].deadline_at < ALERTS_APART_MS:
            return None
        # After an outage, a check can cover days. An alert counts what it would count without one.
        counted = [each for each in (*before, *missed) if each.deadline_at >= window_at - ALERT_WINDOW_MS]
        return alert_of(message, sorted(counted), window_at, self._clock.now())

    def _unmet(
        self, message: WatchMessage, job: Job, since: Instant, checked: Sequence[Occurrence]
    ) -> list[Missed]:
        """Those of the triggers that have not succeeded in their time, in their order. That may be to come.

        The watch begins after `since`. If windows held a trigger in its time, the time begins anew.
        """
        if not checked:
            return []
        runs = {each.due_at: each for each in self._runs_between(message, checked[0], checked[-1])}
        unwatched = self._unwatched(message, since, runs.values())
        windows = self._windows(message.key.namespace).windows
        unmet: list[Missed] = []
        for each in checked:
            run, deadline_at = runs.get(each.due_at), each.due_at + message.after_ms
            if _is_fine(run, unwatched, deadline_at):
                continue
            hold = _hold_of(message, job, windows, each.due_at, run)
            if hold is not None and _is_fine(run, unwatched, deadline_at := hold.until + message.after_ms):
                continue
            unmet.append(Missed(each.due_at, each.sequence, run, deadline_at, hold))
        return unmet

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


def _told_at(missed: Missed) -> Instant:
    """From when on a check tells of a trigger."""
    return missed.deadline_at + (0 if missed.hold is None else LOOK_AGAIN_MS)


def _in_order(missed: Missed) -> tuple[Instant, Instant]:
    """The order in which triggers are missed."""
    return missed.deadline_at, missed.due_at


def _again(message: WatchMessage, hold: Hold, since: Instant) -> WatchMessage:
    """The check that looks again at the triggers of a hold. All checks that find some send the same one."""
    first = message.series.next_after(max(since, hold.opens_at - message.after_ms - 1))
    assert first is not None, "the hold has triggers"
    check_at = hold.until + message.after_ms + LOOK_AGAIN_MS
    through = hold.closes_at - 1
    return message._replace(
        first=first, through=through, check_at=check_at, held_from=hold.opens_at, faults=0
    )


def _hold_of(
    message: WatchMessage, job: Job, windows: Sequence[Window], due_at: Instant, run: Run | None
) -> Hold | None:
    """The hold that kept a trigger from succeeding in its time; None if there is none.

    Windows hold a trigger until its first attempt has begun. After that, they may hold a retry. A check that
    looks again knows the hold, since somebody may have removed its windows.
    """
    touched_until = INSTANT_MAX
    if run is not None:
        ended_at = run.ended_at if run.held_ms or run.started_at is None else run.started_at
        touched_until = INSTANT_MAX if ended_at is None else ended_at
    after_ms = message.after_ms
    if message.held_from and message.first.due_at <= due_at <= message.through:
        until = message.check_at - LOOK_AGAIN_MS - after_ms
        hold = (
            Hold(message.held_from, message.through + 1, until)
            if message.held_from <= touched_until
            else None
        )
    else:
        hold = hold_between(windows, job, due_at, min(due_at + after_ms, touched_until))
    if hold is not None and run is None and due_at < hold.opens_at:
        # It may have succeeded before the hold, and its record may expire before it is looked at again.
        is_kept = hold.until + after_ms + LOOK_AGAIN_MS < due_at + HISTORY_RETENTION_MIN_MS
        return hold if is_kept else None
    return hold


def _is_fine(run: Run | None, unwatched: Mapping[str, Run | None], deadline_at: Instant) -> bool:
    if run is None or run.ended_at is None or run.ended_at > deadline_at:
        return False
    if run.state == "skipped" and run.reason is not None and run.reason.startswith(WINDOW):
        return True
    if run.state == "skipped" and run.reason == OVERLAP:
        blocker = run.skipped_for
        return blocker is None or blocker not in unwatched or _is_fine(unwatched[blocker], {}, deadline_at)
    return run.state in _FINE
