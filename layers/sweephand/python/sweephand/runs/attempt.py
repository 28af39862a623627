"""Making one attempt: with a recent read of the job, and only if the trigger is alive when it is sent."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias

from sweephand.access.authentication import without_run_tokens
from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.base.timing import JOB_READ_AGE_MAX_MS, SETTLING_MS
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.job import Job
from sweephand.model.run import Run
from sweephand.model.trigger import TriggerMessage
from sweephand.ports.clock import Clock
from sweephand.ports.jobs import PayloadStore
from sweephand.ports.queue import Targets
from sweephand.runs.delivery import Delivery, JobReads
from sweephand.targets.registry import attempt_ms_max, stands_for_default

if TYPE_CHECKING:
    # Only triggers under a policy have a permit.
    from sweephand.flow.permit import Permit
    from sweephand.model.namespace import AllowedTargets
    from sweephand.model.window import Windows

#: How often an attempt reads its job again, if each read takes longer than a read may be old. Then it puts
#: the trigger back.
READS_MAX = 5

#: The body for a job without data: JSON, as for a job with data.
NO_DATA = b"null"


#: Stands for data that is not in the payload store. No JSON is empty.
DATA_GONE: Final = b""

#: The answer in place of a delivery without its data. No retry can find it.
NO_PAYLOAD: Final = Answer(
    succeeded=False,
    error="The data of the trigger is not in the payload store any more. Write the job with its data again, "
    "and then redrive the run. The data of a trigger by hand is kept for two weeks after its last attempt, "
    "or for longer: trigger the job anew. If the stack's parameter PayloadTable has changed, name the former "
    "table in FormerPayloadTable and redrive.",
    is_final=True,
)

#: Returns the target that a spec of the type `default` stands for in that namespace; None if there is none.
#: Raises StoreError if that is not known.
DefaultTarget: TypeAlias = Callable[[str, Mapping[str, Any]], Mapping[str, Any] | None]

#: As `allowed` of an attempt, in the namespace of that name.
AllowedIn: TypeAlias = "Callable[[str, bool], AllowedTargets | None]"

#: The answer in place of a delivery to the default target of a namespace that has none any more.
NO_DEFAULT: Final = Answer(
    succeeded=False,
    error="The namespace has no defaultTarget in its settings. Give the job a target, or let an admin write "
    "the setting. Then redrive the run.",
    is_final=True,
)


class Signing(Protocol):
    """Which secrets sign a namespace's deliveries now, newest first."""

    def active(self, namespace: str) -> tuple[str, ...]:
        """At least one secret. The first is made when a delivery first needs it."""
        ...


class NamespaceParts(NamedTuple):
    """What deliveries take from the namespaces of their jobs."""

    signing: Signing
    default_target: DefaultTarget
    allowed: AllowedIn
    #: The windows of a namespace; None in a stack whose namespaces have none.
    windows: "Callable[[str], Windows] | None" = None


class AttemptMade(NamedTuple):
    """An attempt that was made: when, by which version of its job, and the consumer's answer."""

    job: Job
    sent_at: Instant
    answer: Answer


class _Sent(NamedTuple):
    """The answer to a request, its delivery by the latest read, and whether a connection was made."""

    answer: Answer
    latest: Delivery
    was_connected: bool


class Attempts:
    """Makes attempts. Several threads may share one object."""

    def __init__(
        self,
        *,
        job_reads: JobReads,
        payloads: PayloadStore,
        targets: Targets,
        namespaces: NamespaceParts,
        clock: Clock,
    ) -> None:
        self._job_reads = job_reads
        self._payloads = payloads
        self._targets = targets
        self._signing = namespaces.signing
        self._default_target = namespaces.default_target
        self._allowed = namespaces.allowed
        self._clock = clock

    def make(self, delivery: Delivery, run: Run) -> AttemptMade | Delivery | None:
        """Send the trigger to its job's target, by the latest definition of the job. `run` is of the attempt.

        If the trigger is no longer alive by the latest read, nothing is sent, and the delivery by that read
        is returned. None if the attempt could not begin, which counts as no fault: the job kept changing, the
        function has too little time left, the clock has stepped back, or the permit did not let the request
        leave.

        The permit of the delivery, if it has one, is kept while a run of its job may last. When the request
        is sent, the read of the job is at most a second old, and the request was made from that read. If the
        job changes while a connection is being made, the new request uses that connection. All connections
        and the request together take no longer than the target's time-out. They end before the deadline of
        the delivery, when the function's time is up.

        StoreError: the attempt was not made, or its result is unknown.
        """
        message, job, permit, run_token = delivery.message, delivery.job, delivery.permit, run.token
        secrets = self._signing.active(message.trigger.key.namespace)
        body = self._body(message, job)
        latest = delivery
        spent_ms = 0
        was_withdrawn_before = False
        for _ in range(READS_MAX + 1):
            latest = self._job_reads.renewed(latest)
            if latest is not delivery:
                # The read had grown too old and was repeated.
                if (latest := self._job_reads.mark_owed(latest)).liveness != "alive":
                    return latest
                if _needs_another_attempt(latest.job, job, run_token, permit):
                    return None
                if latest.job.version != job.version:
                    body = self._body(message, latest.job)
                delivery, job = latest, latest.job
                continue
            spec = self._spec(job)
            within_ms = attempt_ms_max(spec) - spent_ms
            was_refused = permit is not None and permit.was_refused
            can_begin = within_ms > 0 and not was_refused and self._is_due(delivery)
            if not can_begin or not self._is_time_for(within_ms, delivery.deadline):
                return None
            attempt = Attempt(
                trigger=message.trigger,
                number=message.attempt,
                spec=spec,
                body=body,
                secrets=secrets,
                sent_at=self._clock.now(),
                run_token=run_token,
                must_be_new=_must_be_new(message, run_token),
                within_ms=within_ms,
                allowed=partial(self._allowed, message.trigger.key.namespace),
                sends_once=permit is not None and permit.token is not None,
                labels=job.definition.written.get("labels"),
                origin=run.origin,
            )
            sent = self._send(attempt, delivery)
            answer, latest = sent.answer, sent.latest
            is_refused = permit is not None and permit.was_refused
            if answer.was_withdrawn and not is_refused:
                was_withdrawn_before = True
            elif answer.was_withdrawn or (was_withdrawn_before and not sent.was_connected):
                # No more reads of the job: the permit was refused, and reads can take seconds. Or an earlier
                # connection used up time. So a failure to connect in the rest of it is no failed attempt.
                return None
            else:
                return AttemptMade(job, attempt.sent_at, answer)
            spent_ms += self._clock.now() - attempt.sent_at
        if was_withdrawn_before:
            return None
        raise StoreError(
            f"{job.key}: {READS_MAX} times no request was sent within {JOB_READ_AGE_MAX_MS} ms of the read"
        )

    def is_time_for(self, job: Job, deadline: Instant) -> bool:
        """Whether the longest attempt at the job's target, and the writes after it, end before `deadline`.

        StoreError if the target is the default of a namespace whose settings are not known.
        """
        return self._is_time_for(attempt_ms_max(self._spec(job)), deadline)

    def _spec(self, job: Job) -> Mapping[str, Any]:
        """The job's target, or the target that it stands for if its namespace has a default."""
        spec = job.definition.target
        found = self._default_target(job.key.namespace, spec) if stands_for_default(spec) else None
        return spec if found is None else found

    def _is_due(self, delivery: Delivery) -> bool:
        """Whether the trigger is still due: the clock may have stepped back since the wait."""
        return self._clock.now() >= delivery.message.not_before

    def _is_time_for(self, attempt_ms: int, deadline: Instant) -> bool:
        return self._clock.now() + attempt_ms + SETTLING_MS <= deadline

    def _send(self, attempt: Attempt, delivery: Delivery) -> _Sent:
        """Send the request, unless the job has changed or the trigger has died by the latest read.

        It is not sent either if its permit does not let it leave.
        """
        if stands_for_default(attempt.spec):
            return _Sent(NO_DEFAULT, delivery, was_connected=False)
        if attempt.body == DATA_GONE:
            return _Sent(NO_PAYLOAD, delivery, was_connected=False)
        latest, permit, was_connected = delivery, delivery.permit, False

        def may_send() -> bool:
            nonlocal latest, was_connected
            was_connected = True
            if permit is not None:
                # No read may lie between the beginning of the token's slot and the request.
                latest = self._job_reads.renewed(latest, permit.leaves_at)
                permit.wait()
            latest = self._job_reads.renewed(latest)
            is_owed = latest.liveness == "alive" and latest.job.version == delivery.job.version
            is_owed = is_owed and self._is_due(delivery)
            return is_owed and (permit is None or permit.may_leave())

        answer = self._targets.deliver(attempt._replace(may_send=may_send))
        if attempt.run_token is not None:
            answer = _without_tokens(answer)
        return _Sent(answer, latest, was_connected)

    def _body(self, message: TriggerMessage, job: Job) -> bytes:
        """The data that the trigger delivers; DATA_GONE if the payload store does not have it any more."""
        payload = message.payload or job.definition.payload
        if payload is None:
            return NO_DATA
        text = payload.text
        if text is None and payload.ref is not None:
            text = self._payloads.get(job.uid, payload.ref)
        return DATA_GONE if text is None else text.encode()


def _without_tokens(answer: Answer) -> Answer:
    """The answer as a run may show it: whoever has the token may end the run."""
    text, error = (each and without_run_tokens(each) for each in (answer.text, answer.error))
    return answer._replace(text=text, error=error)


def _needs_another_attempt(latest: Job, job: Job, run_token: str | None, permit: "Permit | None") -> bool:
    """Whether this attempt cannot go on with the latest definition of its job.

    If the job has become async, its consumer must call back, and the attempt has no token for that. If the
    job has another policy, or counts under another key of it, the attempt has no permit of it. If the run may
    now last longer than by `job`, its permit would be free before the run is over.
    """
    has_no_token = latest.definition.is_async and run_token is None
    lasts_longer = latest.definition.max_run_time_ms > job.definition.max_run_time_ms
    outlasts_permit = permit is not None and run_token is not None and lasts_longer
    is_elsewhere = permit is not None and not permit.is_for(latest.definition, latest.key.name)
    has_other_policy = latest.definition.policy != job.definition.policy
    return has_no_token or outlasts_permit or has_other_policy or is_elsewhere


def _must_be_new(message: TriggerMessage, run_token: str | None) -> bool:
    """Whether a FIFO queue must take this attempt as a new message.

    It must if this attempt has a token of its own, or if the consumer could report that an earlier attempt
    failed. It also must if a person redrove the run. In all other cases only Sweephand counted the earlier
    attempt as failed. If the queue took that attempt, it has in fact succeeded.
    """
    is_redriven = message.redrive is not None
    return message.attempt > 1 and (run_token is not None or message.had_token or is_redriven)
