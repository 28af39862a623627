"""A queue like SQS: it delivers at least once, in no order, until a message is deleted."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from typing import Final
from zlib import crc32

from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.traces.trace import Buried
from tests.simulation.world.faults import Troubles, fraction, mixed
from tests.simulation.world.processes import Scheduler

from sweephand.base.errors import NewerError, PoisonError
from sweephand.base.instants import DAY_MS, MINUTE_MS, SECOND_MS, Instant
from sweephand.model.calendar import CalendarMessage
from sweephand.model.orders import ResumeMessage
from sweephand.model.trigger import BundleMessage, Message, RangeMessage, Readable, WithoutTrigger
from sweephand.model.watch import WatchMessage
from sweephand.model.wire import VERSION, decode, encode
from sweephand.runs.received import Received

#: The settings of the delivery queue in template.yaml (tests/simulation/world/test_platform.py).
VISIBILITY_MS: Final = 180 * SECOND_MS
RECEIVES_MAX: Final = 50
RETENTION_MS: Final = 14 * DAY_MS

_DELAY_S_MAX: Final = 900

#: The number of messages that SQS hands over in one answer.
_RENEWED_AT_ONCE: Final = 10

#: In normal running, a message becomes visible at most this much later than possible.
_JITTER_MS: Final = 150

#: Each number picks one of the independent chances of a message.
_COPY: Final = 1
_DELAY: Final = 2
_RECEIVED: Final = 3

#: At level 1, the chance of a copy when a message is received, and of a delay when one is sent.
_COPIES: Final = 0.03
_DELAYS: Final = 0.03

#: A text that only the body of a bundle contains.
_BUNDLE: Final = '"kind":"bundle"'

#: How much later a copy or a delayed message becomes visible, at most.
_COPY_MS_MAX: Final = 4 * MINUTE_MS
_DELAY_MS_MAX: Final = 3 * MINUTE_MS


@dataclass(eq=False, slots=True)
class Envelope:
    """A message in the queue, with random numbers of its own.

    If its `turn` has grown since it was received, another process has received it.
    """

    id: str
    body: str
    code: int
    sent_at: Instant
    receives: int = 0
    turn: int = 0
    is_deleted: bool = False


class Sqs:
    """The delivery queue and its dead letters. `seen` is called when a message can be received.

    `bundled` has the ids of the triggers that were sent in bundles.
    """

    def __init__(self, scheduler: Scheduler, chronicle: Chronicle, troubles: Troubles, seed: int) -> None:
        self._scheduler = scheduler
        self._chronicle = chronicle
        self._seed = seed
        self._sent: Counter[str] = Counter()
        self._copies = _COPIES * troubles["copies"]
        self._delays = _DELAYS * troubles["delays"]
        self._heap: list[tuple[Instant, int, int, Envelope]] = []
        self._receipts: dict[str, Envelope] = {}
        self._number = 0
        self._read: dict[str, Readable] = {}
        self._newer: list[str] = []
        self.bundled: set[str] = set()
        self.seen: Callable[[Instant], None] = lambda _: None

    def accept(self, body: str, delay_s: int) -> None:
        """Take one entry of a SendMessageBatch."""
        assert 0 <= delay_s <= _DELAY_S_MAX, f"SQS refuses a delay of {delay_s} s"
        name = self._name(body)
        self._sent[name] += 1
        if _BUNDLE in body:
            message = self.decode(body)
            assert isinstance(message, BundleMessage), "no job and no data is named so"
            self.bundled.update(each.trigger.id for each in message.triggers)
        code = mixed(self._seed, crc32(name.encode()), self._sent[name])
        delay_ms = delay_s * SECOND_MS + code % _JITTER_MS
        if self._delays and fraction(code, _DELAY) < self._delays:
            late_ms = int(_DELAY_MS_MAX * fraction(code, _DELAY, 1) ** 3)
            delay_ms += late_ms
            self._chronicle.mishap(f"delay of {late_ms} ms", "queue")
        self._number += 1
        now = self._scheduler.now
        self._show(Envelope(str(self._number), body, code, now), now + delay_ms)

    def accept_newer(self) -> None:
        """Take a message that a newer version wrote before an operator went back to this version."""
        body = f'{{"v": {VERSION + 1}, "number": {len(self._newer)}}}'
        self._newer.append(body)
        self.accept(body, 0)

    def lost_newer(self) -> Iterator[str]:
        """Return complaints about messages of a newer version.

        Each of them has to stay in the queue for ever.
        """
        kept = {each.body for _, _, turn, each in self._heap if not each.is_deleted and each.turn == turn}
        return (f"a message of a newer version is lost: {body}" for body in self._newer if body not in kept)

    def receive(self, limit: int) -> list[Received]:
        """Return up to `limit` visible messages. Each is invisible for the visibility time-out."""
        now = self._scheduler.now
        batch: list[Received] = []
        while self._heap and len(batch) < limit and self._heap[0][0] <= now:
            _, _, turn, envelope = heappop(self._heap)
            if envelope.is_deleted or envelope.turn != turn or now - envelope.sent_at > RETENTION_MS:
                continue
            if envelope.receives >= RECEIVES_MAX:
                envelope.is_deleted = True
                for body in _singles(envelope.body):
                    self.bury(_trigger_id(body), f"received {RECEIVES_MAX} times", body)
                continue
            envelope.receives += 1
            envelope.turn += 1
            receipt = f"{envelope.id}/{envelope.turn}"
            self._receipts[receipt] = envelope
            batch.append(Received(envelope.id, receipt, envelope.receives, envelope.body))
            self._show(envelope, now + VISIBILITY_MS)
            if self._copies and fraction(envelope.code, _COPY, envelope.receives) < self._copies:
                self._copy(envelope)
        return batch

    def renew(self, delay_ms: int) -> list[Instant]:
        """Send some visible messages again as they are, as ports.StackQueues.renew says of a queue."""
        received = self.receive(_RENEWED_AT_ONCE)
        sent_at = [self._receipts[each.receipt].sent_at for each in received]
        for each in received:
            self.accept(each.body, delay_ms // SECOND_MS)
        self.delete([each.receipt for each in received])
        return sent_at

    def delete(self, receipts: Sequence[str]) -> None:
        """Remove received messages, by any of their receipts."""
        for receipt in receipts:
            envelope = self._receipts.pop(receipt, None)
            if envelope is not None:
                envelope.is_deleted = True

    def bury(self, trigger_id: str | None, reason: str, body: str) -> None:
        """Take a message into the dead-letter queue. `body` is its text as it travelled."""
        self._chronicle.add(_letter(Buried(self._scheduler.now, trigger_id, reason), body))
        self._chronicle.figures["dead letters"] += 1

    def calm(self) -> None:
        """Copy and delay no message from now on, and make the messages in flight visible at once."""
        self._copies = self._delays = 0.0
        now = self._scheduler.now
        self._heap = [
            (now if envelope.receives else at, number, turn, envelope)
            for at, number, turn, envelope in self._heap
            if not envelope.is_deleted and envelope.turn == turn
        ]
        heapify(self._heap)
        self.seen(now)

    def code_of(self, received: Received) -> int:
        """Return the code for the random numbers of a process that begins with that message."""
        return mixed(self._receipts[received.receipt].code, _RECEIVED, received.receives)

    def messages(self) -> Iterator[Message]:
        """Return the readable messages in the queue, received or not."""
        waiting = (each for _, _, turn, each in self._heap if not each.is_deleted and each.turn == turn)
        return self.readable(waiting)

    def readable(self, entries: Iterable[Envelope | Received]) -> Iterator[Message]:
        """Return the messages that can be read, and of a bundle each trigger."""
        for each in entries:
            with suppress(PoisonError, NewerError):
                message = self.decode(each.body)
                yield from message.triggers if isinstance(message, BundleMessage) else (message,)

    def bundles_of(self, batch: Iterable[Received]) -> int:
        """Return how many of the received messages are bundles."""
        return sum(_BUNDLE in each.body for each in batch)

    def next_at(self) -> Instant | None:
        """Return when the next message can be received."""
        heap = self._heap
        while heap and (heap[0][3].is_deleted or heap[0][3].turn != heap[0][2]):
            heappop(heap)
        return heap[0][0] if heap else None

    def decode(self, body: str) -> Readable:
        """runs.intake.Decoder that decodes each text once, since messages are put back unchanged."""
        message = self._read.get(body)
        if message is None:
            message = self._read[body] = decode(body)
        return message

    def _name(self, body: str) -> str:
        """Return what the message is about.

        Its chances depend on that name and on how often such a message was sent. They do not depend on the
        form in which messages are stored, so another form changes no world. Another text is its own name.
        """
        try:
            message = self.decode(body)
        except (PoisonError, NewerError):
            return body
        kind = type(message).__name__
        if isinstance(message, RangeMessage):
            return f"{kind} {message.uid} {message.first.due_at}"
        if isinstance(message, WatchMessage):
            return f"{kind} {message.uid} {message.check_at}"
        if isinstance(message, CalendarMessage):
            return f"{kind} {message.name} {message.after}"
        if isinstance(message, ResumeMessage):
            return f"{kind} {message.uid} {message.not_before}"
        first = message.triggers[0] if isinstance(message, BundleMessage) else message
        return f"{kind} {first.trigger.id}"

    def _copy(self, envelope: Envelope) -> None:
        late_ms = int(_COPY_MS_MAX * fraction(envelope.code, _COPY, envelope.receives, 1) ** 4)
        self._chronicle.mishap(f"copy of {late_ms} ms later", f"queue, message {envelope.id}")
        code = mixed(envelope.code, _COPY)
        copy = Envelope(envelope.id, envelope.body, code, envelope.sent_at, envelope.receives)
        self._show(copy, self._scheduler.now + late_ms)

    def _show(self, envelope: Envelope, at: Instant) -> None:
        self._number += 1
        heappush(self._heap, (at, self._number, envelope.turn, envelope))
        self.seen(at)


def _singles(body: str) -> Iterator[str]:
    """The body of a message, or those that the triggers of a bundle would have alone."""
    with suppress(PoisonError, NewerError):
        message = decode(body)
        if isinstance(message, BundleMessage):
            yield from map(encode, message.triggers)
            return
    yield body


def _trigger_id(body: str) -> str | None:
    try:
        message = decode(body)
    except (PoisonError, NewerError):
        return None
    assert not isinstance(message, BundleMessage), "each of its triggers is buried by itself"
    if isinstance(message, WithoutTrigger):
        return None
    return message.trigger.id


def _letter(letter: Buried, body: str) -> Buried:
    """Return the letter with what was given up: a trigger, a range of triggers, or a message about one."""
    try:
        message = decode(body)
    except (PoisonError, NewerError):
        return replace(letter, of="poison")
    letter = replace(letter, of=type(message).__name__.removesuffix("Message").lower())
    if isinstance(message, WatchMessage):
        return replace(letter, uid=message.uid)
    if isinstance(message, RangeMessage):
        return replace(letter, uid=message.uid, due_range=(message.first.due_at, message.until))
    return letter
