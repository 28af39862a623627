"""Handling received messages separately, so that a failure of one message does not affect the others."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Protocol

from sweephand.base.concurrency import DELIVERIES_AT_ONCE, Concurrently
from sweephand.base.errors import NewerError, PoisonError, StoreError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.limits import TARGET_TIMEOUT_S_MAX
from sweephand.base.timing import (
    BUNDLE_SPAN_MAX_MS,
    EARLY_WAIT_MAX_MS,
    NEWER_MS,
    QUEUE_DELAY_MAX_MS,
    SETTLING_MS,
)
from sweephand.model.batch_mark import mark_of, mark_of_failure
from sweephand.model.definition import HISTORY_RETENTION_DEFAULT_MS
from sweephand.model.policy_names import PolicyKey, Priority
from sweephand.model.trigger import (
    BundleMessage,
    DeadLetter,
    Message,
    NewerMessage,
    Readable,
    Sendable,
    TriggerMessage,
)
from sweephand.model.wire import encode
from sweephand.ports import Clock, Ids, JobStore, Queue
from sweephand.runs.delivery import Delivery
from sweephand.runs.flow.policy_flow import PolicyFlow
from sweephand.runs.handlers import Handlers
from sweephand.runs.job_reads import UNREAD, JobRead
from sweephand.runs.received import Handled, Outcome, Received, finished, may_be_given_up, named
from sweephand.runs.shared_reads import ReadGroup, read_groups
from sweephand.runs.taken import Entry, Taken, key_of, not_before, singles_of, with_crashes
from sweephand.runs.work_queue import THREAD_WAIT_MAX_MS, WorkQueue

if TYPE_CHECKING:
    # Few triggers belong to a batch, and only workers of a policy's line have permits.
    from sweephand.runs.batch_progress import BatchProgress
    from sweephand.runs.flow.permit import Permit

#: From its third receive on, a message is handled alone. It may be the message that crashed the function
#: before.
ALONE_FROM_RECEIVES = 3

#: After so many crashed functions a trigger becomes a dead letter. SQS would move the message only much later
#: (template.yaml), and nothing would then record that the run is over.
CRASHES_MAX = 5

#: After so many failures of Sweephand itself a message becomes a dead letter. With the growing delays, that
#: takes about half a day.
FAULTS_MAX = 60

#: The time that the longest attempt and the writes after it take. A message that is handled alone is not
#: started with less time left.
ALONE_RESERVE_MS = TARGET_TIMEOUT_S_MAX * SECOND_MS + SETTLING_MS


class Decoder(Protocol):
    """Decodes the body of a message."""

    def __call__(self, text: str, /) -> Readable:
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
        progress: Callable[[], "BatchProgress"],
        flow: PolicyFlow,
        jobs: JobStore,
        queue: Queue,
        decode: Decoder,
        clock: Clock,
        ids: Ids,
        concurrently: Concurrently,
    ) -> None:
        self._handlers = handlers
        self._progress = progress
        self._flow = flow
        self._jobs = jobs
        self._queue = queue
        self._decode = decode
        self._clock = clock
        self._ids = ids
        self._concurrently = concurrently

    def handle(self, messages: Sequence[Received], *, deadline: Instant) -> list[Handled]:
        """Handle every message, in no particular order. No message's failure raises.

        The caller must report the messages that are not `finished()` as failed, so that SQS delivers them
        again.
        """
        handled: list[Handled] = []
        readable: list[Taken] = []
        for received in messages:
            try:
                message = self._decode(received.body)
            except NewerError:
                handled.append(self._put_back_newer(received, NewerMessage(received.body)))
            except PoisonError as error:
                handled.append(self._bury_unreadable(received, error))
            else:
                if not isinstance(message, BundleMessage):
                    readable.append(Taken(received, with_crashes(message, received)))
                elif (whole := self._whole(received, message)) is not None:
                    handled.append(whole)
                else:
                    wait_max_ms = EARLY_WAIT_MAX_MS + BUNDLE_SPAN_MAX_MS
                    readable += [Taken(received, each, wait_max_ms) for each in message.triggers]
        alone = [each for each in readable if each.receives >= ALONE_FROM_RECEIVES and len(messages) > 1]
        together = [each for each in readable if each not in alone]
        if together and any(each.outcome.name == "split" for each in handled):
            # One of the others may crash the function. The bundle would come again and be split again.
            self._acknowledge(handled)
        handled += self._shown(self._handle_together(together, deadline))
        if alone:
            # The next message may crash the function. So acknowledge first what is done.
            self._acknowledge(handled)
        for each in alone:
            handled.append(self._handle_alone(each.received, each.message, deadline))
        return handled

    def handle_permitted(
        self, message: TriggerMessage, read: JobRead, permit: "Permit", deadline: Instant
    ) -> Handled:
        """Handle a trigger for which a worker of a policy's line has a permit. Its failure does not raise.

        If it is not done, or its outcome is `kept`, the line must keep the trigger. If it has to wait for any
        other reason, it was sent to the delivery queue. Before its line forgets the trigger, the caller does
        what its outcome asks for before an acknowledgement.
        """
        received = Received(id="", receipt="", receives=1, body=encode(message))
        return named(self._handle_one(received, message, read, deadline, permit), message)

    def hold(self, duration_ms: int) -> None:
        """Handle nothing for that long. Lambda meanwhile gives other wake-ups to other functions."""
        self._clock.wait_until(self._clock.now() + duration_ms)

    def _acknowledge(self, handled: Iterable[Handled]) -> None:
        self._queue.acknowledge([each.receipt for each in finished(handled)])

    def _whole(self, received: Received, bundle: BundleMessage) -> Handled | None:
        """What became of a bundle that is not opened here; None if its triggers are to be delivered now.

        A bundle that comes again may have crashed the function before. Each of its triggers is sent alone,
        with the crash, so that one of them that crashes functions ends alone.
        """
        if received.receives > 1:
            failure = self._send_singles(singles_of(bundle, received.receives))
            return Handled(received, Outcome("split"), is_done=failure is None, error=failure)
        early_ms = bundle.not_before - self._clock.now()
        if early_ms < EARLY_WAIT_MAX_MS:
            return None
        return self._resend(received, bundle, Outcome("early"), min(early_ms, QUEUE_DELAY_MAX_MS), None)

    def _handle_together(self, taken: Sequence[Taken], deadline: Instant) -> Iterable[Handled]:
        """Handle the messages, each in a thread of its own if there are enough, by their due times.

        If slow consumers hold all threads, a message that waits for one too long is sent alone to another
        function.
        """
        now = self._clock.now()
        # The other messages begin at once: each is only sent again, or has no due time.
        others = [(now, Entry(each)) for each in taken if not each.is_awaited(now)]
        entries = WorkQueue([*others, *self._awaited(taken, now)], self._clock)

        def work() -> list[Handled]:
            return [each for entry in entries for each in self._handle_due(entry, deadline)]

        def send_late() -> list[Handled]:
            every = ([entry.taken for entry in late if entry.begin()] for late in entries.late())
            return [each for late in every for each in self._send_late(late)]

        tasks = [work] * min(len(taken), DELIVERIES_AT_ONCE)
        if len(taken) > DELIVERIES_AT_ONCE:
            tasks[-1] = send_late
        return chain.from_iterable(self._concurrently(tasks))

    def _awaited(self, taken: Iterable[Taken], now: Instant) -> Iterable[tuple[Instant, Entry]]:
        """The triggers that the function waits for, by their due times, each with the read of its job."""
        due = [(max(now, not_before(each.message, now)), each) for each in taken if each.is_awaited(now)]
        due.sort(key=itemgetter(0))
        triggers = ((due_at, key_of(each.message)) for due_at, each in due)
        # All triggers are in their groups before the first group is read.
        groups = list(read_groups(triggers, jobs=self._jobs, clock=self._clock))
        if groups:
            groups[0].read_if_due()
        mates: dict[ReadGroup, list[Entry]] = defaultdict(list)
        for (due_at, each), group in zip(due, groups, strict=True):
            mates[group].append(Entry(each, group, mates[group]))
            yield due_at, mates[group][-1]

    def _handle_due(self, entry: Entry, deadline: Instant) -> list[Handled]:
        """Handle a message. Triggers of its group that go into lines go together, in one of these calls."""
        if not entry.begin():
            return []
        entries = [entry]
        if self._goes_into_line(entry):
            entries += [each for each in entry.mates if self._goes_into_line(each) and each.begin()]
        handled: list[Handled] = []
        late: list[Taken] = []
        late_at = self._clock.now() + THREAD_WAIT_MAX_MS
        for each in entries:
            if self._clock.now() <= late_at:
                handled.append(self._handle_entry(each.taken, each.group, deadline))
            else:
                # Each read of a job takes seconds, and these have no thread of their own.
                late.append(each.taken)
        return self._put_into_lines(handled) + (self._send_late(late) if late else [])

    def _goes_into_line(self, entry: Entry) -> bool:
        message, group = entry.taken.message, entry.group
        if group is None or not isinstance(message, TriggerMessage):
            return False
        return Delivery.of(message, group.read_of(key_of(message))).goes_into_line

    def _put_into_lines(self, handled: Sequence[Handled]) -> list[Handled]:
        """The same, after the lines of policies hold the triggers that wait there, in few entries."""
        done = [each for each in handled if each.outcome.into is None]
        lined: dict[tuple[PolicyKey, Priority], list[tuple[Handled, TriggerMessage]]] = defaultdict(list)
        for each in handled:
            if (into := each.outcome.into) is not None:
                lined[into.policy, into.priority].append((each, into.message))
        for (policy, priority), some in lined.items():
            messages = [message for _, message in some]
            try:
                self._flow.line_up.put(policy, priority, messages, self._ids.token())
            except NewerError:
                done += [self._put_back_newer(each.received, message) for each, message in some]
            except Exception as error:  # noqa: BLE001 - the other messages of the invocation are unaffected
                done += [self._put_back_faulty(each.received, message, error) for each, message in some]
            else:
                done += [each for each, _ in some]
        return done

    def _handle_entry(self, taken: Taken, group: ReadGroup | None, deadline: Instant) -> Handled:
        read = UNREAD if group is None else group.read_of(key_of(taken.message))
        return named(self._handle_one(taken.received, taken.message, read, deadline), taken.message)

    def _send_late(self, late: Sequence[Taken]) -> list[Handled]:
        failure = self._send_singles([taken.message for taken in late])
        return [Handled(taken.received, Outcome("postponed"), failure is None, failure) for taken in late]

    def _send_singles(self, messages: Iterable[Message]) -> Exception | None:
        """Send each message alone, to be received when it may be handled; return the error if that failed."""
        now = self._clock.now()
        delayed = [
            (message, min(max(not_before(message, now) - now, 0), QUEUE_DELAY_MAX_MS)) for message in messages
        ]
        try:
            self._queue.send(delayed)
        except Exception as error:  # noqa: BLE001 - SQS shows the messages again after its time-out
            return error
        return None

    def _handle_alone(self, received: Received, message: Message, deadline: Instant) -> Handled:
        if deadline - self._clock.now() < ALONE_RESERVE_MS:
            return self._resend(received, message, Outcome("postponed"), SECOND_MS, None)
        one = named(self._handle_one(received, message, UNREAD, deadline), message)
        [handled] = self._shown(self._put_into_lines([one]))
        if handled.is_done:
            self._queue.acknowledge([received.receipt])
        return handled

    def _shown(self, handled: Iterable[Handled]) -> list[Handled]:
        """The same, after the progress of their batches shows the runs that are over."""
        every = list(handled)
        has_marks = any(each.outcome.ended is not None for each in every)
        return self._progress().shows(every) if has_marks else every

    def _handle_one(
        self,
        received: Received,
        message: Message,
        read: JobRead,
        deadline: Instant,
        permit: "Permit | None" = None,
    ) -> Handled:
        try:
            if isinstance(message, TriggerMessage) and self._crashes(message):
                return self._give_up_when_unclaimed(
                    received, message, f"{message.crashes} functions crashed while handling it."
                )
            if isinstance(message, TriggerMessage) and message.faults > FAULTS_MAX:
                return self._give_up_when_unclaimed(
                    received,
                    message,
                    f"handling it failed {message.faults} times; the log of the delivery function says why.",
                )
            return Handled(received, self._handlers.handle(message, read, deadline, permit))
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
        resent = message._replace(faults=message.faults + 1)
        if message.faults >= FAULTS_MAX and may_be_given_up(message):
            remaining_ms = 0
            if isinstance(message, TriggerMessage):
                # If the run cannot be read, the dead letter must still be written.
                with suppress(StoreError):
                    remaining_ms = self._claim_remaining_ms(message)
            if remaining_ms > 0:
                # The claim is usually this function's own. While it lasts, no other invocation can end the
                # run.
                return self._resend(received, resent, Outcome("fault"), max(remaining_ms, SECOND_MS), error)
            reason = f"Sweephand failed to handle it {resent.faults} times, the last time with: {error}"
            return self._give_up(received, message, reason, error)
        delay_ms = min(SECOND_MS << min(message.faults, 10), QUEUE_DELAY_MAX_MS)
        return self._resend(received, resent, Outcome("fault"), delay_ms, error)

    def _give_up(self, received: Received, message: Message, reason: str, error: Exception) -> Handled:
        dead_letter = DeadLetter(received.body, reason)
        if isinstance(message, TriggerMessage):
            dead_letter = dead_letter._replace(trigger=message.trigger, attempts=message.attempt - 1)
        handled = self._bury(received, dead_letter, error)
        if handled.is_done and isinstance(message, TriggerMessage):
            try:
                ended = mark_of(self._handlers.triggers.give_up(message, reason))
            except StoreError:
                # The store that failed so far fails here too. The dead letter is then the only record, beside
                # the progress of a batch.
                ended = mark_of_failure(message.trigger, self._clock.now() + HISTORY_RETENTION_DEFAULT_MS)
            return handled._replace(outcome=handled.outcome._replace(ended=ended))
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
