"""Errors in delivering: liveness, retries, claims, acknowledging."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import Mock, patch

from tests.simulation.mutations.registry import (
    Broken,
    Deferred,
    Instead,
    Ports,
    built,
    everywhere,
    mutation,
    replacing,
    together,
    wrapping,
    wrapping_in,
)
from tests.simulation.workload.clocks import FIRST_WITH_STEPS

from sweephand.base.concurrency import always
from sweephand.base.errors import PoisonError
from sweephand.base.instants import HOUR_MS, SECOND_MS, Instant
from sweephand.delivery.functions import WAKE_UP
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.job import JobKey
from sweephand.model.trigger import Message, Sendable, TriggerMessage
from sweephand.runs import requeue as waiting
from sweephand.runs.attempt import Attempts, _Sent
from sweephand.runs.claims import Claims
from sweephand.runs.deliver import Deliverer
from sweephand.runs.delivery import Delivery, Drop, JobRead, JobReads
from sweephand.runs.faults import CRASHES_MAX, Faults
from sweephand.runs.gates import Gates
from sweephand.runs.handlers import Handlers
from sweephand.runs.intake import Intake
from sweephand.runs.received import Handled, Outcome, Received


@mutation("A trigger of an unknown revision is dropped at once")
def drops_unknown() -> Broken:
    return everywhere("UNKNOWN_GRACE_MS", 0)


@mutation(
    "A trigger of an unknown revision is dropped after 20 s, although the API may take longer to commit"
)
def drops_unknown_soon() -> Broken:
    return everywhere("UNKNOWN_GRACE_MS", 20 * SECOND_MS)


@mutation("A trigger is delivered up to a second early")
@wrapping(Deliverer, "deliver")
def delivers_early(deliver: Callable[..., Outcome], deliverer: Deliverer, delivery: Delivery) -> Outcome:
    message = delivery.message
    message = message._replace(not_before=message.not_before - SECOND_MS)
    return deliver(deliverer, delivery._replace(message=message))


@mutation("A message of a newer version becomes a dead letter")
@replacing(Faults, "put_back_newer")
def buries_what_is_newer(self: Faults, received: Received, _: Sendable) -> Handled:
    return self.bury_unreadable(received, PoisonError("A message of another version."))


@mutation("A request is sent however long ago its job was read")
def trusts_old_reads() -> Broken:
    return everywhere("JOB_READ_AGE_MAX_MS", HOUR_MS)


@mutation("The job is not read again after the connection is made")
@wrapping_in(Handlers, "targets", "deliver")
def does_not_look_again(deliver: Callable[..., Answer], attempt: Attempt) -> Answer:
    answer: Answer = deliver(attempt._replace(may_send=always))
    return answer


@mutation("A request that was prepared before its job changed is sent after the connection is made")
@replacing(Attempts, "_send")
def sends_what_is_outdated(attempts: Attempts, attempt: Attempt, delivery: Delivery) -> _Sent:
    latest = delivery

    def may_send() -> bool:
        nonlocal latest
        latest = attempts._job_reads.renewed(latest)
        return latest.liveness == "alive"

    answer = attempts._targets.deliver(attempt._replace(may_send=may_send))
    return _Sent(answer, latest, was_connected=True)


@mutation("A retry begins even if its claim is refused")
@wrapping_in(Handlers, "runs", "claim")
def ignores_claims(claim: Callable[..., None], *args: Any) -> None:
    claim(*args)


@mutation("A receive for which Lambda started no function counts as a crash")
@replacing(Faults, "_has_crashed_functions")
def takes_receives_for_crashes(_: Faults, message: TriggerMessage) -> bool:
    return message.crashes >= CRASHES_MAX


@mutation("A run of a deleted job stays `retrying`")
def forgets_runs_of_deleted_jobs() -> Broken:
    return patch.object(Claims, "cancel_with_job", lambda *_: None)


@mutation(
    "A claim stays if its job is deleted before the attempt is made",
    shown_by="tests/unit/runs/test_claims.py::"
    "test_a_first_attempt_whose_job_stays_deleted_leaves_no_record_and_no_message",
)
@replacing(Claims, "release")
def keeps_claims_of_deleted_jobs(*_: Any, **__: Any) -> None:
    """Release nothing."""


@mutation("A claim never ends")
def claims_for_ever() -> Broken:
    return everywhere("ATTEMPT_CLAIM_MS", 10**12)


@mutation("A message that is put back forgets its count of crashes")
@wrapping(waiting.Requeue, "put_back")
def forgets_crashes(
    put_back: Callable[..., None], requeue: waiting.Requeue, message: Message, until: Instant
) -> None:
    if isinstance(message, TriggerMessage):
        message = message._replace(crashes=0)
    put_back(requeue, message, until)


@mutation("A message whose attempt is claimed is dropped, not put back")
def drops_claimed() -> Broken:
    return patch.object(Gates, "refused", lambda _, delivery, *__: Drop(delivery, "repeated"))


def _records_before(*late: tuple[str, str]) -> Any:
    """Do what those ports are asked for only after the run is recorded, or at the message's end."""
    deferred = Deferred()

    def change(ports: Ports) -> None:
        runs = ports["runs"]

        def record(*args: Any) -> bool:
            is_written: bool = runs.record(*args)
            deferred.make()
            return is_written

        ports["runs"] = Instead(runs, record=record)
        for port, method in late:
            # Handlers get the timers with what few deliveries need.
            rare = ports["rare"]()
            given = rare.timers if port == "timers" else ports[port]
            instead = Instead(given, **{method: deferred.of(getattr(given, method))})
            if port == "timers":
                ports["rare"] = Mock(return_value=rare._replace(timers=instead))
            else:
                ports[port] = instead

    return deferred, built(Handlers, change)


@contextmanager
def _at_the_end(deferred: Deferred) -> Iterator[None]:
    def then_made(handle: Callable[..., Outcome]) -> Callable[..., Outcome]:
        def handled(*args: Any) -> Outcome:
            try:
                outcome = handle(*args)
            except BaseException:
                deferred.forget()
                raise
            deferred.make()
            return outcome

        return handled

    with (
        patch.object(Deliverer, "deliver", then_made(Deliverer.deliver)),
        patch.object(Handlers, "handle", then_made(Handlers.handle)),
    ):
        yield


@mutation("A failure is recorded before its retry is sent")
def records_before_retrying() -> Broken:
    deferred, ports = _records_before(("queue", "send"), ("timers", "put"))
    return together(ports, _at_the_end(deferred))


@mutation("A failure is recorded before its dead letter is sent")
def records_before_burying() -> Broken:
    deferred, ports = _records_before(("queue", "bury"))
    return together(ports, _at_the_end(deferred))


@mutation("A message is acknowledged to be put back, and no copy of it is sent")
def puts_nothing_back() -> Broken:
    return patch.object(waiting.Requeue, "put_back", lambda *_: None)


@mutation(
    "A message that is put back is not acknowledged",
    masked_by="the trigger's one identity, and SQS's limit on receives",
)
@wrapping(Intake, "_handle_one")
def keeps_what_it_put_back(one: Callable[..., Handled], *args: Any) -> Handled:
    handled = one(*args)
    is_back = handled.outcome.name in {"early", "unknown", "held", "claimed"}
    return handled._replace(is_done=handled.is_done and not is_back)


@mutation("Messages are acknowledged before they are handled")
@wrapping(Intake, "handle")
def acknowledges_first(
    handle: Callable[..., list[Handled]], handler: Intake, batch: Sequence[Received], **kwargs: Any
) -> list[Handled]:
    handler._queue.acknowledge([each.receipt for each in batch])
    return handle(handler, batch, **kwargs)


@mutation("After a fault a message is acknowledged and not sent again")
@replacing(Faults, "put_back_faulty")
def drops_faulty(_: Faults, received: Received, message: Message, error: Exception) -> Handled:
    del message
    return Handled(received, Outcome("fault"), error=error)


@mutation("A wake-up counts as a delivery: the function handles it as a message")
@replacing(Intake, "hold")
def delivers_wake_ups(handler: Intake, duration_ms: int) -> None:
    received = Received("wake-up", "wake-up", 1, json.dumps(WAKE_UP))
    handler.handle([received], deadline=handler._clock.now() + duration_ms)


@mutation("A retry is made however late it comes", first=10_000_000)
def makes_retries_of_any_age() -> Broken:
    return patch("sweephand.runs.gates.is_too_late", lambda *_: False)


@mutation("A request leaves after its function's clock has stepped back", first=FIRST_WITH_STEPS)
def trusts_a_clock_that_has_been_asked() -> Broken:
    return patch.object(Attempts, "_is_due", lambda *_: True)


@mutation("A read of a job stays fresh after the clock has stepped back", first=FIRST_WITH_STEPS)
@wrapping(JobReads, "fresh")
def trusts_a_read_from_the_future(
    fresh: Callable[..., JobRead], reads: JobReads, key: JobKey, read: JobRead, *at: Any
) -> JobRead:
    return read if read.at > reads._clock.now() else fresh(reads, key, read, *at)
