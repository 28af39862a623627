"""Tick goes through all jobs once a week, step by step. Two ticks do not take the same step."""

import pytest
from tests.fakes.faults import meanwhile, slow
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import StoreError
from sweephand.base.timing import AUDIT_ROUND_MS, AUDIT_STEP_MAX_MS
from sweephand.runs import audit as auditing
from sweephand.runs import audit_findings, job_walk

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """A stack with five jobs in two namespaces. A step examines two jobs."""
    monkeypatch.setattr(audit_findings, "BULK_EXAMINED_MAX", 2)
    monkeypatch.setattr(auditing, "PAGE_MAX", 2)
    world = World()
    world.namespaces.enlist("ns")
    world.namespaces.enlist("other")
    for number in range(5):
        world.put(f"job-{number}", schedule="0 0 0 * * *")
    return world


def step(world: World) -> int | None:
    """How many jobs the next step examines; None if there is none."""
    audited = world.upkeep().audit_rounds.step()
    return None if audited is None else audited.jobs


def test_a_round_goes_through_all_jobs_and_the_next_one_begins_a_week_later(world: World) -> None:
    assert [step(world) for _ in range(6)] == [2, 2, 1, None, None, None]
    world.clock.time = NOON + AUDIT_ROUND_MS - 1
    assert step(world) is None
    world.run_until(NOON + AUDIT_ROUND_MS)
    assert [step(world) for _ in range(4)] == [2, 2, 1, None]


def test_a_step_mends_what_was_lost(world: World) -> None:
    world.timers.lose(key_of("job-3"), NOON)
    steps = [world.upkeep().audit_rounds.step() for _ in range(3)]
    assert [[each.key.name for each in step.timers] for step in steps if step is not None] == [
        [],
        ["job-3"],
        [],
    ]
    world.run_until(NOON + DAY)
    assert len(world.consumers.attempts) == 5


def test_a_step_that_fails_is_repeated_when_it_must_be_over(world: World) -> None:
    assert step(world) == 2

    def fail() -> None:
        raise StoreError("DynamoDB throttles")

    meanwhile(world, "before jobs.page", fail)
    with pytest.raises(StoreError):
        step(world)
    assert step(world) is None
    world.clock.time += AUDIT_STEP_MAX_MS
    audited = world.upkeep().audit_rounds.step()
    assert audited is not None
    assert audited.reached is not None
    assert (audited.jobs, audited.reached.name) == (2, "job-3")


def test_while_a_step_is_at_work_no_other_one_begins(world: World) -> None:
    others: list[int | None] = []
    meanwhile(world, "before jobs.page", lambda: others.append(step(world)))
    assert step(world) == 2
    assert others == [None]


def test_of_two_steps_that_begin_at_once_one_is_taken(world: World) -> None:
    others: list[int | None] = []
    meanwhile(world, "after audit_rounds.get", lambda: others.append(step(world)))
    assert step(world) is None
    assert others == [2]
    assert [step(world) for _ in range(3)] == [2, 1, None]


def test_a_step_that_took_too_long_does_not_set_the_round_back(world: World) -> None:
    def later() -> None:
        world.clock.time += AUDIT_STEP_MAX_MS
        assert [step(world) for _ in range(2)] == [2, 2]

    meanwhile(world, "before jobs.page", later)
    assert step(world) == 2
    assert [step(world) for _ in range(2)] == [1, None]


def test_a_round_waits_for_sweepers_that_are_late_and_passes_over_their_jobs_in_the_end(world: World) -> None:
    world.put("late", schedule="0 * * * * *")
    world.run_until(NOON + HOUR, ticking=False)
    shard = world.stored("late").shard
    late = [number for number in range(5) if world.stored(f"job-{number}").shard == shard]
    assert late
    while (audited := world.upkeep().audit_rounds.step()) is not None and not audited.late:
        pass
    waits = world.audit_rounds.get()
    assert waits is not None
    assert step(world) == 2
    again = world.audit_rounds.get()
    assert again is not None
    assert again.progress == waits.progress
    world.clock.time += AUDIT_ROUND_MS // 2
    assert any(step(world) is None for _ in range(5))


def test_a_round_goes_on_within_the_runs_of_a_job(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_walk, "PAGE_MAX", 2)
    world.put("often", schedule="0 0 * * * *")
    world.run_until(NOON + 8 * HOUR)
    slow(world, 6_000, "after runs.page")
    positions = []
    while world.upkeep().audit_rounds.step() is not None:
        stored = world.audit_rounds.get()
        assert stored is not None
        positions.append(stored.progress)
    assert positions[-1] is None
    assert any(each.before for each in positions if each is not None)
