"""Delivery functions in threads that take turns at one job, on the real store of lines and runs."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.fakes.engines import Dynamo
from tests.fakes.lines import FAILED, MINUTE, SUCCESS, message_of, triggers
from tests.fakes.world import NOON, World, key_of

from sweephand.model.attempt import Answer, Attempt

TRIGGERS = 8


@pytest.fixture
def world(dynamo: Dynamo) -> World:
    """A world whose jobs, runs and lines are in DynamoDB."""
    stores = dynamo.stores()
    world = World()
    world.jobs, world.runs, world.lines = stores.jobs, stores.runs, stores.lines  # type: ignore[assignment]
    return world


class Alone:
    """A consumer that knows whether it is called by two at a time, and fails some first attempts."""

    def __init__(self) -> None:
        self.most = self._now = 0
        self._lock = threading.Lock()

    def __call__(self, attempt: Attempt) -> Answer:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        # Another thread has time to come in between.
        threading.Event().wait(0.01)
        with self._lock:
            self._now -= 1
        fails = attempt.number == 1 and attempt.trigger.sequence % 3 == 0
        return FAILED if fails else SUCCESS


@pytest.mark.parametrize("mode", ["skip", "wait", "waitLatest"])
def test_threads_that_deliver_one_job_s_triggers_call_its_consumer_one_at_a_time(
    world: World, mode: str
) -> None:
    messages = triggers(world, mode, *range(TRIGGERS), retry={"initialDelay": "1s"})
    consumer = Alone()
    world.consumers.answering = consumer
    world.clock.time = NOON + MINUTE
    job = world.stored()
    # Each comes twice, as SQS may have it.
    world.queue.send([(message_of(job, due_s), 0) for due_s in range(TRIGGERS) for _ in range(2)])
    lock = threading.Lock()

    def deliver() -> None:
        while True:
            with lock:
                batch = world.queue.take(2)
            if not batch:
                return
            for handled in world.deliver(batch):
                assert handled.is_done, handled.error
                assert handled.error is None, handled.error

    for _ in range(60):
        at_once(deliver)
        if not world.queue.waiting:
            break
        world.clock.time = max(world.clock.time, min(at for at, _ in world.queue.waiting))
    assert not world.queue.waiting
    assert consumer.most == 1
    runs = world.runs.page(key_of(), None, "", 100).items
    assert {run.due_at for run in runs} == {message.trigger.due_at for message in messages}
    over = {"succeeded"} if mode == "wait" else {"succeeded", "skipped"}
    assert {run.state for run in runs} <= over
    assert world.lines.get(key_of()) is None


def at_once(action: Callable[[], None], threads: int = 4) -> None:
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(action) for _ in range(threads)]:
            done.result()
