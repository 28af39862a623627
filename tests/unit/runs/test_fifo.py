"""Which attempts a FIFO queue must take as new messages, and which it may drop as repetitions."""

from typing import Any

import pytest
from tests.fakes.deliveries import run_of
from tests.fakes.fifo import URL, FifoQueue
from tests.fakes.sqs import sqs_targets
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import StoreError
from sweephand.base.instants import HOUR_MS
from sweephand.model.attempt import Answer, Attempt

TARGET = {"type": "sqs", "queueUrl": URL}
RETRY = {"initialDelay": "5s", "multiplier": 1}


class Queued:
    """ports.Targets: the queue; the answers to the attempts in `lost` do not arrive."""

    def __init__(self, world: World, *lost: int) -> None:
        self.queue = FifoQueue(world.clock)
        self._targets = sqs_targets(self.queue.clients)
        self._lost = lost

    def deliver(self, attempt: Attempt) -> Answer:
        answer = self._targets.deliver(attempt)
        if attempt.number in self._lost:
            return Answer(succeeded=False, error="SQS did not answer.")
        return answer

    @property
    def attempts(self) -> list[int]:
        """The numbers of the attempts that the consumer got."""
        return [each["attempt"] for each in self.queue.delivered]


def world_with(*lost: int, **written: Any) -> tuple[World, Queued]:
    """A world in which a job sends to a FIFO queue five seconds after noon, and has."""
    world = World()
    queued = Queued(world, *lost)
    world.consumers = queued  # type: ignore[assignment] # another implementation of the port
    world.put(dueTime="5s", target=TARGET, retry=RETRY, **written)
    world.run_until(NOON + 6_000)
    return world, queued


def reports_failure(world: World) -> None:
    world.callbacks().fail(key_of(), run_of(world).run_id, None, reason="disk full", is_final=False)


def test_a_queue_takes_a_retry_though_the_job_asks_for_no_more_reports() -> None:
    world, queued = world_with(completion="async")
    reports_failure(world)
    world.patch(without=["completion"])
    world.run_until(NOON + 60_000)
    assert (run_of(world).state, queued.attempts) == ("succeeded", [1, 2])
    assert len({each["id"] for each in queued.queue.delivered}) == 1


def test_a_queue_takes_a_retry_whatever_the_attempts_before_it_were() -> None:
    world, queued = world_with(2, completion="async")
    reports_failure(world)
    world.patch(without=["completion"])
    world.run_until(NOON + 60_000)
    assert run_of(world).state == "succeeded"
    # The answer to the second got lost. That the third is taken, too, is a duplicate under the same id.
    assert queued.attempts == [1, 2, 3]


def test_a_queue_takes_a_retry_that_waited_in_the_wheel() -> None:
    # Only what lies beyond the queue's reach is in the wheel, so the queue has to remember for longer.
    world, queued = world_with(completion="async")
    queued.queue.remembers_ms = HOUR_MS
    world.patch(without=["completion"], retry={"initialDelay": "30m", "maxDelay": "1h"})
    reports_failure(world)
    world.run_until(NOON + HOUR_MS)
    assert (run_of(world).state, queued.attempts) == ("succeeded", [1, 2])


def test_a_queue_takes_a_redriven_retry() -> None:
    world, queued = world_with(completion="async")
    world.patch(without=["completion"], retry={"maxAttempts": 1})
    reports_failure(world)
    world.run_until(NOON + 10_000)
    assert run_of(world).state == "failed"
    world.redrive(run_of(world).run_id)
    world.run_until(NOON + 20_000)
    assert (run_of(world).state, queued.attempts) == ("succeeded", [1, 2])


def test_a_queue_drops_a_retry_of_an_attempt_that_it_took_though_its_answer_was_lost() -> None:
    world, queued = world_with(1)
    world.run_until(NOON + 60_000)
    assert (run_of(world).state, queued.attempts) == ("succeeded", [1])


@pytest.mark.parametrize("completion", ["sync", "async"])
def test_a_queue_takes_an_attempt_once_that_is_made_twice(world: World, completion: str) -> None:
    queued = Queued(world)
    world.consumers = queued  # type: ignore[assignment] # another implementation of the port
    world.put(dueTime="5s", target=TARGET, completion=completion)
    world.clock.time += 5_000

    def dying(call: str) -> None:
        if call == "after consumers.deliver":
            world.announce = lambda _: None
            raise StoreError("the function dies here")

    world.announce = dying
    world.deliver(world.queue.take())
    world.run_until(NOON + 270_000)
    assert queued.attempts == [1]
