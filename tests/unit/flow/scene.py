"""A policy with its gates, lines and queue in memory, a consumer, and functions that a test calls."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.contract.builders import NOON, UID, job, policy, trigger_message
from tests.fakes.doubles import CountingIds, HandClock, Interrupted, Letterbox
from tests.fakes.flow_memory import FlowBox, MemoryGateLines, MemoryGates, MemoryPolicies
from tests.fakes.memory import MemoryJobs
from tests.fakes.world import quiet

from sweephand.base.concurrency import one_by_one
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.flow.forward import Forward
from sweephand.flow.gates import Gates
from sweephand.flow.held_slots import HeldSlots
from sweephand.flow.permit import Permit
from sweephand.flow.server import Server, ServerOutcome
from sweephand.model.definition import Definition
from sweephand.model.gate import Gate, GateChange, GateName, Holder, Swap, Taking
from sweephand.model.gate_line import Entry, entries_of
from sweephand.model.gate_message import GateMessage
from sweephand.model.policy import Policy, PolicyKey, Priority, Rate, step_us_of
from sweephand.model.trigger import LineWait, TriggerMessage

KEY = PolicyKey("default", "mailer")
GATE = GateName(KEY, 0)
BATON = GateMessage("baton", *KEY, 0, NOON)
TARGET = {"type": "http", "url": "https://example.com/hook"}
LIMIT_MS = 90 * SECOND_MS


def spend_until(store: MemoryGates, name: GateName, rate: Rate, next_at: Instant) -> None:
    """Take tokens of a gate's bucket, so that the next one is for that instant."""
    last_us = next_at * 1_000 - step_us_of(rate)
    spent = GateChange(taking=Taking(1, 0, 0, 0, last_us - 1, last_us))
    assert store.change(name, spent).is_made


def true(*_: object) -> bool:
    """The request was made, and its trigger is over."""
    return True


@dataclass
class Flow:
    """The stores, and what the consumer was asked. `during` says what a delivery returns, or does first.

    `connecting` is called while the connection of a request is made. While the consumer `is_out`, it answers
    503.
    """

    clock: HandClock = field(default_factory=HandClock)
    ids: CountingIds = field(default_factory=CountingIds)
    policies: MemoryPolicies = field(default_factory=MemoryPolicies)
    store: MemoryGates = field(default_factory=MemoryGates)
    lines: MemoryGateLines = field(default_factory=MemoryGateLines)
    jobs: MemoryJobs = field(default_factory=MemoryJobs)
    queue: FlowBox = field(init=False)
    deliveries: Letterbox = field(init=False)
    delivered: list[TriggerMessage] = field(default_factory=list)
    open_max: int = 0
    request_ms: int = 100
    acknowledged: int = 0
    during: Callable[[TriggerMessage, Permit], bool | LineWait] = true
    connecting: Callable[[], None] = lambda: None
    is_out: bool = False
    _open: int = 0
    _threads: list[Callable[[], object]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.announce: Callable[[str], None] = quiet
        self.queue = FlowBox(self.clock.now)
        self.deliveries = Letterbox(self.clock)

    # ---- the code under test

    def gates(self) -> Gates:
        return Gates(
            policies=self._port(self.policies, "policies"),
            store=self._port(self.store, "gates"),
            lines=self._port(self.lines, "lines"),
            queue=self._port(self.queue, "queue"),
            clock=self.clock,
            ids=self.ids,
            concurrently=one_by_one,
        )

    def handle(self, message: GateMessage = BATON, limit_ms: int = LIMIT_MS) -> ServerOutcome:
        """Let a function handle a message. It is acknowledged unless the function fails."""
        gates = self.gates()
        forward = Forward(
            gates, jobs=self.jobs, queue=self._port(self.deliveries, "deliveries"), together=one_by_one
        )
        server = Server(gates, forward, deliver=self, concurrently=self._in_threads, together=one_by_one)
        return server.handle(message, self.clock.time + limit_ms, self._acknowledge)

    def run(self, seconds: int) -> None:
        """Handle each message when it can be received, for so long."""
        end = self.clock.time + seconds * SECOND_MS
        while self.queue.waiting and (at := min(each for each, _ in self.queue.waiting)) <= end:
            self.clock.time = max(self.clock.time, at)
            message = self.queue.take()
            assert isinstance(message, GateMessage)
            self.handle(message)
        self.clock.time = max(self.clock.time, end)

    # ---- a consumer, and a function with several threads

    def __call__(self, message: TriggerMessage, permit: Permit, deadline: Instant) -> bool | LineWait:
        self.announce("before consumer.deliver")
        if self.clock.time + self.request_ms > deadline:
            return False
        self.connecting()
        permit.wait()
        if not permit.may_leave():
            return False
        self._open += 1
        self.open_max = max(self.open_max, self._open)
        self.delivered.append(message)
        self.clock.time += self.request_ms
        permit.met_outage = self.is_out
        became = False if permit.was_in_vain else self.during(message, permit)
        self._open -= 1
        self.announce("after consumer.deliver")
        return became

    def flush(self) -> None:
        self.announce("before consumer.flush")

    def others_work(self) -> None:
        """While the request of one thread is open, let the others of its function work until they end."""
        while self._threads:
            self._threads.pop()()

    def _in_threads(self, tasks: Sequence[Callable[[], Any]]) -> list[Any]:
        self._threads = list(tasks)
        done: list[Any] = []
        while self._threads:
            done.append(self._threads.pop()())
        return done

    # ---- what a test sets up and sees

    def put(
        self, *messages: TriggerMessage, priority: Priority = "normal", gate: int = 0, source: str = "source"
    ) -> None:
        """Write entries into the line of a gate, and nothing else."""
        for entry in entries_of(messages, priority, source):
            self.lines.put(GateName(KEY, gate), entry)

    def hold(self, slots: int, token: str = "other", gate: int = 0, until: Instant = NOON + 180_000) -> None:  # noqa: S107 - no password
        """Let another function or a run have slots of a gate."""
        change = GateChange({token: Swap(None, Holder(slots, until))})
        assert self.store.change(GateName(KEY, gate), change).is_made

    def give_back(self, token: str = "other", gate: int = 0) -> None:  # noqa: S107 - same
        held = self.gate(gate).holders[token]
        assert self.store.change(GateName(KEY, gate), GateChange({token: Swap(held, None)})).is_made

    def limit(self, concurrent_max: int) -> None:
        """Write another limit, without a message."""
        self._write(policy(concurrent_max))

    def pause(self, paused_at: Instant | None = NOON) -> None:
        """Pause the policy, or resume it, without a message."""
        stored = self.policies.get(KEY)
        assert stored is not None
        self._write(replace(stored, paused_at=paused_at))

    def _write(self, written: Policy) -> None:
        stored = self.policies.get(KEY)
        assert stored is not None
        assert self.policies.put(replace(written, version=self.ids.token()), stored.version)

    def slots(self, slots: int = 4) -> HeldSlots:
        """The slots of a function of the test."""
        self.hold(slots, "mine")
        return HeldSlots(GATE, "mine", self.gate(), store=self.store, clock=self.clock)

    def gate(self, number: int = 0) -> Gate:
        return self.store.get(GateName(KEY, number))

    def entries(self, gate: int | None = None) -> list[Entry]:
        found = self.lines.everything()
        return [entry for name, entry in found if gate is None or name.number == gate]

    def waiting(self, gate: int | None = None) -> list[TriggerMessage]:
        return [message for entry in self.entries(gate) for message in entry.messages]

    def sent(self, purpose: str) -> list[GateMessage]:
        found = [each for each, _ in self.queue.sent if isinstance(each, GateMessage)]
        return [each for each in found if each.purpose == purpose]

    def _acknowledge(self) -> None:
        self.acknowledged += 1

    def _port(self, port: object, name: str) -> Any:
        return Interrupted(port, name, self._announce)

    def _announce(self, call: str) -> None:
        self.announce(call)


def flow(concurrent_max: int | None = 4, **changed: Any) -> Flow:
    """A policy that lets so many requests be open at once."""
    made = Flow()
    assert made.policies.put(policy(concurrent_max, **changed), None)
    return made


def stored(scene: Flow) -> Policy:
    """The policy as it is stored."""
    found = scene.policies.get(KEY)
    assert found is not None
    return found


def lease(scene: Flow, until: int, gate: int = 0) -> None:
    """Let another function have leased every entry of a line."""
    for entry in scene.entries(gate):
        leased = entry._replace(owner="other", until=until, token=f"leased-{entry.name}")
        assert scene.lines.replace(GateName(KEY, gate), entry, leased)


def store_job(scene: Flow, name: str, policy: str | None, uid: str = UID) -> None:
    """Let a job exist that names that policy, or none."""
    written = {"schedule": "@every 10s", "target": TARGET, **({} if policy is None else {"policy": policy})}
    assert scene.jobs.put(job(name, uid=uid, definition=Definition(written)), None)


def triggers(count: int, due_at: Instant = NOON, **changed: Any) -> list[TriggerMessage]:
    """So many triggers, of which each is due a millisecond after the one before."""
    return [trigger_message(due_at + number, **changed) for number in range(count)]
