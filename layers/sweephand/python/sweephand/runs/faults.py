"""What becomes of a message that Sweephand itself fails to handle: it comes again, or is given up."""

from contextlib import suppress
from typing import Final

from sweephand.base.errors import PoisonError, StoreError
from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import NEWER_MS, QUEUE_DELAY_MAX_MS
from sweephand.model.batch_mark import mark_of, mark_of_trigger
from sweephand.model.calendar import CalendarMessage
from sweephand.model.definition import HISTORY_RETENTION_DEFAULT_MS
from sweephand.model.orders import ResumeMessage
from sweephand.model.trigger import (
    DeadLetter,
    DeadlineMessage,
    Message,
    Sendable,
    TriggerMessage,
)
from sweephand.model.watch import WatchMessage
from sweephand.ports.clock import Clock
from sweephand.ports.queue import Queue
from sweephand.runs.claims import Claims
from sweephand.runs.deliver import Deliverer
from sweephand.runs.received import Handled, Outcome, Received

#: After so many crashed functions a trigger becomes a dead letter. SQS would move the message only much later
#: (template.yaml), and nothing would then record that the run is over.
CRASHES_MAX: Final = 5

_NEVER_GIVEN_UP: Final = (DeadlineMessage, WatchMessage, CalendarMessage, ResumeMessage)

#: After so many failures of Sweephand itself a message becomes a dead letter. With the growing delays, that
#: takes about half a day.
FAULTS_MAX: Final = 60


class Faults:
    """Sends messages again, or makes dead letters of them. Several threads may share one object.

    Nothing raises. What is not done comes again after its visibility time-out.
    """

    def __init__(self, *, queue: Queue, claims: Claims, deliverer: Deliverer, clock: Clock) -> None:
        self._queue = queue
        self._claims = claims
        self._deliverer = deliverer
        self._clock = clock

    def given_up(self, received: Received, message: TriggerMessage) -> Handled | None:
        """What became of a trigger that no function can handle; None if it is to be handled.

        It is given up once the last claim of its run has ended. StoreError: the message must come again.
        """
        if self._has_crashed_functions(message):
            why = f"{message.crashes} functions crashed while handling it."
        elif message.faults > FAULTS_MAX:
            why = f"handling it failed {message.faults} times; the log of the delivery function says why."
        else:
            return None
        remaining_ms = self._claim_remaining_ms(message)
        if remaining_ms > 0:
            return self.resend(received, message, Outcome("claimed"), max(remaining_ms, SECOND_MS))
        reason = f"Sweephand failed to handle it: {why}"
        return self._give_up(received, message, reason, PoisonError(reason))

    def _has_crashed_functions(self, message: TriggerMessage) -> bool:
        """Whether this trigger probably crashed the functions that received it.

        A receive alone proves nothing: when the account's concurrency is used up, Lambda receives messages
        for functions that it cannot start. A function that starts a message with crashes claims its run
        first. So the count matters only if there is a claim.
        """
        return message.crashes >= CRASHES_MAX and self._claims.claim_ends_at(message) is not None

    def _claim_remaining_ms(self, message: TriggerMessage) -> int:
        """How long the claim of this attempt still lasts, in milliseconds; zero or less if there is none."""
        return (self._claims.claim_ends_at(message) or 0) - self._clock.now()

    def put_back_faulty(self, received: Received, message: Message, error: Exception) -> Handled:
        """Send a message again that Sweephand failed to handle, or give it up after half a day.

        The message counts its own faults. SQS's receive counts are for crashes alone, so that an outage of a
        store does not make a message look like a crasher. A deadline is never given up: nothing else would
        find that a consumer is gone. Nor is the order to end a pause. A check of a watch is not either: its
        alert may be about the very fault. Nor is a calendar, whose jobs would keep its former days.
        """
        resent = message._replace(faults=message.faults + 1)
        if message.faults >= FAULTS_MAX and not isinstance(message, _NEVER_GIVEN_UP):
            remaining_ms = 0
            if isinstance(message, TriggerMessage):
                # If the run cannot be read, the dead letter must still be written.
                with suppress(StoreError):
                    remaining_ms = self._claim_remaining_ms(message)
            if remaining_ms > 0:
                # The claim is usually this function's own. While it lasts, no other invocation can end the
                # run.
                return self.resend(received, resent, Outcome("fault"), max(remaining_ms, SECOND_MS), error)
            reason = f"Sweephand failed to handle it {resent.faults} times, the last time with: {error}"
            return self._give_up(received, message, reason, error)
        delay_ms = min(SECOND_MS << min(message.faults, 10), QUEUE_DELAY_MAX_MS)
        return self.resend(received, resent, Outcome("fault"), delay_ms, error)

    def put_back_newer(self, received: Received, message: Sendable) -> Handled:
        """Send a message again that only a newer version can handle, however often it comes.

        That counts as no fault.
        """
        return self.resend(received, message, Outcome("newer"), NEWER_MS)

    def resend(
        self,
        received: Received,
        message: Sendable,
        outcome: Outcome,
        delay_ms: int,
        error: Exception | None = None,
    ) -> Handled:
        """Send a copy of a message after that delay, with that outcome. `error` is why, for the log."""
        try:
            self._queue.send([(message, delay_ms)])
        except Exception as worse:  # noqa: BLE001 - SQS shows the message again after its time-out
            return Handled(received, outcome, is_done=False, error=error or worse)
        return Handled(received, outcome, error=error)

    def bury_unreadable(self, received: Received, error: PoisonError) -> Handled:
        """Make a dead letter of a message that nobody can read."""
        return self._bury(received, DeadLetter(received.body, str(error)), error)

    def _give_up(self, received: Received, message: Message, reason: str, error: Exception) -> Handled:
        dead_letter = DeadLetter(received.body, reason)
        if isinstance(message, TriggerMessage):
            dead_letter = dead_letter._replace(trigger=message.trigger, attempts=message.attempt - 1)
        handled = self._bury(received, dead_letter, error)
        if handled.is_done and isinstance(message, TriggerMessage):
            try:
                ended = mark_of(self._deliverer.give_up(message, reason))
            except StoreError:
                # The store that failed so far fails here too. The dead letter is then the only record, beside
                # the progress of a batch.
                until = self._clock.now() + HISTORY_RETENTION_DEFAULT_MS
                ended = mark_of_trigger(message.trigger, "failed", until)
            return handled._replace(outcome=handled.outcome._replace(ended=ended))
        return handled

    def _bury(self, received: Received, dead_letter: DeadLetter, error: Exception) -> Handled:
        try:
            self._queue.bury([(dead_letter, None)])
        except Exception as worse:  # noqa: BLE001 - not buried, so the message must stay in the queue
            return Handled(received, Outcome("fault"), is_done=False, error=worse)
        return Handled(received, Outcome("buried"), error=error)
