"""When a message that was put back comes again."""

from dataclasses import dataclass

import pytest
from tests.fakes.acceptance import due_async
from tests.fakes.deliveries import change, due, handle, waiting
from tests.fakes.doubles import SkewedClock
from tests.fakes.world import NOON, World

from sweephand.base.instants import Instant
from sweephand.base.timing import API_LIMIT_MS, UNKNOWN_DELAY_MS
from sweephand.runs.requeue import commit_awaited_until


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


def test_an_attempt_whose_predecessor_is_not_over_checks_it_every_second() -> None:
    world = running()
    _, message = due_async(world)
    handle(world, message)
    world.queue.waiting.clear()
    assert handle(world, message._replace(attempt=2)).name == "overtaken"
    assert comes_in_ms(world) > 990


def test_a_trigger_that_a_new_pause_holds_is_judged_again_a_second_later() -> None:
    world = running()
    message = due(world)
    change(world, paused_at=world.clock.time + 60_000)
    assert handle(world, message).name == "held"
    assert comes_in_ms(world) > 990


def test_a_message_that_is_a_second_early_is_not_delayed_beyond_its_due_time() -> None:
    world = running()
    message = due(world)
    world.clock.time = message.not_before - 1_002
    assert handle(world, message).name == "early"
    assert world.clock.time + comes_in_ms(world) <= message.not_before


@pytest.mark.parametrize(
    ("age_ms", "delay_ms"),
    [
        (-60_000, UNKNOWN_DELAY_MS),
        (0, UNKNOWN_DELAY_MS),
        (API_LIMIT_MS - 1, UNKNOWN_DELAY_MS),
        (26_000, 13_000),
        (100_000, 50_000),
    ],
)
def test_a_message_waits_longer_for_a_commit_that_can_hardly_come_any_more(
    age_ms: int, delay_ms: int
) -> None:
    now = NOON + age_ms
    assert commit_awaited_until(NOON, now) == now + delay_ms


def test_a_message_that_is_received_twice_each_time_does_not_multiply_much(world: World) -> None:
    message = due(world)
    world.delete()
    world.clock.time = NOON
    handled = 0
    while waiting(world) or not handled:
        at = min((at for at, _ in waiting(world)), default=0)
        world.clock.time = NOON + at
        world.queue.waiting.clear()
        handle(world, message)
        handled += 1
    # Each of these receives may double the copies.
    assert handled <= 20
