"""Triggers on demand: their data, their ids, and their delivery during a pause."""

import pytest
from tests.fakes.faults import calls_of
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import InvalidError, NotFoundError
from sweephand.base.instants import DAY_MS, HOUR_MS
from sweephand.base.limits import BACKFILL_TRIGGERS_MAX
from sweephand.model.attempt import Answer
from sweephand.model.run_id import Demand, RunName, parse_run_name
from sweephand.model.trigger import RangeMessage

MINUTE = 60_000
LARGE = '"' + "x" * 3_000 + '"'


def bodies(world: World) -> list[bytes]:
    return [each.body for each in world.consumers.attempts]


def test_a_trigger_by_hand_is_delivered_at_once_beside_triggers_of_the_schedule(world: World) -> None:
    job = world.put(schedule="@every 10s", data="1").job
    world.run_until(NOON + 5_000)
    trigger = world.trigger()
    world.run_until(NOON + 11_000)
    (manual, other) = world.consumers.attempts
    assert manual.trigger == trigger
    assert (manual.trigger.due_at, manual.trigger.sequence) == (NOON + 5_000, 0)
    assert manual.trigger.id == f"{job.uid}-{trigger.run_id}"
    assert trigger.run_id.startswith("manual-")
    assert other.trigger.due_at == NOON + 10_000
    assert bodies(world) == [b"1", b"1"]
    run = world.runs.get(key_of(), trigger.run_id)
    assert run is not None
    assert (run.state, run.lateness_ms, run.run_id) == ("succeeded", 0, trigger.run_id)


def test_two_triggers_by_hand_of_one_instant_and_the_scheduled_one_have_different_ids(world: World) -> None:
    world.put(schedule="@every 10s")
    world.clock.time += 10_000
    first, second = world.trigger(), world.trigger()
    world.run_until(NOON + 11_000)
    assert len(set(world.consumers.ids)) == 3
    assert first.due_at == second.due_at
    assert len(world.runs.page(key_of(), None, "", 10).items) == 3
    assert all(world.runs.get(key_of(), each.run_id) for each in (first, second))


@pytest.mark.parametrize("data", ["7", "null", LARGE], ids=["small", "null", "large"])
def test_the_data_of_a_trigger_by_hand_replaces_the_jobs_data_at_every_attempt(data: str) -> None:
    world = World()
    world.put(schedule="@every 1h", data=LARGE.upper())
    world.consumers.answering = lambda attempt: Answer(succeeded=attempt.number > 2, code=503)
    trigger = world.trigger(data=data)
    world.run_until(NOON + 30 * MINUTE)
    assert bodies(world) == [data.encode()] * 3
    run = world.runs.get(key_of(), trigger.run_id)
    assert run is not None
    assert run.state == "succeeded"


def test_a_trigger_that_waits_in_the_wheel_for_its_retry_keeps_its_name_and_its_data(world: World) -> None:
    world.put(schedule="@every 5h", data="1")
    later_at = NOON + 40 * MINUTE
    world.consumers.answering = lambda attempt: Answer(
        succeeded=attempt.number > 1, code=503, retry_after_at=later_at
    )
    trigger = world.trigger(data="7")
    world.pause()
    world.run_until(NOON + 50 * MINUTE)
    assert bodies(world) == [b"7", b"7"]
    assert set(world.consumers.ids) == {trigger.id}


def test_large_data_expires_by_itself(world: World) -> None:
    world.put(schedule="@every 1h")
    world.trigger(data=LARGE)
    assert world.payloads.discarded == set(world.payloads._payloads)


def test_a_paused_job_is_triggered_and_backfilled_and_stays_paused(world: World) -> None:
    world.put(schedule="@every 1h", dueTime="0s")
    world.run_until(NOON + 1_000)
    world.pause()
    world.run_until(NOON + 3 * HOUR_MS)
    before = len(world.consumers.ids)
    world.trigger()
    world.backfill(since=NOON, until=NOON + 3 * HOUR_MS)
    world.run_until(NOON + 3 * HOUR_MS + MINUTE)
    assert len(world.consumers.ids) == before + 1 + 3
    job = world.stored()
    assert job.paused_at is not None


def test_a_completed_job_is_triggered(world: World) -> None:
    world.put(dueTime="10s")
    world.run_until(NOON + MINUTE)
    world.trigger()
    world.run_until(NOON + 2 * MINUTE)
    assert len(set(world.consumers.ids)) == 2


def test_a_trigger_of_a_job_that_is_deleted_meanwhile_is_not_delivered(world: World) -> None:
    world.put(schedule="@every 1h")
    world.trigger()
    world.backfill(since=NOON - DAY_MS, until=NOON)
    world.delete()
    world.run_until(NOON + 10 * MINUTE)
    assert not world.consumers.ids
    assert not world.queue.waiting


def test_a_trigger_by_hand_does_not_fire_the_next_job_of_the_name(world: World) -> None:
    world.put(schedule="@every 1h")
    world.trigger()
    world.delete()
    world.put(schedule="@every 1h")
    world.run_until(NOON + 10 * MINUTE)
    assert not world.consumers.ids


def test_a_trigger_by_hand_that_was_given_up_is_redriven_with_its_data(world: World) -> None:
    world.put(schedule="@every 1h", data="1", retry={"maxAttempts": 1})
    world.consumers.answering = lambda attempt: Answer(succeeded=attempt.number > 1, code=500)
    trigger = world.trigger(data=LARGE)
    world.run_until(NOON + MINUTE)
    world.api().redriver.redrive(key_of(), trigger.run_id)
    world.run_until(NOON + 2 * MINUTE)
    assert bodies(world) == [LARGE.encode()] * 2
    assert set(world.consumers.ids) == {trigger.id}
    run = world.runs.get(key_of(), trigger.run_id)
    assert run is not None
    assert run.state == "succeeded"


def test_a_trigger_writes_nothing_but_its_message(world: World) -> None:
    world.put(schedule="@every 1h")
    calls = calls_of(world, world.trigger)
    assert [call for call in calls if call.startswith("before")] == ["before jobs.get", "before queue.send"]


def test_a_backfill_makes_the_triggers_of_its_range_with_ids_of_their_own(world: World) -> None:
    world.put(schedule="@every 1m")
    world.run_until(NOON + 30 * MINUTE)
    before = set(world.consumers.ids)
    world.consumers.attempts.clear()
    made = world.backfill(since=NOON + 10 * MINUTE, until=NOON + 25 * MINUTE)
    assert made.count == 15
    world.run_until(NOON + 30 * MINUTE + 1_000)
    triggers = sorted((each.trigger for each in world.consumers.attempts), key=lambda each: each.due_at)
    assert [each.due_at for each in triggers] == [NOON + each * MINUTE for each in range(10, 25)]
    assert [each.sequence for each in triggers] == list(range(10, 25))
    assert not before & {each.id for each in triggers}
    assert (str(made.first), str(made.last)) == (triggers[0].run_id, triggers[-1].run_id)
    runs = world.runs.page(key_of(), None, "", 200).items
    backfilled = [run for run in runs if run.demand]
    assert len(backfilled) == 15
    assert {run.lateness_ms for run in backfilled} == {None}


def test_a_second_backfill_of_a_range_makes_new_triggers(world: World) -> None:
    world.put(schedule="@every 1m")
    world.clock.time += 10 * MINUTE
    world.queue.waiting.clear()
    for _ in range(2):
        world.backfill(since=NOON, until=NOON + 5 * MINUTE)
    world.run_until(world.clock.time + 1_000, ticking=False)
    assert len(set(world.consumers.ids)) == len(world.consumers.ids) == 8


def test_a_backfill_looks_back_beyond_an_update_the_repeats_and_the_jobs_creation(world: World) -> None:
    world.put(schedule="*/10 * * * *", repeats=2)
    world.clock.time += HOUR_MS
    world.put(schedule="*/10 * * * *", repeats=2, data="1")
    assert world.backfill(since=NOON - HOUR_MS, until=NOON + HOUR_MS).count == 12


def test_a_schedule_that_counts_from_its_start_is_backfilled_from_there(world: World) -> None:
    world.put(schedule="@every 10m")
    world.clock.time += HOUR_MS
    world.patch(labels={"a": "b"})
    made = world.backfill(since=NOON - HOUR_MS, until=NOON + HOUR_MS)
    assert made.count == 5
    assert made.first is not None
    assert made.first.due_at == NOON + 10 * MINUTE


def test_a_backfill_keeps_to_the_due_time_and_the_ttl(world: World) -> None:
    world.put(schedule="*/10 * * * *", dueTime="20m", ttl="10m")
    world.clock.time += HOUR_MS
    made = world.backfill(since=NOON - HOUR_MS, until=NOON + HOUR_MS)
    assert (made.count, made.first and made.first.due_at) == (2, NOON + 20 * MINUTE)


def test_a_one_off_is_backfilled_if_its_time_lies_in_the_range(world: World) -> None:
    world.put(dueTime="10s")
    world.run_until(NOON + MINUTE)
    assert world.backfill(since=NOON, until=NOON + 10_000).count == 0
    assert world.backfill(since=NOON, until=NOON + 10_001).count == 1


def test_a_large_backfill_is_one_message_and_is_not_enumerated(world: World) -> None:
    world.put(schedule="* * * * * *")
    world.clock.time += BACKFILL_TRIGGERS_MAX * 1_000
    world.queue.waiting.clear()
    world.backfill(since=NOON, until=world.clock.time)
    ((_, message),) = world.queue.waiting
    assert isinstance(message, RangeMessage)
    with pytest.raises(InvalidError) as refused:
        world.backfill(since=NOON - 1_000, until=world.clock.time)
    assert "backfillTriggersMax" in str(refused.value)


@pytest.mark.parametrize(
    ("since", "until", "pointers"),
    [
        (NOON, NOON, ["/from"]),
        (NOON, NOON - 1, ["/from"]),
        (NOON - 1, NOON + 1, ["/to"]),
        (NOON + 2, NOON + 1, ["/from", "/to"]),
    ],
)
def test_a_backfill_is_of_a_range_that_is_past(since: int, until: int, pointers: list[str]) -> None:
    world = World()
    world.put(schedule="@every 1m")
    with pytest.raises(InvalidError) as refused:
        world.backfill(since=since, until=until)
    assert [each.pointer for each in refused.value.violations] == pointers


def test_there_must_be_a_job_to_trigger(world: World) -> None:
    with pytest.raises(NotFoundError):
        world.trigger()
    with pytest.raises(NotFoundError):
        world.backfill(since=NOON - 1, until=NOON)


NAMES = {
    "1795262400000-0": RunName(NOON, 0),
    "0-9999999": RunName(0, 9_999_999),
    "manual-1795262400000-0-a1": RunName(NOON, 0, Demand("manual", "a1")),
    "backfill-1-7-zz9": RunName(1, 7, Demand("backfill", "zz9")),
}


@pytest.mark.parametrize(("text", "name"), NAMES.items())
def test_the_name_of_a_run_has_the_parts_of_its_trigger(text: str, name: RunName) -> None:
    assert parse_run_name(text) == name
    assert str(name) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "1-",
        "-0",
        "01-0",
        "1-00",
        "1-0-a",
        "manual-1-0",
        "manual-1-0-",
        "manual-1-0-A",
        "redrive-1-0-a",
        "1-10000000",
        "999999999999999-0",
        "1-0\n",
        "\u0661-0",
    ],
)
def test_a_text_that_is_not_the_name_of_a_run_is_read_as_none(text: str) -> None:
    assert parse_run_name(text) is None


def test_runs_on_demand_have_keys_of_their_own(world: World) -> None:
    world.put(schedule="@every 10s")
    world.run_until(NOON + 10_000)
    trigger = world.trigger()
    world.run_until(NOON + 11_000)
    scheduled = world.runs.get(key_of(), f"{NOON + 10_000}-0")
    assert scheduled is not None
    assert scheduled.demand is None
    other = trigger._replace(demand=Demand("manual", "other"))
    assert world.runs.get(key_of(), other.run_id) is None
