"""The functions of the stack on their machines, and who invokes them: EventBridge, SQS, the gateway."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from random import Random
from typing import Final

from tests.fakes.world import OneSecret
from tests.simulation.chronicle import Chronicle
from tests.simulation.consumers import Consumers
from tests.simulation.faults import SKEW_MAX_MS, Troubles, stream
from tests.simulation.gate import Gate
from tests.simulation.processes import (
    LIMITS_MS,
    NEVER,
    TIME_LIMIT,
    Machine,
    MachineClock,
    Process,
    Role,
    Scheduler,
)
from tests.simulation.sqs import Sqs
from tests.simulation.stores import Ports
from tests.simulation.trace import Verb

from sweephand.errors import BadRequestError, PoisonError, StoreError, UnavailableError
from sweephand.instants import Instant
from sweephand.jobs.write import Writer
from sweephand.ports import Ids
from sweephand.runs.batch import BatchHandler, Received
from sweephand.runs.deliver import Deliverer
from sweephand.wheel.codec import encode
from sweephand.wheel.shards import ShardCount
from sweephand.wheel.sweep import Sweeper
from sweephand.wheel.tick import Ticker

#: Machines of each role: as many as differ in what the others must bear.
_MACHINES: Final = 3

_SWEEPERS_MAX: Final = 4

_BATCH_MAX: Final = 10

#: Lambda starts what was invoked asynchronously within this.
_START_MS_MAX: Final = 300

#: What a process may end with: all else is a defect, whatever the oracle says.
EXPECTED: Final = (StoreError, UnavailableError, BadRequestError, PoisonError)


def unexpected(error: BaseException) -> list[BaseException]:
    """What of an error no caller was promised."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for each in error.exceptions for leaf in unexpected(each)]
    return [] if isinstance(error, EXPECTED) else [error]


class SeededIds:
    """ports.Ids: tokens count up, fractions are drawn."""

    def __init__(self, random: Random) -> None:
        self._numbers = count(1)
        self._random = random

    def token(self) -> str:
        """Digits, so that a story can be read."""
        return f"{next(self._numbers):016d}"

    def secret(self) -> str:
        """43 digits."""
        return f"{next(self._numbers):043d}"

    def fraction(self) -> float:
        """From 0 up to 1."""
        return self._random.random()


@dataclass(frozen=True, slots=True)
class Services:
    """What an API process can do for its client."""

    writer: Writer


class Platform:
    """All functions, and when each is invoked."""

    def __init__(
        self,
        *,
        seed: int,
        scheduler: Scheduler,
        chronicle: Chronicle,
        gate: Gate,
        ports: Ports,
        sqs: Sqs,
        consumers: Consumers,
        troubles: Troubles,
        shards: int,
        deliveries_at_once: int,
    ) -> None:
        self._scheduler = scheduler
        self._chronicle = chronicle
        self._ports = ports
        self._sqs = sqs
        self._gate = gate
        self._random = stream(seed, "platform")
        self._ids: Ids = SeededIds(stream(seed, "ids"))
        self.shards = shards
        self.complaints: list[str] = []
        self._deliveries_at_once = deliveries_at_once
        self._delivering = 0
        self._is_waited_for = False
        self._poll_at: Instant = NEVER
        self._outlives = troubles["outliving sweepers"] > 0
        self._numbers = {role: count(1) for role in LIMITS_MS}
        skew = stream(seed, "skew")
        level = troubles["skew"] and skew.choice((0.05, 1.0, 1.0))
        self._machines: dict[Role, list[Machine]] = {
            role: [
                Machine(f"{role}-{number}", int(level * skew.uniform(-SKEW_MAX_MS, SKEW_MAX_MS)))
                for number in range(_MACHINES)
            ]
            for role in LIMITS_MS
        }
        machines = [machine for each in self._machines.values() for machine in each]
        self._clocks = {machine: MachineClock(scheduler, machine) for machine in machines}
        self._services = {machine: self._services_of(machine) for machine in self._machines["api"]}
        self._handlers = {machine: self._handler(machine, consumers) for machine in self._machines["deliver"]}
        sqs.seen = self._seen

    def calm(self) -> None:
        """Let clocks be right, and whoever was paused go on."""
        for machines in self._machines.values():
            for machine in machines:
                machine.ahead_ms = 0
        for process in self._scheduler.alive:
            process.frozen_until = 0

    def api(
        self,
        verb: Verb,
        name: str,
        ask: Callable[[Services, Instant], tuple[str, str] | None],
        answered: Callable[[Exception | str | None], None],
    ) -> None:
        """A request of a client. `ask` returns the uid and revision of the answer, if it has any.

        `answered` is told None, an error, or why there was no answer.
        """
        process = self._process("api", answered)
        clock = self._clocks[process.machine]

        def body() -> None:
            at = clock.now()
            try:
                with self._chronicle.asking(
                    verb, name, asked_at=at, ahead_ms=process.machine.ahead_ms
                ) as asking:
                    told = ask(self._services[process.machine], at)
                    asking.uid, asking.rev = told or (None, None)
            except Exception as error:  # noqa: BLE001 - the gateway answers 5xx
                self._complain(process, error)
                answered(error)
            else:
                answered(None)

        self._scheduler.start(process, body)

    def tick(self) -> None:
        """EventBridge wakes tick."""
        process = self._process("tick", _nobody)
        clock = self._clocks[process.machine]
        ticker = Ticker(
            leases=self._ports.leases,
            sweeper=self._sweeper(clock),
            sweepers=self,
            clock=clock,
            shards=self.shards,
            sweepers_max=_SWEEPERS_MAX,
        )
        owner = self._ids.token()
        self._chronicle.figures["ticks"] += 1
        self._start(process, lambda: ticker.tick(owner=owner, deadline=clock.now() + LIMITS_MS["tick"]))

    def start(self, first_shards: Sequence[int]) -> None:
        """ports.Sweepers: Lambda's asynchronous invocations, of which some may not be accepted."""
        where = "sweepers.start"
        kinds = self._gate.enter(where)
        accepted = self._gate.part(where, first_shards, kinds)
        for shard in first_shards if accepted is None else accepted:
            at = self._scheduler.now + self._random.randrange(_START_MS_MAX)
            self._scheduler.call_at(at, partial(self._sweep, shard))
        self._gate.leave(where, kinds)
        if accepted is not None:
            raise StoreError("some sweepers were not started")

    def _sweep(self, first_shard: int) -> None:
        process = self._process("sweep", _nobody)
        clock = self._clocks[process.machine]
        sweeper = self._sweeper(clock)
        owner = self._ids.token()
        self._chronicle.figures["sweeps"] += 1

        def body() -> None:
            leases = self._ports.leases.state().leases
            deadline = clock.now() + LIMITS_MS["sweep"]
            sweeper.sweep(leases, owner=owner, first_shard=first_shard, deadline=deadline)

        self._start(process, body)

    def _seen(self, at: Instant) -> None:
        """Poll the queue at that instant, if not before."""
        if at < self._poll_at:
            self._poll_at = max(at, self._scheduler.now)
            self._scheduler.call_at(self._poll_at, self._poll)

    def _poll(self) -> None:
        if self._scheduler.now < self._poll_at:
            return
        self._poll_at = NEVER
        while (next_at := self._sqs.next_at()) is not None:
            if next_at > self._scheduler.now:
                self._seen(next_at)
                return
            if self._delivering == self._deliveries_at_once:
                self._is_waited_for = True
                return
            batch = self._sqs.receive(self._random.choice((1, 3, _BATCH_MAX, _BATCH_MAX)))
            if batch:
                self._deliver(batch)

    def _deliver(self, batch: Sequence[Received]) -> None:
        def is_over() -> None:
            self._delivering -= 1
            if self._is_waited_for:
                self._is_waited_for = False
                self._seen(self._scheduler.now)

        self._delivering += 1
        process = self._process("deliver", lambda _: is_over())
        clock = self._clocks[process.machine]
        self._chronicle.figures["batches"] += 1

        def body() -> None:
            handled = self._handlers[process.machine].handle(
                batch, deadline=clock.now() + LIMITS_MS["deliver"]
            )
            for each in handled:
                if each.error is not None:
                    self._complain(process, each.error)
            # What the function reports as done, SQS is told to delete.
            self._sqs.delete([each.received.receipt for each in handled if each.is_done])
            is_over()

        self._start(process, body)

    def _start(self, process: Process, body: Callable[[], object]) -> None:
        def guarded() -> None:
            try:
                body()
            except Exception as error:  # noqa: BLE001 - the function ends with an error
                self._complain(process, error)

        self._scheduler.start(process, guarded)

    def _complain(self, process: Process, error: BaseException) -> None:
        for each in unexpected(error):
            notes = "".join(f" ({note})" for note in getattr(each, "__notes__", ()))
            self.complaints.append(f"{process.name} raised {type(each).__name__}: {each}{notes}")

    def _process(self, role: Role, when_killed: Callable[[str], None]) -> Process:
        machine = self._random.choice(self._machines[role])
        # A sweeper may go on after a pause longer than its limit: the protocol does not rest on that one.
        is_bound = not (self._outlives and role in ("tick", "sweep"))
        ends_at = self._scheduler.now + LIMITS_MS[role] if is_bound else NEVER
        name = f"{role} {next(self._numbers[role])}"

        def killed(reason: str) -> None:
            if reason == TIME_LIMIT:
                self._chronicle.mishap(TIME_LIMIT, name)
            when_killed(reason)

        return Process(name, role, machine, ends_at, killed)

    def _services_of(self, machine: Machine) -> Services:
        clock, ports = self._clocks[machine], self._ports
        counts: dict[int, ShardCount] = {}

        def shards() -> int:
            # A deployment that raises the number brings new processes.
            wanted = self.shards
            if wanted not in counts:
                counts[wanted] = ShardCount(leases=ports.leases, clock=clock, wanted=wanted)
            return counts[wanted]()

        writer = Writer(
            jobs=ports.jobs,
            timers=ports.timers,
            queue=ports.queue,
            payloads=ports.payloads,
            clock=clock,
            ids=self._ids,
            shards=shards,
        )
        return Services(writer)

    def _sweeper(self, clock: MachineClock) -> Sweeper:
        ports = self._ports
        return Sweeper(
            jobs=ports.jobs, timers=ports.timers, leases=ports.leases, queue=ports.queue, clock=clock
        )

    def _handler(self, machine: Machine, consumers: Consumers) -> BatchHandler:
        clock, ports = self._clocks[machine], self._ports
        deliverer = Deliverer(
            jobs=ports.jobs,
            runs=ports.runs,
            timers=ports.timers,
            queue=ports.queue,
            payloads=ports.payloads,
            targets=consumers,
            signing=OneSecret(),
            letters=encode,
            clock=clock,
            ids=self._ids,
        )
        return BatchHandler(
            deliverer=deliverer,
            jobs=ports.jobs,
            queue=ports.queue,
            decode=self._sqs.decode,
            clock=clock,
            concurrently=self._scheduler.together,
        )


def _nobody(_: str) -> None:
    """Nobody waits for it."""
