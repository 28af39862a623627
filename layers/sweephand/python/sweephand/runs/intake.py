"""Handling received messages separately, so that a failure of one message does not affect the others."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

from sweephand.base.concurrency import Concurrently
from sweephand.base.errors import NewerError, PoisonError, StoreError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.limits import TARGET_TIMEOUT_S_MAX
from sweephand.base.timing import (
    EARLY_WAIT_MAX_MS,
    NEWER_MS,
    QUEUE_DELAY_MAX_MS,
    SETTLING_MS,
)
from sweephand.model.job import JobKey
from sweephand.model.trigger import (
    DeadLetter,
    DeadlineMessage,
    Message,
    NewerMessage,
    RangeMessage,
    Sendable,
    TriggerMessage,
)
from sweephand.ports import Clock, JobStore, Queue
from sweephand.runs.handlers import Handlers
from sweephand.runs.job_reads import JobRead
from sweephand.runs.outcome import Outcome

#: From its third receive on, a message is handled alone. It may be the message that crashed the function
#: before.
ALONE_FROM_RECEIVES = 3

#: After so many crashed functions a trigger becomes a dead letter. SQS would move the message only much later
#: (template.yaml), and nothing would then record that the run is over.
CRASHES_MAX = 5

#: After so many failures of Sweephand itself a message becomes a dead letter. With the growing delays, that
#: takes about half a day.
FAULTS_MAX = 60

#: A job read that is too old to be used. The handler that needs the job reads it again.
UNREAD = JobRead(None, 0)

#: The time that the longest attempt and the writes after it take. A message that is handled alone is not
#: started with less time left.
ALONE_RESERVE_MS = TARGET_TIMEOUT_S_MAX * SECOND_MS + SETTLING_MS


class Received(NamedTuple):
    """A message as SQS delivered it: the SQS message id, the receipt, and how often SQS has delivered it."""

    id: str
    receipt: str
    receives: int
    body: str


class Handled(NamedTuple):
    """What became of a received message.

    If `is_done`, the message may be acknowledged. `error` is for the log.
    """

    received: Received
    outcome: Outcome
    is_done: bool = True
    error: Exception | None = None


class Decoder(Protocol):
    """Decodes the body of a message."""

    def __call__(self, text: str, /) -> Message:
        """The message in that text.

        Raises NewerError if a newer version of Sweephand wrote the text, and PoisonError if the text is no
        message.
        """
        ...


class Intake:
    """Handles the messages of one invocation of the delivery function."""

    def __init__(
        self,
        *,
        handlers: Handlers,
        jobs: JobStore,
        queue: Queue,
        decode: Decoder,
        clock: Clock,
        concurrently: Concurrently,
    ) -> None:
        self._handlers = handlers
        self._jobs = jobs
        self._queue = queue
        self._decode = decode
        self._clock = clock
        self._concurrently = concurrently

    def handle(self, messages: Sequence[Received], *, deadline: Instant) -> list[Handled]:
        """Handle every message, in no particular order. No message's failure raises.

        The caller must report the messages that are not done as failed, so that SQS delivers them again.
        """
        handled: list[Handled] = []
        readable: list[tuple[Received, Message]] = []
        for received in messages:
            try:
                readable.append((received, _with_crashes(self._decode(received.body), received)))
            except NewerError:
                handled.append(self._put_back_newer(received, NewerMessage(received.body)))
            except PoisonError as error:
                handled.append(self._bury_unreadable(received, error))
        alone = [each for each in readable if _receives(*each) >= ALONE_FROM_RECEIVES and len(messages) > 1]
        together = [each for each in readable if each not in alone]
        handled += self._handle_together(together, deadline)
        if alone:
            # The next message may crash the function. So acknowledge first what is done.
            self._queue.acknowledge([each.received.receipt for each in handled if each.is_done])
        for received, message in alone:
            handled.append(self._handle_alone(received, message, deadline))
        return handled

    def _handle_together(
        self, pairs: Sequence[tuple[Received, Message]], deadline: Instant
    ) -> Iterable[Handled]:
        if not pairs:
            return []
        reads = self._read_jobs([message for _, message in pairs])

        def task(received: Received, message: Message) -> Callable[[], Handled]:
            return lambda: self._handle_one(received, message, reads[_key(message)], deadline)

        return self._concurrently([task(received, message) for received, message in pairs])

    def _read_jobs(self, messages: Sequence[Message]) -> Mapping[JobKey, JobRead]:
        """The jobs of the messages.

        Messages that have to wait anyway get no read: their handlers read their jobs later.
        """
        now = self._clock.now()
        keys = {_key(message) for message in messages}
        needed = {_key(message) for message in messages if _is_near(message, now)}
        try:
            jobs = self._jobs.get_many(sorted(needed)) if needed else {}
        except Exception:  # noqa: BLE001 - one job may be the cause, so each handler reads its own
            return dict.fromkeys(keys, UNREAD)
        return {key: JobRead(jobs.get(key), now) if key in needed else UNREAD for key in keys}

    def _handle_alone(self, received: Received, message: Message, deadline: Instant) -> Handled:
        if deadline - self._clock.now() < ALONE_RESERVE_MS:
            return self._resend(received, message, Outcome("postponed"), SECOND_MS, None)
        handled = self._handle_one(received, message, UNREAD, deadline)
        if handled.is_done:
            self._queue.acknowledge([received.receipt])
        return handled

    def _handle_one(self, received: Received, message: Message, read: JobRead, deadline: Instant) -> Handled:
        try:
            if isinstance(message, TriggerMessage) and self._crashes(message):
                return self._give_up_when_unclaimed(
                    received, message, f"{message.crashes} functions crashed over it."
                )
            if isinstance(message, TriggerMessage) and message.faults > FAULTS_MAX:
                return self._give_up_when_unclaimed(
                    received,
                    message,
                    f"handling it failed {message.faults} times; the log of the delivery function says why.",
                )
            return Handled(received, self._handlers.handle(message, read, deadline))
        except NewerError:
            # Something that the message needs, for example its job's line, was written by a newer version.
            return self._put_back_newer(received, message)
        except Exception as error:  # noqa: BLE001 - a failure of one message must not stop the others
            return self._put_back_faulty(received, message, error)

    def _crashes(self, message: TriggerMessage) -> bool:
        """Whether this trigger probably crashed the functions that received it.

        A receive alone proves nothing: when the account's concurrency is used up, Lambda receives messages
        for functions that it cannot start. A function that starts a message with crashes claims its run
        first. So the count matters only if there is a claim.
        """
        return message.crashes >= CRASHES_MAX and self._handlers.triggers.claim_ends_at(message) is not None

    def _give_up_when_unclaimed(self, received: Received, message: TriggerMessage, why: str) -> Handled:
        """Give up a trigger that no invocation can handle, once the last claim of its run has ended."""
        remaining_ms = self._claim_remaining_ms(message)
        if remaining_ms > 0:
            return self._resend(received, message, Outcome("claimed"), max(remaining_ms, SECOND_MS), None)
        reason = f"Sweephand failed to handle it: {why}"
        return self._give_up(received, message, reason, PoisonError(reason))

    def _claim_remaining_ms(self, message: TriggerMessage) -> int:
        """How long the claim of this attempt still lasts, in milliseconds; zero or less if there is none."""
        return (self._handlers.triggers.claim_ends_at(message) or 0) - self._clock.now()

    def _put_back_faulty(self, received: Received, message: Message, error: Exception) -> Handled:
        """Send a message again that Sweephand failed to handle.

        The message counts its own faults. SQS's receive counts are for crashes alone, so that an outage of a
        store does not make a message look like a crasher.
        """
        # A deadline is never given up: nothing else would find that a consumer is gone.
        resent = message._replace(faults=message.faults + 1)
        if message.faults >= FAULTS_MAX and not isinstance(message, DeadlineMessage):
            remaining_ms = 0
            if isinstance(message, TriggerMessage):
                # If the run cannot be read, the dead letter must still be written.
                with suppress(StoreError):
                    remaining_ms = self._claim_remaining_ms(message)
            if remaining_ms > 0:
                # The claim is usually this function's own. While it lasts, no other invocation can end the
                # run.
                return self._resend(received, resent, Outcome("fault"), max(remaining_ms, SECOND_MS), error)
            reason = f"Sweephand failed to handle it {resent.faults} times, at last with: {error}"
            return self._give_up(received, message, reason, error)
        delay_ms = min(SECOND_MS << min(message.faults, 10), QUEUE_DELAY_MAX_MS)
        return self._resend(received, resent, Outcome("fault"), delay_ms, error)

    def _give_up(self, received: Received, message: Message, reason: str, error: Exception) -> Handled:
        dead_letter = DeadLetter(received.body, reason)
        if isinstance(message, TriggerMessage):
            dead_letter = dead_letter._replace(trigger=message.trigger, attempts=message.attempt - 1)
        handled = self._bury(received, dead_letter, error)
        if handled.is_done and isinstance(message, TriggerMessage):
            # The store that failed so far may fail here too. The dead letter is then the only record.
            with suppress(StoreError):
                self._handlers.triggers.give_up(message, reason)
        return handled

    def _put_back_newer(self, received: Received, message: Sendable) -> Handled:
        """Send a message again that only a newer version can handle, however often it comes.

        That counts as no fault.
        """
        return self._resend(received, message, Outcome("newer"), NEWER_MS, None)

    def _resend(
        self, received: Received, message: Sendable, outcome: Outcome, delay_ms: int, error: Exception | None
    ) -> Handled:
        try:
            self._queue.send([(message, delay_ms)])
        except Exception as worse:  # noqa: BLE001 - SQS shows the message again after its time-out
            return Handled(received, outcome, is_done=False, error=error or worse)
        return Handled(received, outcome, error=error)

    def _bury_unreadable(self, received: Received, error: PoisonError) -> Handled:
        return self._bury(received, DeadLetter(received.body, str(error)), error)

    def _bury(self, received: Received, dead_letter: DeadLetter, error: Exception) -> Handled:
        try:
            self._queue.bury([(dead_letter, None)])
        except Exception as worse:  # noqa: BLE001 - not buried, so the message must stay in the queue
            return Handled(received, Outcome("fault"), is_done=False, error=worse)
        return Handled(received, Outcome("buried"), error=error)


def _with_crashes(message: Message, received: Received) -> Message:
    """The message with the crashes that SQS has counted, so that copies of the message carry them."""
    if received.receives > 1 and isinstance(message, TriggerMessage):
        return message._replace(crashes=message.crashes + received.receives - 1)
    return message


def _receives(received: Received, message: Message) -> int:
    """How many functions have received the message, this one included.

    All others ended without handling it.
    """
    return message.crashes + 1 if isinstance(message, TriggerMessage) else received.receives


def _key(message: Message) -> JobKey:
    return message.key if isinstance(message, RangeMessage) else message.trigger.key


def _is_near(message: Message, now: Instant) -> bool:
    return isinstance(message, TriggerMessage) and message.not_before - now < EARLY_WAIT_MAX_MS
