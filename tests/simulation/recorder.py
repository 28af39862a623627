"""What stores, queue and consumers of a simulated world do, written down as events in true time."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

from tests.fakes.memory import MemoryJobs, MemoryLeases, MemoryPayloads, MemoryRuns, MemoryTimers
from tests.fakes.world import World
from tests.simulation.trace import (
    Answered,
    Buried,
    Concluded,
    CursorStored,
    Deleted,
    Event,
    InLine,
    LineStored,
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

from sweephand.instants import Instant
from sweephand.jobs.job import Job, JobKey
from sweephand.ports import Answer, Attempt, Queue, Targets
from sweephand.runs.overlap import Line
from sweephand.runs.run import Run
from sweephand.wheel.timer import Cursor, Lease, OccurrenceTimer, Timer
from sweephand.wheel.trigger import DeadLetter, TriggerMessage

#: 202 Accepted: the consumer will report.
_ACCEPTED: Final = 202


@dataclass(slots=True)
class Asking:
    """A client's request while it is served: whoever serves it sets `uid` and `rev` from what it answers."""

    verb: Verb
    name: str
    asked_at: Instant
    ahead_ms: int
    catchup: str | None = None
    uid: str | None = None
    rev: str | None = None


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

    @classmethod
    def of(cls, world: World) -> "Recorder":
        """A recorder that watches everything in a world from now on."""
        recorder = cls(lambda: world.clock.time)
        recorder.watch_jobs(world.jobs, world.payloads)
        recorder.watch_timers(world.timers)
        recorder.watch_leases(world.leases)
        recorder.watch_runs(world.runs)
        recorder.watch_queue(world.queue)
        recorder.watch_targets(world.consumers)
        return recorder

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
            self.events.append(Answered(self._now(), verb, name, asking.uid, asking.rev, str(error)))
            raise
        else:
            self.events.append(Answered(self._now(), verb, name, asking.uid, asking.rev))
        finally:
            self._asking.reset(token)

    def now(self) -> Instant:
        """The true time."""
        return self._now()

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
            self.events.append(Deleted(self._now(), before.key.name, before.uid))
        is_new = before is None or before.uid != job.uid
        definition: dict[str, Any] = dict(job.definition.written)
        if data is not None:
            definition["data"] = data
        self.events.append(
            Written(
                at=self._now(),
                verb="create" if is_new else asking.verb if asking else _verb_of(before, job),
                name=job.key.name,
                uid=job.uid,
                rev=job.rev,
                asked_at=asking.asked_at if asking else job.updated_at,
                ahead_ms=asking.ahead_ms if asking else 0,
                cut=job.cut,
                since=job.current.since,
                paused_at=job.paused_at,
                definition=definition,
                catchup=asking.catchup if asking else None,
                jitter_ms=getattr(job.series, "jitter_ms", 0),
            )
        )

    def deleted(self, job: Job) -> None:
        """A job's item was removed."""
        self.events.append(Deleted(self._now(), job.key.name, job.uid))

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

    def buried(self, letter: DeadLetter) -> None:
        """A dead letter was accepted."""
        self.events.append(
            Buried(self._now(), letter.trigger.id if letter.trigger is not None else None, letter.reason)
        )

    def run_stored(self, before: Run | None, run: Run) -> None:
        """A run's item was written over another or none."""
        self.events.append(
            RunStored(
                at=self._now(),
                name=run.key.name,
                uid=run.uid,
                run_id=run.run_id,
                before=before.state if before is not None else None,
                state=run.state,
                attempts=run.attempts,
                owner=run.owner,
                reason=run.reason,
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
                self._now(), timer.shard, timer.key.name, of.uid, of.rev, kind, timer.due_at, timer.sort_key
            )
        )

    def cursor_stored(self, lease: Lease) -> None:
        """A shard's cursor was written."""
        cursor = lease.cursor
        within_at = cursor.within.due_at if cursor.within is not None else None
        self.events.append(CursorStored(self._now(), lease.shard, lease.fence, cursor.key, within_at))

    def watch_jobs(self, jobs: MemoryJobs, payloads: MemoryPayloads) -> None:
        """Note every job that is written or removed from now on."""
        put, delete = jobs.put, jobs.delete

        def watched_put(job: Job, replacing: str | None) -> bool:
            before = jobs.get(job.key)
            is_written = put(job, replacing)
            if is_written and jobs.get(job.key) is not before:
                self.written(before, job, _data_of(job, payloads))
            return is_written

        def watched_delete(job: Job) -> bool:
            before = jobs.get(job.key)
            is_deleted = delete(job)
            if is_deleted and before is not None:
                self.deleted(before)
            return is_deleted

        jobs.put = watched_put  # type: ignore[method-assign]
        jobs.delete = watched_delete  # type: ignore[method-assign]

    def watch_timers(self, timers: MemoryTimers) -> None:
        """Note every timer that is written from now on."""
        put = timers.put

        def watched_put(timers: Sequence[Timer]) -> None:
            put(timers)
            for timer in timers:
                self.timer_stored(timer)

        timers.put = watched_put  # type: ignore[method-assign]

    def watch_leases(self, leases: MemoryLeases) -> None:
        """Note every cursor that is committed from now on."""
        commit = leases.commit

        def watched_commit(
            lease: Lease, cursor: Cursor, until: Instant, judged_at: Instant | None = None
        ) -> Lease | None:
            committed = commit(lease, cursor, until, judged_at)
            if committed is not None:
                self.cursor_stored(committed)
            return committed

        leases.commit = watched_commit  # type: ignore[method-assign]

    def watch_runs(self, runs: MemoryRuns) -> None:
        """Note every run that is written from now on."""
        claim, record, move = runs.claim, runs.record, runs.move

        def stored(run: Run) -> Run | None:
            return runs._runs.get((run.key, run.run_id, run.uid))

        def watched_claim(run: Run, now: Instant) -> Run | None:
            before = stored(run)
            refused_by = claim(run, now)
            if refused_by is None and stored(run) is not before:
                self.run_stored(before, run)
            return refused_by

        def watched_record(run: Run) -> bool:
            before = stored(run)
            is_recorded = record(run)
            if stored(run) is not before:
                self.run_stored(before, run)
            return is_recorded

        def watched_move(run: Run, seen: Run) -> bool:
            before = stored(run)
            is_moved = move(run, seen)
            if stored(run) is not before:
                self.run_stored(before, run)
            return is_moved

        runs.claim = watched_claim  # type: ignore[method-assign]
        runs.move = watched_move  # type: ignore[method-assign]
        runs.record = watched_record  # type: ignore[method-assign]

    def watch_queue(self, queue: Queue) -> None:
        """Note every dead letter that is accepted from now on."""
        bury = queue.bury

        def watched_bury(letters: Sequence[tuple[DeadLetter, str | None]]) -> None:
            bury(letters)
            for letter, _ in letters:
                self.buried(letter)

        queue.bury = watched_bury  # type: ignore[method-assign]

    def watch_targets(self, targets: Targets) -> None:
        """Note every request that leaves from now on, and what came of it."""
        deliver = targets.deliver

        def watched_deliver(attempt: Attempt) -> Answer:
            def is_wanted() -> bool:
                answer = attempt.is_wanted()
                if answer:
                    self.requested(attempt)
                return answer

            answer = deliver(attempt._replace(is_wanted=is_wanted))
            if not answer.was_withdrawn:
                self.concluded(attempt, answer)
            return answer

        targets.deliver = watched_deliver  # type: ignore[method-assign]


def is_on_demand(attempt: Attempt) -> bool:
    """Whether a trigger is no occurrence: its run is named so."""
    return attempt.trigger.run_id.startswith(("manual-", "backfill-", "chained-"))


def _outcome(attempt: Attempt, answer: Answer | None) -> Outcome:
    if answer is None:
        return "lost"
    if not answer.succeeded:
        return "failed"
    return "accepted" if attempt.run_token is not None and answer.code == _ACCEPTED else "succeeded"


def _in_line(message: TriggerMessage) -> InLine:
    trigger = message.trigger
    is_asked_for = trigger.demand is not None or message.redrive is not None
    return InLine(trigger.id, trigger.due_at, trigger.rev, message.attempt, is_asked_for)


def _verb_of(before: Job | None, job: Job) -> Verb:
    """What a write that no client asked for amounts to: a function of ours may have paused the job."""
    return "pause" if before is not None and before.rev == job.rev else "replace"


def _data_of(job: Job, payloads: MemoryPayloads) -> str | None:
    payload = job.definition.payload
    if payload is None:
        return None
    if payload.text is not None:
        return payload.text
    return payloads.get(job.uid, payload.ref) if payload.ref is not None else None
