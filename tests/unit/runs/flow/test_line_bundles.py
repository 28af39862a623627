"""Triggers go into a line and down it in few entries: from messages, bundles and pauses."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest
from tests.contract.builders import policy
from tests.fakes.faults import calls_of, failing, killed_at
from tests.fakes.world import NOON, World

from sweephand.base.errors import StoreError
from sweephand.model.policy import PolicyKey
from sweephand.model.trigger import BundleMessage, TriggerMessage
from sweephand.runs.received import Received

KEY = PolicyKey("ns", "mailer")
MINUTE = 60_000


def world_with(concurrent_max: int = 5) -> World:
    """A world with the policy `mailer`."""
    world = World()
    world.flow_functions_max = 4
    assert world.policies.put(replace(policy(concurrent_max), key=KEY), None)
    return world


def waiting(world: World) -> list[TriggerMessage]:
    return [each for _, entry in world.policy_lines.everything() for each in entry.messages]


def counting(world: World) -> Counter[str]:
    calls = Counter[str]()
    world.announce = lambda call: calls.update([call])
    return calls


def close_all_permits(world: World, until: int) -> Callable[[], None]:
    """Let somebody hold every permit, so that what comes into the line stays there."""
    for holder in world.permits.holders(KEY, 0):
        assert world.permits.take(KEY, holder, f"other{holder.slot}", world.clock.time, until)

    def free() -> None:
        for holder in world.permits.holders(KEY, 0):
            world.permits.enter(KEY, holder.slot, f"other{holder.slot}", {}, releasing=True)

    return free


def test_the_triggers_of_one_call_that_meet_a_policy_are_one_entry_and_one_work_message() -> None:
    world = world_with()
    close_all_permits(world, NOON + MINUTE)
    for number in range(10):
        world.put(f"job-{number}", dueTime="20s", policy="mailer")
    calls = counting(world)
    world.run_until(NOON + 20_000)
    assert [len(entry.messages) for _, entry in world.policy_lines.everything()] == [10]
    assert calls["before policy_lines.put"] == 1
    # The worker found every permit in use, so its message comes again.
    assert calls["before work.send"] == 1 + 1
    assert not world.queue.waiting


def test_triggers_with_and_without_a_policy_share_a_call() -> None:
    world = world_with()
    assert world.policies.put(replace(policy(1), key=PolicyKey("ns", "other")), None)
    for number in range(4):
        world.put(f"job-{number}", dueTime="20s", policy="mailer")
        world.put(f"other-{number}", dueTime="20s", policy="other", priority="high")
        world.put(f"plain-{number}", dueTime="20s")
    world.run_until(NOON + 2 * MINUTE)
    assert len(world.consumers.ids) == len(set(world.consumers.ids)) == 12
    assert min(world.consumers.times) == NOON + 20_000
    assert not waiting(world)
    assert not world.queue.waiting


def bundle_of(world: World, count: int) -> list[Received]:
    """A bundle of triggers that are due now, as the delivery function receives it."""
    for number in range(count):
        world.put(f"job-{number}", dueTime="20s", policy="mailer")
    singles = [message for _, message in world.queue.waiting if isinstance(message, TriggerMessage)]
    world.queue.waiting.clear()
    world.queue.send([(BundleMessage(tuple(singles)), 20_000)])
    world.clock.time = NOON + 20_000
    batch = world.queue.take()
    assert [each.receives for each in batch] == [1]
    return batch


def test_a_bundle_becomes_one_entry_and_comes_again_if_it_can_neither_be_written_nor_sent() -> None:
    world = world_with()
    batch = bundle_of(world, 6)

    def broken(call: str) -> None:
        if call in ("before policy_lines.put", "before queue.send"):
            raise StoreError("the test asks")

    world.announce = broken
    handled = world.deliver(batch)
    assert len(handled) == 6
    assert not any(each.is_done for each in handled)
    assert not waiting(world)
    world.announce = lambda _: None
    assert all(each.is_done for each in world.deliver(batch))
    assert [len(entry.messages) for _, entry in world.policy_lines.everything()] == [6]


def test_the_triggers_of_an_entry_that_cannot_be_written_are_sent_again_one_by_one() -> None:
    world = world_with()
    batch = bundle_of(world, 6)
    failing(world, "policy_lines.put", times=1)
    handled = world.deliver(batch)
    assert {each.outcome.name for each in handled} == {"fault"}
    assert all(each.is_done for each in handled)
    world.run_until(NOON + 5 * MINUTE)
    assert len(world.consumers.ids) == len(set(world.consumers.ids)) == 6
    assert not waiting(world)
    assert not world.queue.waiting


def test_a_crash_at_any_call_that_puts_a_bundle_into_a_line_loses_none_of_its_triggers() -> None:
    world = world_with()
    batch = bundle_of(world, 3)
    calls = calls_of(world, lambda: world.deliver(batch))
    for number in range(len(calls)):
        world = world_with()
        batch = bundle_of(world, 3)
        killed_at(world, number, partial(world.deliver, batch))
        again = [each._replace(receives=2) for each in batch]
        assert all(each.is_done for each in world.deliver(again))
        world.run_until(NOON + 5 * MINUTE)
        assert len(set(world.consumers.ids)) == 3, calls[number]
        assert not waiting(world)
        # What was not acknowledged comes again. If its entry is there, all of it comes twice.
        assert len(world.consumers.ids) in (3, 6)


def test_a_trigger_that_leaves_its_policy_while_it_is_early_is_not_delivered_early() -> None:
    world = world_with()
    world.put(dueTime="20400ms", policy="mailer")

    def leaves(call: str) -> None:
        if call == "after jobs.get_many":
            world.announce = lambda _: None
            world.patch(without=["policy"])
            world.clock.time += 100

    world.announce = leaves
    world.run_until(NOON + 2 * MINUTE)
    assert len(world.consumers.times) == 1
    assert world.consumers.times[0] >= NOON + 20_400


def test_a_pause_costs_one_entry_and_no_message_for_a_hundred_waiting_triggers() -> None:
    world = world_with()
    world.put(dueTime="10m", batch={"count": 300}, policy="mailer")
    world.run_until(NOON + 9 * MINUTE)
    world.pause()
    world.run_until(NOON + 10 * MINUTE)
    calls = counting(world)
    world.run_until(NOON + 29 * MINUTE)
    assert not world.consumers.times
    assert len(waiting(world)) == 300
    assert calls["before queue.send"] == 0
    assert not world.queue.waiting
    # The rounds are as long as the pause has lasted: after 1, 2, 4, 8 and 15 minutes.
    assert calls["before policy_lines.put"] <= 5 * 4
    world.resume(mode="all")
    world.run_until(NOON + 60 * MINUTE)
    assert len(world.consumers.ids) == len(set(world.consumers.ids)) == 300
    assert not waiting(world)


def test_single_triggers_of_a_paused_job_go_down_the_line_together() -> None:
    world = world_with(1)
    free = close_all_permits(world, NOON + 10 * MINUTE)
    for number in range(40):
        world.put(f"job-{number}", dueTime=f"{20 + 2 * number}s", policy="mailer")
    world.run_until(NOON + 2 * MINUTE)
    entries = len(world.policy_lines.everything())
    assert entries >= 20
    for number in range(40):
        world.pause(f"job-{number}")
    world.clock.time += 10_000
    free()
    world.line_up().wake(KEY, world.clock.time)
    world.run_until(world.clock.time + 5_000)
    assert len(waiting(world)) == 40
    assert len(world.policy_lines.everything()) <= 12
    assert not world.consumers.times


def test_held_triggers_of_a_job_that_is_deleted_leave_the_line_without_a_message() -> None:
    world = world_with()
    world.put(dueTime="10m", batch={"count": 200}, policy="mailer")
    world.run_until(NOON + 9 * MINUTE)
    world.pause()
    world.run_until(NOON + 12 * MINUTE)
    assert len(waiting(world)) == 200
    world.delete()
    calls = counting(world)
    world.run_until(NOON + 40 * MINUTE)
    assert not waiting(world)
    assert not world.consumers.times
    assert not calls["before queue.send"]
    # Two workers meet them. One shares a pack with two that are free, before it reads the job.
    assert calls["before policy_lines.put"] <= 2


@pytest.mark.parametrize("other", [None, "other"])
def test_held_triggers_do_not_wait_for_a_policy_that_their_job_has_left(other: str | None) -> None:
    world = world_with()
    assert world.policies.put(replace(policy(5), key=PolicyKey("ns", "other")), None)
    free = close_all_permits(world, NOON + 20 * MINUTE)
    world.put(dueTime="10m", batch={"count": 20}, policy="mailer")
    world.run_until(NOON + 11 * MINUTE)
    world.pause()
    free()
    world.line_up().wake(KEY, world.clock.time)
    world.run_until(NOON + 12 * MINUTE)
    assert len(waiting(world)) == 20
    world.patch(**({} if other is None else {"policy": other}), without=["policy"] if other is None else [])
    world.run_until(NOON + 30 * MINUTE)
    stored = world.policies.get(KEY)
    assert stored is not None
    again = replace(stored, deleted_at=world.clock.time, version="version000000002")
    assert world.policies.put(again, stored.version)
    world.resume(mode="all")
    world.run_until(NOON + 60 * MINUTE)
    assert len(world.consumers.ids) == len(set(world.consumers.ids)) == 20
    assert not waiting(world)


def test_triggers_that_one_thread_cannot_put_into_a_line_in_time_are_sent_to_other_functions() -> None:
    world = world_with()
    batch = bundle_of(world, 10)

    def slow(call: str) -> None:
        if call.startswith("before jobs.get"):
            world.clock.time += 2_000

    world.announce = slow
    began_at = world.clock.time
    handled = world.deliver(batch)
    # One slow read of all jobs, and reads one by one for five seconds.
    assert world.clock.time - began_at <= 9_000
    assert all(each.is_done for each in handled)
    assert len(handled) == 10
    world.announce = lambda _: None
    assert 0 < len(waiting(world)) < 10
    world.run_until(NOON + 5 * MINUTE)
    assert len(world.consumers.ids) == len(set(world.consumers.ids)) == 10
    assert not waiting(world)
