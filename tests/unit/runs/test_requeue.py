"""What is put back does not come at once, though the clock goes on while that is done."""

from dataclasses import dataclass

from tests.fakes.acceptance import due_async
from tests.fakes.deliveries import change, due, handle, waiting
from tests.fakes.doubles import SkewedClock
from tests.fakes.world import NOON, World

from sweephand.base.instants import Instant


@dataclass
class RunningClock(SkewedClock):
    """A clock by which a millisecond passes each time that it is looked at."""

    def now(self) -> Instant:
        self.true.time += 1
        return super().now()


def running() -> World:
    world = World()
    world.delivery_clock = RunningClock(world.clock)
    return world


def comes_in_ms(world: World) -> int:
    ((at, _),) = waiting(world)
    return NOON + at - world.clock.time


def test_an_attempt_whose_predecessor_is_not_over_is_looked_at_every_second() -> None:
    world = running()
    _, message = due_async(world)
    handle(world, message)
    world.queue.waiting.clear()
    assert handle(world, message._replace(attempt=2)).name == "overtaken"
    assert comes_in_ms(world) > 990


def test_what_a_pause_of_a_moment_ago_holds_is_looked_at_a_second_later() -> None:
    world = running()
    message = due(world)
    change(world, paused_at=world.clock.time + 60_000)
    assert handle(world, message).name == "held"
    assert comes_in_ms(world) > 990


def test_what_is_early_by_a_second_is_not_made_late_by_that() -> None:
    world = running()
    message = due(world)
    world.clock.time = message.not_before - 1_002
    assert handle(world, message).name == "early"
    assert world.clock.time + comes_in_ms(world) <= message.not_before
