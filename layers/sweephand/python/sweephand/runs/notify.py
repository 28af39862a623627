"""Telling of a run's end: the second target of a job, at least once, tried again until it has taken it."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.limits import CHAIN_LENGTH_MAX
from sweephand.base.timing import ATTEMPT_CLAIM_MS, POSTPONED_MS, SETTLING_MS
from sweephand.model.definition import Payload, RetryPolicy
from sweephand.model.job import Job, JobKey
from sweephand.model.run_id import Demand
from sweephand.model.trigger import (
    DeadLetter,
    NotifyMessage,
    Trigger,
    TriggerMessage,
    end_id,
)
from sweephand.model.wire import encode
from sweephand.ports import Answer, Attempt, Clock, Ids, PayloadStore, Queue, RunStore, Targets
from sweephand.runs.attempt import Signing
from sweephand.runs.job_reads import JobRead, JobReads
from sweephand.runs.notification import body_of, is_recorded
from sweephand.runs.outcome import Outcome
from sweephand.runs.requeue import Requeue
from sweephand.runs.retry import GiveUp, after_failure
from sweephand.targets.job import WHEN, WHEN_DEFAULT
from sweephand.targets.registry import attempt_ms_max

#: By the defaults of a retry policy, whatever the job's own says of its triggers.
_POLICY: Final = RetryPolicy()

#: An end is recorded a moment after its notice was sent. If whoever ended it died before, it will end again,
#: with a notice of its own; this one is looked at for as long as that one could have lived.
_PATIENCE_MS: Final = ATTEMPT_CLAIM_MS

#: As much of a digest as a run's name has room for: 128 bits.
_TOKEN_LENGTH: Final = 32


class Notifier:
    """Tells of ends; several threads may share one.

    A pause does not hold it back: nothing new begins by it, and often the pause is what is told of.
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
        signing: Signing,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._runs = runs
        self._queue = queue
        self._job_reads = job_reads
        self._requeue = requeue
        self._payloads = payloads
        self._targets = targets
        self._signing = signing
        self._clock = clock
        self._ids = ids

    def notify(self, notice: NotifyMessage, read: JobRead, deadline: Instant) -> Outcome:
        """Tell the job's second target, as the job is now. StoreError: the message must come again.

        A request that could outlast `deadline`, when the function's time is up, is put back.
        Of a job that is deleted, or has nobody to be told, nothing is told.
        """
        key = notice.trigger.key
        read = self._job_reads.fresh(key, read)
        job = read.job
        if job is None or job.uid != notice.trigger.uid or job.definition.on_complete is None:
            return Outcome("dropped")
        if not is_recorded(notice, self._runs.of(notice.trigger)):
            return self._unrecorded(notice)
        spec, sent_at = job.definition.on_complete, self._clock.now()
        if sent_at + attempt_ms_max(spec) + SETTLING_MS > deadline:
            self._requeue.put_back(notice, sent_at + POSTPONED_MS)
            return Outcome("postponed")
        if spec["type"] == "job":
            answer = self._trigger(notice, spec)
        else:
            answer = self._deliver(notice, spec, read, sent_at)
        if answer.was_withdrawn:
            return Outcome("dropped")
        if answer.succeeded:
            return Outcome("notified")
        first_attempt_at = notice.first_attempt_at or sent_at
        return self._again(notice._replace(first_attempt_at=first_attempt_at), job, answer, first_attempt_at)

    def _deliver(
        self, notice: NotifyMessage, spec: Mapping[str, Any], read: JobRead, sent_at: Instant
    ) -> Answer:
        latest = read

        def is_wanted() -> bool:
            nonlocal latest
            latest = self._job_reads.fresh(notice.trigger.key, latest)
            return latest.job is not None and latest.job.uid == notice.trigger.uid

        return self._targets.deliver(
            Attempt(
                trigger=notice.trigger,
                number=notice.attempt,
                spec=spec,
                body=body_of(notice),
                secrets=self._signing.active(notice.trigger.key.namespace),
                sent_at=sent_at,
                is_wanted=is_wanted,
                ended_after=notice.attempts,
            )
        )

    def _trigger(self, notice: NotifyMessage, spec: Mapping[str, Any]) -> Answer:
        """Trigger another job of the namespace, if the end is one that it waits for."""
        if notice.state not in WHEN[spec.get("when", WHEN_DEFAULT)]:
            return Answer(succeeded=True)
        link = 1 if notice.trigger.demand is None else notice.trigger.demand.link + 1
        if link > CHAIN_LENGTH_MAX:
            error = f"Its chain has {CHAIN_LENGTH_MAX} links, as many as one may have (chainLengthMax)."
            return Answer(succeeded=False, error=error, is_final=True)
        key = JobKey(notice.trigger.key.namespace, spec["name"])
        job = self._job_reads.fresh(key, JobRead(None, 0)).job
        if job is None:
            return Answer(succeeded=False, error=f"There is no job {key.name}.")
        now = self._clock.now()
        # Named after what it follows, its due time included: told twice, it is one trigger. When an end was
        # recorded differs from one telling to the next if whoever recorded it first died over it.
        follows = end_id(notice.trigger, notice.attempts)
        demand = Demand("chained", sha256(follows.encode()).hexdigest()[:_TOKEN_LENGTH], link)
        due_at = notice.trigger.due_at
        trigger = Trigger(key, job.uid, job.rev, due_at, sequence=0, armed_at=now, demand=demand)
        payload = self._kept(job, Payload.of(body_of(notice).decode()), demand)
        self._queue.send([(TriggerMessage(trigger, notice.ended_at, payload=payload), 0)])
        return Answer(succeeded=True)

    def _kept(self, job: Job, payload: Payload, demand: Demand) -> Payload:
        """The payload as it travels: one over 2 KB is in the store for two weeks, as that of one by hand."""
        if payload.is_inline or payload.text is None:
            return payload
        ref = f"{payload.digest[:32]}-{demand.token}"
        self._payloads.put(job.uid, ref, payload.text)
        self._payloads.discard(job.uid, ref)
        return payload._replace(text=None, ref=ref)

    def _unrecorded(self, notice: NotifyMessage) -> Outcome:
        now = self._clock.now()
        waited_ms = now - notice.ended_at
        if waited_ms >= _PATIENCE_MS:
            return Outcome("dropped")
        self._requeue.put_back(notice, now + max(waited_ms, SECOND_MS))
        return Outcome("premature")

    def _again(self, notice: NotifyMessage, job: Job, answer: Answer, first_attempt_at: Instant) -> Outcome:
        now = self._clock.now()
        decision = after_failure(
            _POLICY,
            answer,
            attempt=notice.attempt,
            first_attempt_at=first_attempt_at,
            now=now,
            fraction=self._ids.fraction(),
        )
        if isinstance(decision, GiveUp):
            letter = DeadLetter(
                body=encode(notice),
                reason=f"Its end could not be told to onComplete. {decision.reason}",
                trigger=notice.trigger,
                attempts=notice.attempts,
                response_code=answer.code,
                answer=answer.text,
            )
            self._queue.bury([(letter, job.definition.dead_letter_queue)])
        else:
            following = notice._replace(attempt=notice.attempt + 1, not_before=decision.at, faults=0)
            # Beyond the queue's reach it is received early, and put back.
            self._requeue.put_back(following, decision.at)
        return Outcome("unnotified")
