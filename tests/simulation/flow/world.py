"""A world of one policy: production's servers and gates, on stores in memory, while everything goes wrong.

It is smaller than the worlds of tests/simulation/world: it has no jobs and no wheel. Triggers are enqueued,
functions serve the gates, and a consumer counts the requests that are open.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, cast

from tests.contract.builders import UID, job
from tests.fakes.flow_memory import MemoryGateLines, MemoryGates, MemoryPolicies
from tests.fakes.memory import MemoryChanges
from tests.fakes.ports import MISSING
from tests.simulation.flow.consumer import KEY, Consumer
from tests.simulation.flow.pauses import Pauses
from tests.simulation.flow.platform import LIMIT_MS, Gated, Platform
from tests.simulation.flow.tenants import Tenants
from tests.simulation.world.processes import MachineClock

from sweephand.base.errors import ConflictError, NotFoundError, StoreError, UnavailableError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.flow.forward import Forward
from sweephand.flow.gates import Gates
from sweephand.flow.server import Server
from sweephand.jobs.policies import PolicyWriter
from sweephand.jobs.policy_fields import PolicyLimits
from sweephand.jobs.policy_reader import PolicyReader
from sweephand.model.definition import Definition
from sweephand.model.gate import GateName
from sweephand.model.gate_message import GateMessage, decode_gate_message, encode_gate_message
from sweephand.model.job import Job, JobKey
from sweephand.model.policy import Policy, Priority
from sweephand.model.trigger import NewerMessage, Sendable, TriggerMessage
from sweephand.ports.flow import GateLines, GateStore, PolicyStore
from sweephand.ports.jobs import JobStore

#: How long a received message about a gate is invisible.
_VISIBILITY_MS: Final = 100 * SECOND_MS


class FlowWorld(Platform):
    """One seed: the gates of a policy, who enqueues triggers, who serves them, and the flow queue."""

    def __init__(
        self,
        seed: int,
        mishaps: float = 1.0,
        consumer_ms: tuple[int, int] = (50, 6_000),
        functions_max: int = 1_000,
        *,
        clocks_differ: bool = True,
        tenants: Tenants | None = None,
    ) -> None:
        """At most `functions_max` functions serve at once. Further messages wait in the queue, in order."""
        super().__init__(seed, mishaps, clocks_differ=clocks_differ)
        self.functions_max = functions_max
        self.working = 0
        self._kept_waiting: deque[tuple[str, dict[str, Any]]] = deque()
        self.memory_policies, self.memory_lines = MemoryPolicies(), MemoryGateLines()
        self.memory_gates = MemoryGates()
        self._policies = cast("PolicyStore", Gated(self, self.memory_policies))
        self._gates = cast("GateStore", Gated(self, self.memory_gates))
        self._lines = cast("GateLines", Gated(self, self.memory_lines))
        self._changes = self._switches = 0
        self._jobs = cast("JobStore", Gated(self, _Jobs(tenants)))
        self.tenants = tenants
        #: Whether another `by` is refused while something waits or is open.
        self.checks_use = True
        self.pauses = Pauses(self.scheduler)
        self.consumer = Consumer(self, consumer_ms, self.pauses, self.put_again, tenants)

    def gates(self, clock: MachineClock) -> Gates:
        """The gates, as a function with that clock uses them."""
        return Gates(
            policies=self._policies,
            store=self._gates,
            lines=self._lines,
            queue=self,
            clock=clock,
            ids=self.ids,
            concurrently=self.read_concurrently,
        )

    def put(self, messages: Sequence[TriggerMessage], priority: Priority, source: str) -> None:
        """The delivery function enqueues triggers when they are due, again and again until it has done so."""
        now = self.scheduler.now
        by_time: dict[Instant, list[TriggerMessage]] = defaultdict(list)
        for message in messages:
            by_time[max(now, message.not_before)].append(message)
        for at, some in by_time.items():
            self.scheduler.call_at(at, partial(self._enqueue, some, priority, source))

    def _enqueue(self, messages: list[TriggerMessage], priority: Priority, source: str) -> None:
        def again() -> None:
            crashed = [each._replace(crashes=each.crashes + 1) for each in messages]
            self.scheduler.call_at(
                self.scheduler.now + self.random.randint(5, 30) * SECOND_MS,
                lambda: self._enqueue(crashed, priority, source),
            )

        def body(clock: MachineClock) -> None:
            # It handles nothing before it is due by its own clock.
            clock.wait_until(max(each.not_before for each in messages))
            try:
                self.gates(clock).enqueue(KEY, priority, messages, source, self._definitions(messages))
            except StoreError:
                again()

        self.process(body, dead=again, limit_ms=LIMIT_MS)

    def _definitions(self, messages: Sequence[TriggerMessage]) -> Mapping[JobKey, Definition]:
        """What the delivery function has read of the jobs of triggers."""
        if self.tenants is None:
            return {}
        jobs = self._jobs.get_many(sorted({each.trigger.key for each in messages}))
        return {key: job.definition for key, job in jobs.items()}

    def put_again(self, message: TriggerMessage) -> None:
        """A trigger comes back by way of the delivery queue when its time has come."""
        self.put([message], "normal", self.ids.token())

    def change(self, limits: PolicyLimits | None) -> None:
        """A client writes the policy, or deletes it, until it is done or something else is wanted."""
        self._changes += 1
        self._change(limits, self._changes)

    def _change(self, limits: PolicyLimits | None, number: int) -> None:
        def again() -> None:
            if number == self._changes:
                self.scheduler.call_at(
                    self.scheduler.now + 3 * SECOND_MS, lambda: self._change(limits, number)
                )

        def body(clock: MachineClock) -> None:
            writer = self._writer(clock)
            try:
                if limits is None:
                    writer.delete(KEY, who="client", requested_at=clock.now())
                else:
                    writer.put(KEY, limits, who="client", requested_at=clock.now())
            except (NotFoundError, ConflictError):
                return  # an earlier try has deleted it, or it is paused
            except (StoreError, UnavailableError):
                again()

        self.process(body, dead=again, limit_ms=25 * SECOND_MS)

    def switch(self, *, pauses: bool) -> None:
        """A client pauses the policy or resumes it, until it is done or something else is wanted."""
        self._switches += 1
        self._switch(self._switches, pauses=pauses)

    def _switch(self, number: int, *, pauses: bool) -> None:
        def again() -> None:
            if number == self._switches:
                at = self.scheduler.now + 3 * SECOND_MS
                self.scheduler.call_at(at, lambda: self._switch(number, pauses=pauses))

        def body(clock: MachineClock) -> None:
            writer, now = self._writer(clock), clock.now()
            try:
                if pauses:
                    writer.pause(KEY, reason=None, who="client", requested_at=now)
                else:
                    writer.resume(KEY, who="client", requested_at=now)
            except NotFoundError:
                return  # it is deleted
            except (StoreError, UnavailableError):
                again()

        self.process(body, dead=again, limit_ms=25 * SECOND_MS)

    def _writer(self, clock: MachineClock) -> PolicyWriter:
        reader = PolicyReader(
            policies=self._policies,
            gates=self._gates,
            lines=self._lines,
            functions_max=1,
            concurrently=self.read_concurrently,
        )
        return PolicyWriter(
            policies=self._policies,
            is_in_use=lambda policy: self.checks_use and reader.is_in_use(policy, clock.now()),
            changes=MemoryChanges(),
            flow_queue=self,
            clock=clock,
            ids=self.ids,
        )

    # The flow queue (ports.FlowQueue)

    def send(self, message: GateMessage | NewerMessage, delay_ms: int) -> None:
        """Send a message about a gate."""
        assert 0 <= delay_ms <= 900_000
        self.called(lambda: self._sent(encode_gate_message(message), delay_ms))

    def _sent(self, text: str, delay_ms: int) -> None:
        self.figures["messages"] += 1
        at = self.scheduler.now + delay_ms // 1_000 * 1_000 + self.random.randint(5, 60)
        state = {"receives": 0, "done": False}
        self.scheduler.call_at(at, lambda: self._receive(text, state))
        if self.random.random() < 0.03 * self.mishaps:
            twice = at + self.random.randint(0, 60) * SECOND_MS
            self.scheduler.call_at(twice, lambda: self._receive(text, {"receives": 0, "done": False}))

    @property
    def kept_waiting(self) -> int:
        """How many messages about gates wait for a function."""
        return len(self._kept_waiting)

    @property
    def batons_waiting(self) -> int:
        """How many batons wait for a function. Another policy's baton waits behind them."""
        batons = [state for text, state in self._kept_waiting if decode_gate_message(text).purpose == "baton"]
        return sum(not state["done"] for state in batons)

    def listed(self) -> set[GateName]:
        """The gates that stand in the list of those that wait."""
        return {each.name for each in self.memory_gates.waiting(KEY, "", 10_000).items}

    def holders(self) -> int:
        """How many functions have slots of the policy."""
        now, gates = self.scheduler.now, self.memory_gates.everything().values()
        return sum(holder.until >= now for gate in gates for holder in gate.holders.values())

    def _receive(self, text: str, state: dict[str, Any]) -> None:
        self._kept_waiting.append((text, state))
        self._receive_next()

    def _receive_next(self) -> None:
        while self._kept_waiting and self.working < self.functions_max:
            text, state = self._kept_waiting.popleft()
            if state["done"]:
                continue
            state["receives"] += 1
            self.scheduler.call_at(self.scheduler.now + _VISIBILITY_MS, partial(self._receive, text, state))
            if self.random.random() >= 0.02 * self.mishaps:
                self._work(text, state)

    def _work(self, text: str, state: dict[str, Any]) -> None:
        mine: set[object] = set()
        self.working += 1

        def is_over() -> None:
            self.working -= 1
            self._receive_next()

        def dead() -> None:
            self.consumer.close(mine)
            self.scheduler.call_at(self.scheduler.now, is_over)

        def working(clock: MachineClock) -> None:
            _tolerating(body, clock)
            self.scheduler.call_at(self.scheduler.now, is_over)

        def body(clock: MachineClock) -> None:
            self.figures["functions"] += 1
            gates = self.gates(clock)
            server = Server(
                gates,
                # No job leaves the policy here. Triggers of a former `by` go to the delivery queue.
                Forward(gates, jobs=self._jobs, queue=_Deliveries(self), together=self.read_concurrently),
                deliver=self.consumer.of_function(clock, mine),
                concurrently=self.concurrently,
                together=self.read_concurrently,
            )
            try:
                outcome = server.handle(
                    decode_gate_message(text), clock.now() + LIMIT_MS, lambda: self.acknowledge(state)
                )
            except StoreError:
                return
            self.figures[outcome] += 1
            self.acknowledge(state)

        self.process(working, dead=dead, limit_ms=LIMIT_MS)

    def acknowledge(self, state: Any) -> None:
        """Remove a received message about a gate."""
        self.called(lambda: state.update(done=True))

    def watch_limits(self) -> None:
        """Note every limit that is stored, when it is stored."""
        put = self.memory_policies.put

        def noted(policy: Policy, replacing: str | None, *, seen: Policy | None = None) -> bool:
            is_written = put(policy, replacing, seen=seen)
            if is_written:
                limit = policy.slots if policy.paused_at is None else 0
                self.consumer.limits.append((self.scheduler.now, limit))
                if self.tenants is not None:
                    self.tenants.written(policy, self.scheduler.now)
            return is_written

        self.memory_policies.put = noted  # type: ignore[method-assign]


class _Jobs:
    """Every job names the policy."""

    def __init__(self, tenants: Tenants | None) -> None:
        self._tenants = tenants

    def get_many(self, keys: Sequence[JobKey]) -> Mapping[JobKey, Job]:
        return {key: job(uid=UID, definition=self._definition(key)) for key in keys}

    def _definition(self, key: JobKey) -> Definition:
        return Definition({"policy": KEY.name}) if self._tenants is None else self._tenants.definition(key)


class _Deliveries:
    """The delivery queue: each trigger is enqueued again."""

    def __init__(self, world: FlowWorld) -> None:
        self._world = world

    def send(self, messages: Sequence[tuple[Sendable, int]]) -> None:
        def sent() -> None:
            for message, _ in messages:
                assert isinstance(message, TriggerMessage), "only triggers stand in lines"
                self._world.put_again(message)

        self._world.called(sent)

    acknowledge = bury = MISSING


def _tolerating(body: Callable[[MachineClock], None], clock: MachineClock) -> None:
    try:
        body(clock)
    except StoreError:
        return
