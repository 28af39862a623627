"""Records what stores, queue and consumers of a simulated world do, as events in true time."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

from tests.simulation.traces.rare_events import Alerted, BatchEnded, BatchTold, CalendarStored, Marked
from tests.simulation.traces.trace import (
    Answered,
    Chosen,
    Concluded,
    CursorStored,
    Deleted,
    Dropped,
    Event,
    InLine,
    LineStored,
    ManyAnswered,
    Mishap,
    Outcome,
    Requested,
    RunAnswered,
    RunAsked,
    RunStored,
    TimerStored,
    Told,
    Verb,
    Written,
)

from sweephand.base.errors import NotFoundError, PreconditionError
from sweephand.base.instants import Instant
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.batch_progress import PAGE_SIZE, BatchHead, ProgressPage
from sweephand.model.calendar import Calendar, CalendarContent
from sweephand.model.change import SWEEPHAND
from sweephand.model.job import Job, JobKey
from sweephand.model.line import Line
from sweephand.model.orders import ResumeMessage
from sweephand.model.run import Run
from sweephand.model.run_id import Counts
from sweephand.model.timer import Lease, OccurrenceTimer, Place, ResumeTimer, Timer, WatchTimer
from sweephand.model.trigger import Trigger, TriggerMessage
from sweephand.model.watch import WatchMessage

#: 202 Accepted: the consumer, or the consumer behind a queue, will report.
_ACCEPTED: Final = (202, None)

#: What each bulk call does with its jobs.
_OF_ONE: Final[Mapping[Verb, Verb]] = {"pause many": "pause", "resume many": "resume"}


@dataclass(slots=True)
class Asking:
    """A client's request while it is served.

    The function that serves it sets `uid` and `rev` from its answer. `changed` are the
    uids of the jobs that were written or removed for it, and `changed_at` is the last such instant. `revs`
    are the revisions that were written for it. `process` is the process that serves it.
    """

    verb: Verb
    name: str
    asked_at: Instant
    ahead_ms: int
    catchup: str | None = None
    until: Instant | None = None
    uid: str | None = None
    rev: str | None = None
    changed: list[str] = field(default_factory=list)
    changed_at: Instant | None = None
    revs: list[str] = field(default_factory=list)
    process: str = ""


class Recorder:
    """Keeps the events of one world in their order. `now` is the true time.

    A write is noted when the store has taken it. A request is noted when its delivery has been approved for
    the last time. `asking` tells for which request jobs are written within it. Requests in other threads and
    greenlets are kept apart.
    """

    def __init__(self, now: Callable[[], Instant]) -> None:
        self.events: list[Event] = []
        self._now = now
        self._asking: ContextVar[Asking | None] = ContextVar("asking", default=None)

    @contextmanager
    def asking(
        self, verb: Verb, name: str, *, asked_at: Instant, ahead_ms: int, process: str = ""
    ) -> Iterator[Asking]:
        """Record the request around its use case, and its answer unless its process ends before."""
        asking = Asking(verb, name, asked_at, ahead_ms, process=process)
        token = self._asking.set(asking)
        try:
            yield asking
        except Exception as error:
            is_refused = isinstance(error, (NotFoundError, PreconditionError))
            after = asking.changed_at if is_refused else None
            self.events.append(_answered(self._now(), asking, str(error), after))
            raise
        else:
            self.events.append(_answered(self._now(), asking))
        finally:
            self._asking.reset(token)

    def now(self) -> Instant:
        """The true time."""
        return self._now()

    def of_many(
        self, asking: Asking, chosen: Chosen, ask: Callable[[], tuple[int, str | None]]
    ) -> str | None:
        """Ask for a page of a bulk call, and note the answer unless it failed or its process ended.

        `ask` returns the number of jobs, and the name up to which, or None after the last page. This method
        returns the same.
        """
        asked_at = self._now()
        asking.changed.clear()
        count, reached = ask()
        changed = tuple(asking.changed)
        self.events.append(ManyAnswered(self._now(), asking.verb, asked_at, chosen, count, reached, changed))
        return reached

    def of_run(self, asked: RunAsked, ask: Callable[[], Run | None]) -> None:
        """Ask for an action on a run, and note it with its answer, unless the process ends before."""
        self.events.append(asked)
        try:
            run = ask()
        except Exception as error:
            self.events.append(RunAnswered(self._now(), asked, error=type(error).__name__))
            raise
        state, attempts = (run.state, run.attempts) if run is not None else (None, None)
        self.events.append(RunAnswered(self._now(), asked, state, attempts))

    def mishap(self, kind: str, where: str) -> None:
        """Note a fault of the seed."""
        self.events.append(Mishap(self._now(), kind, where))

    def written(self, before: Job | None, job: Job, data: str | None, ahead_ms: int = 0) -> None:
        """Note that a job's item was written, over another item or over none.

        `ahead_ms` is by how much the clock of the process is ahead that wrote it.
        """
        asking = self._asking.get()
        if before is not None and before.uid != job.uid:
            # The earlier item may be past its time to live. Its readers treat it as gone already.
            self.events.append(Deleted(self._now(), before.key.name, before.uid, "create"))
        by_itself = _verb_of(before, job)
        verb = asking.verb if asking and by_itself not in ("expire", "keep") else by_itself
        if asking is not None:
            asking.changed.append(job.uid)
            asking.changed_at = self._now()
            asking.revs.append(job.rev)
        is_new = before is None or before.uid != job.uid
        definition: dict[str, Any] = dict(job.definition.written)
        if data is not None:
            definition["data"] = data
        self.events.append(
            Written(
                at=self._now(),
                verb="create" if is_new else _OF_ONE.get(verb, verb),
                name=job.key.name,
                uid=job.uid,
                rev=job.rev,
                # A bulk call handles each of its jobs as if it were asked for at that moment.
                asked_at=asking.asked_at if asking and verb not in _OF_ONE else _dealt_with_at(job),
                ahead_ms=asking.ahead_ms if asking else ahead_ms if by_itself == "follow" else 0,
                cut=job.cut,
                since=job.current.since,
                paused_at=job.paused_at,
                definition=definition,
                catchup=asking.catchup if asking else None,
                until=asking.until if asking else None,
                by_itself=asking is None,
                jitter_ms=getattr(job.series, "jitter_ms", 0),
                expires_at=job.expires_at,
                closed=None if job.series.days is None else job.series.days.days,
            )
        )

    def calendar_changed(
        self,
        before: tuple[Calendar, CalendarContent] | None,
        after: tuple[Calendar, CalendarContent] | None,
    ) -> None:
        """Note that a calendar was written or deleted. How far its jobs have followed is not noted."""
        if after is None and before is not None:
            self.events.append(CalendarStored(self._now(), before[0].key.name, None, None))
        elif after is not None and (before is None or before[0].version != after[0].version):
            calendar, content = after
            self.events.append(
                CalendarStored(self._now(), calendar.key.name, calendar.closed, content.written)
            )

    def deleted(self, job: Job) -> None:
        """Note that a job's item was removed."""
        asking = self._asking.get()
        if asking is not None:
            asking.changed.append(job.uid)
            asking.changed_at = self._now()
        verb = asking.verb if asking else None
        self.events.append(Deleted(self._now(), job.key.name, job.uid, verb))

    def requested(self, attempt: Attempt) -> None:
        """Note that a request leaves."""
        trigger = attempt.trigger
        if attempt.ended_after is not None:
            self._told(attempt, attempt.ended_after)
            return
        self.events.append(
            Requested(
                at=self._now(),
                clock_at=attempt.sent_at,
                name=trigger.key.name,
                uid=trigger.uid,
                rev=trigger.rev,
                trigger_id=trigger.id,
                due_at=trigger.due_at,
                index=trigger.index,
                sequence=trigger.sequence,
                attempt=attempt.number,
                data=attempt.body.decode(),
                is_on_demand=is_on_demand(attempt),
                token=attempt.run_token,
            )
        )

    def _told(self, attempt: Attempt, attempts: int) -> None:
        trigger, told = attempt.trigger, json.loads(attempt.body)
        if (alert := attempt.alert) is not None:
            self.events.append(
                Alerted(
                    self._now(),
                    trigger.key.name,
                    trigger.uid,
                    trigger.rev,
                    told["alertId"],
                    attempt.number,
                    told["missed"],
                    alert.first_due_at,
                    alert.last_due_at,
                )
            )
            return
        if attempt.ends_batch:
            counts = told["succeeded"], told["failed"], told["cancelled"]
            self.events.append(
                BatchTold(
                    self._now(),
                    trigger.key.name,
                    trigger.uid,
                    told["batchId"],
                    attempt.id,
                    told["state"],
                    told["total"],
                    counts,
                )
            )
            return
        name, uid = trigger.key.name, trigger.uid
        self.events.append(Told(self._now(), name, uid, trigger.id, attempt.id, told["state"], attempts))

    def concluded(self, attempt: Attempt, answer: Answer | None) -> None:
        """Note a consumer's answer, or None if the answer was lost on its way."""
        if attempt.ended_after is not None:
            return
        trigger, outcome = attempt.trigger, _outcome(attempt, answer)
        is_final = answer is not None and answer.is_final
        self.events.append(Concluded(self._now(), trigger.uid, trigger.id, attempt.number, outcome, is_final))

    def dropped(self, attempt: Attempt) -> None:
        """Note that a FIFO queue has accepted an attempt that it does not deliver."""
        trigger = attempt.trigger
        self.events.append(Dropped(self._now(), trigger.key.name, trigger.uid, trigger.id, attempt.number))

    def run_stored(self, before: Run | None, run: Run) -> None:
        """Note that a run's item was written, over another item or over none."""
        self._run_is(run, run.state, before, reason=run.reason, is_ending=run.is_ending)

    def marks_changed(self, before: ProgressPage | None, after: ProgressPage | None) -> None:
        """Note the marks that are new on a page of a batch's progress. Higher levels count pages."""
        if after is None or after.name.level:
            return
        batch, known = after.name.batch, {} if before is None else before.ends
        for index, end in after.ends.items():
            if known.get(index) != end:
                index += PAGE_SIZE * after.name.number  # noqa: PLW2901 - the index within the batch
                self.events.append(Marked(self._now(), batch.key.name, batch.uid, str(batch), index, end))

    def head_changed(self, _: BatchHead | None, after: BatchHead | None) -> None:
        """Note that the head of a batch shows the batch's end, or that the end was told."""
        if after is not None and after.ended_at is not None:
            of, counts = after.name, after.counts or Counts()
            ended = BatchEnded(
                self._now(),
                of.key.name,
                of.uid,
                str(of),
                after.size.total,
                counts.succeeded,
                was_told=after.was_told,
            )
            self.events.append(ended)

    def run_released(self, run: Run) -> None:
        """Note that the claim of a run was removed, because its attempt was not made."""
        self._run_is(run, "released", run)

    def _run_is(
        self, run: Run, state: str, before: Run | None, *, reason: str | None = None, is_ending: bool = False
    ) -> None:
        self.events.append(
            RunStored(
                at=self._now(),
                name=run.key.name,
                uid=run.uid,
                run_id=run.run_id,
                before=before.state if before is not None else None,
                state=state,
                attempts=run.attempts,
                owner=run.owner,
                reason=reason,
                is_ending=is_ending,
                is_counted=None if run.batch is None else run.batch.is_counted,
                ended_at=run.ended_at,
                skipped_for=run.skipped_for,
            )
        )

    def line_stored(self, key: JobKey, uid: str, line: Line) -> None:
        """Note that the line of a job was written, or removed when no trigger is in it."""
        holder = _in_line(line.holder.message) if line.holder is not None else None
        waiting = tuple(map(_in_line, line.waiting))
        self.events.append(LineStored(self._now(), key.name, uid, holder, waiting))

    def timer_stored(self, timer: Timer, place: Place) -> None:
        """Note that a timer was written at a place, or written over itself."""
        kind = type(timer).__name__.removesuffix("Timer").lower()
        if isinstance(timer, OccurrenceTimer) and timer.demand is not None:
            kind = "on demand"
        if isinstance(timer, WatchTimer) and timer.message.held_from:
            kind = "look again"
        of = revision_of(timer)
        self.events.append(
            TimerStored(
                self._now(),
                timer.shard,
                timer.key.name,
                of.uid,
                "" if isinstance(of, ResumeMessage) else of.rev,
                kind,
                timer.due_at,
                place.key,
                timer.put_off_by_ms if isinstance(timer, OccurrenceTimer) else 0,
                timer.armed_at if isinstance(timer, OccurrenceTimer) else None,
                place.entry,
                timer.judged_at if isinstance(timer, OccurrenceTimer) else None,
            )
        )

    def cursor_stored(self, lease: Lease, tick_began_at: Instant) -> None:
        """Note that a shard's cursor was written by a tick that began then, or by a sweeper of this tick."""
        cursor = lease.cursor
        within_at = cursor.within.due_at if cursor.within is not None else None
        self.events.append(
            CursorStored(
                self._now(), lease.shard, lease.fence, cursor.key, within_at, cursor.entry, tick_began_at
            )
        )


def revision_of(timer: Timer) -> OccurrenceTimer | WatchMessage | ResumeMessage | Trigger:
    """The part of a timer that has the uid of its job, and usually the name of its revision."""
    if isinstance(timer, WatchTimer | ResumeTimer):
        return timer.message
    return timer if isinstance(timer, OccurrenceTimer) else timer.message.trigger


def _answered(
    at: Instant, asking: Asking, error: str | None = None, refused_after: Instant | None = None
) -> Answered:
    changed = tuple(asking.changed)
    return Answered(at, asking.verb, asking.name, asking.uid, asking.rev, error, refused_after, changed)


def is_on_demand(attempt: Attempt) -> bool:
    """Whether a trigger is no occurrence, by the name of its run."""
    return attempt.trigger.run_id.startswith(("manual-", "backfill-", "chained-"))


def _outcome(attempt: Attempt, answer: Answer | None) -> Outcome:
    if answer is None:
        return "lost"
    if not answer.succeeded:
        return "failed"
    return "accepted" if attempt.run_token is not None and answer.code in _ACCEPTED else "succeeded"


def _in_line(message: TriggerMessage) -> InLine:
    trigger = message.trigger
    is_asked_for = trigger.demand is not None or message.redrive is not None
    return InLine(trigger.id, trigger.due_at, trigger.rev, message.attempt, is_asked_for)


def _dealt_with_at(job: Job) -> Instant:
    """When one of many jobs was handled. `updated_at` is never before that of the earlier version."""
    is_resumed = job.change is not None and job.change.what == "resumed" and job.paused_at is None
    return job.change.at if job.change is not None and (is_resumed or _has_followed(job)) else job.updated_at


def _has_followed(job: Job) -> bool:
    """Whether the latest change of a job was made because its calendar was changed."""
    change = job.change
    return (
        change is not None and change.who == SWEEPHAND and (change.reason or "").startswith("The calendar ")
    )


def _verb_of(before: Job | None, job: Job) -> Verb:
    """Return the verb of a write that no client asked for.

    A job may be paused or resumed by itself, go, or be kept.
    """
    if before is not None and before.paused_at is not None and job.paused_at is None:
        return "resume"
    if before is None or before.rev != job.rev:
        return "follow" if before is not None and _has_followed(job) else "replace"
    if (before.paused_at, before.pause_end) != (job.paused_at, job.pause_end):
        return "pause"
    is_kept = before.expires_at is not None and (job.expires_at or 0) > before.expires_at
    # A note that late runs may be under way changes nothing else.
    is_kept = is_kept or (job.late_until or 0) > (before.late_until or 0)
    return "keep" if is_kept else "expire"
