"""After a pause no delivery begins, and triggers are held until the resume."""

import pytest
from tests.fakes.faults import calls_of, failing, meanwhile, slow, working
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import NotFoundError, PreconditionError, StoreError, UnavailableError
from sweephand.base.timing import REQUEST_TIME_LIMIT_MS
from sweephand.jobs.read import view
from sweephand.model.attempt import Answer
from sweephand.model.change import SWEEPHAND

MINUTE = 60_000


def test_a_pause_arms_nothing_and_files_the_change_before_it(world: World) -> None:
    world.put(schedule="@every 10s")
    calls = calls_of(world, world.pause)
    asked = [call for call in calls if call.startswith("before")]
    assert asked == ["before jobs.get", "before changes.put", "before jobs.put"]


def test_a_paused_job_shows_when_and_why_it_was_paused_and_its_change_shows_the_caller(world: World) -> None:
    job = world.put(schedule="@every 10s").job
    world.clock.time += 3_000
    paused = world.pause(reason="the database moves")
    assert (paused.paused_at, paused.pause_reason, paused.rev) == (
        NOON + 3_000,
        "the database moves",
        job.rev,
    )
    assert paused.change is not None
    assert (paused.change.who, paused.change.what) == ("test", "paused")
    assert view(paused, world.clock.time).state == "paused"
    assert view(paused, world.clock.time).next_run_at is None


def test_a_second_pause_leaves_the_moment_and_the_reason_of_the_first(world: World) -> None:
    world.put(schedule="@every 10s")
    first = world.pause(reason="first")
    world.clock.time += 3_000
    assert world.pause(reason="second") == first


def test_the_instant_of_a_pause_is_just_before_the_write_and_not_before_the_cut(world: World) -> None:
    world.api_clock.ahead_ms = 60_000
    world.put(schedule="@every 10s")
    world.api_clock.ahead_ms = -30_000
    assert world.pause().paused_at == NOON + 60_000
    other = World()
    other.put(schedule="@every 10s")
    slow(other, 4_000, "after jobs.get")
    assert other.pause().paused_at == NOON + 4_000


def test_no_trigger_of_a_paused_job_is_delivered_though_its_messages_are_in_the_queue(world: World) -> None:
    world.put(schedule="@every 10s")
    world.run_until(NOON + 25_000)
    world.pause()
    before = len(world.consumers.ids)
    world.run_until(NOON + 30 * MINUTE)
    assert len(world.consumers.ids) == before == 2


def test_a_retry_that_falls_into_the_pause_waits_and_goes_on_after_it(world: World) -> None:
    world.put(dueTime="10s")
    world.consumers.answering = lambda attempt: Answer(succeeded=attempt.number > 1, code=503)
    world.run_until(NOON + 11_000)
    world.pause()
    world.run_until(NOON + 20 * MINUTE)
    assert [each.number for each in world.consumers.attempts] == [1]
    world.resume()
    world.run_until(NOON + 40 * MINUTE)
    assert [each.number for each in world.consumers.attempts] == [1, 2]
    assert len(set(world.consumers.ids)) == 1


def test_a_pause_that_an_update_overtakes_pauses_the_updated_job(world: World) -> None:
    world.put(schedule="@every 10s", data="0")
    meanwhile(world, "before jobs.put", lambda: world.put(schedule="@every 10s", data="1"))
    paused = world.pause()
    assert paused.paused_at is not None
    assert len(paused.earlier) == 1
    assert world.jobs.get(key_of()) == paused


@pytest.mark.parametrize("after", [False, True], ids=["refused", "answer lost"])
def test_after_a_store_error_the_job_is_paused_or_not_and_a_repeated_pause_is_safe(*, after: bool) -> None:
    world = World()
    world.put(schedule="@every 10s")
    failing(world, "jobs.put", after=after)
    with pytest.raises(StoreError):
        world.pause(reason="first")
    working(world)
    world.clock.time += 1_000
    paused = world.pause(reason="again")
    assert paused.pause_reason == ("first" if after else "again")


def test_a_pause_that_takes_too_long_is_given_up_and_nothing_is_written(world: World) -> None:
    world.put(schedule="@every 10s")
    slow(world, REQUEST_TIME_LIMIT_MS + 1, "before jobs.get")
    with pytest.raises(UnavailableError):
        world.pause()
    job = world.stored()
    assert job.paused_at is None


def test_there_must_be_a_job_to_pause_in_that_revision_and_under_that_uid(world: World) -> None:
    with pytest.raises(NotFoundError):
        world.pause()
    job = world.put(schedule="@every 10s").job
    pauser, now = world.api().pauser, world.clock.time
    with pytest.raises(PreconditionError):
        pauser.pause(key_of(), reason=None, who="test", requested_at=now, if_match=("9-z",))
    with pytest.raises(NotFoundError):
        pauser.pause(key_of(), reason=None, who=SWEEPHAND, requested_at=now, uid="another")
    paused = pauser.pause(key_of(), reason="410", who=SWEEPHAND, requested_at=now, uid=job.uid)
    assert paused.change is not None
    assert paused.change.who == SWEEPHAND


def test_a_paused_job_does_not_expire_and_a_resumed_job_stays_for_its_deliveries(world: World) -> None:
    kept_ms = 3_600_000 + 60_000
    job = world.put(dueTime="10s", retention="1h", retry={"maxAge": "1m"}).job
    assert job.expires_at == NOON + 10_000 + kept_ms
    world.clock.time += 5_000
    assert world.pause().expires_at is None
    assert world.patch(labels={"a": "b"}).job.expires_at is None
    world.clock.time += 3 * kept_ms
    assert world.resume().expires_at == world.clock.time + kept_ms
    world.run_until(world.clock.time + 1_000)
    assert world.consumers.dues == {NOON + 10_000}
