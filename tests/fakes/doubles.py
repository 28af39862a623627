"""The parts of a world: a clock that a test moves, a queue, consumers, ports that announce calls."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from sweephand.base.instants import Instant
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.trigger import DeadLetter, Readable, Sendable
from sweephand.model.wire import decode, encode
from sweephand.runs.received import Received

#: 2026-11-21T12:00:00Z, an instant at the beginning of a bucket.
NOON: Instant = 1_795_262_400_000


class HandClock:
    """ports.Clock. The test sets its time, and a wait moves the time forward."""

    def __init__(self, now: Instant = NOON) -> None:
        self.time = now

    def now(self) -> Instant:
        return self.time

    def wait_until(self, instant: Instant) -> None:
        self.time = max(self.time, instant)


@dataclass
class SkewedClock:
    """ports.Clock of one machine. It is `ahead_ms` ahead of the true clock."""

    true: HandClock
    ahead_ms: int = 0

    def now(self) -> Instant:
        return self.true.time + self.ahead_ms

    def wait_until(self, instant: Instant) -> None:
        self.true.wait_until(instant - self.ahead_ms)


class CountingIds:
    """ports.Ids without randomness. Tokens and secrets count up, and every fraction is one half."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def token(self) -> str:
        return f"{next(self._numbers):016d}"

    def secret(self) -> str:
        return f"{next(self._numbers):043d}"

    def fraction(self) -> float:
        return 0.5


@dataclass
class Letterbox:
    """ports.Queue in memory.

    A message that `take` returns stays in flight until `acknowledge` or `reappear`.
    """

    clock: HandClock
    waiting: list[tuple[Instant, Sendable]] = field(default_factory=list)
    in_flight: dict[str, Sendable] = field(default_factory=dict)
    buried: list[tuple[DeadLetter, str | None]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=count)

    def send(self, messages: Sequence[tuple[Sendable, int]]) -> None:
        for message, delay_ms in messages:
            assert 0 <= delay_ms <= 900_000, f"SQS refuses a delay of {delay_ms} ms"
            # SQS counts delays in whole seconds.
            self.waiting.append((self.clock.time + delay_ms // 1_000 * 1_000, message))

    def acknowledge(self, receipts: Sequence[str]) -> None:
        for receipt in receipts:
            self.in_flight.pop(receipt, None)

    def bury(self, letters: Sequence[tuple[DeadLetter, str | None]]) -> None:
        self.buried.extend(letters)

    def take(self, limit: int = 10, receives: int = 1) -> list[Received]:
        """Receive up to `limit` messages whose delay is over, in the order of sending."""
        ready = [each for each in self.waiting if each[0] <= self.clock.time][:limit]
        batch = []
        for each in ready:
            self.waiting.remove(each)
            receipt = str(next(self._numbers))
            self.in_flight[receipt] = each[1]
            batch.append(Received(receipt, receipt, receives, encode(each[1])))
        return batch

    def decode(self, body: str) -> Readable:
        """runs.intake.Decoder."""
        return decode(body)

    def copy(self) -> None:
        """Put a copy of every waiting message into the queue, since SQS may deliver a message twice."""
        self.waiting += self.waiting

    def reappear(self) -> None:
        """Let the visibility timeout of every message in flight end."""
        self.waiting += [(self.clock.time, message) for message in self.in_flight.values()]
        self.in_flight.clear()


@dataclass
class Consumers:
    """ports.Targets. It keeps each attempt and its true time, and answers by the function `answering`.

    `connecting` is called before the last check whether the attempt is still wanted.
    """

    clock: HandClock
    attempts: list[Attempt] = field(default_factory=list)
    times: list[Instant] = field(default_factory=list)
    answering: Callable[[Attempt], Answer] = lambda _: Answer(succeeded=True, code=204)
    connecting: Callable[[], object] = lambda: None

    def deliver(self, attempt: Attempt) -> Answer:
        assert attempt.sent_at >= attempt.trigger.due_at, "delivered early"
        self.connecting()
        if not attempt.may_send():
            return Answer(succeeded=False, was_withdrawn=True)
        self.attempts.append(attempt)
        self.times.append(self.clock.time)
        return self.answering(attempt)

    @property
    def ids(self) -> list[str]:
        """The trigger ids that were delivered, in order."""
        return [attempt.trigger.id for attempt in self.attempts]

    @property
    def dues(self) -> set[Instant]:
        """The due times that were delivered."""
        return {attempt.trigger.due_at for attempt in self.attempts}


class OneSecret:
    """runs.attempt.Signing with one secret for each namespace."""

    def active(self, namespace: str) -> tuple[str, ...]:
        return (f"whsec_{namespace}",)


class NoSweepers:
    """ports.Sweepers that starts no sweeper.

    It keeps the first shard of each one that it was asked to start.
    """

    def __init__(self) -> None:
        self.started: list[int] = []

    def start(self, first_shards: Sequence[int]) -> None:
        self.started.extend(first_shards)


class NoDeliveryFunctions:
    """ports.DeliveryFunctions that wakes none. It keeps how many it was asked to wake, call by call."""

    def __init__(self) -> None:
        self.woken: list[int] = []

    def wake(self, count: int) -> None:
        self.woken.append(count)


class Interrupted:
    """A port that announces every call before and after it, so that a test can end the process there.

    The announcements of the call jobs.get are `before jobs.get` and `after jobs.get`.
    """

    def __init__(self, port: object, called: str, announce: Callable[[str], None]) -> None:
        self._port = port
        self._called = called
        self._announce = announce

    def __getattr__(self, name: str) -> object:
        call = getattr(self._port, name)

        def announced(*args: object, **kwargs: object) -> object:
            self._announce(f"before {self._called}.{name}")
            result = call(*args, **kwargs)
            self._announce(f"after {self._called}.{name}")
            return result

        return announced
