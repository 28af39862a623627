"""A job that has ended is gone for readers, but stored for weeks. Until then it can be deleted."""

from typing import Any

import pytest
from tests.fakes.faults import meanwhile
from tests.fakes.policies import add_policy, jobs_in_line, nobody_serves
from tests.fakes.world import NOON, World, key_of
from tests.unit.jobs.limited import count, names, settle, world_with
from tests.unit.jobs.test_payloads import LARGE

from sweephand.base.errors import NotFoundError, PreconditionError, QuotaError
from sweephand.base.timing import RECOUNT_AFTER_MS
from sweephand.model.job import Job

MINUTE = 60_000
DAY = 24 * 60 * MINUTE
SHORT: dict[str, Any] = {"dueTime": "1s", "retention": "0s", "retry": {"maxAge": "1s"}}


def end(world: World, name: str = "job") -> Job:
    """Let time pass until that job has ended, and nobody can read it."""
    job = world.stored(name)
    world.clock.time += 2 * 60 * MINUTE
    assert job.is_gone(world.clock.time)
    return job


def ended() -> World:
    """A world with a job that has ended."""
    world = World()
    world.put(**SHORT, data=LARGE)
    end(world)
    return world


def test_a_job_that_has_ended_is_deleted_once() -> None:
    world = ended()
    world.delete()
    assert world.jobs.get(key_of()) is None
    with pytest.raises(NotFoundError):
        world.delete()
    assert [each.what for each in world.changed().items] == ["deleted", "created"]


def test_the_data_of_a_job_that_has_ended_is_discarded() -> None:
    world = ended()
    job = world.stored()
    world.delete()
    assert job.definition.payload is not None
    assert world.payloads.discarded == {(job.uid, job.definition.payload.ref)}


def test_a_job_that_has_ended_is_deleted_on_the_condition_of_its_revision() -> None:
    world = ended()
    with pytest.raises(PreconditionError):
        world.delete(if_match=("9-z",))
    world.delete(if_match=(world.stored().rev,))
    assert world.jobs.get(key_of()) is None


def test_a_new_job_of_the_name_stays_though_the_one_before_it_was_to_be_deleted() -> None:
    world = ended()
    meanwhile(world, "before jobs.delete", lambda: world.put(dueTime="1h"))
    world.delete()
    assert world.stored().definition.written["dueTime"] == "1h"


def test_a_new_job_is_created_though_the_ended_one_is_deleted_meanwhile() -> None:
    world = ended()
    meanwhile(world, "before jobs.put", world.delete)
    assert world.put(dueTime="1h").outcome == "created"
    assert world.has_job()


def test_a_job_that_a_count_has_left_out_does_not_free_a_place_again() -> None:
    world = world_with(jobs_max=2)
    settle(world)
    world.put("a", dueTime="9h")
    world.put("short", **SHORT)
    end(world, "short")
    with pytest.raises(QuotaError):
        world.put("b", dueTime="9h")  # the mark
    world.clock.time += RECOUNT_AFTER_MS + 1
    world.put("b", dueTime="9h")  # the new count, without the job that has ended
    world.delete("short")
    assert (names(world), count(world).used) == (["a", "b"], 2)


@pytest.mark.parametrize(
    "written", [{"policy": "mailer"}, {"policy": "mailer", "batch": {"count": 5, "window": "1m"}}]
)
def test_a_deletion_ends_what_waits_of_a_job_that_has_ended(world: World, written: dict[str, Any]) -> None:
    add_policy(world)
    world.put(schedule=["2026-11-21T12:10:00Z"], **written)
    with nobody_serves(world):
        world.run_until(NOON + 20 * MINUTE)
        world.clock.time = NOON + 10 * DAY
        assert not world.has_job()
        assert set(jobs_in_line(world)) == {"job"}
        world.delete()
    world.run_until(world.clock.time + 5 * MINUTE)
    assert not world.consumers.attempts
    assert not jobs_in_line(world)
