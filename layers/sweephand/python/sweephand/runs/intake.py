"""Handling a batch of messages: each by itself, so that none costs another its delivery."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol

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

#: From its third receive on a message is handled alone: it may be what crashed the function before.
ALONE_FROM_RECEIVES = 3

#: A trigger that so many functions have crashed over is a dead letter. Long before SQS would move it
#: (template.yaml): then nobody would record that its run is over.
CRASHES_MAX = 5

#: A message that Sweephand itself failed to handle this often is a dead letter: with the growing
#: delays, after about half a day.
FAULTS_MAX = 60

#: Too old to be used: whoever needs the job reads it.
UNREAD = JobRead(None, 0)

#: The longest attempt, and what follows it: a message handled alone is not begun with less time left.
ALONE_RESERVE_MS = TARGET_TIMEOUT_S_MAX * SECOND_MS + SETTLING_MS


class Received(NamedTuple):
    """A message as the queue handed it over: its id in the batch, its receipt, how often it was received."""

    id: str
    receipt: str
    receives: int
    body: str


class Handled(NamedTuple):
    """What became of a received message. If `is_done`, it may be acknowledged; `error` is for the log."""

    received: Received
    outcome: Outcome
    is_done: bool = True
    error: Exception | None = None


class Decoder(Protocol):
    """How a message is read."""

    def __call__(self, text: str, /) -> Message:
        """The message; NewerError if a newer version wrote it, PoisonError if it is none."""
        ...


#: Runs the tasks, at once if it can, and returns what each returned, in order.
Concurrently = Callable[[Sequence[Callable[[], Handled]]], Iterable[Handled]]


class Intake:
    """What the delivery function does with a batch."""

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

    def handle(self, batch: Sequence[Received], *, deadline: Instant) -> list[Handled]:
        """Deal with every message, in no order; never raises for one of them.

        Those that are not done must be reported as failed, so that the queue shows them again.
        """
        handled: list[Handled] = []
        readable: list[tuple[Received, Message]] = []
        for received in batch:
            try:
                readable.append((received, _counted(self._decode(received.body), received)))
            except NewerError:
                handled.append(self._newer(received, NewerMessage(received.body)))
            except PoisonError as error:
                handled.append(self._poison(received, error))
        alone = [each for each in readable if _receives(*each) >= ALONE_FROM_RECEIVES and len(batch) > 1]
        together = [each for each in readable if each not in alone]
        handled += self._together(together, deadline)
        if alone:
            # A crash now must cost nobody else: what is done leaves the queue first.
            self._queue.acknowledge([each.received.receipt for each in handled if each.is_done])
        for received, message in alone:
            handled.append(self._alone(received, message, deadline))
        return handled

    def _together(self, pairs: Sequence[tuple[Received, Message]], deadline: Instant) -> Iterable[Handled]:
        if not pairs:
            return []
        reads = self._read([message for _, message in pairs])

        def task(received: Received, message: Message) -> Callable[[], Handled]:
            return lambda: self._one(received, message, reads[_key(message)], deadline)

        return self._concurrently([task(received, message) for received, message in pairs])

    def _read(self, messages: Sequence[Message]) -> Mapping[JobKey, JobRead]:
        """The jobs of the messages; those of messages that will wait anyway are left for later to read."""
        now = self._clock.now()
        keys = {_key(message) for message in messages}
        wanted = {_key(message) for message in messages if _is_near(message, now)}
        try:
            jobs = self._jobs.get_many(sorted(wanted)) if wanted else {}
        except Exception:  # noqa: BLE001 - it may be the trouble of one: then each is read by itself, and says so
            return dict.fromkeys(keys, UNREAD)
        return {key: JobRead(jobs.get(key), now) if key in wanted else UNREAD for key in keys}

    def _alone(self, received: Received, message: Message, deadline: Instant) -> Handled:
        if deadline - self._clock.now() < ALONE_RESERVE_MS:
            return self._again(received, message, Outcome("postponed"), SECOND_MS, None)
        handled = self._one(received, message, UNREAD, deadline)
        if handled.is_done:
            self._queue.acknowledge([received.receipt])
        return handled

    def _one(self, received: Received, message: Message, read: JobRead, deadline: Instant) -> Handled:
        try:
            if isinstance(message, TriggerMessage) and self._crashes(message):
                return self._hopeless(received, message, f"{message.crashes} functions crashed over it.")
            if isinstance(message, TriggerMessage) and message.faults > FAULTS_MAX:
                return self._hopeless(received, message, f"it did {message.faults} times; its log says why.")
            return Handled(received, self._handlers.handle(message, read, deadline))
        except NewerError:
            # Something that it needs, its job's line for one.
            return self._newer(received, message)
        except Exception as error:  # noqa: BLE001 - one message's trouble must not cost the others theirs
            return self._faulty(received, message, error)

    def _crashes(self, message: TriggerMessage) -> bool:
        """Whether so many functions have ended without a word that it was the trigger's doing.

        A message that came back was perhaps never begun: where the account's concurrency is used up Lambda
        receives for a function that it cannot start. Who does begin what came back claims it first.
        """
        return message.crashes >= CRASHES_MAX and self._handlers.triggers.held_until(message) is not None

    def _hopeless(self, received: Received, message: TriggerMessage, why: str) -> Handled:
        """Give up what nobody can handle, once the last who tried holds its run no longer."""
        held_ms = self._held_ms(message)
        if held_ms > 0:
            return self._again(received, message, Outcome("claimed"), max(held_ms, SECOND_MS), None)
        reason = f"Sweephand failed to handle it: {why}"
        return self._given_up(received, message, reason, PoisonError(reason))

    def _held_ms(self, message: TriggerMessage) -> int:
        """For how long its run is claimed for this very attempt."""
        return (self._handlers.triggers.held_until(message) or 0) - self._clock.now()

    def _faulty(self, received: Received, message: Message, error: Exception) -> Handled:
        """Put back what we failed to handle: receive counts are for crashes, not for a store's bad hour."""
        # A deadline is never given up: nobody else would find that a consumer is gone.
        again = message._replace(faults=message.faults + 1)
        if message.faults >= FAULTS_MAX and not isinstance(message, DeadlineMessage):
            held_ms = 0
            if isinstance(message, TriggerMessage):
                # What cannot be read now must not keep the letter from being written.
                with suppress(StoreError):
                    held_ms = self._held_ms(message)
            if held_ms > 0:
                # Whoever claimed it, this very function as a rule, keeps all others from ending its run.
                return self._again(received, again, Outcome("fault"), max(held_ms, SECOND_MS), error)
            reason = f"Sweephand failed to handle it {again.faults} times, at last with: {error}"
            return self._given_up(received, message, reason, error)
        delay_ms = min(SECOND_MS << min(message.faults, 10), QUEUE_DELAY_MAX_MS)
        return self._again(received, again, Outcome("fault"), delay_ms, error)

    def _given_up(self, received: Received, message: Message, reason: str, error: Exception) -> Handled:
        letter = DeadLetter(received.body, reason)
        if isinstance(message, TriggerMessage):
            letter = letter._replace(trigger=message.trigger, attempts=message.attempt - 1)
        handled = self._buried(received, letter, error)
        if handled.is_done and isinstance(message, TriggerMessage):
            # What has failed until now may fail at this, too: then the letter alone tells of it.
            with suppress(StoreError):
                self._handlers.triggers.give_up(message, reason)
        return handled

    def _newer(self, received: Received, message: Sendable) -> Handled:
        """Put back what only a newer version can handle, however often it comes: it is nobody's fault."""
        return self._again(received, message, Outcome("newer"), NEWER_MS, None)

    def _again(
        self, received: Received, message: Sendable, outcome: Outcome, delay_ms: int, error: Exception | None
    ) -> Handled:
        try:
            self._queue.send([(message, delay_ms)])
        except Exception as worse:  # noqa: BLE001 - then the queue's own visibility time-out must do
            return Handled(received, outcome, is_done=False, error=error or worse)
        return Handled(received, outcome, error=error)

    def _poison(self, received: Received, error: PoisonError) -> Handled:
        return self._buried(received, DeadLetter(received.body, str(error)), error)

    def _buried(self, received: Received, letter: DeadLetter, error: Exception) -> Handled:
        try:
            self._queue.bury([(letter, None)])
        except Exception as worse:  # noqa: BLE001 - not buried, so it must stay in the queue
            return Handled(received, Outcome("fault"), is_done=False, error=worse)
        return Handled(received, Outcome("buried"), error=error)


def _counted(message: Message, received: Received) -> Message:
    """The message with the crashes that the queue has counted, for the copies that are sent of it."""
    if received.receives > 1 and isinstance(message, TriggerMessage):
        return message._replace(crashes=message.crashes + received.receives - 1)
    return message


def _receives(received: Received, message: Message) -> int:
    """How often it was received by a function that did not live to say so, and now."""
    return message.crashes + 1 if isinstance(message, TriggerMessage) else received.receives


def _key(message: Message) -> JobKey:
    return message.key if isinstance(message, RangeMessage) else message.trigger.key


def _is_near(message: Message, now: Instant) -> bool:
    return isinstance(message, TriggerMessage) and message.not_before - now < EARLY_WAIT_MAX_MS
