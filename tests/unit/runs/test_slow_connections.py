"""Slow connections: the job is read again after connecting, and the attempt ends before the function does."""

from dataclasses import dataclass, field

import pytest
from tests.fakes import deliveries
from tests.fakes.deliveries import due, run_of, waiting
from tests.fakes.world import NOON, World, key_of

from sweephand.base.instants import HOUR_MS, SECOND_MS
from sweephand.base.timing import POSTPONED_MS, SETTLING_MS
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.job import EARLIER_REVISIONS_MAX
from sweephand.model.trigger import NotifyMessage, TriggerMessage
from sweephand.runs.received import Outcome
from sweephand.targets.registry import attempt_ms_max

#: The delivery function's time limit (template.yaml).
FUNCTION_MS = 90 * SECOND_MS


@dataclass
class Slow:
    """ports.Targets: connecting takes `connect_ms`, and `while_connecting()` writes the job meanwhile.

    A connection over which nothing was sent is kept, by the target's URL, unless `forgets` it.
    """

    world: World
    connect_ms: int
    forgets: bool = False
    connections: int = 0
    attempts: list[Attempt] = field(default_factory=list)
    _kept: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.world.consumers = self  # type: ignore[assignment] # another implementation of the port

    def deliver(self, attempt: Attempt) -> Answer:
        clock, url = self.world.clock, attempt.spec["url"]
        assert attempt.within_ms is not None, "an attempt without an end"
        if url not in self._kept:
            if self.connect_ms > attempt.within_ms:
                clock.time += attempt.within_ms
                return Answer(succeeded=False, error="No answer in time.")
            self.connections += 1
            clock.time += self.connect_ms
            self.while_connecting()
        if not attempt.may_send():
            if not self.forgets:
                self._kept.add(url)
            return Answer(succeeded=False, was_withdrawn=True)
        self.attempts.append(attempt)
        return Answer(succeeded=True, code=204)

    def while_connecting(self) -> None:
        """Another caller writes the job."""
        self.world.patch(labels={"n": str(self.connections)})


class Moving(Slow):
    """Another caller gives the job another consumer during each connection."""

    def while_connecting(self) -> None:
        target = {"type": "http", "url": f"https://consumer-{self.connections}.example/", "timeout": "60s"}
        self.world.patch(target=target)


class Hammering(Slow):
    """Another caller updates the job until it has no room for the revision that is being delivered."""

    def while_connecting(self) -> None:
        for number in range(EARLIER_REVISIONS_MAX + 1):
            self.world.clock.time += SECOND_MS
            self.world.patch(description=f"{self.connections} {number}")


def slow_target(timeout: str) -> dict[str, str]:
    return {"type": "http", "url": "https://slow.example/", "timeout": timeout}


def handle(world: World, message: TriggerMessage | NotifyMessage, left_ms: int = FUNCTION_MS) -> Outcome:
    """Handle a message in a function that has so much time left, and see to it that this is enough."""
    deadline = world.clock.time + left_ms
    delivered = deliveries.handle(world, message, deadline=deadline)
    assert world.clock.time <= deadline, "Lambda ended the function"
    return delivered


@pytest.mark.parametrize(("connect_ms", "timeout"), [(1_500, "15s"), (14_000, "15s"), (31_000, "60s")])
def test_a_slow_connection_is_used_although_the_job_is_read_again_after_it(
    world: World, connect_ms: int, timeout: str
) -> None:
    consumer = Slow(world, connect_ms)
    message = due(world, target=slow_target(timeout))
    assert handle(world, message).name == "succeeded"
    (attempt,) = consumer.attempts
    assert (consumer.connections, attempt.sent_at) == (1, NOON + 10_000 + connect_ms)
    # Connecting and the request share the target's time-out.
    assert attempt.within_ms == attempt_ms_max(slow_target(timeout)) - connect_ms


@pytest.mark.parametrize("connect_ms", [1_500, 31_000, 59_000])
def test_a_job_that_names_another_consumer_with_each_connection_never_outlasts_the_function(
    world: World,
    connect_ms: int,
) -> None:
    consumer = Moving(world, connect_ms)
    message = due(world, target=slow_target("60s"))
    assert handle(world, message).name == "postponed"
    assert not consumer.attempts
    assert [each for _, each in waiting(world)] == [message]


def test_a_trigger_whose_attempt_could_not_begin_for_a_day_is_delivered_later(world: World) -> None:
    consumer = Moving(world, 14_000)
    message = due(world, target=slow_target("60s"))
    world.queue.send([(message, 0)])
    end = world.clock.time + 24 * HOUR_MS
    while world.clock.time < end:
        # Enough that a count of any kind would end it, and few enough for a test.
        world.clock.time += 5 * 60 * SECOND_MS
        world.deliver(world.queue.take())
    assert not world.queue.buried
    ((_, copy),) = waiting(world)
    assert (copy.faults, copy.crashes, copy.attempt) == (0, 0, 1)
    consumer.while_connecting = lambda: None  # type: ignore[method-assign] # nobody writes the job any more
    world.run_until(world.clock.time + 60 * SECOND_MS)
    assert (run_of(world).state, len(consumer.attempts)) == ("succeeded", 1)


@pytest.mark.parametrize("timeout", ["15s", "60s"])
@pytest.mark.parametrize("fits", [True, False])
def test_an_attempt_that_could_outlast_the_function_is_put_back_before_it_is_claimed(
    world: World, timeout: str, *, fits: bool
) -> None:
    message = due(world, target=slow_target(timeout), completion="async")
    needs_ms = attempt_ms_max(slow_target(timeout)) + SETTLING_MS
    delivered = handle(world, message, left_ms=needs_ms if fits else needs_ms - 1)
    if fits:
        assert delivered.name == "succeeded"
        return
    assert delivered.name == "postponed"
    assert world.runs.of(message.trigger) is None
    assert waiting(world) == [(10_000 + POSTPONED_MS, message)]


def test_a_retry_that_could_not_begin_begins_when_its_claim_is_over(world: World) -> None:
    consumer = Moving(world, 31_000)
    message = due(world, target=slow_target("60s"))._replace(attempt=2)
    assert handle(world, message).name == "postponed"
    consumer.while_connecting = lambda: None  # type: ignore[method-assign] # nobody writes the job any more
    world.run_until(world.clock.time + 5 * 60 * SECOND_MS)
    assert (run_of(world).state, len(consumer.attempts)) == ("succeeded", 1)
    assert not world.queue.buried


def test_a_consumer_that_cannot_be_connected_to_in_time_has_failed(world: World) -> None:
    Slow(world, 16_000)
    assert handle(world, due(world, target=slow_target("15s"))).name == "retrying"
    assert run_of(world).reason == "No answer in time."


def test_a_notification_is_delivered_only_if_there_is_time_for_it(world: World) -> None:
    told = {"type": "http", "url": "https://told.example/", "timeout": "60s"}
    handle(world, due(world, onComplete=told))
    ((_, notice),) = world.queue.waiting
    world.queue.waiting.clear()
    assert isinstance(notice, NotifyMessage)
    assert handle(world, notice, left_ms=64_999).name == "postponed"
    assert [each for _, each in world.queue.waiting] == [notice]
    assert handle(world, notice, left_ms=65_000).name == "notified"


def test_every_attempt_of_an_invocation_knows_how_much_time_is_left(world: World) -> None:
    due(world, target=slow_target("60s"))
    world.put("job", target=slow_target("60s"), dueTime="0s")
    batch = world.queue.take()
    handled = world.intake().handle(batch, deadline=world.clock.time + 60 * SECOND_MS)
    assert {each.outcome.name for each in handled} == {"postponed"}
    assert all(each.is_done and each.error is None for each in handled)
    assert world.jobs.get(key_of()) is not None


def test_a_trigger_whose_job_forgets_its_revision_while_connecting_is_delivered(world: World) -> None:
    consumers = Hammering(world, connect_ms=100)
    world.put(schedule="@every 1s", target=slow_target("60s"))
    _, message = min(world.queue.waiting, key=lambda each: each[0])
    assert isinstance(message, TriggerMessage)
    world.queue.waiting.clear()
    world.clock.time = message.not_before
    assert handle(world, message).name == "succeeded"
    assert [each.trigger.due_at for each in consumers.attempts] == [message.trigger.due_at]
