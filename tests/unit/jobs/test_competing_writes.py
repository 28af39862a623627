"""Writing one job at the same time: one write wins, and the others start over from it or give up."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import PreconditionError, StoreError
from sweephand.base.timing import REQUEST_TIME_LIMIT_MS

LARGE = '"' + "x" * 3_000 + '"'


def at_call(world: World, call: str, action: Callable[[], object], *, times: int = 1) -> None:
    """Do something at the first announcements of a call (`before jobs.put`), from outside."""
    left = times

    def announce(announced: str) -> None:
        nonlocal left
        if announced == call and left:
            left -= 1
            before, world.announce = world.announce, lambda _: None
            action()
            world.announce = before

    world.announce = announce


def compete(world: World) -> None:
    """Write the job once more, which takes three seconds."""
    world.clock.time += 3_000
    job = world.stored()
    assert world.jobs.put(replace(job, version=world.ids.token()), job.version)


def test_no_commit_comes_later_than_the_time_limit_after_its_request_however_many_compete() -> None:
    world = World()
    world.put(schedule="@every 100s")

    at_call(world, "before jobs.put", lambda: compete(world), times=100)
    with pytest.raises(StoreError, match="too late"):
        world.put(schedule="@every 101s")
    assert world.clock.time <= NOON + REQUEST_TIME_LIMIT_MS + 3_000
    assert world.stored().definition.schedule == "@every 100s"


def test_of_two_concurrent_writers_the_loser_starts_over_from_the_winners_version(world: World) -> None:
    first = world.put(schedule="@every 10s", data="0").job
    at_call(world, "before jobs.put", lambda: world.put(schedule="@every 10s", data="1"))
    last = world.put(schedule="@every 10s", data="2").job
    assert world.stored() == last
    revs = [each.rev for each in last.earlier]
    assert revs[0] == first.rev
    assert [rev.partition("-")[0] for rev in (*revs, last.rev)] == ["1", "2", "3"]


def test_a_precondition_on_the_revision_fails_if_another_write_came_first(world: World) -> None:
    rev = world.put(dueTime="1h").job.rev
    at_call(world, "before jobs.put", lambda: world.put(dueTime="2h"))
    with pytest.raises(PreconditionError):
        world.put(dueTime="3h", if_match=(rev,))
    assert world.stored().definition.due_time == "2h"


def test_a_put_that_a_delete_overtakes_makes_a_new_job(world: World) -> None:
    old = world.put(dueTime="1h").job
    at_call(world, "before jobs.put", world.delete)
    written = world.put(dueTime="2h")
    assert written.outcome == "created"
    assert written.job.uid != old.uid
    assert not written.job.earlier


def test_a_deletion_that_an_update_overtakes_deletes_the_updated_job(world: World) -> None:
    world.put(dueTime="1h")
    at_call(world, "before jobs.delete", lambda: world.put(dueTime="2h"))
    world.delete()
    assert world.jobs.get(key_of()) is None


def test_a_delete_gives_up_when_others_keep_writing(world: World) -> None:
    world.put(dueTime="1h")

    at_call(world, "before jobs.delete", lambda: compete(world), times=100)
    with pytest.raises(StoreError, match="too late"):
        world.delete()
    assert world.stored().definition.due_time == "1h"


def test_a_writer_that_loses_discards_only_its_own_data(world: World) -> None:
    world.put(dueTime="1h", data=LARGE)
    at_call(world, "before jobs.put", lambda: world.put(dueTime="2h", data=LARGE.upper()))
    world.put(dueTime="3h", data=LARGE)
    payload = world.stored().definition.payload
    assert payload is not None
    world.payloads.expire()
    assert payload.ref is not None
    assert world.payloads.get(world.stored().uid, payload.ref) == LARGE
