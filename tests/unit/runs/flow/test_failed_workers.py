"""A worker whose stores fail releases its holder, so that its permits do not stand idle for three minutes."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from typing import TypeVar

import pytest
from tests.contract.builders import NOON, policy, trigger_message
from tests.fakes.doubles import CountingIds, HandClock
from tests.fakes.faults import failing, working
from tests.fakes.flow_memory import MemoryPermits, MemoryPolicies
from tests.unit.runs.flow.test_line_worker import KEY, LIMIT_MS, WORK, Flow, flow, triggers
from tests.unit.runs.flow.test_under_policies import MINUTE, holders, waiting, world_with

from sweephand.base.concurrency import one_by_one
from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import HOLDER_MS
from sweephand.model.policy import PermitHolder
from sweephand.runs.flow.take_permits import take_permits

Result = TypeVar("Result")


def backlog() -> Flow:
    """A policy of four workers with six triggers that are due, and one that is due later."""
    scene = flow(4, holder_size=1)
    scene.workers_max = 2
    scene.put(*triggers(6), trigger_message(NOON + 5 * SECOND_MS))
    scene.sent.clear()
    return scene


def calls_of(scene: Flow) -> list[str]:
    calls: list[str] = []
    scene.announce = calls.append
    scene.work(WORK._replace(hint=(1, scene.lines.everything()[0][0].partition)))
    return calls


def fails_at(scene: Flow, first: int, last: int, port: str = "") -> None:
    """Work while each call of a port from the first to the last of these numbers fails."""
    numbers = count()

    def announce(call: str) -> None:
        if first <= next(numbers) <= last and call.startswith(port):
            raise StoreError(f"{call} failed, as the test asks")

    scene.announce = announce
    with pytest.raises(StoreError):
        scene.work(WORK._replace(hint=(1, scene.lines.everything()[0][0].partition)))
    scene.announce = lambda _: None


def test_a_call_that_fails_anywhere_leaves_no_holder_behind() -> None:
    calls = calls_of(backlog())
    assert {"after permits.take", "before lines.top", "before lines.delete"} <= set(calls)
    for number, call in enumerate(calls):
        scene = backlog()
        fails_at(scene, number, number)
        owned = [each for each in scene.holders() if each.is_owned(scene.clock.time)]
        assert not owned, f"{call} failed (call {number} of {len(calls)})"
        assert not [each for each in scene.holders() if each.in_use(scene.clock.time)]


def test_a_trigger_is_delivered_or_waits_whatever_call_has_failed() -> None:
    calls = calls_of(backlog())
    for number in range(len(calls)):
        scene = backlog()
        fails_at(scene, number, number)
        known = {each.trigger.id for each in (*scene.delivered, *scene.waiting())}
        assert len(known) == 7, calls[number]


def test_a_line_that_fails_from_some_call_on_leaves_no_holder_behind() -> None:
    calls = calls_of(backlog())
    for first, call in enumerate(calls):
        if not call.startswith("before lines"):
            continue
        scene = backlog()
        fails_at(scene, first, len(calls), "before lines")
        owned = [each for each in scene.holders() if each.is_owned(scene.clock.time)]
        assert not owned, f"from {call} on (call {first} of {len(calls)})"


def test_what_is_open_when_the_line_fails_stays_in_use_until_it_is_over() -> None:
    scene = flow(1)
    scene.put(*triggers(1))
    threads: list[Callable[[], object]] = []
    seen: list[tuple[bool, int]] = []

    def one_by_one(tasks: Sequence[Callable[[], Result]]) -> Sequence[Result]:
        threads.extend(tasks[1:])
        return [each() for each in tasks]

    def announce(call: str) -> None:
        if call == "before lines.put":
            raise StoreError("the test asks")
        if call == "before consumer.deliver" and not seen:
            # Meanwhile another thread finds that the policy was deleted. It leaves, and the line fails.
            [stored] = [scene.policies.get(KEY)]
            assert stored is not None
            assert scene.policies.put(replace(stored, deleted_at=NOON, version="v2"), stored.version)
            scene.clock.time += SECOND_MS
            threads[0]()
            holder = scene.holders()[0]
            seen.append((holder.is_owned(scene.clock.time), len(holder.in_use(scene.clock.time))))

    scene.announce = announce
    worker = scene.worker(concurrently=one_by_one)
    with pytest.raises(StoreError):
        worker.work(WORK, 1, scene.clock.time + LIMIT_MS, lambda: None)
    assert seen == [(False, 1)]
    assert len(scene.delivered) == 1
    assert not any(each.is_owned(scene.clock.time) or each.away for each in scene.holders())


def test_a_second_look_at_the_workers_that_fails_releases_the_holder() -> None:
    permits, reads = MemoryPermits(), count()

    class Failing(MemoryPermits):
        """The first read of the holders succeeds, and the one after the holder was taken fails."""

        def holders(self, *arguments: object) -> list[PermitHolder]:
            if next(reads):
                raise StoreError("the test asks")
            return list(permits.holders(*arguments))  # type: ignore[arg-type]

    store = Failing()
    store._holders = permits._holders
    with pytest.raises(StoreError):
        take_permits(
            policy(40),
            NOON + HOLDER_MS,
            workers_max=1,
            policies=MemoryPolicies(),
            permits=store,
            clock=HandClock(),
            ids=CountingIds(),
            concurrently=one_by_one,
        )
    assert not [each for each in permits.holders(KEY, 0) if each.is_owned(NOON)]


def test_triggers_do_not_wait_for_three_minutes_when_the_line_could_not_be_read_for_seconds() -> None:
    world = world_with(concurrent_max=4, holder_size=1, partitions=8)
    for number in range(4):
        world.put(f"job{number}", schedule=[f"2026-11-21T12:10:{number * 3:02d}Z"], policy="mailer")
    world.run_until(NOON + 8 * MINUTE + 1)
    assert len(waiting(world)) == 4
    world.clock.time = NOON + 10 * MINUTE
    failing(world, "policy_lines.top")
    for _ in range(3):
        while (message := world.work.take()) is None:
            world.clock.time += 100
        assert not world.work_off(message).is_done
        assert not [each for each in holders(world) if each.is_owned(world.clock.time)]
    working(world)
    # The message of the fourth trigger comes, and its worker delivers them all.
    world.run_until(NOON + 10 * MINUTE + 15 * SECOND_MS)
    assert len(world.consumers.ids) == 4


def test_a_request_whose_entry_cannot_be_deleted_holds_no_permit_when_it_is_over() -> None:
    world = world_with(concurrent_max=4, holder_size=1, partitions=8)
    world.put(schedule=["2026-11-21T12:10:00Z"], policy="mailer")
    world.run_until(NOON + 8 * MINUTE + 1)
    world.clock.time = NOON + 10 * MINUTE
    failing(world, "policy_lines.delete")
    while (message := world.work.take()) is None:
        world.clock.time += 100
    assert not world.work_off(message).is_done
    assert len(world.consumers.ids) == 1
    assert not [each for each in holders(world) if each.is_owned(world.clock.time) or each.away]
