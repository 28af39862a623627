"""Sending a notification to the job's `onComplete`, or an alert to its `onAlert`, with retries."""

from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from typing import Any, Final

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.limits import CHAIN_LENGTH_MAX
from sweephand.base.timing import ATTEMPT_CLAIM_MS, POSTPONED_MS, SETTLING_MS
from sweephand.jobs.payload_audit import stored_for
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.definition import Payload, RetryPolicy
from sweephand.model.job import Job, JobKey
from sweephand.model.run import Run
from sweephand.model.run_id import Demand
from sweephand.model.trace import Origin
from sweephand.model.trigger import DeadLetter, NotifyMessage, Trigger, TriggerMessage
from sweephand.model.wire import encode
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.jobs import PayloadStore
from sweephand.ports.queue import Queue, Targets
from sweephand.ports.runs import RunStore
from sweephand.runs.attempt import NO_DEFAULT, NamespaceParts
from sweephand.runs.delivery import JobRead, JobReads
from sweephand.runs.notification import body_of, is_recorded
from sweephand.runs.received import Outcome
from sweephand.runs.requeue import Requeue
from sweephand.runs.retry import GiveUp, after_failure, is_too_late, too_late
from sweephand.targets.registry import attempt_ms_max, stands_for_default, triggered_job, triggers_job
from sweephand.wheel.arm import batch_on_demand

#: Notifications use the default retry policy. The job's own policy is for its triggers.
_POLICY: Final = RetryPolicy()

#: The end is recorded a moment after the notification is sent. If the invocation crashed between the two, the
#: run ends again and sends another notification. This notification waits as long as that invocation's claim
#: could have lasted, counted from when the notification was sent.
_PATIENCE_MS: Final = ATTEMPT_CLAIM_MS

#: The length of a digest in a run's name: 128 bits.
_TOKEN_LENGTH: Final = 32


class Notifier:
    """Sends notifications, at least once each. Several threads may share one object.

    A paused job still sends notifications. A notification begins no new run, and often it is about the very
    failure that paused the job.
    """

    def __init__(
        self,
        *,
        runs: RunStore,
        queue: Queue,
        job_reads: JobReads,
        requeue: Requeue,
        payloads: PayloadStore,
        targets: Targets,
        namespaces: NamespaceParts,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._runs = runs
        self._queue = queue
        self._job_reads = job_reads
        self._requeue = requeue
        self._payloads = payloads
        self._targets = targets
        self._signing = namespaces.signing
        self._default_target = namespaces.default_target
        self._allowed = namespaces.allowed
        self._clock = clock
        self._ids = ids

    def notify(self, message: NotifyMessage, read: JobRead, deadline: Instant) -> Outcome:
        """Send the notification to the job's `onComplete`, and an alert to its `onAlert`, as the job is now.

        If the request could take longer than `deadline`, when the function's time is up, the message is put
        back. Nothing is sent for a job that was deleted or has no such target. StoreError: the message must
        come again.
        """
        key = message.trigger.key
        read = self._job_reads.fresh(key, read)
        job = read.job
        written = None if job is None else job.definition.written.get(_field(message))
        if job is None or job.uid != message.trigger.uid or written is None:
            return Outcome("dropped")
        is_about_a_run = message.batch_end is None and message.alert is None
        recorded = self._runs.of(message.trigger) if is_about_a_run else None
        if not is_recorded(message, recorded):
            return self._unrecorded(message)
        sent_at = self._clock.now()
        if is_too_late(_POLICY, message.first_attempt_at, sent_at):
            return self._given_up(message, job, Answer(succeeded=False), too_late(message.attempt, None))
        is_default = stands_for_default(written)
        spec = self._default_target(key.namespace, written) if is_default else written
        if spec is not None and sent_at + attempt_ms_max(spec) + SETTLING_MS > deadline:
            self._requeue.put_back(message, sent_at + POSTPONED_MS)
            return Outcome("postponed")
        answer = self._answer(message, spec, read, recorded, sent_at)
        if answer.succeeded or answer.was_withdrawn:
            return Outcome("notified" if answer.succeeded else "dropped")
        first_attempt_at = message.first_attempt_at or sent_at
        return self._retry(message._replace(first_attempt_at=first_attempt_at), job, answer, first_attempt_at)

    def _answer(
        self,
        message: NotifyMessage,
        spec: Mapping[str, Any] | None,
        read: JobRead,
        recorded: Run | None,
        sent_at: Instant,
    ) -> Answer:
        if spec is None:
            return NO_DEFAULT
        if triggers_job(spec):
            return self._trigger(message, spec, read, recorded)
        return self._deliver(message, spec, read, sent_at)

    def _deliver(
        self, message: NotifyMessage, spec: Mapping[str, Any], read: JobRead, sent_at: Instant
    ) -> Answer:
        latest = read

        def may_send() -> bool:
            nonlocal latest
            latest = self._job_reads.fresh(message.trigger.key, latest)
            return latest.job is not None and latest.job.uid == message.trigger.uid

        return self._targets.deliver(
            Attempt(
                trigger=message.trigger,
                number=message.attempt,
                spec=spec,
                body=body_of(message),
                secrets=self._signing.active(message.trigger.key.namespace),
                sent_at=sent_at,
                may_send=may_send,
                ended_after=message.attempts,
                ends_batch=message.batch_end is not None,
                alert=message.alert,
                allowed=partial(self._allowed, message.trigger.key.namespace),
                labels=None if read.job is None else read.job.definition.labels,
                origin=_origin_of(message, read.job),
            )
        )

    def _trigger(
        self, message: NotifyMessage, spec: Mapping[str, Any], read: JobRead, recorded: Run | None
    ) -> Answer:
        """Trigger the job that the target names for the state in which the run ended, if it names one.

        `recorded` is the record of that run, if the message is about a run that has one.
        """
        name = triggered_job(spec, message.state)
        if name is None:
            return Answer(succeeded=True)
        link = 1 if message.trigger.demand is None else message.trigger.demand.link + 1
        if link > CHAIN_LENGTH_MAX:
            error = f"The chain of this run has {CHAIN_LENGTH_MAX} links, which is the most (chainLengthMax)."
            return Answer(succeeded=False, error=error, is_final=True)
        key = JobKey(message.trigger.key.namespace, name)
        job = self._job_reads.fresh(key, JobRead(None, 0)).job
        if job is None:
            return Answer(succeeded=False, error=f"There is no job {key.name}.")
        now = self._clock.now()
        # The name is made from what the trigger follows. So a notification that is sent twice makes one
        # trigger. The time at which the end was recorded would not do: it differs if the end is recorded
        # again after a crash.
        token = sha256(message.end_id.encode()).hexdigest()[:_TOKEN_LENGTH]
        origin = _origin_of(message, read.job)
        if origin is not None and job.series.batch is not None:
            origin = origin._replace(is_parent=False)
        demand = Demand("chained", token, link, origin)
        payload = stored_for(job, Payload.of(body_of(message).decode()), demand, self._payloads, now)
        # A batch can take hours. What follows it is due when it has ended, which is recorded once.
        due_at = message.trigger.due_at if message.batch_end is None else message.ended_at
        if job.series.batch is not None:
            begins_at = due_at if message.batch_end is not None else _end_of_run(message, recorded)
            batch = batch_on_demand(job, job.series.batch, demand, payload, due_at=begins_at, now=now)
            self._queue.send([(batch, 0)])
            return Answer(succeeded=True)
        trigger = Trigger(key, job.uid, job.rev, due_at, sequence=0, armed_at=now, demand=demand)
        lane = job.definition.lane
        chained = TriggerMessage(trigger, message.ended_at, payload=payload, lane=lane)
        self._queue.send([(chained, 0)])
        return Answer(succeeded=True)

    def _unrecorded(self, message: NotifyMessage) -> Outcome:
        now = self._clock.now()
        waited_ms = now - message.not_before
        if waited_ms >= _PATIENCE_MS:
            return Outcome("dropped")
        self._requeue.put_back(message, now + max(waited_ms, SECOND_MS))
        return Outcome("premature")

    def _retry(self, message: NotifyMessage, job: Job, answer: Answer, first_attempt_at: Instant) -> Outcome:
        now = self._clock.now()
        decision = after_failure(
            _POLICY,
            answer,
            attempt=message.attempt,
            first_attempt_at=first_attempt_at,
            now=now,
            fraction=self._ids.fraction(),
        )
        if isinstance(decision, GiveUp):
            return self._given_up(message, job, answer, decision)
        following = message._replace(attempt=message.attempt + 1, not_before=decision.at, faults=0)
        # A delay beyond the queue's maximum is cut. The message is then received early and put back.
        self._requeue.put_back(following, decision.at)
        return Outcome("unnotified")

    def _given_up(self, message: NotifyMessage, job: Job, answer: Answer, decision: GiveUp) -> Outcome:
        dead_letter = DeadLetter(
            body=encode(message),
            reason=f"The {_field(message)} target could not be notified. {decision.reason}",
            trigger=message.trigger,
            attempts=message.attempts,
            response_code=answer.code,
            answer=answer.text,
        )
        self._queue.bury([(dead_letter, job.definition.dead_letter_queue)])
        return Outcome("unnotified")


def _field(message: NotifyMessage) -> str:
    """The field of the job that names the receiver."""
    return "onComplete" if message.alert is None else "onAlert"


def _origin_of(message: NotifyMessage, job: Job | None) -> Origin | None:
    """What a notification of a run's end continues: its last attempt. Others have the origin of the triggers.

    `job` is that of the triggers, as it is now.
    """
    if message.batch_end is None and message.alert is None:
        return None if message.traceparent is None else Origin(message.traceparent, is_parent=True)
    asked = message.trigger.demand or job
    return None if asked is None else asked.origin


def _end_of_run(message: NotifyMessage, recorded: Run | None) -> Instant:
    """When the window of a batch that follows a run begins, the same for each notification of the run's end.

    That is the recorded end of the run. A synchronous run that has succeeded at its first attempt may get its
    record after the first notification, or none. So it counts as over when it was due.
    """
    if recorded is None or not _is_always_recorded(message, recorded):
        return message.trigger.due_at
    is_same_end = (recorded.state, recorded.attempts) == (message.state, message.attempts)
    # A redrive has begun since, and its end is another one.
    return message.ended_at if not is_same_end or recorded.ended_at is None else recorded.ended_at


def _is_always_recorded(message: NotifyMessage, recorded: Run) -> bool:
    """Whether such a run has a record before it is over, since its attempt is claimed."""
    return message.state != "succeeded" or message.attempts > 1 or recorded.token is not None
