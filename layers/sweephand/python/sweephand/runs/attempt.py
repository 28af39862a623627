"""Making one attempt: the job read lately, its data, and the request that leaves only while it is wanted."""

from typing import NamedTuple, Protocol

from sweephand.errors import StoreError
from sweephand.instants import Instant
from sweephand.jobs.job import Job
from sweephand.ports import Answer, Attempt, Clock, PayloadStore, Targets
from sweephand.runs.reading import JobRead, Reading, liveness_of
from sweephand.timing import JOB_READ_AGE_MAX_MS
from sweephand.wheel.trigger import TriggerMessage

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


class Attempts:
    """Makes attempts; several threads may share one."""

    def __init__(
        self, *, reading: Reading, payloads: PayloadStore, targets: Targets, signing: Signing, clock: Clock
    ) -> None:
        self._reading = reading
        self._payloads = payloads
        self._targets = targets
        self._signing = signing
        self._clock = clock

    def make(
        self, message: TriggerMessage, read: JobRead, job: Job, run_token: str | None
    ) -> Made | Withdrawn:
        """Hand the trigger over by `job`, which is what was read, or by what it has become since.

        When the request leaves, the job was read a second ago at most. StoreError: it was not made, or
        nobody knows.
        """
        key = message.trigger.key
        secrets = self._signing.active(key.namespace)
        body = self._body(message, job)
        reads = 0
        while (again := self._reading.fresh(key, read)) is not read:
            # Something took long. If the trigger is not alive any more, the claim of the attempt stays:
            # should the message come again, it waits for the claim's end.
            reads += 1
            if reads > READS_MAX:
                raise StoreError(f"{key} could not be read within {JOB_READ_AGE_MAX_MS} ms, {reads} times")
            if again.job is None or liveness_of(message, again) != "alive":
                return Withdrawn(again)
            if again.job.version != job.version:
                body = self._body(message, again.job)
            read, job = again, again.job
        sent_at = self._clock.now()
        latest = read

        def is_wanted() -> bool:
            nonlocal latest
            latest = self._reading.fresh(key, latest)
            return liveness_of(message, latest) == "alive"

        answer = self._targets.deliver(
            Attempt(
                trigger=message.trigger,
                number=message.attempt,
                spec=job.definition.target,
                body=body,
                secrets=secrets,
                sent_at=sent_at,
                is_wanted=is_wanted,
                run_token=run_token,
            )
        )
        return Withdrawn(latest) if answer.was_withdrawn else Made(job, sent_at, answer)

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
