"""A worker walks the line of a policy, and a crash at any of its calls loses nothing."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest
from tests.contract.builders import NOON, policy, trigger_message
from tests.fakes.doubles import CountingIds, HandClock, Interrupted
from tests.fakes.faults import Killed
from tests.fakes.flow_memory import MemoryPermits, MemoryPolicies, MemoryPolicyLines

from sweephand.base.concurrency import Concurrently, one_by_one
from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import HOLDER_MS
from sweephand.model.policy import PermitHolder, PolicyKey, Rate
from sweephand.model.trigger import NewerMessage, TriggerMessage
from sweephand.model.work_message import WorkMessage
from sweephand.runs.flow.line_worker import LineWorker, WorkOutcome
from sweephand.runs.flow.permit import Permit
from sweephand.wheel.sending import LineUp

KEY = PolicyKey("default", "mailer")
WORK = WorkMessage(KEY.namespace, KEY.name, NOON)
LIMIT_MS = 90 * SECOND_MS
VISIBILITY_MS = 100 * SECOND_MS


@dataclass
class Flow:
    """A policy, its line, its queue of work messages, and a consumer, on stores in memory."""

    clock: HandClock = field(default_factory=HandClock)
    ids: CountingIds = field(default_factory=CountingIds)
    policies: MemoryPolicies = field(default_factory=MemoryPolicies)
    permits: MemoryPermits = field(default_factory=MemoryPermits)
    lines: MemoryPolicyLines = field(default_factory=MemoryPolicyLines)
    sent: list[tuple[Instant, WorkMessage]] = field(default_factory=list)
    delivered: list[TriggerMessage] = field(default_factory=list)
    request_ms: int = 100
    workers_max: int = 100
    acknowledged: int = 0
    announce: Callable[[str], None] = lambda _: None

    def send(self, message: WorkMessage | NewerMessage, delay_ms: int) -> None:
        assert isinstance(message, WorkMessage)
        self.sent.append((self.clock.time + delay_ms // 1_000 * 1_000, message))

    def deliver(self, message: TriggerMessage, permit: Permit, deadline: Instant) -> bool:
        assert permit.key == KEY
        if self.clock.time + self.request_ms > deadline:
            return False
        permit.wait()
        if not permit.may_leave():
            return False
        assert message.not_before <= self.clock.time, "early"
        self.announce("before consumer.deliver")
        self.delivered.append(message)
        self.clock.time += self.request_ms
        self.announce("after consumer.deliver")
        return True

    def _port(self, port: object, name: str) -> Any:
        return Interrupted(port, name, self._announce)

    def _announce(self, call: str) -> None:
        self.announce(call)

    def worker(
        self, read_concurrently: Concurrently = one_by_one, concurrently: Concurrently = one_by_one
    ) -> LineWorker:
        return LineWorker(
            policies=self._port(self.policies, "policies"),
            permits=self._port(self.permits, "permits"),
            lines=self._port(self.lines, "lines"),
            line_up=self.line_up(),
            deliver=self.deliver,
            clock=self.clock,
            ids=self.ids,
            workers_max=self.workers_max,
            concurrently=concurrently,
            read_concurrently=read_concurrently,
        )

    def work(self, message: WorkMessage = WORK, receives: int = 1) -> WorkOutcome:
        return self.worker().work(message, receives, self.clock.time + LIMIT_MS, lambda: self.acknowledge(""))

    def work_in_vain(self) -> None:
        """Work while a store fails as soon as a trigger is to be delivered."""

        def failing(call: str) -> None:
            if call == "before consumer.deliver":
                raise StoreError("the test asks")

        self.announce = failing
        with pytest.raises(StoreError):
            self.work()
        self.announce = lambda _: None

    def acknowledge(self, _: str) -> None:
        self.acknowledged += 1

    def line_up(self) -> LineUp:
        return LineUp(
            policies=self._port(self.policies, "policies"),
            lines=self._port(self.lines, "lines"),
            work=self._port(self, "work"),
            clock=self.clock,
        )

    def put(self, *messages: TriggerMessage, source: str = "message") -> None:
        line_up = LineUp(policies=self.policies, lines=self.lines, work=self, clock=self.clock)
        line_up.put(KEY, "normal", messages, source)

    def run(self, seconds: int) -> None:
        """Handle every work message when it is received, for so long."""
        end = self.clock.time + seconds * SECOND_MS
        while coming := sorted((each for each in self.sent if each[0] <= end), key=lambda each: each[0]):
            self.sent.remove(coming[0])
            self.clock.time = max(self.clock.time, coming[0][0])
            self.work(coming[0][1])
        self.clock.time = max(self.clock.time, end)

    def holders(self) -> list[PermitHolder]:
        return list(self.permits.holders(KEY, 0))

    def waiting(self) -> list[TriggerMessage]:
        return [message for _, entry in self.lines.everything() for message in entry.messages]


def flow(concurrent_max: int | None = 5, **changed: Any) -> Flow:
    """A policy that lets so many requests be open at once."""
    made = Flow()
    assert made.policies.put(policy(concurrent_max, **changed), None)
    return made


def triggers(number: int, due_at: Instant = NOON) -> list[TriggerMessage]:
    return [trigger_message(due_at + each) for each in range(number)]


def test_a_worker_delivers_what_is_due_in_due_order_and_leaves_nothing_behind() -> None:
    scene = flow(1)  # no other worker could help
    scene.clock.time = NOON + 1_000
    scene.put(*triggers(25))
    assert scene.work() == "walked"
    assert scene.delivered == triggers(25)
    assert not scene.waiting()
    assert all(each.owner is None and not each.away for each in scene.holders())


def test_high_goes_before_normal_and_normal_before_low() -> None:
    scene = flow()
    scene.clock.time = NOON + 10
    line_up = LineUp(policies=scene.policies, lines=scene.lines, work=scene, clock=scene.clock)
    line_up.put(KEY, "low", [trigger_message(NOON)], "a")
    line_up.put(KEY, "normal", [trigger_message(NOON + 1)], "b")
    line_up.put(KEY, "high", [trigger_message(NOON + 2)], "c")
    scene.work()
    assert [each.trigger.due_at - NOON for each in scene.delivered] == [2, 1, 0]


def test_what_is_due_later_goes_down_the_line_with_a_message_for_its_time() -> None:
    scene = flow()
    late = trigger_message(NOON + 60_000)
    scene.put(trigger_message(NOON), late)
    scene.work()
    assert scene.delivered == [trigger_message(NOON)]
    assert scene.waiting() == [late]
    assert (NOON + 60_000) in [message.not_before for _, message in scene.sent]
    scene.run(61)
    assert scene.delivered[1:] == [late]


def test_a_worker_waits_for_what_is_due_within_a_second() -> None:
    scene = flow()
    scene.put(trigger_message(NOON + 900))
    scene.work()
    assert scene.delivered == [trigger_message(NOON + 900)]


def test_a_message_is_dropped_while_every_permit_is_in_use() -> None:
    scene = flow(4)
    scene.put(trigger_message(NOON))
    for holder in scene.holders()[:4]:
        assert scene.permits.take(KEY, holder, f"other{holder.slot}", NOON, NOON + HOLDER_MS)
    assert scene.work() == "full"
    assert not scene.delivered
    scene.clock.time = NOON + HOLDER_MS + 1
    assert scene.work() == "walked"
    assert len(scene.delivered) == 1


def test_away_entries_use_permits_until_they_end() -> None:
    scene = flow(4)
    scene.put(trigger_message(NOON))
    for holder in scene.holders()[:4]:
        assert scene.permits.take(KEY, holder, "other", NOON, NOON + HOLDER_MS)
        assert scene.permits.enter(KEY, holder.slot, "other", {"run": NOON + 500}, releasing=True)
    assert scene.work() == "full"
    scene.clock.time = NOON + 500
    assert scene.work() == "walked"


@pytest.mark.parametrize("changed", [{"deleted_at": NOON}, None])
def test_triggers_of_a_missing_policy_wait_until_it_is_there(changed: dict[str, Any] | None) -> None:
    scene = Flow() if changed is None else flow(**changed)
    scene.put(trigger_message(NOON))
    assert scene.work() == "missing"
    assert scene.waiting()
    stored = scene.policies.get(KEY)
    again = policy(version="version000000002")
    assert scene.policies.put(again, stored.version if stored else None)
    assert scene.work() == "walked"
    assert not scene.waiting()


def test_a_message_that_comes_a_second_time_leaves_a_copy_for_when_every_holder_has_ended() -> None:
    scene = flow()
    scene.work(receives=2)
    copy_at = NOON + HOLDER_MS + 1
    assert (NOON + HOLDER_MS, WORK._replace(not_before=copy_at, clears_mark=True)) in scene.sent


def test_an_early_message_is_sent_again() -> None:
    scene = flow()
    assert scene.work(WORK._replace(not_before=NOON + 60_000)) == "early"
    assert scene.sent == [(NOON + 60_000, WORK._replace(not_before=NOON + 60_000))]


def test_a_worker_without_time_for_a_trigger_gives_it_back_and_calls_the_next_one() -> None:
    scene = flow()
    scene.request_ms = 20_000
    scene.put(*triggers(7))
    scene.clock.time = NOON + 10
    scene.sent.clear()
    assert scene.work() == "walked"
    assert len(scene.delivered) == 4
    # It has shared them with workers that it would have called.
    assert sorted(scene.waiting(), key=lambda each: each.not_before) == triggers(7)[4:]
    assert all(each.owner is None for each in scene.holders())
    scene.run(1)
    assert sorted(scene.delivered, key=lambda each: each.not_before) == triggers(7)


def test_a_rate_is_kept_and_a_dry_worker_leaves_one_message_for_the_next_token() -> None:
    scene = flow(None, rate=Rate(10, 60_000))
    scene.clock.time = NOON + 10
    scene.put(*triggers(5))
    scene.sent.clear()
    assert scene.work() == "walked"
    assert len(scene.delivered) == 1
    [(_, waker)] = scene.sent
    assert waker.clears_mark
    assert scene.work(WORK._replace(not_before=scene.clock.time)) == "marked"
    scene.run(60)
    assert scene.delivered == triggers(5)
    assert not scene.waiting()


def test_the_message_for_the_next_token_clears_the_mark_of_a_missing_policy() -> None:
    scene = Flow()
    assert scene.permits.mark(KEY, NOON, NOON + 60_000, "worker")
    assert scene.work(WORK._replace(clears_mark=True)) == "missing"
    assert not scene.permits.bucket(KEY).is_marked(NOON)


def test_a_partition_that_another_worker_walks_is_left_alone() -> None:
    scene = flow()
    scene.put(trigger_message(NOON))
    [(place, _)] = scene.lines.everything()
    assert scene.lines.claim(place, None, "other", NOON + 30_000)
    assert scene.work() == "walked"
    assert not scene.delivered


def test_each_trigger_of_an_entry_at_which_a_worker_crashed_counts_a_crash_and_stands_alone() -> None:
    scene = flow()
    scene.put(*triggers(3))
    [(place, _)] = scene.lines.everything()
    assert scene.lines.claim(place, None, "crashed", NOON)
    scene.clock.time = NOON + 10
    scene.work()
    assert [each.crashes for each in scene.delivered] == [1, 1, 1]
    assert not scene.waiting()


def test_the_same_trigger_that_comes_into_the_line_once_more_is_not_deleted_with_the_first() -> None:
    scene = flow()
    scene.put(trigger_message(NOON), source="first")
    [(place, first)] = scene.lines.everything()
    scene.put(trigger_message(NOON), source="second")
    assert scene.lines.delete(place, first)
    assert scene.waiting() == [trigger_message(NOON)]


def test_a_trigger_that_the_store_refuses_to_settle_stays_in_the_line() -> None:
    scene = flow()
    scene.put(trigger_message(NOON))
    scene.work_in_vain()
    assert scene.waiting() == [trigger_message(NOON)]
    scene.clock.time = NOON + HOLDER_MS + VISIBILITY_MS
    scene.work(receives=2)
    assert scene.delivered == [trigger_message(NOON)]


def crowded() -> Flow:
    """A line of several entries, of which a worker can deliver some."""
    scene = flow(2, rate=Rate(600, 60_000))
    scene.request_ms = 9_000
    scene.put(*triggers(4), trigger_message(NOON + 30_000))
    scene.put(*triggers(8)[4:], source="other")
    scene.clock.time = NOON + 20
    scene.sent.clear()
    return scene


def calls_of(scene: Flow) -> list[str]:
    calls: list[str] = []
    scene.announce = calls.append
    scene.work()
    scene.announce = lambda _: None
    return calls


def test_a_crash_at_any_call_of_a_worker_loses_nothing() -> None:
    calls = calls_of(crowded())
    assert len(calls) > 50
    for number in range(len(calls)):
        scene = crowded()
        numbers = count()

        def announce(call: str, numbers: Any = numbers, number: int = number) -> None:
            if next(numbers) == number:
                raise Killed(call)

        scene.announce = announce
        with pytest.raises(Killed):
            scene.work()
        scene.announce = lambda _: None
        # SQS shows the message again.
        scene.clock.time = max(scene.clock.time, NOON + VISIBILITY_MS)
        scene.work(receives=2)
        scene.run(600)
        due = {each.trigger.id for each in scene.delivered}
        assert due == {each.trigger.id for each in (*triggers(8), trigger_message(NOON + 30_000))}, (
            f"killed {calls[number]} ({number})"
        )
        assert not scene.waiting(), f"killed {calls[number]} ({number})"
        now = scene.clock.time
        assert all(each.owner is None and not each.in_use(now) for each in scene.holders())


def test_a_worker_begins_nothing_a_second_after_its_policy_was_deleted() -> None:
    scene = flow(8)
    scene.put(*triggers(40))
    scene.clock.time = NOON + 100

    def announce(call: str) -> None:
        if call == "after consumer.deliver" and len(scene.delivered) == 3:
            deleted = policy(8, version="version000000002", deleted_at=scene.clock.time)
            assert scene.policies.put(deleted, "version000000001")

    scene.announce = announce
    scene.work()
    # A request takes 100 ms.
    assert 3 <= len(scene.delivered) <= 3 + 11
    assert len(scene.waiting()) == 40 - len(scene.delivered)


def test_the_last_worker_leaves_a_message_for_what_it_did_not_see() -> None:
    scene = flow(1)
    late = trigger_message(NOON + 500)

    def announce(call: str) -> None:
        if call == "before permits.enter":
            # Another writer fills the line, and its message finds every permit taken.
            scene.announce = lambda _: None
            scene.put(late)
            assert scene.work() == "full"
            scene.sent.clear()

    scene.put(trigger_message(NOON))
    scene.sent.clear()
    scene.announce = announce
    scene.work()
    assert [message.not_before for _, message in scene.sent] == [late.not_before]
    scene.run(60)
    assert scene.delivered == [trigger_message(NOON), late]
