"""Two processes, switched at every pair of their calls: the promises hold in every order."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.doubles import SkewedClock
from tests.fakes.interleave import every_interleaving
from tests.fakes.ledger import Ledger
from tests.fakes.world import NOON, World, key_of

from sweephand.model.attempt import Answer
from sweephand.runs.received import Received

MINUTE = 60_000
LARGE = '"' + "x" * 3_000 + '"'


class Scene:
    """Builds the same world again and again, and keeps the ledger and the batches of the latest."""

    def __init__(self, build: Callable[[World], None]) -> None:
        self._build = build
        self.ledger: Ledger
        self.batch: list[Received] = []

    def prepare(self) -> World:
        world = World(shards=1)
        self.ledger = Ledger(world)
        self._build(world)
        return world

    def check(self, world: World, *, minutes: int = 12) -> None:
        end = world.clock.time + minutes * MINUTE
        world.run_until(end)
        self.ledger.check(end)


def two_jobs(world: World) -> None:
    """Two jobs whose next triggers lie in the wheel, within a sweep's reach."""
    for number in range(2):
        world.put(f"job-{number}", schedule=f"@every {50 + number}s", data=str(number))
    world.clock.time += 4 * MINUTE


def sweep(world: World) -> object:
    return world.sweep()


def late_sweep(world: World) -> object:
    """A sweeper to whose clock every lease has ended."""
    clock = SkewedClock(world.clock, ahead_ms=45_000)
    state = world.leases.state()
    swept = world.wheel(clock).sweeper.sweep(
        state.leases, owner="late", first_shard=0, deadline=clock.now() + 120_000
    )
    swept.raise_faults()
    return swept


@pytest.mark.parametrize("other", [sweep, late_sweep])
def test_two_sweepers_of_one_shard_lose_nothing_and_leave_one_chain(other: Callable[[World], object]) -> None:
    scene = Scene(two_jobs)

    def check(world: World) -> None:
        scene.check(world, minutes=3)
        # A chain that doubled would go on sending everything twice.
        before = len(world.consumers.ids)
        world.run_until(world.clock.time + 5 * MINUTE)
        scene.ledger.check(world.clock.time)
        assert set(Counter(world.consumers.ids[before:]).values()) == {1}

    assert every_interleaving(scene.prepare, sweep, other, check) > 25


UPDATES: dict[str, dict[str, Any]] = {
    "other data": {"schedule": "@every 50s", "data": "9"},
    "another schedule": {"schedule": "@every 35s"},
    "a one-off": {"dueTime": "70s"},
    "a bound": {"schedule": "@every 50s", "repeats": 5},
}


@pytest.mark.parametrize("written", UPDATES.values(), ids=UPDATES)
@pytest.mark.parametrize("skew_ms", [-45_000, 45_000])
def test_an_update_and_a_sweep_lose_nothing_of_either_revision(written: dict[str, Any], skew_ms: int) -> None:
    scene = Scene(two_jobs)

    def update(world: World) -> object:
        world.api_clock.ahead_ms = skew_ms
        return world.put("job-0", **written)

    def check(world: World) -> None:
        scene.check(world, minutes=5)

    assert every_interleaving(scene.prepare, update, sweep, check) > 20


def test_a_job_that_is_deleted_and_created_again_under_a_sweep_fires_as_the_new_job_only() -> None:
    scene = Scene(two_jobs)

    def renew(world: World) -> object:
        world.delete("job-0")
        return world.put("job-0", schedule="@every 50s")

    assert every_interleaving(scene.prepare, renew, sweep, lambda world: scene.check(world, minutes=5)) > 20


def test_two_creations_at_the_same_moment_make_one_job() -> None:
    scene = Scene(lambda _: None)

    def create(data: str) -> Callable[[World], object]:
        return lambda world: world.put(schedule="@every 100s", data=data)

    def check(world: World) -> None:
        assert len(scene.ledger.versions) == 1
        scene.check(world, minutes=6)

    assert every_interleaving(scene.prepare, create(LARGE), create("2"), check) > 10


def in_flight(scene_of: dict[str, Scene], *, attempt: int) -> Callable[[World], None]:
    """Bring a trigger to where its delivery of that attempt may begin: its batch is in the scene."""

    def build(world: World) -> None:
        world.put(dueTime="10s", data=LARGE)
        world.clock.time = NOON + 10_000
        if attempt > 1:
            world.consumers.answering = lambda _: Answer(succeeded=False, code=503)
            world.deliver(world.queue.take())
            world.consumers.answering = lambda _: Answer(succeeded=True, code=200)
            ((_, message),) = world.queue.waiting
            world.clock.time = NOON + 14_000
            world.queue.waiting = [(world.clock.time, message)]
        world.queue.copy()
        scene_of["scene"].batch = world.queue.take()

    return build


def scene_in_flight(*, attempt: int) -> Scene:
    scenes: dict[str, Scene] = {}
    scenes["scene"] = Scene(in_flight(scenes, attempt=attempt))
    return scenes["scene"]


@pytest.mark.parametrize("attempt", [1, 2])
def test_no_delivery_begins_after_a_deletion_was_acknowledged(attempt: int) -> None:
    scene = scene_in_flight(attempt=attempt)

    def delete(world: World) -> None:
        world.delete()
        world.clock.time += 1_001

    def check(world: World) -> None:
        scene.check(world, minutes=1)
        (deleted_at,) = scene.ledger.deleted_at.values()
        assert all(at <= deleted_at for at in world.consumers.times)

    def deliver(world: World) -> None:
        world.deliver(scene.batch[:1])

    assert every_interleaving(scene.prepare, delete, deliver, check) > 5


@pytest.mark.parametrize("attempt", [1, 2])
def test_an_update_under_a_delivery_neither_loses_nor_doubles_it(attempt: int) -> None:
    scene = scene_in_flight(attempt=attempt)

    def update(world: World) -> object:
        return world.put(dueTime="30s", data="1")

    def check(world: World) -> None:
        scene.check(world, minutes=5)
        assert set(Counter((each.trigger.id, each.number) for each in world.consumers.attempts).values()) == {
            1
        }

    def deliver(world: World) -> None:
        world.deliver(scene.batch[:1])
        world.queue.acknowledge([scene.batch[1].receipt])

    assert every_interleaving(scene.prepare, update, deliver, check) > 10


def test_an_update_at_the_very_due_time_delivers_by_one_revision_or_the_other() -> None:
    scene = scene_in_flight(attempt=1)

    def update(world: World) -> object:
        # Requested just before the due time, committed just after it.
        return world.api().writer.put(
            key_of(), definition_of(world, data="1"), caller="test", requested_at=NOON + 9_990
        )

    def check(world: World) -> None:
        scene.check(world, minutes=5)
        assert len(set(world.consumers.ids)) == 1

    def deliver(world: World) -> None:
        world.deliver(scene.batch[:1])

    assert every_interleaving(scene.prepare, update, deliver, check) > 10


def definition_of(world: World, *, data: str) -> Any:
    """The stored definition with other data."""
    job = world.stored()
    return replace(job.definition, payload=type(job.definition.payload).of(data))  # type: ignore[union-attr]
