"""The SDK repeats a write whose answer was lost, after another client has written."""

from collections.abc import Callable

import pytest
from tests.fakes.deliveries import change, meanwhile, put_repeated_after
from tests.fakes.world import World, key_of

from sweephand.base.concurrency import always
from sweephand.base.errors import PreconditionError
from sweephand.model.job import Job

LARGE = '"' + "x" * 3_000 + '"'


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
    second = world.jobs.get(key_of())
    assert second is not None
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
    job = world.jobs.get(key_of())
    assert job is not None
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
