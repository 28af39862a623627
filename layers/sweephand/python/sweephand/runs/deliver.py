"""Delivering: what becomes of one message, from the queue to its consumer and into the record."""

from dataclasses import dataclass, replace
from typing import Protocol

from sweephand.errors import StoreError
from sweephand.instants import SECOND_MS, Instant
from sweephand.jobs.job import Job
from sweephand.jobs.live import Liveness, live, live_again
from sweephand.ports import (
    Answer,
    Attempt,
    Clock,
    Ids,
    JobStore,
    PayloadStore,
    Queue,
    RunStore,
    Targets,
    TimerStore,
)
from sweephand.runs.retry import GiveUp, Retry, after_failure
from sweephand.runs.run import Run
from sweephand.timing import (
    ATTEMPT_CLAIM_MS,
    EARLY_WAIT_MAX_MS,
    JOB_READ_AGE_MAX_MS,
    QUEUE_DELAY_MAX_MS,
    UNKNOWN_DELAY_MS,
    UNKNOWN_GRACE_MS,
)
from sweephand.wheel.arm import delay_of, split
from sweephand.wheel.timer import RetryTimer
from sweephand.wheel.trigger import DeadLetter, Message, SpanMessage, TriggerMessage

#: A job that takes longer to read than a read is good for is read this often; then its trigger is put back.
READS_MAX = 5

#: What a job without data sends: JSON, as with data.
NO_DATA = b"null"


class Signing(Protocol):
    """Which secrets sign a namespace's deliveries now, newest first."""

    def active(self, namespace: str) -> tuple[str, ...]:
        """At least one; the first is made when it is first needed."""
        ...


class Letters(Protocol):
    """How a message is written into a dead letter: as it travelled, so that it can be sent again."""

    def __call__(self, message: Message, /) -> str:
        """The message's body."""
        ...


@dataclass(frozen=True, slots=True)
class JobRead:
    """A job as it was read at that instant; None if it was not there."""

    job: Job | None
    at: Instant


@dataclass(frozen=True, slots=True)
class Delivered:
    """What became of a message, for the log: a word, and the lateness in ms where there was a request."""

    outcome: str
    lateness_ms: int | None = None


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
        timers: TimerStore,
        queue: Queue,
        payloads: PayloadStore,
        targets: Targets,
        signing: Signing,
        letters: Letters,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._jobs = jobs
        self._runs = runs
        self._timers = timers
        self._queue = queue
        self._payloads = payloads
        self._targets = targets
        self._signing = signing
        self._letters = letters
        self._clock = clock
        self._ids = ids

    def handle(self, message: Message, read: JobRead) -> Delivered:
        """Deal with a message; returns when it may be acknowledged. StoreError: it must come again."""
        if isinstance(message, SpanMessage):
            return self._split(message)
        if message.not_before - self._clock.now() >= EARLY_WAIT_MAX_MS:
            return self._put_back(message, message.not_before)
        while self._clock.now() < message.not_before:
            self._clock.wait_until(message.not_before)
        read = self._fresh(message, read)
        liveness = _live(message, read)
        if read.job is None or liveness != "alive":
            return self._not_alive(message, read, liveness)
        return self._attempt(message, read, read.job)

    def _split(self, span: SpanMessage) -> Delivered:
        now = self._clock.now()
        self._queue.send([(part, min(delay_of(part, now), QUEUE_DELAY_MAX_MS)) for part in split(span)])
        return Delivered("split")

    def _put_back(self, message: TriggerMessage, until: Instant, why: str = "early") -> Delivered:
        delay_ms = min(max(until - self._clock.now(), 0), QUEUE_DELAY_MAX_MS)
        self._queue.send([(message, delay_ms)])
        return Delivered(why)

    def _fresh(self, message: TriggerMessage, read: JobRead) -> JobRead:
        now = self._clock.now()
        if now - read.at <= JOB_READ_AGE_MAX_MS:
            return read
        return JobRead(self._jobs.get(message.trigger.key), now)

    def _not_alive(self, message: TriggerMessage, read: JobRead, liveness: Liveness) -> Delivered:
        now = self._clock.now()
        if liveness == "unknown" and now - message.trigger.armed_at < UNKNOWN_GRACE_MS:
            return self._put_back(message, now + UNKNOWN_DELAY_MS, "unknown")
        if liveness == "held" and read.job is not None and read.job.paused_at is not None:
            lasted_ms = now - read.job.paused_at
            return self._put_back(message, now + max(lasted_ms, SECOND_MS), "held")
        return Delivered("dropped")

    def _attempt(self, message: TriggerMessage, read: JobRead, job: Job) -> Delivered:
        run = self._run(message, job)
        if message.attempt > 1:
            refused_by = self._runs.claim(run, self._clock.now())
            if refused_by is not None:
                return self._refused(message, refused_by)
        secrets = self._signing.active(job.key.namespace)
        body = self._body(job)
        reads = 0
        while (again := self._fresh(message, read)) is not read:
            # Something took long. If the trigger is not alive any more, the claim of a later attempt
            # stays: should the message come again, it waits for the claim's end.
            reads += 1
            if reads > READS_MAX:
                raise StoreError(
                    f"{job.key} could not be read within {JOB_READ_AGE_MAX_MS} ms, {reads} times"
                )
            liveness = _live(message, again)
            if again.job is None or liveness != "alive":
                return self._not_alive(message, again, liveness)
            if again.job.version != job.version:
                body = self._body(again.job)
            read, job = again, again.job
        sent_at = self._clock.now()
        first_attempt_at = message.first_attempt_at or sent_at
        latest = read

        def is_wanted() -> bool:
            nonlocal latest
            latest = self._fresh(message, latest)
            return _live(message, latest) == "alive"

        answer = self._targets.deliver(
            Attempt(
                message.trigger, message.attempt, job.definition.target, body, secrets, sent_at, is_wanted
            )
        )
        if answer.was_withdrawn:
            return self._not_alive(message, latest, _live(message, latest))
        message = replace(message, first_attempt_at=first_attempt_at)
        run = replace(
            run,
            started_at=first_attempt_at,
            ended_at=self._clock.now(),
            lateness_ms=first_attempt_at - message.trigger.due_at,
            response_code=answer.code,
            answer=answer.text,
        )
        return self._settle(message, job, run, answer)

    def _run(self, message: TriggerMessage, job: Job) -> Run:
        trigger, now = message.trigger, self._clock.now()
        return Run(
            key=trigger.key,
            uid=trigger.uid,
            due_at=trigger.due_at,
            index=trigger.index,
            state="claimed",
            attempts=message.attempt,
            rev=trigger.rev,
            sequence=trigger.sequence,
            started_at=message.first_attempt_at,
            owner=self._ids.token(),
            claimed_until=now + ATTEMPT_CLAIM_MS,
            expires_at=now + job.definition.history_retention_ms,
        )

    def _refused(self, message: TriggerMessage, stored: Run) -> Delivered:
        is_held = stored.state == "claimed" and stored.attempts == message.attempt
        if is_held and stored.claimed_until is not None:
            # A second at least: the queue rounds less down to none, and would show it again at once.
            ended_at = max(stored.claimed_until, self._clock.now() + SECOND_MS)
            return self._put_back(message, ended_at, "claimed")
        return Delivered("repeated")

    def _body(self, job: Job) -> bytes:
        payload = job.definition.payload
        if payload is None:
            return NO_DATA
        text = payload.text
        if text is None and payload.ref is not None:
            text = self._payloads.get(job.uid, payload.ref)
        if text is None:
            raise StoreError(f"the data of {job.key} ({payload.size} bytes) is not in the payload store")
        return text.encode()

    def _settle(self, message: TriggerMessage, job: Job, run: Run, answer: Answer) -> Delivered:
        lateness_ms = run.lateness_ms
        if answer.succeeded:
            return Delivered(self._success(replace(run, state="succeeded"), job), lateness_ms)
        decision = after_failure(
            job.definition.retry,
            answer,
            attempt=message.attempt,
            first_attempt_at=message.first_attempt_at or self._clock.now(),
            now=self._clock.now(),
            fraction=self._ids.fraction(),
        )
        # What follows is sent first and recorded second: between the two a crash repeats the attempt,
        # and the claim of the next one sees to it that the chain does not double.
        if isinstance(decision, GiveUp):
            self._bury(message, job, answer, decision)
            self._runs.record(replace(run, state="failed", reason=decision.reason))
            return Delivered("failed", lateness_ms)
        self._try_again(message, job, decision)
        self._runs.record(
            replace(run, state="retrying", next_attempt_at=decision.at, reason=answer.error, ended_at=None)
        )
        return Delivered("retrying", lateness_ms)

    def _success(self, run: Run, job: Job) -> str:
        """Record a success; the word for what came of it."""
        if run.attempts > 1:
            self._runs.record(run)
        elif job.definition.records_successes:
            # A history that is throttled must not multiply deliveries: what arrived is not sent again only
            # because it could not be written down. A later attempt has a claim to end.
            try:
                self._runs.record(run)
            except StoreError:
                return "unrecorded"
        return "succeeded"

    def _try_again(self, message: TriggerMessage, job: Job, decision: Retry) -> None:
        following = replace(message, attempt=message.attempt + 1, not_before=decision.at, faults=0)
        delay_ms = decision.at - self._clock.now()
        if delay_ms <= QUEUE_DELAY_MAX_MS:
            self._queue.send([(following, max(0, delay_ms))])
        else:
            self._timers.put([RetryTimer(job.shard, following)])

    def _bury(self, message: TriggerMessage, job: Job, answer: Answer, decision: GiveUp) -> None:
        letter = DeadLetter(
            body=self._letters(message),
            reason=decision.reason,
            trigger=message.trigger,
            attempts=message.attempt,
            response_code=answer.code,
            answer=answer.text,
        )
        self._queue.bury([(letter, job.definition.dead_letter_queue)])


def _live(message: TriggerMessage, read: JobRead) -> Liveness:
    trigger = message.trigger
    if message.attempt > 1:
        return live_again(read.job, uid=trigger.uid)
    return live(read.job, uid=trigger.uid, rev=trigger.rev, due_at=trigger.due_at)
