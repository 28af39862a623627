"""Making one attempt: the job read lately, its data, and the request that leaves only while it is wanted."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.base.timing import JOB_READ_AGE_MAX_MS, SETTLING_MS
from sweephand.model.job import Job
from sweephand.model.trigger import TriggerMessage
from sweephand.ports import Answer, Attempt, Clock, PayloadStore, Targets
from sweephand.runs.job_reads import JobRead, JobReads, liveness_of
from sweephand.targets.registry import attempt_ms_max

#: A job that takes longer to read than a read is good for is read this often; then its trigger is put back.
READS_MAX = 5

#: What a job without data sends: JSON, as with data.
NO_DATA = b"null"


class Signing(Protocol):
    """Which secrets sign a namespace's deliveries now, newest first."""

    def active(self, namespace: str) -> tuple[str, ...]:
        """At least one; the first is made when it is first needed."""
        ...


class Made(NamedTuple):
    """An attempt that was made at `sent_at`, by that version of its job, and what came of it."""

    job: Job
    sent_at: Instant
    answer: Answer


class Withdrawn(NamedTuple):
    """An attempt that was not made: by the latest read of its job the trigger was not alive any more."""

    read: JobRead


class Postponed(NamedTuple):
    """An attempt that could not begin, though its trigger is alive: it is nobody's fault.

    Its job kept changing, or the delivery function has too little time left.
    """


class _Sent(NamedTuple):
    """What came of handing an attempt over, the latest read of its job, and whether a connection stood."""

    answer: Answer
    latest: JobRead
    was_connected: bool


class Attempts:
    """Makes attempts; several threads may share one."""

    def __init__(
        self, *, job_reads: JobReads, payloads: PayloadStore, targets: Targets, signing: Signing, clock: Clock
    ) -> None:
        self._job_reads = job_reads
        self._payloads = payloads
        self._targets = targets
        self._signing = signing
        self._clock = clock

    def make(
        self, message: TriggerMessage, read: JobRead, job: Job, run_token: str | None, deadline: Instant
    ) -> Made | Withdrawn | Postponed:
        """Hand the trigger over by `job`, which is what was read, or by what it has become since.

        When the request leaves, the job was read a second ago at most, and what leaves was made of what was
        read. If the job changes while a connection is made, that connection is used for what the job has
        become. All connections and the request together take no longer than the target's time-out, and end
        before `deadline`, when the function does. StoreError: it was not made, or nobody knows.
        """
        secrets = self._signing.active(message.trigger.key.namespace)
        body = self._body(message, job)
        latest = read
        spent_ms = 0
        was_called_off = False
        for _ in range(READS_MAX + 1):
            latest = self._job_reads.fresh(message.trigger.key, latest)
            if latest is not read:
                # Something took long.
                if latest.job is None or liveness_of(message, latest) != "alive":
                    return Withdrawn(latest)
                if latest.job.definition.is_async and run_token is None:
                    # Its consumer is to report now, and would have nothing to report with.
                    return Postponed()
                if latest.job.version != job.version:
                    body = self._body(message, latest.job)
                read, job = latest, latest.job
                continue
            within_ms = attempt_ms_max(job.definition.target) - spent_ms
            if within_ms <= 0 or not self._is_time_for(within_ms, deadline):
                return Postponed()
            attempt = Attempt(
                trigger=message.trigger,
                number=message.attempt,
                spec=job.definition.target,
                body=body,
                secrets=secrets,
                sent_at=self._clock.now(),
                run_token=run_token,
                must_be_new=_must_be_new(message, run_token),
                within_ms=within_ms,
            )
            sent = self._send(attempt, message, read, job.version)
            answer, latest = sent.answer, sent.latest
            if answer.was_withdrawn:
                was_called_off = True
            elif was_called_off and not sent.was_connected:
                # Connecting had only what an earlier connection left of the time.
                return Postponed()
            else:
                return Made(job, attempt.sent_at, answer)
            spent_ms += self._clock.now() - attempt.sent_at
        if was_called_off:
            return Postponed()
        raise StoreError(
            f"{job.key}: {READS_MAX} times no request left within {JOB_READ_AGE_MAX_MS} ms of reading"
        )

    def is_time_for(self, target: Mapping[str, Any], deadline: Instant) -> bool:
        """Whether an attempt at that target, however long it takes, is over and settled by `deadline`."""
        return self._is_time_for(attempt_ms_max(target), deadline)

    def _is_time_for(self, attempt_ms: int, deadline: Instant) -> bool:
        return self._clock.now() + attempt_ms + SETTLING_MS <= deadline

    def _send(self, attempt: Attempt, message: TriggerMessage, read: JobRead, version: str) -> _Sent:
        """What came of it. It is called off if the job has changed by the latest read."""
        latest, was_connected = read, False

        def is_wanted() -> bool:
            nonlocal latest, was_connected
            was_connected = True
            latest = self._job_reads.fresh(attempt.trigger.key, latest)
            is_same = latest.job is not None and latest.job.version == version
            return is_same and liveness_of(message, latest) == "alive"

        answer = self._targets.deliver(attempt._replace(is_wanted=is_wanted))
        return _Sent(answer, latest, was_connected)

    def _body(self, message: TriggerMessage, job: Job) -> bytes:
        payload = message.payload or job.definition.payload
        if payload is None:
            return NO_DATA
        text = payload.text
        if text is None and payload.ref is not None:
            text = self._payloads.get(job.uid, payload.ref)
        if text is None:
            raise StoreError(f"the data of {job.key} ({payload.size} bytes) is not in the payload store")
        return text.encode()


def _must_be_new(message: TriggerMessage, run_token: str | None) -> bool:
    """Whether a queue must take this attempt though it may have taken an earlier one (decision 022).

    It must if a consumer may have said of an earlier attempt that it failed, if this attempt has a token of
    its own, and if a person asked for it. Else nobody but us knows that the earlier attempt failed, and if
    the queue has taken it, it has not.
    """
    is_redriven = message.redrive is not None
    return message.attempt > 1 and (run_token is not None or message.had_token or is_redriven)
