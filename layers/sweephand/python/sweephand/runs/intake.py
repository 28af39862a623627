"""Handling received messages separately, so that a failure of one message does not affect the others."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final, Protocol

from sweephand.base.concurrency import DELIVERIES_AT_ONCE, Concurrently
from sweephand.base.errors import NewerError, PoisonError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.limits import TARGET_TIMEOUT_S_MAX
from sweephand.base.timing import (
    BUNDLE_SPAN_MAX_MS,
    EARLY_WAIT_MAX_MS,
    GATE_LEAD_MS,
    QUEUE_DELAY_MAX_MS,
    SETTLING_MS,
)
from sweephand.model.job import JobKey
from sweephand.model.policy_names import PolicyKey, Priority
from sweephand.model.trigger import (
    BundleMessage,
    LineWait,
    Message,
    NewerMessage,
    OtherMessage,
    RangeMessage,
    Readable,
    TriggerMessage,
    WithoutTrigger,
)
from sweephand.model.wire import encode
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.jobs import JobStore
from sweephand.ports.queue import Queue
from sweephand.runs.claims import may_have_been_started
from sweephand.runs.delivery import Delivery, JobRead
from sweephand.runs.due_queue import THREAD_WAIT_MAX_MS, DueQueue, Pending, ReadGroup
from sweephand.runs.handlers import Handlers, Rare
from sweephand.runs.received import Handled, Outcome, Received, finished

if TYPE_CHECKING:
    # Most deliveries are under no policy.
    from sweephand.flow.direct_slots import DirectSlots
    from sweephand.flow.permit import Permit

#: From its third receive on, a message is handled alone. It may be the message that crashed the function
#: before.
ALONE_FROM_RECEIVES = 3

#: A trigger that is later than this takes no slot by itself.
_PROMPT_MS: Final = SECOND_MS

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
        rare: Callable[[], Rare],
        jobs: JobStore,
        queue: Queue,
        decode: Decoder,
        clock: Clock,
        ids: Ids,
        concurrently: Concurrently,
        takes_slots: bool,
    ) -> None:
        """If it `takes_slots`, triggers that find a free slot of their policy need not wait in its line."""
        self._takes_slots = takes_slots
        self._handlers = handlers
        self._deliverer = handlers.deliverer
        self._faults = handlers.faults
        self._rare = rare
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
        alone: list[Pending] = []
        together: list[Pending] = []
        was_split = False
        for received in messages:
            opened = self._opened(received)
            if isinstance(opened, Handled):
                handled.append(opened)
                was_split = was_split or opened.outcome.name == "split"
                continue
            for each in opened:
                is_alone = each.receives >= ALONE_FROM_RECEIVES and len(messages) > 1
                (alone if is_alone else together).append(each)
        if together and was_split:
            # One of the others may crash the function. The bundle would come again and be split again.
            self._acknowledge(handled)
        handled += self._shown(self._handle_together(together, deadline))
        if alone:
            # The next message may crash the function. So acknowledge first what is done.
            self._acknowledge(handled)
        for each in alone:
            handled.append(self._handle_alone(each, deadline))
        return handled

    def handle_permitted(
        self, message: TriggerMessage, read: JobRead, permit: "Permit", deadline: Instant
    ) -> Handled:
        """Handle a trigger for which the server of a gate has a permit. Its failure does not raise.

        If it is not done, or its outcome is `kept`, the line must keep the trigger. If it has to wait for any
        other reason, it was sent to the delivery queue. Before its line forgets the trigger, the caller does
        what its outcome asks for before an acknowledgement.
        """
        received = Received(id="", receipt="", receives=1, body=encode(message))
        return self._handle_one(received, Delivery.of(message, read, deadline, permit), deadline)

    def hold(self, duration_ms: int) -> None:
        """Handle nothing for that long. Lambda meanwhile gives other wake-ups to other functions."""
        self._clock.wait_until(self._clock.now() + duration_ms)

    def _acknowledge(self, handled: Iterable[Handled]) -> None:
        self._queue.acknowledge([each.receipt for each in finished(handled)])

    def _opened(self, received: Received) -> Handled | Sequence[Pending]:
        """What a received message holds; or what became of it, if nothing of it is to be handled now."""
        try:
            message = self._decode(received.body)
        except NewerError:
            return self._faults.put_back_newer(received, NewerMessage(received.body))
        except PoisonError as error:
            return self._faults.bury_unreadable(received, error)
        if isinstance(message, TriggerMessage) and received.receives > 1:
            # Copies of the trigger carry the crashes that SQS has counted.
            message = message._replace(crashes=message.crashes + received.receives - 1)
        if not isinstance(message, BundleMessage):
            return [Pending(received, message)]
        if (whole := self._whole(received, message)) is not None:
            return whole
        wait_max_ms = EARLY_WAIT_MAX_MS + BUNDLE_SPAN_MAX_MS
        return [Pending(received, each, wait_max_ms) for each in message.triggers]

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
        return self._faults.resend(received, bundle, Outcome("early"), min(early_ms, QUEUE_DELAY_MAX_MS))

    def _handle_together(self, pending: Sequence[Pending], deadline: Instant) -> Iterable[Handled]:
        """Handle the messages, each in a thread of its own if there are enough, by their due times.

        If slow consumers hold all threads, a message that waits for one too long is sent alone to another
        function.
        """
        queue = DueQueue(pending, jobs=self._jobs, clock=self._clock)
        if queue.first is not None:
            queue.first.wait()

        def work() -> list[Handled]:
            handled: list[Handled] = []
            for each in queue:
                handled += self._handle_next(each, deadline)
            return handled

        def send_late() -> list[Handled]:
            every = ([each for each in late if each.begin()] for late in queue.late())
            return [each for late in every for each in self._send_late(late)]

        tasks = [work] * min(len(pending), DELIVERIES_AT_ONCE)
        if len(pending) > DELIVERIES_AT_ONCE:
            tasks[-1] = send_late
        return chain.from_iterable(self._concurrently(tasks))

    def _handle_next(self, pending: Pending, deadline: Instant) -> list[Handled]:
        """Handle a message that no thread has begun.

        Triggers of its group under policies go together, in one of these calls.
        """
        work = pending.work(deadline)
        is_under_policy = isinstance(work, Delivery) and work.goes_into_line
        if is_under_policy and pending.group is not None:
            # All threads get the reads of a group at one moment. One of them takes all of its triggers.
            with pending.group.taking:
                begun = [(pending, work)] if pending.begin() else []
                begun += self._mates(pending.group, deadline) if begun else []
        else:
            begun = [(pending, work)] if pending.begin() else []
        handled: list[Handled] = []
        reads: dict[JobKey, JobRead] = {}
        late: list[Pending] = []
        late_at = self._clock.now() + THREAD_WAIT_MAX_MS
        for each, work in begun:
            if self._clock.now() <= late_at:
                handled.append(self._handle_one(each.received, work, deadline))
                if isinstance(work, Delivery):
                    reads[work.message.trigger.key] = work.read
            else:
                # Each read of a job takes seconds, and these have no thread of their own.
                late.append(each)
        takes_slots = self._takes_slots and is_under_policy
        done = self._settled(handled, reads, deadline) if takes_slots else self._put_into_lines(handled)
        return done + (self._send_late(late) if late else [])

    def _settled(
        self, handled: Sequence[Handled], reads: Mapping[JobKey, JobRead], deadline: Instant
    ) -> list[Handled]:
        """The same, after triggers under policies are delivered for which slots are free.

        The lines hold the others by then.
        """
        prompt: dict[PolicyKey, list[Handled]] = defaultdict(list)
        for each in handled:
            if (into := each.outcome.into) is not None and self._may_take_slot(into.message):
                prompt[into.policy].append(each)
        tasks: list[Callable[[], Handled]] = []
        direct: set[int] = set()
        for policy, some in prompt.items():
            for each, slots in zip(some, self._slots(policy, some), strict=True):
                if slots is not None:
                    direct.add(id(each))
                    tasks.append(partial(self._deliver_with, slots, each, reads, deadline))
        done = self._put_into_lines([each for each in handled if id(each) not in direct])
        return done + (list(self._concurrently(tasks)) if tasks else [])

    def _may_take_slot(self, message: TriggerMessage) -> bool:
        """Whether a trigger came in the lane of policies, on time and for the first time.

        If it is late, functions are short. Those that serve a line have more requests open at once.
        """
        is_late = self._clock.now() - message.not_before > _PROMPT_MS
        return message.lane == "policy" and message.crashes == 0 and not is_late

    def _slots(self, policy: PolicyKey, some: Sequence[Handled]) -> "Sequence[DirectSlots | None]":
        # Most deliveries are under no policy.
        from sweephand.flow.direct_slots import take_slots  # noqa: PLC0415 - as above

        try:
            waits = [each.outcome.into for each in some if each.outcome.into is not None]
            return take_slots(self._rare().gates, policy, waits)
        except Exception:  # noqa: BLE001 - what gets no slot waits in the line
            return [None] * len(some)

    def _deliver_with(
        self, slots: "DirectSlots", lined: Handled, reads: Mapping[JobKey, JobRead], deadline: Instant
    ) -> Handled:
        """What became of a trigger with one of these slots. It goes into the line if it cannot leave now."""
        assert lined.outcome.into is not None, "it was to wait in the line"
        message = lined.outcome.into.message
        handled = lined
        if (permit := slots.take()) is not None:
            try:
                # Slow consumers may have held all threads.
                if self._may_take_slot(message):
                    delivery = Delivery.of(message, reads[message.trigger.key], deadline, permit)
                    handled = self._handle_one(lined.received, delivery, deadline)
            finally:
                slots.close(permit)
        [done] = self._put_into_lines([lined if handled.outcome.name == "kept" else handled])
        return done

    def _mates(self, group: ReadGroup, deadline: Instant) -> Iterator[tuple[Pending, Delivery]]:
        """The other triggers of a group that go into lines now and that no thread has begun."""
        latest = self._clock.now() + GATE_LEAD_MS
        for each in group.triggers:
            work = each.work(deadline)
            if not (isinstance(work, Delivery) and work.goes_into_line):
                continue
            if work.message.not_before <= latest and each.begin():
                yield each, work

    def _put_into_lines(self, handled: Sequence[Handled]) -> list[Handled]:
        """The same, after the lines of policies hold the triggers that wait there, in few entries."""
        done: list[Handled] = []
        lined: dict[tuple[PolicyKey, Priority], list[tuple[Handled, LineWait]]] = defaultdict(list)
        for each in handled:
            if (into := each.outcome.into) is None:
                done.append(each)
            else:
                lined[into.policy, into.priority].append((each, into))
        for (policy, priority), some in lined.items():
            messages = [into.message for _, into in some]
            jobs = {into.message.trigger.key: into.definition for _, into in some}
            try:
                self._rare().gates.enqueue(policy, priority, messages, self._ids.token(), jobs)
            except NewerError:
                done += [self._faults.put_back_newer(each.received, into.message) for each, into in some]
            except Exception as error:  # noqa: BLE001 - the other messages of the invocation are unaffected
                done += [
                    self._faults.put_back_faulty(each.received, into.message, error) for each, into in some
                ]
            else:
                done += [each for each, _ in some]
        return done

    def _send_late(self, late: Sequence[Pending]) -> list[Handled]:
        failure = self._send_singles([each.message for each in late])
        return [Handled(each.received, Outcome("postponed"), failure is None, failure) for each in late]

    def _send_singles(self, messages: Iterable[Message]) -> Exception | None:
        """Send each message alone, to be received when it may be handled; return the error if that failed.

        A range may be split at any time.
        """
        now = self._clock.now()
        early_ms = (
            (each, 0 if isinstance(each, RangeMessage) else each.not_before - now) for each in messages
        )
        delayed = [(each, min(max(early, 0), QUEUE_DELAY_MAX_MS)) for each, early in early_ms]
        try:
            self._queue.send(delayed)
        except Exception as error:  # noqa: BLE001 - SQS shows the messages again after its time-out
            return error
        return None

    def _handle_alone(self, pending: Pending, deadline: Instant) -> Handled:
        received = pending.received
        if deadline - self._clock.now() < ALONE_RESERVE_MS:
            return self._faults.resend(received, pending.message, Outcome("postponed"), SECOND_MS)
        one = self._handle_one(received, pending.work(deadline), deadline)
        [handled] = self._shown(self._put_into_lines([one]))
        if handled.is_done:
            self._queue.acknowledge([received.receipt])
        return handled

    def _shown(self, handled: Iterable[Handled]) -> list[Handled]:
        """The same, after the progress of their batches shows the runs that are over."""
        every = list(handled)
        has_marks = any(each.outcome.ended is not None for each in every)
        return self._rare().progress.shows(every) if has_marks else every

    def _handle_one(self, received: Received, work: Delivery | OtherMessage, deadline: Instant) -> Handled:
        message = work.message if isinstance(work, Delivery) else work
        try:
            if isinstance(work, Delivery):
                handled = self._delivered(received, work)
            else:
                handled = Handled(received, self._handlers.handle(work, deadline))
        except NewerError:
            # Something that the message needs, for example its job's line, was written by a newer version.
            handled = self._faults.put_back_newer(received, message)
        except Exception as error:  # noqa: BLE001 - a failure of one message must not stop the others
            handled = self._faults.put_back_faulty(received, message, error)
        if isinstance(message, WithoutTrigger):
            return handled
        return handled._replace(trigger=message.trigger, attempt=message.attempt)

    def _delivered(self, received: Received, delivery: Delivery) -> Handled:
        if may_have_been_started(delivery.message):
            given_up = self._faults.given_up(received, delivery.message)
            if given_up is not None:
                return given_up
        return Handled(received, self._deliverer.deliver(delivery))


def singles_of(bundle: BundleMessage, receives: int) -> list[TriggerMessage]:
    """The triggers of a bundle that was received so often, each with the crashes that this may stand for."""
    return [message._replace(crashes=message.crashes + receives - 1) for message in bundle.triggers]
