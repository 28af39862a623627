"""Triggers that come due while a run of their job is not over, under each rule of `overlap`."""

import json
from dataclasses import replace

import pytest
from tests.fakes.deliveries import change, handle
from tests.fakes.faults import calls_of
from tests.fakes.lines import (
    FAILED,
    MINUTE,
    MODES,
    SLOW,
    SUCCESS,
    alone,
    delivered,
    message_of,
    runs_of,
    scene,
    slot_of,
    states,
    triggers,
)
from tests.fakes.world import NOON, World, key_of

from sweephand.runs.delivery import JobRead


def test_no_line_is_read_for_a_job_whose_runs_may_overlap(world: World) -> None:
    first, second = triggers(world, "allow", 0, 1)
    world.clock.time += 1_000
    calls = calls_of(world, lambda: (handle(world, first), handle(world, second)))
    assert not [call for call in calls if "lines" in call]


@pytest.mark.parametrize("mode", MODES)
def test_a_trigger_that_finds_no_holder_runs_at_once_and_leaves_no_line_behind(mode: str) -> None:
    world = World()
    for message in triggers(world, mode, 0, 1):
        world.clock.time = message.not_before
        assert handle(world, message).name == "succeeded"
        assert world.lines.get(key_of()) is None
    assert states(world) == {0: "succeeded", 1: "succeeded"}


def test_skip_records_a_trigger_that_comes_during_a_run_and_never_delivers_it() -> None:
    world = scene("skip", 0, 1, 2)
    world.run_until(NOON + 5 * MINUTE)
    assert delivered(world) == [0, 0]
    assert states(world) == {0: "succeeded", 1: "skipped: overlap", 2: "skipped: overlap"}
    assert runs_of(world)[1].attempts == 0
    assert not world.queue.waiting


def test_wait_runs_triggers_one_after_the_other_in_the_order_of_their_due_times() -> None:
    world = scene("wait", 0, 3, 1, 2)
    world.run_until(NOON + 30 * MINUTE)
    assert delivered(world) == [0, 0, 1, 2, 3]
    assert set(states(world).values()) == {"succeeded"}
    assert world.lines.get(key_of()) is None
    assert not world.queue.waiting


def test_the_next_trigger_runs_as_soon_as_the_run_before_it_is_over() -> None:
    world = scene("wait", 0, 1, 2)
    world.run_until(NOON + MINUTE)
    assert delivered(world) == [0, 0, 1, 2]
    assert all(at < NOON + 41_000 for at in world.consumers.times)


def test_wait_latest_lets_only_the_newest_trigger_wait_and_records_the_replaced_ones() -> None:
    world = scene("waitLatest", 0, 1, 3, 2)
    world.run_until(NOON + 30 * MINUTE)
    assert delivered(world) == [0, 0, 3]
    assert states(world) == {0: "succeeded", 1: "skipped: overlap", 2: "skipped: overlap", 3: "succeeded"}
    assert not world.queue.waiting


def test_a_trigger_beyond_the_wait_limit_is_skipped() -> None:
    world = scene("wait", 0, 1, 2, 3, 4, waitLimit=2)
    world.run_until(NOON + 30 * MINUTE)
    assert delivered(world) == [0, 0, 1, 2]
    assert states(world)[3] == states(world)[4] == "skipped: overlap"


def test_a_trigger_that_waits_and_is_received_again_waits_once() -> None:
    world = scene("wait", 0, 1, waitLimit=1)
    again = message_of(world.stored(), 1)
    assert handle(world, again).name == "waiting"
    assert [each.trigger.due_at for each in slot_of(world).line.waiting] == [NOON + 1_000]


def test_a_trigger_older_than_the_waiting_ones_runs_before_them() -> None:
    world = scene("wait", 0, 2)
    world.run_until(NOON + 20_000)
    handle(world, message_of(world.stored(), 1))
    world.run_until(NOON + 30 * MINUTE)
    assert delivered(world) == [0, 0, 1, 2]


@pytest.mark.parametrize("mode", MODES)
def test_a_duplicate_of_a_finished_trigger_takes_no_other_triggers_turn(mode: str) -> None:
    world = scene(mode, 0, 1)
    world.run_until(NOON + 30 * MINUTE)
    before = delivered(world)
    for due_s in (0, 1):
        assert handle(world, message_of(world.stored(), due_s)).name == "repeated"
    assert delivered(world) == before
    assert world.lines.get(key_of()) is None


def test_a_duplicate_of_a_finished_trigger_does_not_join_a_line() -> None:
    world = scene("wait", 0)
    world.run_until(NOON + MINUTE)
    world.consumers.answering = alone(world, iter([FAILED]))
    handle(world, message_of(world.stored(), 30))
    assert handle(world, message_of(world.stored(), 0)).name == "repeated"
    assert slot_of(world).line.waiting == ()


@pytest.mark.parametrize("mode", MODES)
def test_a_run_is_stored_whatever_the_history(world: World, mode: str) -> None:
    (message,) = triggers(world, mode, 0, history="failures")
    handle(world, message)
    assert states(world) == {0: "succeeded"}


@pytest.mark.parametrize("mode", MODES)
def test_a_run_that_was_given_up_frees_the_line(world: World, mode: str) -> None:
    first, second = triggers(world, mode, 0, 1, retry={"maxAttempts": 1})
    world.consumers.answering = alone(world, iter([FAILED]))
    handle(world, first)
    world.clock.time += 1_000
    assert handle(world, second).name == "succeeded"


@pytest.mark.parametrize("mode", MODES)
def test_the_line_of_a_deleted_job_does_not_hold_up_a_new_job_of_its_name(mode: str) -> None:
    world = scene(mode, 0)
    world.delete()
    world.put(dueTime="0s", overlap=mode)
    world.run_until(NOON + 2_000)
    assert delivered(world) == [0, 0]
    assert world.consumers.attempts[1].trigger.uid == world.stored().uid
    assert world.lines.get(key_of()) is None


@pytest.mark.parametrize("mode", MODES)
def test_a_trigger_of_a_deleted_job_does_not_take_the_line_of_a_new_job_of_its_name(mode: str) -> None:
    world = World()
    (old,) = triggers(world, mode, 0)
    read = JobRead(world.stored(), world.clock.time)
    # A function that has read the job is stopped, and goes on within the second for which a read is valid.
    world.delete()
    world.put(dueTime="0s", overlap=mode, **SLOW)
    world.consumers.answering = alone(world, iter([FAILED]))
    world.run_until(NOON + 500)
    line = slot_of(world)
    assert handle(world, old, read).name == "dropped"
    assert world.lines.get(key_of()) == line
    assert delivered(world) == [0]


def test_waiting_triggers_are_delivered_after_a_change_to_allow() -> None:
    world = scene("wait", 0, 1, 2)
    world.put(schedule="@every 1s", dueTime="0s", ttl="60s", **SLOW)
    world.queue.waiting = [each for each in world.queue.waiting if each[0] > world.clock.time]
    world.consumers.answering = lambda _: SUCCESS
    world.run_until(NOON + 30 * MINUTE)
    assert {0, 1, 2} <= set(delivered(world))
    assert {states(world)[due_s] for due_s in (0, 1, 2)} == {"succeeded"}


def test_waiting_triggers_go_on_waiting_after_a_change_to_skip() -> None:
    world = scene("wait", 0, 1)
    job = world.stored()
    written = {**job.definition.written, "overlap": "skip"}
    change(world, definition=replace(job.definition, written=written))
    world.clock.time += 1_000
    handle(world, message_of(job, 2))
    world.run_until(NOON + 30 * MINUTE)
    assert delivered(world) == [0, 0, 1]
    assert states(world)[2] == "skipped: overlap"


def test_a_redrive_waits_for_its_turn_and_is_never_skipped(world: World) -> None:
    first, second = triggers(world, "skip", 0, 1, retry={"maxAttempts": 2, "initialDelay": "40s"})
    world.consumers.answering = alone(world, iter([FAILED] * 3))
    handle(world, first)
    world.run_until(NOON + MINUTE)
    assert states(world) == {0: "failed"}
    handle(world, second)
    world.api().redriver.redrive(key_of(), f"{NOON}-0")
    world.run_until(NOON + 30 * MINUTE)
    assert delivered(world) == [0, 0, 1, 1, 0]
    assert states(world) == {0: "succeeded", 1: "succeeded"}


@pytest.mark.parametrize("mode", MODES)
def test_a_trigger_on_demand_waits_and_is_never_skipped(mode: str) -> None:
    world = scene(mode, 0, waitLimit=1)
    for _ in range(3):
        world.trigger()
    world.run_until(NOON + 40 * MINUTE)
    assert len(delivered(world)) == 5
    assert set(states(world).values()) == {"succeeded"}
    assert world.lines.get(key_of()) is None
    assert not world.queue.waiting


def test_a_newer_trigger_replaces_triggers_of_the_schedule_and_none_on_demand() -> None:
    world = scene("waitLatest", 0, 1)
    asked_for = world.trigger()
    handle(world, message_of(world.stored(), 2))
    world.run_until(NOON + 40 * MINUTE)
    (skipped,) = world.runs.page(key_of(), "skipped", "", 10).items
    assert skipped.run_id == f"{NOON + 1_000}-0"
    assert [each.trigger.run_id for each in world.consumers.attempts[2:]] == [
        asked_for.run_id,
        f"{NOON + 2_000}-0",
    ]


def test_the_second_target_is_notified_of_a_skipped_trigger() -> None:
    world = scene("skip", 0, 1, onComplete={"type": "http", "url": "https://consumer.example/ends"})
    world.run_until(NOON + 5_000)
    (told,) = [each for each in world.consumers.attempts if b'"state"' in each.body]
    body = json.loads(told.body)
    assert (body["runId"], body["state"], body["reason"]) == (f"{NOON + 1_000}-0", "skipped", "overlap")
