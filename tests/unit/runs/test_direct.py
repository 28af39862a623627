"""A trigger under a policy that need not wait is delivered by the function that receives it."""

from collections import Counter
from itertools import pairwise

import pytest
from tests.fakes.policies import GATE, add_policy, nobody_serves, waiting, world_with
from tests.fakes.world import NOON, World, quiet

from sweephand.base.instants import SECOND_MS
from sweephand.model.attempt import Answer
from sweephand.model.policy import Rate
from sweephand.model.trigger import DeadlineMessage, TriggerMessage

DUE = NOON + 20 * SECOND_MS


@pytest.fixture
def world() -> World:
    world = world_with()
    world.takes_slots = True
    return world


def used(world: World) -> int:
    return world.gates.get(GATE).used


def test_a_trigger_alone_leaves_when_it_is_due_with_three_writes_and_no_further_message(world: World) -> None:
    calls = Counter[str]()
    world.announce = lambda call: calls.update([call])
    world.put(dueTime="20s", policy="mailer")
    calls.clear()
    world.run_until(DUE)
    assert world.consumers.times == [DUE]
    written = {name: count for name, count in calls.items() if "before gate" in name}
    assert written == {"before gates.change": 2}
    assert calls["before policies.get"] == 1
    assert not world.flow_queue.waiting
    assert used(world) == 0


def test_what_finds_no_slot_waits_in_the_line_and_is_delivered_afterwards(world: World) -> None:
    for number in range(12):
        world.put(f"job-{number}", dueTime="20s", policy="mailer")
    with nobody_serves(world):
        world.run_until(DUE)
        # A function takes a quarter of the limit, rounded up.
        assert len(world.consumers.ids) == 2
        assert len(waiting(world)) == 10
    world.run_until(DUE + 60 * SECOND_MS)
    assert len(world.consumers.ids) == len(set(world.consumers.ids)) == 12
    assert not waiting(world)
    assert used(world) == 0


def test_what_comes_while_others_wait_queues_behind_them(world: World) -> None:
    with nobody_serves(world):
        for number in range(12):
            world.put(f"job-{number}", dueTime="20s", policy="mailer")
        world.run_until(DUE)
        world.put("later", dueTime="5s", policy="mailer")
        world.run_until(DUE + 5 * SECOND_MS)
        assert "later" in {each.trigger.key.name for each in waiting(world)}


def test_a_trigger_that_came_in_another_lane_or_too_late_takes_no_slot(world: World) -> None:
    world.put("late", dueTime="20s", policy="mailer")
    world.put("other-lane", dueTime="20s", policy="mailer")
    for number, (at, message) in enumerate(world.queue.waiting):
        assert isinstance(message, TriggerMessage)
        if message.trigger.key.name == "other-lane":
            world.queue.waiting[number] = at, message._replace(lane="normal")
        else:
            world.queue.waiting[number] = at + 3 * SECOND_MS, message
    with nobody_serves(world):
        world.run_until(DUE + 3 * SECOND_MS)
        assert len(waiting(world)) == 2


def test_a_stack_without_flow_policies_delivers_nothing_under_one(world: World) -> None:
    world.put(dueTime="20s", policy="mailer")
    world.takes_slots = False
    with nobody_serves(world):
        world.run_until(DUE)
        assert len(waiting(world)) == 1


def test_an_asynchronous_run_keeps_the_slot_until_it_is_over(world: World) -> None:
    world.consumers.answering = lambda _: Answer(succeeded=True, code=202)
    world.put(dueTime="20s", policy="mailer", completion="async", maxRunTime="1m", retry={"maxAttempts": 1})
    world.run_until(DUE)
    assert used(world) == 1
    checks = [each for _, each in world.queue.waiting if isinstance(each, DeadlineMessage)]
    assert {each.lane for each in checks} == {"normal"}, "slow consumers may hold the lane of policies"
    world.run_until(DUE + 120 * SECOND_MS)
    assert used(world) == 0


@pytest.mark.parametrize("at", ["after gates.change", "before consumers.deliver", "after consumers.deliver"])
def test_a_trigger_whose_function_crashed_comes_again_by_the_line_and_its_slot_comes_back(
    world: World, at: str
) -> None:
    class Crashed(BaseException):
        pass

    dead: list[str] = []

    def crashing(announced: str) -> None:
        if dead or announced == at:
            dead.append(announced)
            raise Crashed

    world.put(dueTime="20s", policy="mailer")
    world.clock.time = DUE
    batch = world.queue.take()
    world.announce = crashing
    with pytest.raises(Crashed):
        world.deliver(batch)
    world.announce = quiet
    assert used(world) == 1
    world.clock.time += 180 * SECOND_MS
    with nobody_serves(world):
        world.deliver([each._replace(receives=2) for each in batch])
        assert len(waiting(world)) == 1
    world.run_until(DUE + 400 * SECOND_MS)
    assert len(set(world.consumers.ids)) == 1
    assert not waiting(world)
    assert world.gates.get(GATE).free(5, world.clock.time) == 5


def test_a_trigger_of_a_rate_leaves_in_its_slot_of_time_and_others_wait_in_the_line() -> None:
    world = World()
    world.takes_slots = True
    add_policy(world, None, rate=Rate(2, SECOND_MS))
    for number in range(6):
        world.put(f"job-{number}", dueTime="20s", policy="mailer")
    world.run_until(DUE + 10 * SECOND_MS)
    times = sorted(world.consumers.times)
    assert len(times) == 6
    assert all(after - before >= 500 for before, after in pairwise(times))
    assert times[-1] - DUE <= 4 * SECOND_MS
