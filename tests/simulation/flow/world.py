"""A world of one policy: production's workers and line, on stores in memory, while everything goes wrong.

It is smaller than the worlds of tests/simulation/world: it has no jobs and no wheel. Triggers come into the
line, workers take them out, and a consumer counts the requests that are open.
"""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Final, cast

from sweephand.model.work_message import WorkMessage, decode_work, encode_work
from sweephand.runs.flow.line_worker import LineWorker
from tests.fakes.flow_memory import MemoryPermits, MemoryPolicies, MemoryPolicyLines
from tests.fakes.memory import MemoryChanges
from tests.simulation.flow.consumer import KEY, Consumer
from tests.simulation.flow.pauses import Pauses
from tests.simulation.flow.platform import LIMIT_MS, Gated, Platform
from tests.simulation.world.processes import MachineClock

from sweephand.base.errors import NotFoundError, StoreError, UnavailableError
from sweephand.base.instants import SECOND_MS
from sweephand.jobs.policies import PolicyLimits, PolicyWriter
from sweephand.model.policy import Policy, Priority, workers_max_of
from sweephand.model.trigger import NewerMessage, TriggerMessage
from sweephand.ports.flow import PermitStore, PolicyLines, PolicyStore
from sweephand.wheel.sending import LineUp

#: How long a received work message is invisible.
_VISIBILITY_MS: Final = 100 * SECOND_MS


class FlowWorld(Platform):
    """One seed: the line of a policy, those who put triggers into it, its workers, and their queue."""

    def __init__(
        self,
        seed: int,
        mishaps: float = 1.0,
        consumer_ms: tuple[int, int] = (50, 6_000),
        functions_max: int = 1_000,
        *,
        clocks_differ: bool = True,
    ) -> None:
        """At most `functions_max` workers run at once. Further work messages wait in the queue, in order."""
        super().__init__(seed, mishaps, clocks_differ=clocks_differ)
        self.functions_max = functions_max
        self.working = 0
        self._kept_waiting: deque[tuple[str, dict[str, Any]]] = deque()
        self.memory_policies, self.memory_lines = MemoryPolicies(), MemoryPolicyLines()
        self.memory_permits = MemoryPermits()
        self._policies = cast("PolicyStore", Gated(self, self.memory_policies))
        self._permits = cast("PermitStore", Gated(self, self.memory_permits))
        self._lines = cast("PolicyLines", Gated(self, self.memory_lines))
        self._changes = 0
        self.pauses = Pauses(self.scheduler)
        self.consumer = Consumer(self, consumer_ms, self.pauses, self._put_again)

    def line_up(self, clock: MachineClock) -> LineUp:
        """The way into the line."""
        return LineUp(policies=self._policies, lines=self._lines, work=self, clock=clock)

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

    def _put_again(self, message: TriggerMessage) -> None:
        """A trigger comes back by way of the delivery queue when its time has come."""
        put = partial(self.put, [message], "normal", self.ids.token())
        self.scheduler.call_at(message.not_before, put)

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
                policies=self._policies, changes=MemoryChanges(), work=self, clock=clock, ids=self.ids
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

    # The queue of work messages (ports.WorkQueue)

    def send(self, message: WorkMessage | NewerMessage, delay_ms: int) -> None:
        """Send a work message. One about jobs that have left the policy is lost: there are no jobs here."""
        assert 0 <= delay_ms <= 900_000
        if isinstance(message, WorkMessage) and message.left_by is not None:
            return
        self.called(lambda: self._sent(encode_work(message), delay_ms))

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
        """How many work messages wait for a function."""
        return len(self._kept_waiting)

    def workers_with_permits(self) -> int:
        """How many workers have taken permits of the policy."""
        policy, now = self.memory_policies.get(KEY), self.scheduler.now
        groups = range(0 if policy is None else policy.groups)
        return sum(each.is_owned(now) for group in groups for each in self.memory_permits.holders(KEY, group))

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
        receives = state["receives"]
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
            self.figures["workers"] += 1
            worker = LineWorker(
                policies=self._policies,
                permits=self._permits,
                lines=self._lines,
                line_up=self.line_up(clock),
                deliver=partial(self.consumer.deliver, clock, mine),
                clock=clock,
                ids=self.ids,
                workers_max=workers_max_of(self.functions_max),
                concurrently=self.concurrently,
                read_concurrently=self.read_concurrently,
            )
            try:
                outcome = worker.work(
                    decode_work(text), receives, clock.now() + LIMIT_MS, lambda: self.acknowledge(state)
                )
            except StoreError:
                return
            self.figures[outcome] += 1
            self.acknowledge(state)

        self.process(working, dead=dead, limit_ms=LIMIT_MS)

    def acknowledge(self, state: Any) -> None:
        """Remove a received work message."""
        self.called(lambda: state.update(done=True))

    def watch_limits(self) -> None:
        """Note every limit that is stored, when it is stored."""
        put = self.memory_policies.put

        def noted(policy: Policy, replacing: str | None) -> bool:
            is_written = put(policy, replacing)
            if is_written and policy.deleted_at is None:
                self.consumer.limits.append((self.scheduler.now, policy.permits))
            return is_written

        self.memory_policies.put = noted  # type: ignore[method-assign]


def _tolerating(body: Callable[[MachineClock], None], clock: MachineClock) -> None:
    try:
        body(clock)
    except StoreError:
        return
