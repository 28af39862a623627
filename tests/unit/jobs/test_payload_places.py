"""The place of payloads changes while jobs refer to some. None is lost, and the audit moves them."""

import pytest
from tests.fakes.faults import calls_of, failing, working
from tests.fakes.memory import MemoryPayloads
from tests.fakes.world import World, key_of

from sweephand.base.errors import StoreError
from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS
from sweephand.jobs.payload_audit import MOVED_MAX, Audited
from sweephand.storage.payloads import PayloadsInPlaces


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

    def opposite(call: str) -> None:
        """What a tick of the other parameters does in the middle of a move to the table."""
        if call == "before payloads.discard":
            world.announce = lambda _: None
            bucket.put(*name, large("a"))
            table.discard(*name)

    assert "after payloads.page" in calls
    move_to(world, table, bucket)
    world.audits.save_position("1:")
    world.announce = opposite
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
