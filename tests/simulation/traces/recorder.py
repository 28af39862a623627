"""What stores, queue and consumers of a simulated world do, written down as events in true time."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final

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
from sweephand.model.job import Job, JobKey
from sweephand.model.line import Line
from sweephand.model.run import Run
from sweephand.model.timer import Lease, OccurrenceTimer, Timer
from sweephand.model.trigger import TriggerMessage
from sweephand.ports import Answer, Attempt

#: The consumer will report: 202 Accepted, and what a queue has taken.
_ACCEPTED: Final = (202, None)

#: What a bulk call does with each of its jobs.
_OF_ONE: Final[Mapping[Verb, Verb]] = {"pause many": "pause", "resume many": "resume"}


@dataclass(slots=True)
class Asking:
    """A client's request while it is served: whoever serves it sets `uid` and `rev` from what it answers.

    `changed` are the uids of the jobs that were written or removed for it, the last of them at `changed_at`.
    """

    verb: Verb
    name: str
    asked_at: Instant
    ahead_ms: int
    catchup: str | None = None
    uid: str | None = None
    rev: str | None = None
    changed: list[str] = field(default_factory=list)
    changed_at: Instant | None = None


class Recorder:
    """Keeps the events of one world, in the order in which they happened; `now` is the true time.

    A write is noted when the store has taken it, a request when the last question whether it is wanted was
    answered with yes. `asking` says on whose behalf jobs are written from within it: what is asked in other
    threads or greenlets meanwhile is told apart.
    """

    def __init__(self, now: Callable[[], Instant]) -> None:
        self.events: list[Event] = []
        self._now = now
        self._asking: ContextVar[Asking | None] = ContextVar("asking", default=None)

    @contextmanager
    def asking(
        self, verb: Verb, name: str, *, asked_at: Instant, ahead_ms: int, catchup: str | None = None
    ) -> Iterator[Asking]:
        """Around the use case that serves a request; notes the answer, unless the process ends before."""
        asking = Asking(verb, name, asked_at, ahead_ms, catchup)
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
        """Ask for a page of a bulk call, and note what was answered, unless it failed or its process ended.

        `ask` returns how many jobs there were, and the name up to which, None if that was all; so does this.
        """
        asked_at = self._now()
        asking.changed.clear()
        count, reached = ask()
        changed = tuple(asking.changed)
        self.events.append(ManyAnswered(self._now(), asking.verb, asked_at, chosen, count, reached, changed))
        return reached

    def of_run(self, asked: RunAsked, ask: Callable[[], Run | None]) -> None:
        """Ask for something of a run, and note it with the answer, unless the process ends before."""
        self.events.append(asked)
        try:
            run = ask()
        except Exception as error:
            self.events.append(RunAnswered(self._now(), asked, error=type(error).__name__))
            raise
        state, attempts = (run.state, run.attempts) if run is not None else (None, None)
        self.events.append(RunAnswered(self._now(), asked, state, attempts))

    def mishap(self, kind: str, where: str) -> None:
        """Something went wrong, as the seed had it."""
        self.events.append(Mishap(self._now(), kind, where))

    def written(self, before: Job | None, job: Job, data: str | None) -> None:
        """A job's item was written over another or none."""
        asking = self._asking.get()
        if before is not None and before.uid != job.uid:
            # One past its time to live, which its readers take for gone already.
            self.events.append(Deleted(self._now(), before.key.name, before.uid, "create"))
        by_itself = _verb_of(before, job)
        verb = asking.verb if asking and by_itself not in ("expire", "keep") else by_itself
        if asking is not None:
            asking.changed.append(job.uid)
            asking.changed_at = self._now()
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
                # Of many jobs each is dealt with by itself, as if it were asked for when its turn has come.
                asked_at=asking.asked_at if asking and verb not in _OF_ONE else _dealt_with_at(job),
                ahead_ms=asking.ahead_ms if asking else 0,
                cut=job.cut,
                since=job.current.since,
                paused_at=job.paused_at,
                definition=definition,
                catchup=asking.catchup if asking else None,
                jitter_ms=getattr(job.series, "jitter_ms", 0),
                expires_at=job.expires_at,
            )
        )

    def deleted(self, job: Job) -> None:
        """A job's item was removed."""
        asking = self._asking.get()
        if asking is not None:
            asking.changed.append(job.uid)
            asking.changed_at = self._now()
        verb = asking.verb if asking else None
        self.events.append(Deleted(self._now(), job.key.name, job.uid, verb))

    def requested(self, attempt: Attempt) -> None:
        """A request leaves."""
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
        name, uid = trigger.key.name, trigger.uid
        self.events.append(Told(self._now(), name, uid, trigger.id, attempt.id, told["state"], attempts))

    def concluded(self, attempt: Attempt, answer: Answer | None) -> None:
        """A consumer answered, or (None) its answer was lost on the way."""
        if attempt.ended_after is not None:
            return
        trigger, outcome = attempt.trigger, _outcome(attempt, answer)
        is_final = answer is not None and answer.is_final
        self.events.append(Concluded(self._now(), trigger.uid, trigger.id, attempt.number, outcome, is_final))

    def dropped(self, attempt: Attempt) -> None:
        """A FIFO queue has accepted an attempt that it delivers to nobody."""
        trigger = attempt.trigger
        self.events.append(Dropped(self._now(), trigger.key.name, trigger.uid, trigger.id, attempt.number))

    def run_stored(self, before: Run | None, run: Run) -> None:
        """A run's item was written over another or none."""
        self._run_is(run, run.state, before, reason=run.reason, is_ending=run.is_ending)

    def run_released(self, run: Run) -> None:
        """The claim of a run was removed: its attempt was not made."""
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
            )
        )

    def line_stored(self, key: JobKey, uid: str, line: Line) -> None:
        """The line of a job was written, or is gone: then nobody is in it."""
        holder = _in_line(line.holder.message) if line.holder is not None else None
        waiting = tuple(map(_in_line, line.waiting))
        self.events.append(LineStored(self._now(), key.name, uid, holder, waiting))

    def timer_stored(self, timer: Timer) -> None:
        """A timer was written, or written over itself."""
        kind = type(timer).__name__.removesuffix("Timer").lower()
        of = timer if isinstance(timer, OccurrenceTimer) else timer.message.trigger
        self.events.append(
            TimerStored(
                self._now(),
                timer.shard,
                timer.key.name,
                of.uid,
                of.rev,
                kind,
                timer.due_at,
                timer.sort_key,
                timer.due_at - timer.first.due_at if isinstance(timer, OccurrenceTimer) else 0,
                timer.armed_at if isinstance(timer, OccurrenceTimer) else None,
            )
        )

    def cursor_stored(self, lease: Lease) -> None:
        """A shard's cursor was written."""
        cursor = lease.cursor
        within_at = cursor.within.due_at if cursor.within is not None else None
        self.events.append(CursorStored(self._now(), lease.shard, lease.fence, cursor.key, within_at))


def _answered(
    at: Instant, asking: Asking, error: str | None = None, refused_after: Instant | None = None
) -> Answered:
    changed = tuple(asking.changed)
    return Answered(at, asking.verb, asking.name, asking.uid, asking.rev, error, refused_after, changed)


def is_on_demand(attempt: Attempt) -> bool:
    """Whether a trigger is no occurrence: its run is named so."""
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
    """When the turn of one of many jobs came. `updated_at` is never before that of the version before it."""
    is_resumed = job.change is not None and job.change.what == "resumed" and job.paused_at is None
    return job.change.at if job.change is not None and is_resumed else job.updated_at


def _verb_of(before: Job | None, job: Job) -> Verb:
    """What a write that no client asked for amounts to: a job may be paused by itself, go, or be kept."""
    if before is None or before.rev != job.rev:
        return "replace"
    if before.paused_at != job.paused_at:
        return "pause"
    is_kept = before.expires_at is not None and (job.expires_at or 0) > before.expires_at
    return "keep" if is_kept else "expire"
