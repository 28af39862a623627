"""Several delivery functions at one line, some of which crash: one run at a time, and none is lost."""

from collections.abc import Callable
from itertools import cycle
from random import Random
from typing import Any

import pytest
from tests.fakes.deliveries import handle
from tests.fakes.faults import kill_everywhere
from tests.fakes.interleave import Action, every_interleaving, shuffled
from tests.fakes.lines import (
    FAILED,
    MINUTE,
    MODES,
    SUCCESS,
    alone,
    delivered,
    message_of,
    states,
    triggers,
)
from tests.fakes.world import NOON, World, key_of

from sweephand.model.attempt import Answer, Attempt
from sweephand.model.trigger import TriggerMessage

#: The first attempt fails, and the second comes half a minute later.
SLOW: dict[str, Any] = {"retry": {"initialDelay": "40s", "multiplier": 1}}


def arriving(due_s: int) -> Action:
    """A delivery function that receives a trigger."""
    return lambda world: handle(world, message_of(world.stored(), due_s))


def ending(world: World) -> None:
    """A delivery function that receives the retry of the holder, which succeeds."""
    for at, message in world.queue.waiting:
        if isinstance(message, TriggerMessage) and message.attempt > 1:
            world.queue.waiting.remove((at, message))
            world.clock.time = max(world.clock.time, at)
            handle(world, message)
            return


def prepared(mode: str, *dues_s: int, **written: Any) -> Callable[[], World]:
    """A line that the first trigger holds, its run failed and to be retried; the others have come once."""

    def prepare() -> World:
        world = World()
        messages = triggers(world, mode, *dues_s, **SLOW, **written)
        world.consumers.answering = alone(world, iter([FAILED]))
        for message in messages:
            world.clock.time = message.not_before
            handle(world, message)
        world.clock.time = NOON + 20_000
        return world

    return prepare


def free(mode: str) -> Callable[[], World]:
    """A line that no trigger holds."""

    def prepare() -> World:
        world = World()
        triggers(world, mode)
        world.consumers.answering = alone(world)
        world.clock.time = NOON + 20_000
        return world

    return prepare


def settle(world: World) -> None:
    """Let everything come that is on its way."""
    world.run_until(world.clock.time + 60 * MINUTE)
    assert not world.queue.waiting
    assert world.lines.get(key_of()) is None


def check_over(world: World, mode: str, *dues_s: int) -> None:
    """Each trigger has run, or was skipped if the mode allows that. No trigger holds the line."""
    settle(world)
    found = states(world)
    assert set(found) == set(dues_s)
    assert set(found.values()) <= ({"succeeded"} if mode == "wait" else {"succeeded", "skipped: overlap"})
    assert {due_s for due_s, state in found.items() if state == "succeeded"} == set(delivered(world))


@pytest.mark.parametrize("mode", MODES)
def test_of_two_triggers_at_once_one_runs_and_the_other_waits_or_is_skipped(mode: str) -> None:
    assert every_interleaving(
        free(mode), arriving(1), arriving(2), lambda world: check_over(world, mode, 1, 2)
    )


@pytest.mark.parametrize("mode", MODES)
def test_a_trigger_that_comes_as_the_holders_run_ends_runs_or_waits_or_is_skipped(mode: str) -> None:
    def check(world: World) -> None:
        check_over(world, mode, 0, 2)

    assert every_interleaving(prepared(mode, 0), ending, arriving(2), check)


@pytest.mark.parametrize("mode", ["wait", "waitLatest"])
def test_a_trigger_that_comes_as_the_line_is_handed_on_does_not_overtake_a_waiting_one(mode: str) -> None:
    def check(world: World) -> None:
        check_over(world, mode, 0, 1, 2)
        ran = [due_s for due_s in delivered(world) if due_s]
        assert ran == ([1, 2] if states(world)[1] == "succeeded" else [2])

    assert every_interleaving(prepared(mode, 0, 1), ending, arriving(2), check)


@pytest.mark.parametrize("mode", ["wait", "waitLatest"])
def test_a_waiting_trigger_that_is_received_as_it_gets_the_line_runs_once(mode: str) -> None:
    def check(world: World) -> None:
        check_over(world, "wait", 0, 1)
        assert delivered(world) == [0, 0, 1]

    assert every_interleaving(prepared(mode, 0, 1), ending, arriving(1), check)


@pytest.mark.parametrize("mode", MODES)
def test_of_two_copies_of_one_trigger_one_runs(mode: str) -> None:
    def check(world: World) -> None:
        check_over(world, "wait", 1)
        assert delivered(world) == [1]

    assert every_interleaving(free(mode), arriving(1), arriving(1), check)


@pytest.mark.parametrize("mode", ["wait", "waitLatest"])
def test_a_trigger_whose_function_is_killed_joining_the_line_has_joined_it_or_comes_again(mode: str) -> None:
    def prepare(world: World) -> None:
        messages = triggers(world, mode, 0, 1, **SLOW)
        world.consumers.answering = alone(world, iter([FAILED]))
        for message in messages:
            world.clock.time = message.not_before
            handle(world, message)
        world.queue.send([(message_of(world.stored(), 2), 0)])
        world.clock.time = NOON + 20_000

    def check(world: World) -> None:
        world.clock.time += 4 * MINUTE
        world.queue.reappear()
        check_over(world, mode, 0, 1, 2)
        assert 2 in delivered(world)

    kill_everywhere(prepare, lambda world: world.deliver(world.queue.take(1)), check)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(15))
def test_three_triggers_at_once_run_one_at_a_time(mode: str, seed: int) -> None:
    """Some orders of three. The simulator tries others (mutations/overlapping.py)."""
    chance = Random(seed)  # noqa: S311 - a race has to be repeatable
    world = free(mode)()
    shuffled(world, [arriving(1), arriving(2), arriving(3)], chance)
    check_over(world, mode, 1, 2, 3)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(8))
def test_in_random_worlds_triggers_run_one_at_a_time_and_none_is_lost(mode: str, seed: int) -> None:
    """Some random worlds. The simulator tries others (mutations/overlapping.py)."""
    LineWalk(seed, mode).go(40)


class LineWalk:
    """A job every seven seconds whose consumer often fails, and up to three delivery functions that die."""

    def __init__(self, seed: int, mode: str) -> None:
        self.chance = Random(seed)  # noqa: S311 - a walk has to be repeatable
        self.world = World(shards=1)
        self.mode = mode
        self.world.consumers.answering = self._answer
        self._alone = alone(self.world)
        self.world.put(
            schedule="@every 7s",
            overlap=mode,
            ttl="10m",
            waitLimit=5,
            retry={"initialDelay": "9s", "maxAttempts": 3},
        )

    def go(self, steps: int) -> None:
        """Take that many steps, then let everything come to its end; AssertionError if it does not."""
        world = self.world
        minutes = cycle(range(60))
        for _ in range(steps):
            world.clock.time += self.chance.choice((0, 500, 2_000, 9_000, 15_000))
            if next(minutes) % 3 == 0:
                world.tick()
            crew = self.chance.randint(1, 3)
            shuffled(world, [self._deliver] * crew, self.chance, kill=0.02)
            if self.chance.random() < 0.1:
                world.queue.reappear()
            if self.chance.random() < 0.1:
                world.queue.waiting += world.queue.waiting[:2]
        world.clock.time = max(world.clock.time, NOON + 10 * MINUTE)
        world.queue.reappear()
        world.run_until(world.clock.time + 3 * 60 * MINUTE)
        assert not world.queue.waiting
        assert world.lines.get(key_of()) is None
        found = states(world)
        assert {due_s * 1_000 + NOON for due_s in found} == {NOON + 7_000 * each for each in range(1, 86)}
        assert set(found.values()) <= {"succeeded", "failed", "skipped: overlap"}
        if self.mode == "wait":
            assert delivered(world)

    def _deliver(self, world: World) -> None:
        if batch := world.queue.take(self.chance.randint(1, 3)):
            world.deliver(batch)

    def _answer(self, attempt: Attempt) -> Answer:
        self._alone(attempt)
        return self.chance.choice((SUCCESS, SUCCESS, FAILED))
