"""The slot of an asynchronous attempt is free soon after its consumer has called back, whatever crashes."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.fakes.acceptance import ACCEPTED
from tests.fakes.deliveries import run_of
from tests.fakes.faults import Killed, failing, meanwhile
from tests.fakes.policies import GATE, world_with
from tests.fakes.world import NOON, World

from sweephand.base.errors import StoreError
from sweephand.base.instants import MINUTE_MS
from sweephand.model.run import Run

Call = Callable[[World, Run], object]


def under_way() -> World:
    """A world whose only slot an asynchronous run has, for up to twelve hours."""
    world = world_with(1)
    world.consumers.answering = lambda _: ACCEPTED
    asynchronous = {"completion": "async", "heartbeatTimeout": "12h", "maxRunTime": "24h"}
    retry = {"maxAttempts": 3, "initialDelay": "2h", "maxDelay": "2h"}
    written: dict[str, Any] = {"dueTime": "5s", "policy": "mailer", "retry": retry, **asynchronous}
    world.put("job", **written)
    world.run_until(NOON + 30 * MINUTE_MS)
    assert world.gates.get(GATE).used == 1
    return world


def fail(world: World, run: Run) -> None:
    world.callbacks().fail(run.key, run.run_id, run.token, reason="no", is_final=False)


def give_up(world: World, run: Run) -> None:
    world.callbacks().fail(run.key, run.run_id, run.token, reason="no", is_final=True)


def killed() -> None:
    raise Killed


def comes_again(world: World) -> None:
    """SQS shows the messages again that a function had when it ended."""
    for message in list(world.queue.in_flight.values()):
        world.queue.send([(message, 3 * MINUTE_MS)])
    world.queue.in_flight.clear()


@pytest.mark.parametrize(("call", "moves"), [(fail, 0), (give_up, 1)])
def test_a_function_ends_after_it_has_recorded_a_failure(call: Call, moves: int) -> None:
    world = under_way()
    call(world, run_of(world))
    meanwhile(world, "after runs.move", killed, number=moves)
    with pytest.raises(Killed):
        world.run_until(NOON + 31 * MINUTE_MS)
    comes_again(world)
    world.run_until(NOON + 50 * MINUTE_MS)
    assert world.gates.get(GATE).used == 0


@pytest.mark.parametrize("port", ["gates.get", "gates.change"])
def test_the_store_of_gates_fails_once(port: str) -> None:
    world = under_way()
    fail(world, run_of(world))
    failing(world, port, times=1)
    with pytest.raises(StoreError):
        world.run_until(NOON + 50 * MINUTE_MS)
    world.run_until(NOON + 50 * MINUTE_MS)
    assert world.gates.get(GATE).used == 0


def test_the_api_ends_after_it_has_recorded_a_completion() -> None:
    world = under_way()
    run = run_of(world)
    meanwhile(world, "after runs.move", killed)
    with pytest.raises(Killed):
        world.callbacks().complete(run.key, run.run_id, run.token)
    world.run_until(NOON + 50 * MINUTE_MS)
    assert world.gates.get(GATE).used == 0
