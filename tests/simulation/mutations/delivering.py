"""Errors in delivering: liveness, retries, claims, acknowledging."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import Mock, patch

from tests.simulation.mutations.registry import Deferred, Instead, Ports, built, everywhere, mutation

from sweephand.base.concurrency import always
from sweephand.base.errors import PoisonError
from sweephand.base.instants import HOUR_MS, SECOND_MS, Instant
from sweephand.delivery.functions import WAKE_UP
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.trigger import Message, Sendable, TriggerMessage
from sweephand.runs import requeue as waiting
from sweephand.runs.attempt import Attempts, _Sent
from sweephand.runs.claims import Claims
from sweephand.runs.deliver import Deliverer
from sweephand.runs.delivery import Delivery, Drop
from sweephand.runs.faults import CRASHES_MAX, Faults
from sweephand.runs.gates import Gates
from sweephand.runs.handlers import Handlers
from sweephand.runs.intake import Intake
from sweephand.runs.received import Handled, Outcome, Received


@mutation("A trigger of an unknown revision is dropped at once")
def drops_unknown() -> Iterator[None]:
    with everywhere("UNKNOWN_GRACE_MS", 0):
        yield


@mutation(
    "A trigger of an unknown revision is dropped after 20 s, although the API may take longer to commit"
)
def drops_unknown_soon() -> Iterator[None]:
    with everywhere("UNKNOWN_GRACE_MS", 20 * SECOND_MS):
        yield


@mutation("A trigger is delivered up to a second early")
def delivers_early() -> Iterator[None]:
    deliver = Deliverer.deliver

    def sooner(deliverer: Deliverer, delivery: Delivery) -> Outcome:
        message = delivery.message
        message = message._replace(not_before=message.not_before - SECOND_MS)
        return deliver(deliverer, delivery._replace(message=message))

    with patch.object(Deliverer, "deliver", sooner):
        yield


@mutation("A message of a newer version becomes a dead letter")
def buries_what_is_newer() -> Iterator[None]:
    def newer(self: Faults, received: Received, _: Sendable) -> Handled:
        return self.bury_unreadable(received, PoisonError("A message of another version."))

    with patch.object(Faults, "put_back_newer", newer):
        yield


@mutation("A request is sent however long ago its job was read")
def trusts_old_reads() -> Iterator[None]:
    with everywhere("JOB_READ_AGE_MAX_MS", HOUR_MS):
        yield


@mutation("The job is not read again after the connection is made")
def does_not_look_again() -> Iterator[None]:
    def change(ports: Ports) -> None:
        targets = ports["targets"]

        def deliver(attempt: Attempt) -> Answer:
            answer: Answer = targets.deliver(attempt._replace(may_send=always))
            return answer

        ports["targets"] = Instead(targets, deliver=deliver)

    with built(Handlers, change):
        yield


@mutation("A request that was prepared before its job changed is sent after the connection is made")
def sends_what_is_outdated() -> Iterator[None]:
    def send(attempts: Attempts, attempt: Attempt, delivery: Delivery) -> _Sent:
        latest = delivery

        def may_send() -> bool:
            nonlocal latest
            latest = attempts._job_reads.renewed(latest)
            return latest.liveness == "alive"

        answer = attempts._targets.deliver(attempt._replace(may_send=may_send))
        return _Sent(answer, latest, was_connected=True)

    with patch.object(Attempts, "_send", send):
        yield


@mutation("A retry begins even if its claim is refused")
def ignores_claims() -> Iterator[None]:
    def change(ports: Ports) -> None:
        runs = ports["runs"]

        def claim(*args: Any) -> None:
            runs.claim(*args)

        ports["runs"] = Instead(runs, claim=claim)

    with built(Handlers, change):
        yield


@mutation("A receive for which Lambda started no function counts as a crash")
def takes_receives_for_crashes() -> Iterator[None]:
    def crashes(_: Faults, message: TriggerMessage) -> bool:
        return message.crashes >= CRASHES_MAX

    with patch.object(Faults, "_has_crashed_functions", crashes):
        yield


@mutation("A run of a deleted job stays `retrying`")
def forgets_runs_of_deleted_jobs() -> Iterator[None]:
    with patch.object(Claims, "cancel_with_job", lambda *_: None):
        yield


@mutation(
    "A claim stays if its job is deleted before the attempt is made",
    shown_by="tests/unit/runs/test_claims.py::"
    "test_a_first_attempt_whose_job_stays_deleted_leaves_no_record_and_no_message",
)
def keeps_claims_of_deleted_jobs() -> Iterator[None]:
    def keep(*_: Any, **__: Any) -> None:
        """Release nothing."""

    with patch.object(Claims, "release", keep):
        yield


@mutation("A claim never ends")
def claims_for_ever() -> Iterator[None]:
    with everywhere("ATTEMPT_CLAIM_MS", 10**12):
        yield


@mutation("A message that is put back forgets its count of crashes")
def forgets_crashes() -> Iterator[None]:
    put_back = waiting.Requeue.put_back

    def forgetting(requeue: waiting.Requeue, message: Message, until: Instant) -> None:
        if isinstance(message, TriggerMessage):
            message = message._replace(crashes=0)
        put_back(requeue, message, until)

    with patch.object(waiting.Requeue, "put_back", forgetting):
        yield


@mutation("A message whose attempt is claimed is dropped, not put back")
def drops_claimed() -> Iterator[None]:
    with patch.object(Gates, "refused", lambda _, delivery, *__: Drop(delivery, "repeated")):
        yield


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
def records_before_retrying() -> Iterator[None]:
    deferred, ports = _records_before(("queue", "send"), ("timers", "put"))
    with ports, _at_the_end(deferred):
        yield


@mutation("A failure is recorded before its dead letter is sent")
def records_before_burying() -> Iterator[None]:
    deferred, ports = _records_before(("queue", "bury"))
    with ports, _at_the_end(deferred):
        yield


@mutation("A message is acknowledged to be put back, and no copy of it is sent")
def puts_nothing_back() -> Iterator[None]:
    with patch.object(waiting.Requeue, "put_back", lambda *_: None):
        yield


@mutation(
    "A message that is put back is not acknowledged",
    masked_by="the trigger's one identity, and SQS's limit on receives",
)
def keeps_what_it_put_back() -> Iterator[None]:
    one = Intake._handle_one

    def kept(*args: Any) -> Handled:
        handled = one(*args)
        is_back = handled.outcome.name in {"early", "unknown", "held", "claimed"}
        return handled._replace(is_done=handled.is_done and not is_back)

    with patch.object(Intake, "_handle_one", kept):
        yield


@mutation("Messages are acknowledged before they are handled")
def acknowledges_first() -> Iterator[None]:
    handle = Intake.handle

    def handled(handler: Intake, batch: Sequence[Received], **kwargs: Any) -> list[Handled]:
        handler._queue.acknowledge([each.receipt for each in batch])
        return handle(handler, batch, **kwargs)

    with patch.object(Intake, "handle", handled):
        yield


@mutation("After a fault a message is acknowledged and not sent again")
def drops_faulty() -> Iterator[None]:
    def done(_: Faults, received: Received, message: Message, error: Exception) -> Handled:
        del message
        return Handled(received, Outcome("fault"), error=error)

    with patch.object(Faults, "put_back_faulty", done):
        yield


@mutation("A wake-up counts as a delivery: the function handles it as a message")
def delivers_wake_ups() -> Iterator[None]:
    def handled(handler: Intake, duration_ms: int) -> None:
        received = Received("wake-up", "wake-up", 1, json.dumps(WAKE_UP))
        handler.handle([received], deadline=handler._clock.now() + duration_ms)

    with patch.object(Intake, "hold", handled):
        yield


@mutation("A retry is made however late it comes", first=10_000_000)
def makes_retries_of_any_age() -> Iterator[None]:
    with patch("sweephand.runs.gates.is_too_late", lambda *_: False):
        yield
