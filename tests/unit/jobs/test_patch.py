"""A patch changes the fields that it names, and the series and the other fields continue."""

from typing import Any

import pytest
from tests.fakes.deliveries import fired
from tests.fakes.ledger import Ledger
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import InvalidError, NotFoundError, PreconditionError
from sweephand.base.instants import DAY_MS
from sweephand.jobs.read import view

LARGE = '"' + "x" * 3_000 + '"'


def sequences(world: World) -> list[int]:
    return [each.trigger.sequence for each in world.consumers.attempts]


def test_a_patch_keeps_the_fields_that_it_leaves_out_and_makes_a_new_revision(world: World) -> None:
    first = world.put(schedule="@every 10s", labels={"a": "b"}, data="1").job
    world.clock.time += 5_000
    second = world.patch(description="x").job
    assert second.rev != first.rev
    assert dict(second.definition.written) == {**first.definition.written, "description": "x"}
    assert second.definition.payload == first.definition.payload
    assert (second.uid, second.created_at, second.owner) == (first.uid, first.created_at, first.owner)


def test_a_patch_that_changes_nothing_makes_no_revision_even_of_a_completed_job(world: World) -> None:
    first = world.put(dueTime="10s", labels={"a": "b"}).job
    assert world.patch(labels={"a": "b"}).outcome == "unchanged"
    world.clock.time += 60_000
    assert world.patch(labels={"a": "b"}).job == first


def test_a_label_of_a_completed_job_is_written_and_nothing_fires_again(world: World) -> None:
    world.put(dueTime="10s")
    assert fired(world, 60_000) == [10]
    job = world.patch(labels={"a": "b"}).job
    assert view(job, world.clock.time).state == "completed"
    assert fired(world, 400_000) == [10]


def test_occurrences_and_repeats_go_on_being_counted(world: World) -> None:
    ledger = Ledger(world)
    world.put(schedule="@every 10s", repeats=5)
    world.run_until(NOON + 25_000)
    world.patch(labels={"a": "b"})
    world.run_until(NOON + 35_000)
    world.patch(labels={"a": "c"})
    assert fired(world, 300_000) == [10, 20, 30, 40, 50]
    assert sequences(world) == [1, 2, 3, 4, 5]
    ledger.check(world.clock.time)


def test_patched_repeats_count_from_the_beginning_even_once_a_job_is_completed(world: World) -> None:
    world.put(schedule="@every 10s", repeats=2)
    assert fired(world, 45_000) == [10, 20]
    world.patch(repeats=6)
    # What did not occur between the end and the PATCH has not been counted.
    assert fired(world, 300_000) == [10, 20, 50, 60, 70, 80]
    assert sequences(world) == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("repeats", [1, 3])
def test_repeats_that_are_used_up_already_are_refused(world: World, repeats: int) -> None:
    world.put(schedule="@every 10s")
    world.run_until(NOON + 35_000)
    with pytest.raises(InvalidError) as refused:
        world.patch(repeats=repeats)
    assert [each.pointer for each in refused.value.violations] == ["/repeats"]


def test_another_schedule_begins_with_the_request_and_goes_on_counting(world: World) -> None:
    world.put(schedule="@every 10s", repeats=5)
    world.run_until(NOON + 25_000)
    job = world.patch(schedule="@every 3s").job
    assert job.current.since == NOON + 25_000 - 1
    assert fired(world, 300_000) == [10, 20, 28, 31, 34]
    assert sequences(world) == [1, 2, 3, 4, 5]
    world.put(schedule="@every 4s", repeats=2)
    assert len(fired(world, 400_000)) == 7


@pytest.mark.parametrize("meanwhile", [{}, {"labels": {"team": "mail"}}, {"ttl": "30d"}])
def test_a_job_goes_on_counting_though_it_fired_only_on_demand_for_a_while(meanwhile: dict[str, Any]) -> None:
    world = World()
    world.put(schedule="@every 10s")
    world.run_until(NOON + 25_000)
    assert world.patch(without=["schedule"]).job.series.is_on_demand
    if meanwhile:
        world.patch(**meanwhile)
    world.run_until(NOON + 60_000)
    world.patch(schedule="@every 3s", repeats=4)
    assert fired(world, 300_000) == [10, 20, 63, 66]
    assert sequences(world) == [1, 2, 3, 4]
    world.patch(without=["schedule", "repeats"])
    with pytest.raises(InvalidError) as refused:
        world.patch(schedule="@every 3s", repeats=4)
    assert [each.pointer for each in refused.value.violations] == ["/repeats"]
    # A PUT counts anew.
    world.put(schedule="@every 3s", repeats=1)
    world.run_until(world.clock.time + 60_000)
    assert sequences(world)[4:] == [1]


def test_a_put_of_a_job_on_demand_forgets_what_was_counted(world: World) -> None:
    world.put(schedule="@every 10s")
    world.run_until(NOON + 25_000)
    world.patch(without=["schedule"])
    world.put(labels={"team": "mail"})
    world.patch(schedule="@every 3s")
    world.run_until(NOON + 30_000)
    assert sequences(world) == [1, 2, 1]


def test_a_due_time_that_was_not_patched_keeps_its_first_instant(world: World) -> None:
    world.put(schedule="@every 10s", dueTime="100s", ttl="200s")
    world.clock.time += 50_000
    job = world.patch(schedule="@every 20s").job
    assert (job.series.due_at, job.series.ttl_at) == (NOON + 100_000, NOON + 300_000)
    assert [each for each in fired(world, 400_000) if each < 200] == [100, 120, 140, 160, 180]


def test_a_due_time_that_is_past_keeps_its_phase_and_is_no_error(world: World) -> None:
    world.put(schedule="@every 10s", dueTime="2026-11-21T12:00:05Z")
    world.clock.time += DAY_MS
    job = world.patch(schedule="@every 30s").job
    coming = job.series.next_after(world.clock.time)
    assert coming is not None
    assert (coming.due_at - NOON - 5_000) % 30_000 == 0
    assert coming.due_at > world.clock.time
    assert coming.sequence == DAY_MS // 10_000 + 1


def test_a_patched_due_time_begins_a_new_series(world: World) -> None:
    world.put(schedule="@every 10s", ttl="1h")
    world.run_until(NOON + 25_000)
    job = world.patch(dueTime="100s").job
    assert job.series.due_at == NOON + 125_000
    assert job.series.ttl_at == NOON + 3_600_000
    assert fired(world, 139_000) == [10, 20, 125, 135]


def test_a_one_off_is_moved(world: World) -> None:
    world.put(dueTime="30s")
    world.clock.time += 10_000
    world.patch(dueTime="60s")
    assert fired(world, 200_000) == [70]


def test_a_one_off_becomes_a_series_and_a_series_a_one_off(world: World) -> None:
    world.put(dueTime="30s")
    world.patch(schedule="@every 10s")
    assert fired(world, 55_000) == [30, 40, 50]
    world.patch(without=["schedule"], dueTime="5s")
    assert fired(world, 200_000) == [30, 40, 50, 60]


def test_a_ttl_is_patched_and_removed(world: World) -> None:
    world.put(schedule="@every 10s", ttl="1h")
    world.clock.time += 5_000
    assert world.patch(ttl="30s").job.series.ttl_at == NOON + 35_000
    removed = world.patch(without=["ttl"]).job
    assert removed.series.ttl_at is None
    assert removed.expires_at is None


def test_a_ttl_counts_from_the_first_instant_of_the_due_time(world: World) -> None:
    world.put(schedule="@every 10s", dueTime="100s")
    world.clock.time += 50_000
    job = world.patch(ttl="60s").job
    assert job.series.ttl_at == NOON + 160_000
    world.patch(schedule="@every 20s")
    assert world.patch(ttl="70s").job.series.ttl_at == NOON + 170_000


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "an end before the next fire": ({"ttl": "5s"}, "/ttl"),
    "an end that is past": ({"ttl": "2026-11-21T11:00:00Z"}, "/ttl"),
    "a zone that does not exist": ({"timezone": "Mars/Olympus"}, "/timezone"),
    "a schedule that is none": ({"schedule": "@nonsense"}, "/schedule"),
    "repeats of a one-off": ({"without": ["schedule"], "dueTime": "1h", "repeats": 2}, "/repeats"),
    "repeats on demand": ({"without": ["schedule"], "repeats": 2}, "/repeats"),
    "jitter on demand": ({"without": ["schedule"], "jitter": "1m"}, "/jitter"),
    "dst on demand": ({"without": ["schedule"], "dst": {"gap": "skip"}}, "/dst"),
}


@pytest.mark.parametrize(("fields", "pointer"), REFUSED.values(), ids=REFUSED)
def test_a_patch_that_makes_an_invalid_job_is_refused_whole(fields: dict[str, Any], pointer: str) -> None:
    world = World()
    before = world.put(schedule="@every 100s").job
    world.clock.time += 1_000
    with pytest.raises(InvalidError) as refused:
        world.patch(**fields)
    assert [each.pointer for each in refused.value.violations] == [pointer]
    assert world.jobs.get(key_of()) == before


def test_a_one_off_whose_time_is_past_can_be_patched_in_all_but_its_times(world: World) -> None:
    world.put(dueTime="2026-11-21T12:00:10Z", ttl="2026-11-21T12:00:20Z")
    world.clock.time += DAY_MS
    assert world.patch(description="x").outcome == "replaced"
    with pytest.raises(InvalidError) as refused:
        world.patch(timezone="Europe/Paris")
    assert {each.pointer for each in refused.value.violations} == {"/dueTime", "/ttl"}


def test_data_that_is_not_patched_keeps_its_object(world: World) -> None:
    first = world.put(schedule="@every 10s", data=LARGE).job
    second = world.patch(labels={"a": "b"}).job
    assert first.definition.payload is not None
    assert second.definition.payload is not None
    assert second.definition.payload.ref == first.definition.payload.ref
    assert not world.payloads.discarded
    world.run_until(NOON + 11_000)
    assert world.consumers.attempts[0].body == LARGE.encode()


def test_there_must_be_a_job_to_patch_in_that_revision(world: World) -> None:
    with pytest.raises(NotFoundError):
        world.patch(labels={})
    world.put(schedule="@every 10s")
    with pytest.raises(PreconditionError):
        world.api().writer.patch(
            key_of(), lambda before: before, caller="test", requested_at=NOON, if_match=("9-z",)
        )


def test_a_late_resume_keeps_the_job_for_its_deliveries_though_it_is_patched(world: World) -> None:
    world.put(dueTime="10s")
    world.pause()
    world.clock.time += 30 * DAY_MS
    resumed = world.resume()
    patched = world.patch(description="that was a long pause").job
    assert patched.expires_at == resumed.expires_at
    longer = world.patch(retention="8d").job
    assert resumed.expires_at is not None
    assert longer.expires_at == resumed.expires_at + DAY_MS
    assert not longer.is_gone(world.clock.time)


def test_a_job_with_a_new_series_after_a_late_resume_stays_for_as_long_as_any_other(world: World) -> None:
    world.put(dueTime="10s")
    world.pause()
    world.clock.time += 30 * DAY_MS
    world.resume()
    again = world.put(dueTime="20s").job
    other = world.put("other", dueTime="20s").job
    assert again.expires_at == other.expires_at


@pytest.mark.parametrize("late_ms", [0, 30_000, 60 * 60_000])
@pytest.mark.parametrize("repeats", [4, 5, 100])
def test_more_repeats_after_the_end_continue_the_count(world: World, late_ms: int, repeats: int) -> None:
    world.put(schedule="@every 1m", repeats=3)
    world.run_until(NOON + 3 * 60_000 + late_ms)
    world.patch(repeats=repeats)
    world.run_until(world.clock.time + 3 * 60 * 60_000)
    assert [each.trigger.sequence for each in world.consumers.attempts] == list(range(1, repeats + 1))


def test_repeats_that_were_counted_before_the_end_are_refused_after_it(world: World) -> None:
    world.put(schedule="@every 1m", repeats=3)
    world.run_until(NOON + 60 * 60_000)
    with pytest.raises(InvalidError) as refusal:
        world.patch(repeats=2)
    assert [each.pointer for each in refusal.value.violations] == ["/repeats"]


def test_a_later_ttl_after_the_end_continues_the_count(world: World) -> None:
    world.put(schedule="@every 1m", ttl="2m")
    world.run_until(NOON + 60 * 60_000)
    world.patch(ttl="2026-11-21T13:02:00Z")
    world.run_until(NOON + 2 * 60 * 60_000)
    assert [each.trigger.sequence for each in world.consumers.attempts] == [1, 2, 3, 4]
