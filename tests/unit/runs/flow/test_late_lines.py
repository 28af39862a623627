"""Entries of a line that are written when their triggers have waited for weeks last as long as others."""

from dataclasses import replace

from tests.contract.builders import policy
from tests.fakes.time_off import expire, pass_days_off
from tests.fakes.world import NOON, World
from tests.unit.runs.flow.leaving import OTHER, fill, jobs_in_line, leaves, pack
from tests.unit.runs.flow.test_under_policies import KEY, MINUTE

from sweephand.base.instants import DAY_MS
from sweephand.model.policy import Rate


def pass_weeks(world: World, weeks: int) -> None:
    for week in range(1, weeks + 1):
        world.clock.time = NOON + week * 7 * DAY_MS
        expire(world)
        world.work.waiting.clear()
        world.audit_jobs()
        world.work.waiting.clear()


def pass_day(world: World) -> None:
    """No audit comes in this day."""
    world.clock.time += DAY_MS
    expire(world)


def one_a_day(world: World) -> None:
    """Store a policy that lets one trigger a day through."""
    world.flow_functions_max = 4
    limits = replace(policy(None), key=KEY, concurrent_max=None, rate=Rate(1, DAY_MS))
    assert world.policies.put(limits, None)


def test_what_a_walk_leaves_in_the_line_of_a_missing_policy_lasts() -> None:
    world = World()
    fill(world, "job", "stays")
    pack(world)
    pass_weeks(world, 4)
    leaves(world)
    world.run_until(world.clock.time + 5 * MINUTE)
    pass_day(world)
    assert jobs_in_line(world) == ["stays"]


def test_what_moves_from_one_missing_policy_to_another_lasts() -> None:
    world = World()
    fill(world, "job", "stays")
    pass_weeks(world, 4)
    world.patch(policy="other")
    stored = world.policies.get(OTHER)
    assert stored is not None
    assert world.policies.put(replace(stored, version="deleted", deleted_at=NOON), stored.version)
    world.run_until(world.clock.time + 5 * MINUTE)
    assert jobs_in_line(world, OTHER) == ["job"]
    pass_day(world)
    assert jobs_in_line(world, OTHER) == ["job"]


def test_what_comes_into_a_line_after_a_stack_was_off_for_weeks_lasts() -> None:
    world = World()
    one_a_day(world)
    for number in range(3):
        world.put(f"job{number}", schedule=["2026-11-21T13:00:00Z"], policy="mailer")
    world.run_until(NOON + MINUTE)
    pass_days_off(world, 20)
    world.is_enabled = True
    world.run_until(world.clock.time + 5 * MINUTE)
    assert len(world.consumers.ids) == 1
    world.clock.time += 60 * MINUTE
    expire(world)
    assert len(jobs_in_line(world)) == 2


def test_what_a_worker_writes_again_in_a_backlog_of_weeks_lasts() -> None:
    world = World()
    one_a_day(world)
    for number in range(30):
        world.put(f"job{number}", schedule=["2026-11-21T12:10:00Z", "2027-11-21T12:10:00Z"], policy="mailer")
    for day in range(25):
        world.run_until(NOON + 20 * MINUTE + day * DAY_MS, ticking=day == 0)
        expire(world)
        if day % 7 == 6:
            world.audit_jobs()
    assert len(set(world.consumers.ids)) >= 20
    assert len(set(world.consumers.ids)) + len(set(jobs_in_line(world))) == 30
