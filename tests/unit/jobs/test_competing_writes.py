"""Writing one job at the same time: one write wins, the others start over, and the SDK repeats some."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from tests.fakes.deliveries import change, put_repeated_after
from tests.fakes.faults import meanwhile
from tests.fakes.world import NOON, World, key_of

from sweephand.base.concurrency import always
from sweephand.base.errors import PreconditionError, StoreError
from sweephand.base.timing import REQUEST_TIME_LIMIT_MS
from sweephand.model.job import Job

LARGE = '"' + "x" * 3_000 + '"'


def compete(world: World) -> None:
    """Write the job once more, which takes three seconds."""
    world.clock.time += 3_000
    job = world.stored()
    assert world.jobs.put(replace(job, version=world.ids.token()), job.version)


def test_no_commit_comes_later_than_the_time_limit_after_its_request_however_many_compete() -> None:
    world = World()
    world.put(schedule="@every 100s")

    meanwhile(world, "before jobs.put", lambda: compete(world), times=100)
    with pytest.raises(StoreError, match="too late"):
        world.put(schedule="@every 101s")
    assert world.clock.time <= NOON + REQUEST_TIME_LIMIT_MS + 3_000
    assert world.stored().definition.schedule == "@every 100s"


def test_of_two_concurrent_writers_the_loser_starts_over_from_the_winners_version(world: World) -> None:
    first = world.put(schedule="@every 10s", data="0").job
    meanwhile(world, "before jobs.put", lambda: world.put(schedule="@every 10s", data="1"))
    last = world.put(schedule="@every 10s", data="2").job
    assert world.stored() == last
    revs = [each.rev for each in last.earlier]
    assert revs[0] == first.rev
    assert [rev.partition("-")[0] for rev in (*revs, last.rev)] == ["1", "2", "3"]


def test_a_precondition_on_the_revision_fails_if_another_write_came_first(world: World) -> None:
    rev = world.put(dueTime="1h").job.rev
    meanwhile(world, "before jobs.put", lambda: world.put(dueTime="2h"))
    with pytest.raises(PreconditionError):
        world.put(dueTime="3h", if_match=(rev,))
    assert world.stored().definition.due_time == "2h"


def test_a_put_that_a_delete_overtakes_makes_a_new_job(world: World) -> None:
    old = world.put(dueTime="1h").job
    meanwhile(world, "before jobs.put", world.delete)
    written = world.put(dueTime="2h")
    assert written.outcome == "created"
    assert written.job.uid != old.uid
    assert not written.job.earlier


def test_a_deletion_that_an_update_overtakes_deletes_the_updated_job(world: World) -> None:
    world.put(dueTime="1h")
    meanwhile(world, "before jobs.delete", lambda: world.put(dueTime="2h"))
    world.delete()
    assert world.jobs.get(key_of()) is None


def test_a_delete_gives_up_when_others_keep_writing(world: World) -> None:
    world.put(dueTime="1h")

    meanwhile(world, "before jobs.delete", lambda: compete(world), times=100)
    with pytest.raises(StoreError, match="too late"):
        world.delete()
    assert world.stored().definition.due_time == "1h"


def test_a_writer_that_loses_discards_only_its_own_data(world: World) -> None:
    world.put(dueTime="1h", data=LARGE)
    meanwhile(world, "before jobs.put", lambda: world.put(dueTime="2h", data=LARGE.upper()))
    world.put(dueTime="3h", data=LARGE)
    payload = world.stored().definition.payload
    assert payload is not None
    world.payloads.expire()
    assert payload.ref is not None
    assert world.payloads.get(world.stored().uid, payload.ref) == LARGE


def deletion_repeated_after(world: World, between: Callable[[], object]) -> None:
    """The next deletion of a job is made twice, with something else between the two."""
    delete = world.jobs.delete

    def repeated(job: Job, in_time: Callable[[], bool] = always) -> bool:
        world.jobs.delete = delete  # type: ignore[method-assign]
        assert delete(job, in_time)
        between()
        return delete(job, in_time)

    world.jobs.delete = repeated  # type: ignore[method-assign]


def update_before_deletion(world: World) -> None:
    """The next deletion of a job comes just after another caller's update."""
    delete = world.jobs.delete

    def beaten(job: Job, in_time: Callable[[], bool] = always) -> bool:
        world.jobs.delete = delete  # type: ignore[method-assign]
        world.patch(labels={"by": "another"})
        return delete(job, in_time)

    world.jobs.delete = beaten  # type: ignore[method-assign]


def creation(world: World) -> Callable[[], object]:
    return lambda: world.put(dueTime="2h", data=LARGE)


@pytest.mark.parametrize("has_condition", [False, True])
def test_a_repeated_deletion_does_not_delete_the_next_job_of_the_name(*, has_condition: bool) -> None:
    world = World()
    first = world.put(dueTime="1h").job
    deletion_repeated_after(world, creation(world))
    world.delete(if_match=(first.rev,) if has_condition else None)
    second = world.stored()
    assert second.uid != first.uid


def test_a_deletion_that_is_repeated_discards_only_the_data_of_its_own_job(world: World) -> None:
    first = world.put(dueTime="1h", data=LARGE).job
    world.clock.time += 3_600_000
    deletion_repeated_after(world, creation(world))
    world.delete()
    assert [uid for uid, _ in world.payloads.discarded] == [first.uid]


def test_a_deletion_of_a_job_that_was_updated_meanwhile_reads_it_again(world: World) -> None:
    world.put(dueTime="1h")
    update_before_deletion(world)
    world.delete()
    assert world.jobs.get(key_of()) is None


def test_a_deletion_on_a_condition_is_refused_by_an_update_of_the_same_job(world: World) -> None:
    first = world.put(dueTime="1h").job
    update_before_deletion(world)
    with pytest.raises(PreconditionError):
        world.delete(if_match=(first.rev,))
    assert world.jobs.get(key_of()) is not None


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_a_patch_that_is_repeated_takes_effect_once_though_its_revision_is_forgotten(
    world: World, *, is_forgotten: bool
) -> None:
    world.put(schedule="@every 1h")

    def updated() -> None:
        world.patch(description="another client's")
        if is_forgotten:
            change(world, earlier=())

    put_repeated_after(world, updated)
    written = world.patch(description="mine").job
    job = world.stored()
    assert written.rev.startswith("2-")
    assert (job.rev[:2], job.definition.written["description"]) == ("3-", "another client's")


def test_a_patch_that_the_sdk_repeats_after_a_deletion_succeeds(world: World) -> None:
    world.put(schedule="@every 1h")
    put_repeated_after(world, world.delete)
    assert world.patch(description="mine").job.rev.startswith("2-")
    assert world.jobs.get(key_of()) is None


def test_a_patch_that_another_clients_patch_overtakes_is_applied_to_its_result(world: World) -> None:
    world.put(schedule="@every 1h")
    meanwhile(world, "before jobs.put", lambda: world.patch(description="another client's"))
    written = world.patch(labels={"by": "me"}).job
    assert written.rev.startswith("3-")
    assert written.definition.written["description"] == "another client's"
