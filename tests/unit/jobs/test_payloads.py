"""When `data` over 2 KB is kept and when it is discarded, also while the place of payloads changes."""

from collections.abc import Callable

import pytest
from tests.fakes.faults import calls_of, failing, meanwhile, slow, working
from tests.fakes.memory import MemoryPayloads
from tests.fakes.world import World, key_of

from sweephand.base.concurrency import always
from sweephand.base.errors import StoreError
from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.base.timing import PAYLOAD_GRACE_MS
from sweephand.jobs.payload_audit import AUDITED_MAX, MOVED_MAX, Audited, owner_of
from sweephand.model.definition import Payload
from sweephand.model.job import Job
from sweephand.storage.payloads import PayloadsInPlaces

LARGE = '"' + "x" * 3_000 + '"'


def kept(world: World) -> Payload:
    """The payload of the stored job."""
    job = world.stored()
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
    job = world.stored()
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


def test_a_step_ends_in_time_however_slow_its_place_is_and_the_next_one_goes_on(world: World) -> None:
    for number in range(5):
        world.payloads.put(f"uid000000000000{number}", f"digest-token/ns/job-{number}", LARGE)
    slow(world, SECOND_MS, "after payloads.is_discarded")
    steps = []
    for _ in range(4):
        world.clock.time += HOUR_MS
        steps.append(world.upkeep().payload_audit.step(until=world.clock.time + 1_500))
    assert steps == [Audited(2, 2), Audited(2, 2), Audited(1, 1), Audited(2, 0)]


def test_a_step_examines_a_payload_even_if_no_time_is_left(world: World) -> None:
    for number in range(2):
        world.payloads.put(f"uid000000000000{number}", f"digest-token/ns/job-{number}", LARGE)
    world.clock.time += HOUR_MS
    late = world.clock.time - 1
    assert [world.upkeep().payload_audit.step(until=late) for _ in range(2)] == [Audited(1, 1)] * 2


def large(letter: str) -> str:
    """Data over 2 KB."""
    return f'"{letter * 3_000}"'


def move_to(world: World, place: MemoryPayloads, *others: MemoryPayloads) -> None:
    """Deploy the stack with other parameters: new payloads go to `place`."""
    world.payloads, world.other_payloads = place, others


def audit(world: World, steps: int = 4) -> Audited:
    """The sum of what steps of the audit did, an hour apart. Four are two rounds over two small places."""
    done = []
    for _ in range(steps):
        world.clock.time += HOUR_MS
        done.append(world.upkeep().payload_audit.step())
    return Audited(*map(sum, zip(*done, strict=True)))


def held(place: MemoryPayloads) -> set[str]:
    """What can be read in a place and does not expire."""
    return {text for name, text in place._payloads.items() if name not in place.discarded}


def arrived(world: World) -> list[str]:
    """The data of the deliveries so far, which are then forgotten."""
    bodies = [each.body.decode() for each in world.consumers.attempts]
    world.consumers.attempts.clear()
    return bodies


def test_payloads_go_from_the_bucket_to_a_table_and_back_with_triggers_in_flight(world: World) -> None:
    bucket, table = world.payloads, MemoryPayloads(world.clock.now)
    world.put("a", schedule="@daily", data=large("a"))
    world.put("by-hand", data="1")
    world.trigger("by-hand", data=large("x"))

    move_to(world, table, bucket)
    world.put("b", schedule="@daily", data=large("b"))
    world.run_until(world.clock.time + MINUTE_MS)
    assert arrived(world) == [large("x")]
    assert (held(bucket), held(table)) == ({large("a")}, {large("b")})
    assert audit(world).moved == 1
    assert (held(bucket), held(table)) == (set(), {large("a"), large("b")})
    bucket.expire()
    world.run_until(world.clock.time + DAY_MS)
    assert set(arrived(world)) == {large("a"), large("b")}
    world.trigger("by-hand", data=large("y"))

    move_to(world, bucket, table)
    world.put("c", schedule="@daily", data=large("c"))
    world.run_until(world.clock.time + MINUTE_MS)
    assert arrived(world) == [large("y")]
    assert audit(world).moved == 2
    assert (held(bucket), held(table)) == ({large("a"), large("b"), large("c")}, set())

    move_to(world, bucket)  # as in a version that knows no tables
    world.run_until(world.clock.time + DAY_MS)
    assert set(arrived(world)) == {large("a"), large("b"), large("c")}
    assert audit(world) == Audited(examined=4 * len(bucket._payloads), discarded=0)


def test_a_job_keeps_its_data_through_a_patch_and_lets_go_of_it_wherever_it_lies(world: World) -> None:
    bucket, table = world.payloads, MemoryPayloads(world.clock.now)
    world.put(schedule="@daily", data=large("a"))
    move_to(world, table, bucket)
    world.clock.time += HOUR_MS
    world.patch(labels={"team": "a"})
    assert (held(bucket), held(table)) == ({large("a")}, set())
    world.put(schedule="@daily", data=large("b"))
    assert (held(bucket), held(table)) == (set(), {large("b")})
    world.clock.time += HOUR_MS
    world.delete()
    assert (held(bucket), held(table)) == (set(), set())


def test_the_audit_moves_a_bounded_number_of_payloads_in_a_step(world: World) -> None:
    bucket, table = world.payloads, MemoryPayloads(world.clock.now)
    for number in range(MOVED_MAX + 1):
        world.put(f"job-{number}", schedule="@daily", data=large("a"))
    move_to(world, table, bucket)
    assert [audit(world, steps=1).moved for _ in range(3)] == [0, MOVED_MAX, 1]
    assert not held(bucket)


def test_the_audit_discards_what_no_job_refers_to_in_a_former_place(world: World) -> None:
    bucket, table = world.payloads, MemoryPayloads(world.clock.now)
    world.put(schedule="@daily", data=large("a"))
    world.delete()
    assert held(bucket)
    move_to(world, table, bucket)
    assert audit(world) == Audited(2, 1, 0)
    assert not held(bucket)


def test_the_audit_begins_anew_where_its_position_is_in_a_place_that_is_gone(world: World) -> None:
    bucket, table = world.payloads, MemoryPayloads(world.clock.now)
    world.put(schedule="@daily", data=large("a"))
    move_to(world, table, bucket)
    audit(world, steps=1)
    assert world.audits.position() == "1:"
    move_to(world, bucket)
    assert audit(world, steps=1).examined == 1
    assert world.audits.position() == ""


def test_a_move_that_fails_halfway_is_done_again_and_loses_nothing(world: World) -> None:
    bucket, table = world.payloads, MemoryPayloads(world.clock.now)
    world.put(schedule="@daily", data=large("a"))
    move_to(world, table, bucket)
    for call in ("payloads.get", "payloads.put", "payloads.discard"):
        world.audits.save_position("1:")
        failing(world, call)
        world.clock.time += HOUR_MS
        with pytest.raises(StoreError):
            world.upkeep().payload_audit.step()
        working(world)
        assert held(bucket) == {large("a")}
    assert audit(world, steps=1).moved == 1
    assert (held(bucket), held(table)) == (set(), {large("a")})


def test_two_moves_in_opposite_directions_at_once_leave_a_copy_that_does_not_expire(world: World) -> None:
    bucket, table = world.payloads, MemoryPayloads(world.clock.now)
    job = world.put(schedule="@daily", data=large("a")).job
    world.clock.time += HOUR_MS
    stored = world.stored().definition.payload
    assert stored is not None
    name = (job.uid, stored.ref or "")
    calls = calls_of(world, world.upkeep().payload_audit.step)

    def opposite() -> None:
        """What a tick of the other parameters does in the middle of a move to the table."""
        bucket.put(*name, large("a"))
        table.discard(*name)

    assert "after payloads.page" in calls
    move_to(world, table, bucket)
    world.audits.save_position("1:")
    meanwhile(world, "before payloads.discard", opposite)
    world.upkeep().payload_audit.step()
    assert held(table) | held(bucket) == {large("a")}


def test_a_place_that_does_not_answer_is_no_reason_to_say_that_data_is_gone() -> None:
    class Silent(MemoryPayloads):
        def get(self, uid: str, ref: str) -> str | None:
            raise StoreError(f"{uid}/{ref}: no answer")

    bucket = MemoryPayloads()
    bucket.put("uid", "ref", "[1]")
    with pytest.raises(StoreError):
        PayloadsInPlaces([Silent(), bucket]).get("uid", "ref")
    with pytest.raises(StoreError):
        PayloadsInPlaces([MemoryPayloads(), Silent()]).get("uid", "ref")
    assert PayloadsInPlaces([bucket, Silent()]).get("uid", "ref") == "[1]"


def test_the_data_of_a_job_is_shown_from_any_place(world: World) -> None:
    bucket, table = world.payloads, MemoryPayloads(world.clock.now)
    world.put(schedule="@daily", data=large("a"))
    move_to(world, table, bucket)
    shown = world.api().reader.get(key_of(), world.clock.time).job.definition.payload
    assert shown is not None
    assert shown.text == large("a")
