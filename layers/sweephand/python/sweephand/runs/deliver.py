"""Delivering: what becomes of one message, from the queue to its consumer and into the record."""

from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from sweephand.base.instants import (
    DAY_MS,
    INSTANT_MAX,
    SECOND_MS,
    Instant,
)
from sweephand.base.timing import (
    COMMIT_WAIT_MS,
    DEADLINE_GRACE_MS,
    EARLY_WAIT_MAX_MS,
    OVERTAKEN_PATIENCE_MS,
    POSTPONED_MS,
    UNKNOWN_DELAY_MS,
    UNKNOWN_GRACE_MS,
)
from sweephand.jobs.expiry import Completions
from sweephand.model.definition import HISTORY_RETENTION_DEFAULT_MS
from sweephand.model.job import Job
from sweephand.model.run import Run
from sweephand.model.trigger import (
    DeadlineMessage,
    FailureMessage,
    Message,
    NoticeMessage,
    SpanMessage,
    TriggerMessage,
)
from sweephand.ports import (
    Clock,
    Ids,
    JobStore,
    OverlapStore,
    PayloadStore,
    Queue,
    RunStore,
    Targets,
    TimerStore,
)
from sweephand.runs.attempt import Attempts, Postponed, Signing, Withdrawn
from sweephand.runs.claims import Claims
from sweephand.runs.deadlines import Watch
from sweephand.runs.flow.overlap import is_over
from sweephand.runs.flow.overlap_queue import Turns
from sweephand.runs.job_reads import JobRead, Reading, liveness_of
from sweephand.runs.notify import Teller
from sweephand.runs.outcome import (
    Delivered,
    Letters,
    Pauses,
    Settler,
)
from sweephand.runs.requeue import Later
from sweephand.runs.retention import Keeping
from sweephand.runs.trigger_ranges import Spans

#: What becomes of a message that does not get a turn, nor waits for one.
NO_TURNS: Final = {"skip": "skipped", "over": "repeated", "gone": "dropped"}

#: What becomes of a message of which nobody has looked whether it was its job's last, or who did has died.
UNTOLD: Final = frozenset({"skipped", "repeated"})

#: What becomes of a message after which its run is over, or was before.
ENDED: Final = frozenset({"succeeded", "failed", "repeated"})


class Deliverer:
    """Handles one message at a time, from any number of threads; the caller acknowledges what returns.

    Whatever has to wait is sent as a new message (or a timer, further ahead) before this one is
    acknowledged. So a crash anywhere repeats, with the same trigger id, and loses nothing.
    """

    def __init__(
        self,
        *,
        jobs: JobStore,
        runs: RunStore,
        slots: OverlapStore,
        timers: TimerStore,
        queue: Queue,
        payloads: PayloadStore,
        targets: Targets,
        signing: Signing,
        pauses: Pauses,
        letters: Letters,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._runs = runs
        self._clock = clock
        self._reading = Reading(jobs=jobs, clock=clock)
        self._turns = Turns(slots=slots, runs=runs, queue=queue, clock=clock, ids=ids)
        self._later = Later(queue=queue, timers=timers, clock=clock)
        self._attempts = Attempts(
            reading=self._reading, payloads=payloads, targets=targets, signing=signing, clock=clock
        )
        self._keeping = Keeping(jobs=jobs, runs=runs, clock=clock, ids=ids)
        self._claims = Claims(runs=runs, clock=clock, ids=ids)
        self._completions = Completions(jobs=jobs, runs=runs, clock=clock, ids=ids)
        self._settler = Settler(
            runs=runs,
            queue=queue,
            later=self._later,
            pauses=pauses,
            completions=self._completions,
            keeping=self._keeping,
            letters=letters,
            clock=clock,
            ids=ids,
        )
        self._teller = Teller(
            runs=runs,
            queue=queue,
            reading=self._reading,
            later=self._later,
            payloads=payloads,
            targets=targets,
            signing=signing,
            letters=letters,
            clock=clock,
            ids=ids,
        )
        self._spans = Spans(
            reading=self._reading,
            runs=runs,
            queue=queue,
            later=self._later,
            completions=self._completions,
            clock=clock,
        )
        self._watch = Watch(
            jobs=jobs,
            runs=runs,
            later=self._later,
            settler=self._settler,
            completions=self._completions,
            turns=self._turns,
            clock=clock,
            ids=ids,
        )

    def handle(self, message: Message, read: JobRead, deadline: Instant = INSTANT_MAX) -> Delivered:
        """Deal with a message; returns when it may be acknowledged. StoreError: it must come again.

        `deadline` is when the function's time is up: an attempt that could outlast it is not begun, but its
        message put back.
        """
        if isinstance(message, SpanMessage):
            return self._spans.handle(message)
        if message.not_before - self._clock.now() >= EARLY_WAIT_MAX_MS:
            return self._put_back(message, message.not_before, "early")
        while self._clock.now() < message.not_before:
            self._clock.wait_until(message.not_before)
        match message:
            case FailureMessage():
                return self._watch.fail(message)
            case DeadlineMessage():
                return self._watch.look(message)
            case NoticeMessage():
                return self._teller.tell(message, read, deadline)
            case TriggerMessage():
                return self._trigger(message, self._reading.fresh(message.trigger.key, read), deadline)

    def _trigger(self, message: TriggerMessage, read: JobRead, deadline: Instant) -> Delivered:
        message = self._reading.marked(message, read)
        if liveness_of(message, read) == "unknown" and self._is_just_armed(message):
            self._clock.wait_until(self._clock.now() + COMMIT_WAIT_MS)
            read = self._reading.anew(message.trigger.key)
        if read.job is None or liveness_of(message, read) != "alive":
            return self._not_alive(message, read)
        takes_turns = read.job.definition.overlap.is_limited
        if message.is_owed and not takes_turns:
            self._turns.quit(message.trigger)
        delivered = (self._in_turn if takes_turns else self._deliver)(message, read, read.job, deadline)
        if delivered.outcome in UNTOLD:
            self._completions.ended(read.job)
        return delivered

    def _is_just_armed(self, message: TriggerMessage) -> bool:
        return self._clock.now() - message.trigger.armed_at < SECOND_MS

    def held_until(self, message: TriggerMessage) -> Instant | None:
        """Until when somebody has claimed this very attempt; None if nobody has."""
        return self._claims.held_until(message)

    def give_up(self, message: TriggerMessage, reason: str) -> None:
        """Record that a run which Sweephand could not handle has failed, so that it can be redriven.

        If it was claimed, is over or has got further in the meantime, nothing changes. Of a job that is not
        there, deleted or never committed, only what was claimed has a run that failed.
        """
        now = self._clock.now()
        # What has failed until now may fail at this, too: then record and letter alone tell of it.
        job, is_read = None, False
        with suppress(Exception):
            job, is_read = self._reading.anew(message.trigger.key).job, True
        if is_read and (job is None or job.uid != message.trigger.uid):
            job = None
            if self.held_until(message) is None:
                self._claims.end_with_job(message)
                return
        run = self._claims.run_of(message, now + HISTORY_RETENTION_DEFAULT_MS)
        if self._runs.claim(run, now) is None:
            failed = replace(run, state="failed", ended_at=now, reason=reason)
            if job is not None:
                with suppress(Exception):
                    self._settler.give_up(failed, job)
            self._runs.record(failed)
            with suppress(Exception):
                self._completions.ended(job)
        self._turns.hand_on(message.trigger)

    def _put_back(self, message: Message, until: Instant, why: str) -> Delivered:
        self._later.put_back(message, until)
        return Delivered(why)

    def _postponed(self, message: TriggerMessage) -> Delivered:
        """Put back what could not begin. That is no fault of the trigger's, so nothing is counted."""
        return self._put_back(message, self._clock.now() + POSTPONED_MS, "postponed")

    def _not_alive(self, message: TriggerMessage, read: JobRead) -> Delivered:
        message = self._reading.marked(message, read)
        now, liveness = self._clock.now(), liveness_of(message, read)
        if liveness == "alive":
            # Its job was read again meanwhile, and has forgotten the revision that owes it.
            return self._postponed(message)
        # The job of a later attempt has been there: no commit of it is in flight.
        may_be_to_come = message.attempt == 1 and now - message.trigger.armed_at < UNKNOWN_GRACE_MS
        if liveness == "unknown" and may_be_to_come:
            return self._put_back(message, now + UNKNOWN_DELAY_MS, "unknown")
        if liveness == "held" and read.job is not None and read.job.paused_at is not None:
            lasted_ms = now - read.job.paused_at
            if self._is_over_meanwhile(message, read.job, lasted_ms):
                return Delivered("repeated")
            # What falls due during a pause is for the resume to decide.
            waiting = message.waiting(is_owed=message.trigger.due_at <= read.job.paused_at)
            return self._put_back(waiting, now + max(lasted_ms, SECOND_MS), "held")
        return self._dropped(message, read)

    def _is_over_meanwhile(self, message: TriggerMessage, job: Job, lasted_ms: int) -> bool:
        """Whether the run of a trigger that is held is over; if not, what it needs later is kept.

        A pause can be longer than the record of the run is kept: whoever comes after it could not tell.
        """
        run = self._runs.of(message.trigger)
        takes_turns = job.definition.overlap.is_limited
        if is_over(message, run):
            if takes_turns:
                self._turns.forget(message.trigger)
            return True
        self._keeping.keep_run(run)
        if takes_turns and lasted_ms >= DAY_MS:
            self._turns.keep(message.trigger)
        return False

    def _dropped(self, message: TriggerMessage, read: JobRead) -> Delivered:
        """Let go of a trigger that its job does not owe any more, and of its place in the job's line."""
        job = read.job
        if job is None or job.uid != message.trigger.uid:
            until = self._claims.end_with_job(message)
            if until is not None:
                return self._put_back(message, until, "claimed")
        elif job.definition.overlap.is_limited:
            until = self._turns.leave(message, job)
            if until is not None:
                return self._put_back(message, until, "leaving")
        return Delivered("dropped")

    def _in_turn(self, message: TriggerMessage, read: JobRead, job: Job, deadline: Instant) -> Delivered:
        """Deliver a trigger of a job whose runs take turns, if it is its turn."""
        turn = self._turns.arrive(message, job, lambda: self._reading.anew(job.key).job)
        if turn.outcome == "wait":
            self._keeping.keep_job(job, turn.look_again_at + job.definition.owing_ms)
            return self._put_back(message.waiting(), turn.look_again_at, "waiting")
        if turn.outcome != "go":
            return Delivered(NO_TURNS[turn.outcome])
        delivered = self._deliver(message, read, job, deadline)
        if delivered.outcome in ENDED:
            # Before the message is acknowledged: after a crash it comes again, is refused, and hands on.
            self._turns.hand_on(message.trigger)
        return delivered

    def _deliver(self, message: TriggerMessage, read: JobRead, job: Job, deadline: Instant) -> Delivered:
        definition = job.definition
        if not self._attempts.is_time_for(definition.target, deadline):
            return self._postponed(message)
        is_async = definition.is_async
        must_be_claimed = is_async or definition.overlap.is_limited or definition.records_beginnings
        # A function that crashed over it may have left a claim, by what the job was then, and one that waited
        # may have another copy: the claim shows both.
        is_claimed = message.attempt > 1 or message.crashes > 0 or message.is_owed or must_be_claimed
        is_claimed = is_claimed or self._is_left_by_a_fault(message)
        expires_at = self._clock.now() + definition.history_retention_ms
        run = self._claims.run_of(message, expires_at, is_claimed=is_claimed)
        if is_claimed:
            run = _begun(run, message, self._clock.now())
            run, refused_by = self._claims.claim(run, is_reported=is_async)
            if refused_by is not None:
                return self._refused(message, refused_by, job)
        made = self._attempts.make(message, read, job, run.token, deadline)
        if isinstance(made, Postponed):
            if is_claimed:
                self._claims.release(run, message, is_job_there=True)
            return self._postponed(message)
        if isinstance(made, Withdrawn):
            if is_claimed:
                is_job_there = made.read.job is not None and made.read.job.uid == message.trigger.uid
                self._claims.release(run, message, is_job_there=is_job_there)
            return self._not_alive(message, made.read)
        message = message._replace(first_attempt_at=message.first_attempt_at or made.sent_at)
        run = _begun(
            run,
            message,
            made.sent_at,
            ended_at=self._clock.now(),
            response_code=made.answer.code,
            answer=made.answer.text,
        )
        return self._settler.settle(message, made.job, run, made.answer, is_claimed=is_claimed)

    def _is_left_by_a_fault(self, message: TriggerMessage) -> bool:
        """Whether a run is stored of a first attempt that was put back because a call failed.

        The job may have asked for claims when that attempt began, and ask for none now. Its consumer may have
        reported on it since. Only a claim shows what became of it.
        """
        return message.faults > 0 and self._runs.of(message.trigger) is not None

    def _refused(self, message: TriggerMessage, stored: Run, job: Job) -> Delivered:
        if stored.state == "running" and stored.attempts < message.attempt:
            return self._overtaken(message, stored)
        is_held = stored.state == "claimed" and stored.attempts == message.attempt
        if is_held and stored.claimed_until is not None:
            # A second at least: the queue rounds less down to none, and would show it again at once.
            ended_at = max(stored.claimed_until, self._clock.now() + SECOND_MS)
            self._keeping.keep_job(job, ended_at + job.definition.owing_ms)
            return self._put_back(message, ended_at, "claimed")
        return Delivered("repeated")

    def _overtaken(self, message: TriggerMessage, stored: Run) -> Delivered:
        """Wait for the end of the attempt before, which its consumer works on.

        Normally it is about to be recorded that it failed. If a report came first, the attempt may go on for
        long, and this one may never be needed.
        """
        now = self._clock.now()
        is_recent = now - message.not_before < OVERTAKEN_PATIENCE_MS
        until = now + SECOND_MS if is_recent else stored.deadline_at + DEADLINE_GRACE_MS
        return self._put_back(message, max(until, now + SECOND_MS), "overtaken")


def _begun(run: Run, message: TriggerMessage, now: Instant, **outcome: Any) -> Run:
    """The run with its beginning: that of its very first attempt, which may be this one, at `now`.

    And with the `outcome` of an attempt: a run has many fields, of which each copy takes its time.
    """
    started_at = message.started_at or now
    return replace(
        run,
        started_at=started_at,
        lateness_ms=_lateness_ms(message, started_at),
        round_at=(message.first_attempt_at or now) if run.is_redriven else None,
        **outcome,
    )


def _lateness_ms(message: TriggerMessage, started_at: Instant) -> int | None:
    """From the due time to the first attempt; None for what was asked for when its due time was past."""
    trigger = message.trigger
    is_late_by_nature = trigger.demand is not None and trigger.demand.kind in ("backfill", "chained")
    return None if is_late_by_nature else started_at - trigger.due_at
