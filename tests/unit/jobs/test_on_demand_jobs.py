"""Jobs with neither schedule nor dueTime: they fire by hand or in a chain, and never by themselves."""

from typing import Any

import pytest
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import ConflictError, InvalidError
from sweephand.base.instants import DAY_MS, HOUR_MS, SECOND_MS
from sweephand.jobs.read import view
from sweephand.model.definition import RETENTION_DEFAULT_MS
from sweephand.model.job import Job


def shown(world: World, job: Job) -> tuple[str, int | None]:
    """State and next due time, now."""
    seen = view(job, world.clock.time)
    return seen.state, seen.next_run_at


def is_unarmed(world: World) -> bool:
    return not world.queue.waiting and not world.timers.everything()


def test_a_job_on_demand_is_active_for_ever_without_a_next_run_and_arms_nothing(world: World) -> None:
    job = world.put().job
    assert (shown(world, job), job.expires_at) == (("active", None), None)
    assert is_unarmed(world)
    world.clock.time += 4_000 * DAY_MS
    assert shown(world, world.stored()) == ("active", None)


def test_a_job_on_demand_fires_once_for_each_trigger_by_hand(world: World) -> None:
    world.put(data="1")
    triggers = [world.trigger(), world.trigger(data="2")]
    world.run_until(NOON + SECOND_MS)
    assert [each.body for each in world.consumers.attempts] == [b"1", b"2"]
    assert {each.trigger for each in world.consumers.attempts} == set(triggers)
    assert shown(world, world.stored()) == ("active", None)


def test_a_job_on_demand_can_follow_and_be_followed_by_another_job(world: World) -> None:
    world.put("first", dueTime="10s", onComplete={"type": "job", "name": "job"})
    world.put(onComplete={"type": "job", "name": "last"})
    world.put("last")
    world.run_until(NOON + 30 * SECOND_MS)
    assert [each.trigger.key.name for each in world.consumers.attempts] == ["first", "job", "last"]


def test_an_equal_definition_changes_nothing_at_any_time(world: World) -> None:
    first = world.put(labels={"a": "b"}).job
    world.clock.time += 400 * DAY_MS
    again = world.put(labels={"a": "b"})
    assert (again.outcome, again.job) == ("unchanged", first)


def test_a_job_on_demand_that_is_replaced_has_a_new_revision_and_fires_as_before(world: World) -> None:
    first = world.put().job
    world.clock.time += DAY_MS
    second = world.put(labels={"a": "b"}).job
    third = world.patch(description="x").job
    assert len({first.rev, second.rev, third.rev}) == 3
    assert third.series == second.series == first.series
    assert (shown(world, third), third.expires_at) == (("active", None), None)
    assert is_unarmed(world)


def test_a_job_on_demand_is_completed_after_its_ttl_and_then_expires_as_others_do(world: World) -> None:
    job = world.put(ttl="1h").job
    assert job.expires_at == NOON + HOUR_MS + job.definition.run_time_max_ms + RETENTION_DEFAULT_MS
    world.clock.time = NOON + HOUR_MS
    assert shown(world, job) == ("active", None)
    world.clock.time += 1
    assert shown(world, job) == ("completed", None)
    again = world.put(ttl="1h")
    assert again.outcome == "replaced"
    assert shown(world, again.job) == ("active", None)


def test_a_patch_of_ttl_moves_or_removes_the_end_of_a_job_on_demand(world: World) -> None:
    world.put(ttl="1h")
    world.clock.time += 60_000
    later = world.patch(ttl="2h").job
    assert later.series.ttl_at == NOON + 60_000 + 2 * HOUR_MS
    for job in (world.patch(without=["ttl"]).job, world.put().job):
        assert (job.series.ttl_at, job.expires_at) == (None, None)


def test_a_pause_holds_chained_triggers_and_not_triggers_by_hand(world: World) -> None:
    world.put("first", dueTime="10s", onComplete={"type": "job", "name": "job"})
    world.put(ttl="10h")
    paused = world.pause()
    assert (shown(world, paused), paused.expires_at) == (("paused", None), None)
    world.trigger()
    world.run_until(NOON + 60 * SECOND_MS)
    fired = [each.trigger for each in world.consumers.attempts if each.trigger.key == key_of()]
    assert [each.demand and each.demand.kind for each in fired] == ["manual"]
    resumed = world.resume()
    assert (shown(world, resumed), resumed.expires_at) == (("active", None), world.stored().expires_at)
    assert resumed.expires_at is not None
    world.run_until(NOON + 2 * HOUR_MS)
    fired = [each.trigger for each in world.consumers.attempts if each.trigger.key == key_of()]
    assert [each.demand and each.demand.kind for each in fired] == ["manual", "chained"]


@pytest.mark.parametrize("fields", [{"dueTime": "10s"}, {"schedule": "@every 10s", "repeats": 1}])
def test_a_patch_gives_a_job_on_demand_a_time_and_removes_it_again(fields: dict[str, Any]) -> None:
    world = World()
    world.put()
    world.clock.time += HOUR_MS
    timed = world.patch(**fields).job
    assert shown(world, timed) == ("active", NOON + HOUR_MS + 10 * SECOND_MS)
    job = world.patch(without=list(fields)).job
    assert (shown(world, job), job.expires_at) == (("active", None), None)
    world.run_until(NOON + 2 * HOUR_MS)
    assert not world.consumers.attempts


def test_a_put_without_a_time_stops_a_schedule_from_then_on(world: World) -> None:
    world.put(schedule="@every 10s", jitter="5s")
    world.run_until(NOON + 16 * SECOND_MS)
    world.put()
    world.run_until(NOON + HOUR_MS)
    assert len(world.consumers.attempts) == 1
    assert shown(world, world.stored()) == ("active", None)


def test_a_job_on_demand_has_no_range_to_backfill(world: World) -> None:
    world.put()
    with pytest.raises(ConflictError, match="only on demand"):
        world.backfill(since=NOON - HOUR_MS, until=NOON)


@pytest.mark.parametrize("field", [{"repeats": 1}, {"jitter": "1m"}, {"dst": {"gap": "skip"}}])
def test_a_field_about_occurrences_is_refused_for_a_job_on_demand(field: dict[str, Any]) -> None:
    with pytest.raises(InvalidError, match="only on demand"):
        World().put(**field)
