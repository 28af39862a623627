"""A pause, a resume or a patch while another actor writes, in every order of their calls."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.fakes.doubles import SkewedClock
from tests.fakes.interleave import every_interleaving
from tests.fakes.ledger import Ledger
from tests.fakes.world import NOON, World, key_of

from sweephand.model.attempt import Answer
from sweephand.model.definition import CatchUpMode
from sweephand.runs.received import Received

MINUTE = 60_000

#: A message that a pause held back comes again after as long as the pause has lasted.
HELD_MS = 15 * MINUTE


class Scene:
    """Builds the same world again and again, and keeps the ledger and the batch of the latest."""

    def __init__(self, build: Callable[[World], list[Received] | None]) -> None:
        self._build = build
        self.ledger: Ledger
        self.batch: list[Received] = []

    def prepare(self) -> World:
        world = World(shards=1)
        self.ledger = Ledger(world)
        self.batch = self._build(world) or []
        return world

    def check(self, world: World, *, minutes: int = 6) -> None:
        """Let what was left paused go on, and see that all that is owed was delivered, and nothing else."""
        job = world.jobs.get(key_of())
        if job is not None and job.paused_at is not None:
            world.resume(mode="all")
        was_paused = any(each.paused_at for each in self.ledger.versions[uid_of(world)])
        end = world.clock.time + minutes * MINUTE + (HELD_MS if was_paused else 0)
        world.run_until(end)
        self.ledger.check(end)


def uid_of(world: World) -> str:
    job = world.stored()
    return job.uid


def due(*, attempt: int) -> Callable[[World], list[Received]]:
    """A world in which the delivery of that attempt of a trigger may begin."""

    def build(world: World) -> list[Received]:
        world.put(schedule="@every 10s", data="1")
        world.clock.time = NOON + 10_000
        if attempt > 1:
            world.consumers.answering = lambda _: Answer(succeeded=False, code=503)
            world.deliver(world.queue.take(1))
            world.consumers.answering = lambda _: Answer(succeeded=True, code=200)
            world.clock.time = NOON + 14_000
        return world.queue.take(1)

    return build


def swept(world: World) -> None:
    """A world whose job's next triggers lie in the wheel, within a sweep's reach."""
    world.put(schedule="@every 50s", data="0")
    world.clock.time += 4 * MINUTE


def paused(world: World) -> None:
    swept(world)
    world.pause()
    world.clock.time += 2 * MINUTE


def sweep(world: World) -> object:
    return world.sweep()


@pytest.mark.parametrize("attempt", [1, 2])
def test_no_delivery_begins_after_a_pause_was_acknowledged(attempt: int) -> None:
    scene = Scene(due(attempt=attempt))
    paused_at = 0

    def pause(world: World) -> None:
        nonlocal paused_at
        world.pause()
        paused_at = world.clock.time
        world.clock.time += 1_001

    def deliver(world: World) -> None:
        world.deliver(scene.batch)

    def check(world: World) -> None:
        assert all(at <= paused_at for at in world.consumers.times)
        scene.check(world)

    assert every_interleaving(scene.prepare, pause, deliver, check) > 5


@pytest.mark.parametrize("write", ["patch", "pause"])
def test_a_trigger_that_a_write_met_on_its_way_is_not_delivered_again(write: str) -> None:
    scene = Scene(due(attempt=1))
    times_sent = set()

    def deliver(world: World) -> None:
        world.deliver(scene.batch)

    def rewrite(world: World) -> None:
        # So the write counts from before the due time.
        world.api_clock.ahead_ms = -500
        WRITES[write](world)

    def check(world: World) -> None:
        times_sent.add(len(world.consumers.attempts))
        world.api_clock.ahead_ms = 0
        world.clock.time += MINUTE
        scene.check(world)
        ids = [each.trigger.id for each in world.consumers.attempts]
        assert len(ids) == len(set(ids))

    every_interleaving(scene.prepare, deliver, rewrite, check)
    assert times_sent == {0, 1}


@pytest.mark.parametrize("skew_ms", [-45_000, 45_000])
def test_a_pause_under_a_sweep_loses_nothing_that_was_owed(skew_ms: int) -> None:
    scene = Scene(swept)

    def pause(world: World) -> None:
        world.api_clock.ahead_ms = skew_ms
        world.pause()

    def check(world: World) -> None:
        world.api_clock.ahead_ms = 0
        scene.check(world)

    assert every_interleaving(scene.prepare, pause, sweep, check) > 20


@pytest.mark.parametrize("skew_ms", [-45_000, 45_000])
@pytest.mark.parametrize("mode", ["latest", "all", "none"])
def test_a_resume_under_a_sweep_loses_nothing_and_leaves_one_chain(mode: CatchUpMode, skew_ms: int) -> None:
    scene = Scene(paused)

    def resume(world: World) -> None:
        world.api_clock.ahead_ms = skew_ms
        world.resume(mode=mode)

    def late_sweep(world: World) -> None:
        clock = SkewedClock(world.clock, ahead_ms=45_000)
        state = world.leases.state()
        swept = world.wheel(clock).sweeper.sweep(
            state.leases, owner="late", first_shard=0, deadline=clock.now() + 120_000
        )
        swept.raise_faults()

    def check(world: World) -> None:
        scene.check(world)
        ids = [
            each.trigger.id for each in world.consumers.attempts if each.trigger.due_at > NOON + 10 * MINUTE
        ]
        assert len(ids) == len(set(ids))

    assert every_interleaving(scene.prepare, resume, late_sweep, check) > 20


WRITES: dict[str, Callable[[World], object]] = {
    "put": lambda world: world.put(schedule="@every 50s", data="7"),
    "put of another schedule": lambda world: world.put(schedule="@every 35s"),
    "patch": lambda world: world.patch(labels={"a": "b"}),
    "patch of the schedule": lambda world: world.patch(schedule="@every 35s"),
    "pause": lambda world: world.pause(),
    "resume": lambda world: world.resume(mode="all"),
}

#: A sample of the 21 pairs: each write is in two of them, and each verb meets another one.
PAIRS = [
    ("put", "put"),
    ("put", "resume"),
    ("put of another schedule", "pause"),
    ("put of another schedule", "patch of the schedule"),
    ("patch", "pause"),
    ("patch", "patch of the schedule"),
    ("pause", "resume"),
]


@pytest.mark.parametrize("build", [swept, paused], ids=["active", "paused"])
@pytest.mark.parametrize(("one", "other"), PAIRS, ids=[f"{one} and {other}" for one, other in PAIRS])
def test_two_concurrent_writers_of_a_job_leave_one_history_and_lose_no_trigger(
    one: str, other: str, build: Callable[[World], None]
) -> None:
    scene = Scene(build)

    def check(world: World) -> None:
        job = world.stored()
        cuts = [each.since for each in (*job.earlier, job.current)]
        assert len({each.rev for each in (*job.earlier, job.current)}) == len(cuts)
        scene.check(world, minutes=5)

    assert every_interleaving(scene.prepare, WRITES[one], WRITES[other], check) > 5


def test_a_patch_and_a_put_are_both_there_or_the_put_came_last() -> None:
    scene = Scene(swept)

    def patch(world: World) -> object:
        return world.patch(labels={"by": "patch"})

    def put(world: World) -> object:
        return world.put(schedule="@every 50s", description="by put")

    def check(world: World) -> None:
        job = world.stored()
        written: dict[str, Any] = dict(job.definition.written)
        assert written["description"] == "by put"
        assert written.get("labels", {"by": "patch"}) == {"by": "patch"}
        assert len(job.earlier) == 2

    assert every_interleaving(scene.prepare, patch, put, check) > 10
