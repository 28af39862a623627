"""The functions of the stack, and the services that invoke them: EventBridge, SQS and the gateway."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Final

from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.traces.rare_events import LimitSet
from tests.simulation.traces.recorder import Asking
from tests.simulation.traces.trace import Verb
from tests.simulation.workload.limits import Limits
from tests.simulation.world.deliveries import Deliveries
from tests.simulation.world.delivery_queues import DeliveryQueues
from tests.simulation.world.faults import Role, Troubles, mixed
from tests.simulation.world.flow_functions import FlowFunctions
from tests.simulation.world.gate import RECEIVES, Gate
from tests.simulation.world.machines import Fleet
from tests.simulation.world.processes import LIMITS_MS, NEVER, TIME_LIMIT, Machine, Process, Scheduler
from tests.simulation.world.sqs import Sqs
from tests.simulation.world.stores import Ports

from sweephand.base.errors import BadRequestError, PoisonError, StoreError, UnavailableError
from sweephand.base.instants import MINUTE_MS, Instant
from sweephand.runs.received import Received, finished
from sweephand.web.http.operation import Services

#: Each process begins at another place in the list of latencies.
_TURNS: Final = 499

#: Lambda starts a function that was invoked asynchronously within this time.
_START_MS_MAX: Final = 300

#: A wake-up holds its function for this long.
_HOLD_MS: Final = 100

#: What a delivery leaves for its writes after the longest request. Stores that are slow for longer hold it
#: up.
_SETTLING_MS: Final = 5_000

#: This number picks the chances of the operator's requests.
_OPERATOR: Final = 59

#: Minutes between two steps of the audit. In production it is an hour, which is longer than most seeds last.
_AUDIT_EVERY: Final = 4

#: The errors with which a process may end. Any other error is a defect, even if the oracle has no complaint.
EXPECTED: Final = (StoreError, UnavailableError, BadRequestError, PoisonError)


def unexpected(error: BaseException) -> list[BaseException]:
    """Return the error unless callers are told to expect it."""
    if isinstance(error, BaseExceptionGroup):
        return [leaf for each in error.exceptions for leaf in unexpected(each)]
    return [] if isinstance(error, EXPECTED) else [error]


class Functions:
    """Begins processes. It keeps errors that callers were not told to expect in `complaints`."""

    def __init__(
        self,
        *,
        scheduler: Scheduler,
        chronicle: Chronicle,
        gate: Gate,
        ports: Ports,
        queues: DeliveryQueues,
        fleet: Fleet,
        troubles: Troubles,
        deliveries_at_once: int,
    ) -> None:
        self._scheduler = scheduler
        self._chronicle = chronicle
        self._gate = gate
        self._leases = ports.leases
        self._queues = queues
        self._fleet = fleet
        self._outlives = troubles["outliving sweepers"] > 0
        self._note_limits()
        self._numbers = {role: count(1) for role in LIMITS_MS}
        self.complaints: list[str] = []
        self._deliveries = [
            Deliveries(
                url,
                queues,
                deliveries_at_once,
                scheduler=scheduler,
                chronicle=chronicle,
                gate=gate,
                begin=self._deliver,
            )
            for url in queues.by_url
        ]
        self._pollers: list[Deliveries | FlowFunctions] = [*self._deliveries]

    @property
    def are_off(self) -> bool:
        """Whether the stack is switched off."""
        return not self._fleet.is_enabled

    def run_short(self, until: Instant) -> None:
        """Until then, Lambda receives messages and has no function to start for them."""
        for each in self._deliveries:
            each.short_until = until

    def step(self, machine: Machine) -> None:
        """Note that the clock of a machine has stepped. Who measures a time limit by it may exceed that."""
        for process in self._scheduler.alive:
            if process.machine is machine:
                process.is_held_up = True

    def switch_off(self, lasts_ms: int) -> None:
        """Deploy the stack switched off, and on again later. While it is off, no message is received."""
        self._chronicle.mishap(f"switched off of {lasts_ms} ms", "the stack")
        self._enable(is_enabled=False)
        self._scheduler.call_at(self._scheduler.now + lasts_ms, self._switch_on)

    def _switch_on(self) -> None:
        self._enable(is_enabled=True)
        for each in self._pollers:
            each.seen(self._scheduler.now)

    def _enable(self, *, is_enabled: bool) -> None:
        self._fleet.is_enabled = is_enabled
        for each in self._pollers:
            each.is_enabled = is_enabled

    def _note_limits(self) -> None:
        limits, begins_at = self._fleet.limits, self._scheduler.now
        if not limits.least:
            return
        self._note_limit(limits, limits.least)
        for after_ms, per_minute in limits.allowed:
            self._scheduler.call_at(begins_at + after_ms, partial(self._note_limit, limits, per_minute))

    def _note_limit(self, limits: Limits, per_minute: int) -> None:
        # The calm has limits of its own.
        if limits is self._fleet.limits:
            self._chronicle.add(LimitSet(self._scheduler.now, per_minute))

    def calm(self) -> None:
        """Let every paused process go on, and let every function start."""
        self._note_limits()
        for each in self._deliveries:
            each.short_until = 0
        if not self._fleet.is_enabled:
            self._switch_on()
        for process in self._scheduler.alive:
            process.frozen_until = 0

    def api(
        self,
        verb: Verb,
        name: str,
        number: int,
        ask: Callable[[Services, Asking], tuple[str, str] | None],
        answered: Callable[[Exception | str | None], None],
    ) -> None:
        """Serve a request of a client. `number` is the request's own.

        `ask` returns the uid and revision of the answer, if there are any. `answered` is called with None,
        with an error, or with the reason why there was no answer.
        """
        process = self._process("api", answered, number)
        machine = process.machine

        def body() -> None:
            at = self._fleet.clock(machine).now()
            try:
                with self._chronicle.asking(
                    verb, name, asked_at=at, ahead_ms=machine.ahead_ms, process=process.name
                ) as asking:
                    told = ask(self._fleet.api(machine), asking)
                    asking.uid, asking.rev = told or (None, None)
            except Exception as error:  # noqa: BLE001 - the gateway answers 5xx
                self._complain(process, error)
                answered(error)
            else:
                answered(None)

        self._scheduler.start(process, body)

    def operate(
        self,
        number: int,
        ask: Callable[[Services], None],
        answered: Callable[[Exception | str | None], None],
        *,
        goes_well: bool = False,
    ) -> None:
        """Serve a request of the operator, whose own the `number` is. `answered` is called as by api().

        If it `goes_well`, no fault happens at its calls, and no outage stops them.
        """
        process = self._process("api", answered, _OPERATOR, number)
        process.is_spared = goes_well
        api = self._fleet.api(process.machine)

        def body() -> None:
            try:
                ask(api)
            except Exception as error:  # noqa: BLE001 - the gateway answers 5xx
                self._complain(process, error)
                answered(error)
            else:
                answered(None)

        self._scheduler.start(process, body)

    def tick(self, number: int) -> None:
        """Let EventBridge wake tick. `number` is the wake-up's own."""
        process = self._process("tick", _nobody, number)
        ticker, clock = self._fleet.ticker(process.machine, self, self), self._fleet.clock(process.machine)
        self._chronicle.figures["ticks"] += 1

        def body() -> None:
            ticked = ticker.tick(owner=self._fleet.ids.token(), deadline=clock.now() + LIMITS_MS["tick"])
            if self._scheduler.now // MINUTE_MS % _AUDIT_EVERY == 0:
                begun_at = self._scheduler.now
                # The limit of a step is larger than the number of objects in any seed.
                self._fleet.audit(process.machine).step()
                self._chronicle.bucket.audited_at = max(self._chronicle.bucket.audited_at, begun_at)
            self._fleet.time_off(process.machine).keep(ticked.off_since, ticked.off_at)
            ticked.raise_faults()

        self._start(process, body)

    def start(self, first_shards: Sequence[int]) -> None:
        """Invoke sweepers asynchronously, as ports.Sweepers does. Some invocations may not be accepted."""
        where = "sweepers.start"
        kinds = self._gate.enter(where)
        accepted = self._gate.part(where, first_shards, kinds)
        began_at = self._scheduler.strand.process.began_at
        for shard in first_shards if accepted is None else accepted:
            number = mixed(self._scheduler.now, shard)
            at = self._scheduler.now + number % _START_MS_MAX
            self._scheduler.call_at(at, partial(self._sweep, shard, number, began_at))
        self._gate.leave(where, kinds)
        if accepted is not None:
            raise StoreError("some sweepers were not started")

    def wake(self, count: int) -> None:
        """Invoke delivery functions asynchronously without messages, as ports.DeliveryFunctions does."""
        where = "delivery_functions.wake"
        kinds = self._gate.enter(where)
        accepted = self._gate.part(where, range(count), kinds)
        for each in range(count) if accepted is None else accepted:
            number = mixed(self._scheduler.now, each)
            self._scheduler.call_at(self._scheduler.now + number % _START_MS_MAX, partial(self._hold, number))
        self._gate.leave(where, kinds)
        if accepted is not None:
            raise StoreError("some delivery functions were not woken")

    def _hold(self, number: int) -> None:
        process = self._process("deliver", _nobody, number)
        intake = self._fleet.deliveries(process.machine).intake
        self._chronicle.figures["wake-ups"] += 1

        def body() -> None:
            calls = process.turn
            intake.hold(_HOLD_MS)
            if process.turn != calls:
                self.complaints.append(f"{process.name} was woken, and did more than hold")

        self._start(process, body)

    def _sweep(self, first_shard: int, number: int, began_at: Instant) -> None:
        process = self._process("sweep", _nobody, number)
        process.began_at = began_at
        sweeper, clock = self._fleet.sweeper(process.machine), self._fleet.clock(process.machine)
        self._chronicle.figures["sweeps"] += 1

        def body() -> None:
            leases = self._leases.state().leases
            owner, deadline = self._fleet.ids.token(), clock.now() + LIMITS_MS["sweep"]
            swept = sweeper.sweep(leases, owner=owner, first_shard=first_shard, deadline=deadline)
            swept.raise_faults()

        self._start(process, body)

    def _deliver(self, batch: Sequence[Received], code: int, is_over: Callable[[], None]) -> None:
        process = self._process("deliver", lambda _: is_over(), code)
        deliveries, clock = self._fleet.deliveries(process.machine), self._fleet.clock(process.machine)
        stats = deliveries.stats
        assert stats is not None, "every simulated stack counts"

        def body() -> None:
            if self._gate.is_telling:
                self._gate.told(RECEIVES, tuple(self._queues.normal.readable(batch)), None)
            deadline = clock.now() + LIMITS_MS["deliver"]
            handled = deliveries.intake.handle(batch, deadline=deadline)
            self._note_uncounted(stats.count(handled, process.name, deadline))
            for each in handled:
                if each.error is not None:
                    self._complain(process, each.error)
            # SQS is told to delete the messages that the function reports as handled.
            self._queues.delete([each.receipt for each in finished(handled)])
            is_over()

        self._start(process, body)

    def _note_uncounted(self, error: StoreError | None) -> None:
        self._chronicle.figures["uncounted calls"] += error is not None

    def flow(self, sqs: Sqs, functions_max: int) -> FlowFunctions:
        """Return the flow functions, whose work messages come from that queue."""
        flow = FlowFunctions(
            scheduler=self._scheduler,
            gate=self._gate,
            sqs=sqs,
            fleet=self._fleet,
            stores=self._chronicle.flow,
            functions_max=functions_max,
            make_process=self._process,
            begin=self._start,
            complain=self._complain,
            note_uncounted=self._note_uncounted,
        )
        self._pollers.append(flow)
        return flow

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

    def _process(self, role: Role, when_killed: Callable[[str], None], *purpose: int) -> Process:
        faults = self._gate.faults(role, *purpose)
        # A sweeper may go on after a pause longer than its limit. The protocol does not rest on that limit.
        is_bound = not (self._outlives and role in ("tick", "sweep"))
        ends_at = self._scheduler.now + LIMITS_MS[role] if is_bound else NEVER
        name = f"{role} {next(self._numbers[role])}"

        def killed(reason: str) -> None:
            if reason == TIME_LIMIT:
                self._chronicle.mishap(TIME_LIMIT, name)
                is_held_up = process.is_held_up or process.slowed_ms > _SETTLING_MS
                if role == "deliver" and not is_held_up:
                    # The function watches its time limit, so slow consumers alone never make it exceed the
                    # limit.
                    self.complaints.append(f"{name} was ended by its time limit, and nothing held it up")
            when_killed(reason)

        machine = self._fleet.pick(role, faults.code)
        turn = faults.code % _TURNS
        process = Process(
            name, role, machine, ends_at, killed, faults, turn=turn, began_at=self._scheduler.now
        )
        return process


def _nobody(_: str) -> None:
    """Ignore the answer, since no caller waits for it."""
