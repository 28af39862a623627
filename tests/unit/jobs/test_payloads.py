"""When `data` over 2 KB is kept, and when it is discarded."""

from collections.abc import Callable

import pytest
from tests.fakes.faults import calls_of, failing, working
from tests.fakes.world import World, key_of

from sweephand.base.concurrency import always
from sweephand.base.errors import StoreError
from sweephand.base.instants import DAY_MS, HOUR_MS, SECOND_MS
from sweephand.base.timing import PAYLOAD_GRACE_MS
from sweephand.jobs.payload_audit import AUDITED_MAX, Audited, owner_of
from sweephand.model.definition import Payload
from sweephand.model.job import Job

LARGE = '"' + "x" * 3_000 + '"'


def kept(world: World) -> Payload:
    """The payload of the stored job."""
    job = world.jobs.get(key_of())
    assert job is not None
    assert job.definition.payload is not None
    return job.definition.payload


def test_data_over_two_kilobytes_is_stored_before_the_job_and_discarded_after_it(world: World) -> None:
    calls = calls_of(world, lambda: world.put(dueTime="1h", data=LARGE))
    assert calls.index("after payloads.put") < calls.index("before jobs.put")
    first = kept(world)
    world.put(dueTime="2h", data=LARGE)
    assert kept(world) == first
    assert not world.payloads.discarded
    world.clock.time += PAYLOAD_GRACE_MS + 1
    job = world.put(dueTime="2h", data="1").job
    assert world.payloads.discarded == {(job.uid, first.ref)}


def test_the_data_of_a_deleted_job_is_discarded(world: World) -> None:
    job = world.put(dueTime="1h", data=LARGE).job
    world.clock.time += PAYLOAD_GRACE_MS + 1
    world.delete()
    assert job.definition.payload is not None
    assert world.payloads.discarded == {(job.uid, job.definition.payload.ref)}


def test_a_write_succeeds_even_if_its_old_data_cannot_be_discarded(world: World) -> None:
    world.put(dueTime="1h", data=LARGE)
    world.clock.time += PAYLOAD_GRACE_MS + 1
    failing(world, "payloads.discard")
    assert world.put(dueTime="1h", data="1").outcome == "replaced"
    world.put(dueTime="1h", data=LARGE)
    world.delete()
    assert world.jobs.get(key_of()) is None


def repeated_after(world: World, between: Callable[[], object]) -> None:
    """The SDK repeats the next write of a job, since its answer was lost, after something else."""
    put = world.jobs.put

    def repeated(job: Job, replacing: str | None, in_time: Callable[[], bool] = always) -> bool:
        world.jobs.put = put  # type: ignore[method-assign]
        put(job, replacing, in_time)
        between()
        return put(job, replacing, in_time)

    world.jobs.put = repeated  # type: ignore[method-assign]


def audited(world: World) -> Audited:
    """The result of a step of the audit an hour later."""
    world.clock.time += HOUR_MS
    return world.upkeep().payload_audit.step()


def test_a_creation_that_is_repeated_behind_a_delete_keeps_its_data(world: World) -> None:
    repeated_after(world, world.delete)
    world.put(schedule="@daily", data=LARGE)
    job = world.jobs.get(key_of())
    assert job is not None
    assert audited(world).discarded == 0
    world.payloads.expire()
    assert world.payloads.get(job.uid, kept(world).ref or "") == LARGE


def test_a_replacement_that_seems_lost_keeps_data_that_another_write_uses(world: World) -> None:
    world.put(schedule="@every 1s", data='"small"')
    for number in range(22):
        world.run_until(world.clock.time + 10 * SECOND_MS)
        world.put(schedule="@every 1s", data='"small"', labels={"n": str(number)})

    def other() -> None:
        world.clock.time += 300
        world.patch(labels={"by": "another"})

    repeated_after(world, other)
    world.put(schedule="@every 1s", data=LARGE)
    assert not world.payloads.discarded
    assert audited(world).discarded == 0


def test_the_audit_discards_the_data_of_a_young_job_that_is_deleted(world: World) -> None:
    job = world.put(dueTime="1h", data=LARGE).job
    ref = kept(world).ref
    world.delete()
    assert not world.payloads.discarded
    assert world.upkeep().payload_audit.step() == Audited(1, 0)  # too early to be sure
    assert audited(world) == Audited(1, 1)
    assert world.payloads.discarded == {(job.uid, ref)}
    assert audited(world) == Audited(1, 0)  # its two weeks do not begin anew


def test_the_audit_discards_the_data_of_a_job_that_dynamodb_removed(world: World) -> None:
    world.put("gone", dueTime="1s", data=LARGE, retention="0s")
    world.put("there", dueTime="1s", data=LARGE, retention="90d")
    world.clock.time += 30 * DAY_MS
    assert audited(world).discarded == 0
    del world.jobs._jobs[key_of("gone")]
    assert audited(world) == Audited(2, 1)
    ((_, ref),) = world.payloads.discarded
    assert owner_of(ref) == key_of("gone")


def test_a_job_does_not_keep_the_data_of_an_earlier_job_of_its_name(world: World) -> None:
    old = world.put(dueTime="1h", data=LARGE).job
    world.delete()
    world.put(dueTime="1h", data=LARGE)
    assert audited(world) == Audited(2, 1)
    assert {uid for uid, _ in world.payloads.discarded} == {old.uid}


@pytest.mark.parametrize("call", ["timers.put", "jobs.put"])
def test_the_data_of_a_put_that_failed_after_its_upload_is_discarded(world: World, call: str) -> None:
    failing(world, call)
    with pytest.raises(StoreError):
        world.put(schedule="@every 400s", data=LARGE)
    working(world)
    audited(world)
    assert world.payloads.discarded == set(world.payloads._payloads)
    assert world.payloads.discarded


def test_data_that_a_trigger_brought_expires_by_itself_and_keeps_its_two_weeks(world: World) -> None:
    world.put(dueTime="1h")
    world.trigger(data=LARGE)
    before = set(world.payloads.discarded)
    assert audited(world) == Audited(1, 0)
    assert world.payloads.discarded == before


def test_the_audit_keeps_data_whose_name_does_not_name_a_job(world: World) -> None:
    world.payloads.put("uid0000000000001", "digest-token", LARGE)
    assert audited(world) == Audited(1, 0)


def test_the_audit_goes_on_where_it_stopped_and_starts_over_after_the_last_object(world: World) -> None:
    for number in range(5):
        world.put(f"job-{number}", dueTime="1d", data=LARGE)
    assert [world.upkeep().payload_audit.step(2).examined for _ in range(4)] == [2, 2, 1, 2]
    world.clock.time += HOUR_MS
    failing(world, "jobs.get_many")
    with pytest.raises(StoreError):
        world.upkeep().payload_audit.step(2)
    working(world)
    assert [world.upkeep().payload_audit.step(2).examined for _ in range(3)] == [2, 1, 2]
    assert AUDITED_MAX <= 1_000, "S3 lists a thousand at a time"
