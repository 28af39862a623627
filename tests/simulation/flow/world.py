"""A world of one policy: production's workers and line, on stores in memory, while everything goes wrong.

It is smaller than the worlds of tests/simulation/world: it has no jobs and no wheel. Triggers come into the
line, workers take them out, and a consumer counts the requests that are open.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any, Final, cast

from tests.fakes.flow_memory import MemoryPermits, MemoryPolicies, MemoryPolicyLines
from tests.fakes.memory import MemoryChanges
from tests.simulation.world.faults import KINDS, CallFaults, RoleFaults, Troubles
from tests.simulation.world.processes import Killed, Machine, MachineClock, Process, Scheduler

from sweephand.base.errors import NotFoundError, StoreError, UnavailableError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.flow_ports import PermitStore, PolicyLines, PolicyStore
from sweephand.jobs.policies import PolicyLimits, PolicyWriter
from sweephand.model.job import JobKey
from sweephand.model.policy import Policy, PolicyKey, Priority
from sweephand.model.trigger import NewerMessage, Trigger, TriggerMessage, WorkMessage
from sweephand.model.wire_work import decode_work, encode_work
from sweephand.runs.flow.line_worker import LineWorker
from sweephand.runs.flow.permit import Permit
from sweephand.wheel.line_up import LineUp

NOON: Final[Instant] = 1_795_262_400_000
KEY: Final = PolicyKey("ns", "mailer")

LIMIT_MS: Final = 90 * SECOND_MS
VISIBILITY_MS: Final = 100 * SECOND_MS
SKEW_MS: Final = 45 * SECOND_MS

_UNTROUBLED: Final = RoleFaults("deliver", Troubles(dict.fromkeys(KINDS, 0.0)))


class _Ids:
    """ports.Ids from the random numbers of the world."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def token(self) -> str:
        return f"{self._random.getrandbits(50):016d}"

    def secret(self) -> str:
        return f"{self.token():0>43}"

    def fraction(self) -> float:
        return self._random.random()


class _Gated:
    """A port each of whose calls takes time and may meet a fault."""

    def __init__(self, world: "FlowWorld", port: object) -> None:
        self._world = world
        self._port = port

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._port, name)

        def call(*arguments: Any, **named: Any) -> Any:
            return self._world.called(lambda: method(*arguments, **named))

        return call


@dataclass
class Waiting:
    """A trigger of the world: the attempt that is owed, and the last one that was begun."""

    message: TriggerMessage
    owed: int = 1
    begun: int = 0
    begun_at: Instant | None = None


@dataclass
class FlowWorld:
    """One seed. `mishaps` 0 gives a world in which nothing goes wrong."""

    seed: int
    mishaps: float = 1.0
    consumer_ms: tuple[int, int] = (50, 6_000)
    scheduler: Scheduler = field(init=False)
    triggers: dict[str, Waiting] = field(default_factory=dict)
    open: dict[object, str] = field(default_factory=dict)
    begun_at: list[Instant] = field(default_factory=list)
    limits: list[tuple[Instant, int]] = field(default_factory=list)
    figures: Counter[str] = field(default_factory=Counter)
    complaints: Counter[str] = field(default_factory=Counter)
    read_at: dict[MachineClock, Instant] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)  # noqa: S311 - a seed, not a secret
        self.scheduler = Scheduler(NOON)
        self.ids = _Ids(self.random)
        self.memory_policies, self.memory_lines = MemoryPolicies(), MemoryPolicyLines()
        self.memory_permits = MemoryPermits()
        self.policies = cast("PolicyStore", _Gated(self, self.memory_policies))
        self.permits = cast("PermitStore", _Gated(self, self.memory_permits))
        self.lines = cast("PolicyLines", _Gated(self, self.memory_lines))
        self._numbers = 0
        self._changes = 0

    # Faults

    def called(self, call: Callable[[], Any]) -> Any:
        """Make a call of a port: it takes time, and may be refused, lost, repeated, or be the last one."""
        random, scheduler = self.random, self.scheduler
        scheduler.sleep(random.randint(1, 25))
        if not self.mishaps:
            return call()
        trouble = random.random() / self.mishaps
        if trouble < 0.002:
            self._end("killed before a call")
        if trouble < 0.004:
            raise StoreError("throttled")
        if trouble < 0.006:
            scheduler.freeze(int(random.choice((2, 10, 60)) * SECOND_MS * random.random()))
            scheduler.sleep(1)
        answer = call()
        if 0.006 <= trouble < 0.008:
            scheduler.sleep(random.randint(1, 4_000))
            answer = call()
        scheduler.sleep(random.randint(0, 5))
        if 0.008 <= trouble < 0.010:
            self._end("killed after a call")
        if 0.010 <= trouble < 0.012:
            raise StoreError("no answer")
        return answer

    def _end(self, why: str) -> None:
        self.scheduler.kill(self.scheduler.strand.process, why)
        raise Killed

    # Functions

    def process(
        self, body: Callable[[MachineClock], None], *, dead: Callable[[], None], limit_ms: int
    ) -> None:
        """Begin a function. `dead` is called if it is killed, and its errors are StoreErrors."""
        self._numbers += 1
        skewed = self.mishaps and self.random.random() < 0.5
        machine = Machine(str(self._numbers), self.random.randint(-SKEW_MS, SKEW_MS) if skewed else 0)
        ends_at = self.scheduler.now + limit_ms
        process = Process(
            str(self._numbers), "deliver", machine, ends_at, lambda _: dead(), CallFaults(0, _UNTROUBLED)
        )
        self.scheduler.start(process, lambda: body(MachineClock(self.scheduler, machine)))

    def line_up(self, clock: MachineClock) -> LineUp:
        """The way into the line."""
        return LineUp(policies=self.policies, lines=self.lines, work=self, clock=clock)

    def put(self, messages: list[TriggerMessage], priority: Priority, source: str) -> None:
        """The delivery function puts triggers into the line, again and again until it has done so."""

        def again() -> None:
            self.scheduler.call_at(
                self.scheduler.now + self.random.randint(5, 30) * SECOND_MS,
                lambda: self.put(messages, priority, source),
            )

        def body(clock: MachineClock) -> None:
            try:
                self.line_up(clock).put(KEY, priority, messages, source)
            except StoreError:
                again()

        self.process(body, dead=again, limit_ms=LIMIT_MS)

    def pack(self, messages: list[TriggerMessage], priority: Priority, name: str, *, is_whole: bool) -> None:
        """A sweeper writes a chunk, and writes it again whole if it was not. Both begin with one trigger."""

        def again() -> None:
            self.scheduler.call_at(
                self.scheduler.now + self.random.randint(1, 30) * SECOND_MS,
                lambda: self.pack(messages, priority, name, is_whole=True),
            )

        def body(clock: MachineClock) -> None:
            some = messages if is_whole else messages[: max(1, len(messages) // 2)]
            try:
                self.line_up(clock).put(KEY, priority, some, name)
            except StoreError:
                again()
            else:
                if not is_whole:
                    again()

        self.process(body, dead=again, limit_ms=LIMIT_MS)

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
            writer = PolicyWriter(
                policies=self.policies, changes=MemoryChanges(), work=self, clock=clock, ids=self.ids
            )
            try:
                if limits is None:
                    writer.delete(KEY, who="client", requested_at=clock.now())
                else:
                    writer.put(KEY, limits, who="client", requested_at=clock.now())
            except NotFoundError:
                return  # an earlier try has deleted it
            except (StoreError, UnavailableError):
                again()

        self.process(body, dead=again, limit_ms=25 * SECOND_MS)

    # The queue of work messages (flow_ports.WorkQueue)

    def send(self, message: WorkMessage | NewerMessage, delay_ms: int) -> None:
        """Send a work message."""
        assert 0 <= delay_ms <= 900_000
        self.called(lambda: self._sent(encode_work(message), delay_ms))

    def _sent(self, text: str, delay_ms: int) -> None:
        self.figures["messages"] += 1
        at = self.scheduler.now + delay_ms // 1_000 * 1_000 + self.random.randint(5, 60)
        state = {"receives": 0, "done": False}
        self.scheduler.call_at(at, lambda: self._receive(text, state))
        if self.random.random() < 0.03 * self.mishaps:
            twice = at + self.random.randint(0, 60) * SECOND_MS
            self.scheduler.call_at(twice, lambda: self._receive(text, {"receives": 0, "done": False}))

    def _receive(self, text: str, state: dict[str, Any]) -> None:
        if state["done"]:
            return
        state["receives"] += 1
        self.scheduler.call_at(self.scheduler.now + VISIBILITY_MS, lambda: self._receive(text, state))
        if self.random.random() < 0.02 * self.mishaps:
            return
        self._work(text, state)

    def _work(self, text: str, state: dict[str, Any]) -> None:
        mine: set[object] = set()
        receives = state["receives"]

        def dead() -> None:
            for each in mine:
                self.open.pop(each, None)

        def body(clock: MachineClock) -> None:
            self.figures["workers"] += 1
            worker = LineWorker(
                policies=self.policies,
                permits=self.permits,
                lines=self.lines,
                line_up=self.line_up(clock),
                deliver=lambda message, permit, deadline: self._deliver(
                    clock, mine, message, permit, deadline
                ),
                clock=clock,
                ids=self.ids,
                concurrently=self._concurrently,
                read_concurrently=self._read_concurrently,
            )
            try:
                outcome = worker.work(
                    decode_work(text), receives, clock.now() + LIMIT_MS, lambda: self.acknowledge(state)
                )
            except StoreError:
                return
            self.figures[outcome] += 1
            self.acknowledge(state)

        self.process(lambda clock: _tolerating(body, clock), dead=dead, limit_ms=LIMIT_MS)

    def acknowledge(self, state: Any) -> None:
        """Remove a received work message."""
        self.called(lambda: state.update(done=True))

    def _concurrently(self, tasks: Any) -> list[Any]:
        """Run each task in a strand of its own, and return when all have ended."""
        scheduler, results = self.scheduler, [None] * len(tasks)
        strand, running = scheduler.strand, [len(tasks)]

        def begin(number: int) -> None:
            def task() -> None:
                with suppress(Killed):
                    results[number] = tasks[number]()
                    running[0] -= 1
                    if not running[0]:
                        scheduler.wake(strand)

            scheduler.spawn(task)

        for number in range(len(tasks)):
            begin(number)
        scheduler.park()
        return results

    def _read_concurrently(self, tasks: Any) -> list[Any]:
        """Like sweep_concurrently() of runtime/threads.py: an error is raised once every task ended."""

        def kept(task: Callable[[], Any]) -> Any:
            try:
                return task()
            except StoreError as error:
                return error

        results = self._concurrently([partial(kept, task) for task in tasks]) if tasks else []
        for result in results:
            if isinstance(result, StoreError):
                raise result
        return results

    # The consumer

    def _deliver(
        self,
        clock: MachineClock,
        mine: set[object],
        message: TriggerMessage,
        permit: Permit,
        deadline: Instant,
    ) -> bool:
        assert permit.key == KEY
        random, scheduler = self.random, self.scheduler
        if scheduler.now - self.read_at.get(clock, 0) > SECOND_MS:
            # The job is read when the last read is more than a second old.
            self.called(lambda: None)
            self.read_at[clock] = scheduler.now
        request_ms = random.randint(*self.consumer_ms)
        if deadline - clock.now() < self.consumer_ms[1] + 5 * SECOND_MS:
            return False
        permit.wait()
        if not permit.may_leave():
            self.figures["refused"] += 1
            return False
        if clock.now() < message.not_before:
            self.complaints["early"] += 1
        waiting = self.triggers[message.trigger.id]
        if message.attempt <= waiting.begun:
            self.figures["duplicates"] += 1
        waiting.begun = max(waiting.begun, message.attempt)
        waiting.begun_at = waiting.begun_at or scheduler.now
        request = object()
        mine.add(request)
        self.open[request] = message.trigger.id
        self.begun_at.append(scheduler.now)
        self._judge()
        try:
            scheduler.sleep(request_ms)
        finally:
            self.open.pop(request, None)
        if self.mishaps and random.random() < 0.1 and message.attempt < 4:
            self._retry(message, waiting)
        return True

    def _retry(self, message: TriggerMessage, waiting: Waiting) -> None:
        """The attempt failed, or has to wait: the trigger comes back by way of the delivery queue."""
        at = self.scheduler.now + self.random.choice((1, 5, 15)) * SECOND_MS
        following = message._replace(attempt=message.attempt + 1, not_before=at)
        waiting.owed = max(waiting.owed, following.attempt)
        source = self.ids.token()
        self.scheduler.call_at(at, lambda: self.put([following], "normal", source))

    def _judge(self) -> None:
        """No more requests are open than the limit allowed at any time within a function's life."""
        since = self.scheduler.now - LIMIT_MS - SECOND_MS
        before = [limit for at, limit in self.limits if at <= since]
        allowed = max([limit for at, limit in self.limits if at > since] + before[-1:], default=0)
        if len(self.open) > allowed:
            self.complaints["limit"] += 1

    def watch_limits(self) -> None:
        """Note every limit that is stored, when it is stored."""
        put = self.memory_policies.put

        def noted(policy: Policy, replacing: str | None) -> bool:
            is_written = put(policy, replacing)
            if is_written and policy.deleted_at is None:
                self.limits.append((self.scheduler.now, policy.permits))
            return is_written

        self.memory_policies.put = noted  # type: ignore[method-assign]

    def trigger(self, due_at: Instant) -> TriggerMessage:
        """A new trigger of the world."""
        number = len(self.triggers)
        made = Trigger(JobKey("ns", "job"), "uid0000000000001", "1-aaaa", due_at, 1, NOON, index=number)
        message = TriggerMessage(made, not_before=due_at)
        self.triggers[made.id] = Waiting(message)
        return message

    def undelivered(self) -> Iterator[Waiting]:
        """The triggers of which an attempt is owed that was never begun."""
        return (each for each in self.triggers.values() if each.begun < each.owed)


def _tolerating(body: Callable[[MachineClock], None], clock: MachineClock) -> None:
    try:
        body(clock)
    except StoreError:
        return
