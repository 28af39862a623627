"""The holder of a line: how long triggers wait for it, and how it loses the line."""

from dataclasses import replace
from itertools import repeat
from typing import Any

import pytest
from tests.fakes.deliveries import change, handle, waiting
from tests.fakes.faults import Killed, meanwhile
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
from tests.fakes.memory import MemoryRuns
from tests.fakes.world import NOON, World, key_of

from sweephand.base.timing import ATTEMPT_CLAIM_MS, DEADLINE_GRACE_MS
from sweephand.model.attempt import Answer
from sweephand.model.job import Revision
from sweephand.model.line import Holder, Line, StoredLine
from sweephand.model.trigger import TriggerMessage
from sweephand.runs.overlap import ABANDONED_MS

ACCEPTED = Answer(succeeded=True, code=202)

#: The consumer accepts, and works on it for minutes.
ASYNC: dict[str, Any] = {"completion": "async", "heartbeatTimeout": "2m", "maxRunTime": "10m"}


@pytest.mark.parametrize("mode", MODES)
def test_a_trigger_does_not_wait_for_a_holder_of_which_nothing_is_seen_for_an_hour(mode: str) -> None:
    world = scene(mode, 0)
    # Its retry went to the dead-letter queue, because it crashed every function that received it.
    world.queue.waiting.clear()
    later = message_of(world.stored(), 1)
    run = runs_of(world)[0]
    world.clock.time = max(run.next_attempt_at or 0, run.claimed_until or 0) + ABANDONED_MS - 1
    expected = "skipped" if mode == "skip" else "waiting"
    assert handle(world, later).name == expected
    world.clock.time += 1
    assert handle(world, message_of(world.stored(), 2)).name == ("succeeded" if mode == "skip" else "waiting")
    world.run_until(world.clock.time + 30 * MINUTE)
    assert delivered(world) == {"skip": [0, 2], "wait": [0, 1, 2], "waitLatest": [0, 1, 2]}[mode]


def test_a_holder_that_was_given_up_and_comes_back_waits_for_another_turn() -> None:
    world = scene("skip", 0)
    ((_, retry),) = world.queue.waiting
    world.queue.waiting.clear()
    world.clock.time += 2 * ABANDONED_MS
    world.consumers.answering = alone(world, iter([FAILED]))
    assert handle(world, message_of(world.stored(), 5)).name == "retrying"
    world.queue.send([(retry, 0)])
    world.run_until(world.clock.time + 30 * MINUTE)
    assert delivered(world) == [0, 5, 5, 0]
    assert set(states(world).values()) == {"succeeded"}


@pytest.mark.parametrize("mode", ["wait", "waitLatest"])
def test_a_trigger_that_is_not_owed_any_more_leaves_the_line_when_its_message_comes(mode: str) -> None:
    world = scene(mode, 0, 1)
    second = message_of(world.stored(), 1)
    take_back(world, NOON + 500)
    assert handle(world, second).name == "dropped"
    assert waiting_in(world) == []
    world.run_until(NOON + 50_000)
    assert delivered(world) == [0, 0]
    assert world.lines.get(key_of()) is None


def test_a_holder_that_is_not_owed_any_more_loses_the_line_when_no_function_can_deliver_it() -> None:
    world = scene("wait", 0, 1, 2)
    # The clock that replaces the job is behind the clock that had the second trigger wait.
    take_back(world, NOON + 500, owes=2)
    world.run_until(NOON + 500 + ATTEMPT_CLAIM_MS - 1)
    assert delivered(world) == [0, 0]
    assert waiting_in(world) == [2]
    world.run_until(NOON + ATTEMPT_CLAIM_MS + 2_000)
    assert delivered(world) == [0, 0, 2]
    assert set(states(world)) == {0, 2}
    assert world.lines.get(key_of()) is None


def test_a_claimed_holder_that_is_not_owed_any_more_loses_the_line_after_its_claim(world: World) -> None:
    (message,) = triggers(world, "skip", 0)

    def connect() -> None:
        world.consumers.connecting = lambda: None
        take_back(world, NOON - 500)
        world.clock.time += 1_001

    world.consumers.connecting = connect
    assert handle(world, message).name == "leaving"
    world.run_until(NOON + ATTEMPT_CLAIM_MS + 2_000)
    assert not delivered(world)
    assert world.lines.get(key_of()) is None


def test_a_holder_that_a_later_revision_owes_keeps_the_line_though_an_earlier_message_is_dropped() -> None:
    world = scene("wait", 0, 1)
    earlier = message_of(world.stored(), 1)
    take_back(world, NOON + 500, owes=1)
    world.clock.time = NOON + 2_000
    later = message_of(world.stored(), 1)
    assert handle(world, later).name == "waiting"
    assert handle(world, earlier).name == "dropped"
    assert waiting_in(world) == [1]
    world.run_until(NOON + 50_000)
    assert delivered(world) == [0, 0, 1]


def waiting_in(world: World) -> list[int]:
    """The due times of the triggers that wait in the line, in seconds after noon."""
    stored_line = world.lines.get(key_of())
    return [(each.trigger.due_at - NOON) // 1_000 for each in stored_line.line.waiting] if stored_line else []


def take_back(world: World, cut: int, *, owes: int | None = None) -> None:
    """Replace the job as of a moment before a trigger was due; the new revision owes what comes from then."""
    job = world.stored()
    since = NOON + (owes * 1_000 - 1 if owes is not None else 24 * 60 * MINUTE)
    earlier = job.current._replace(until=cut)
    change(world, current=Revision("2-x", since), earlier=(earlier,), cut=cut)
    if owes is not None:
        world.queue.send([(message_of(world.stored(), owes), 0)])


def test_a_redrive_of_a_paused_job_goes_before_a_holder_that_the_pause_holds_back(world: World) -> None:
    first, second = triggers(world, "wait", 0, 1, retry={"maxAttempts": 1})
    world.consumers.answering = alone(world, iter([FAILED]))
    handle(world, first)
    world.clock.time += 1_000
    world.pause()
    take_line_just_before(world, second.trigger.due_at)
    world.api().redriver.redrive(key_of(), f"{NOON}-0")
    world.run_until(world.clock.time + ATTEMPT_CLAIM_MS - 1_000)
    assert delivered(world) == [0]
    world.run_until(world.clock.time + 2_000)
    assert delivered(world) == [0, 0]
    world.resume(mode="none")
    world.queue.send([(second, 0)])
    world.run_until(world.clock.time + MINUTE)
    assert delivered(world) == [0, 0, 1]


def test_a_trigger_by_hand_goes_before_a_retry_that_a_pause_holds() -> None:
    world = scene("wait", 0)
    world.consumers.answering = lambda _: SUCCESS
    world.clock.time += 5_000
    world.pause()
    world.trigger()
    world.run_until(world.clock.time + ATTEMPT_CLAIM_MS - 1_000)
    assert delivered(world) == [0]
    world.run_until(world.clock.time + 2_000)
    assert delivered(world) == [0, 5]
    world.resume(mode="none")
    world.run_until(world.clock.time + 20 * MINUTE)
    assert delivered(world) == [0, 5, 0]
    assert states(world) == {0: "succeeded", 5: "succeeded", 6: "skipped: misfire"}


def test_a_trigger_by_hand_waits_for_the_retries_of_another_one_whether_the_job_is_paused_or_not() -> None:
    world = World()
    triggers(world, "wait")
    world.pause()
    world.consumers.answering = alone(world, iter([FAILED, FAILED, FAILED]))
    world.trigger()
    world.run_until(NOON + 1_000)
    world.trigger()
    world.run_until(NOON + 60 * MINUTE)
    assert delivered(world) == [0, 0, 0, 0, 1]


@pytest.mark.parametrize("kind", ["by hand", "redriven"])
def test_a_holder_that_a_pause_does_not_hold_back_keeps_the_line_after_a_crash(kind: str) -> None:
    world = World()
    if kind == "by hand":
        triggers(world, "wait")
        world.trigger()
    else:
        (first,) = triggers(world, "wait", 0, retry={"maxAttempts": 1}, history="full")
        world.consumers.answering = alone(world, iter([FAILED]))
        handle(world, first)
        world.api().redriver.redrive(key_of(), f"{NOON}-0")
    world.pause()
    ((_, message),) = waiting(world)
    world.queue.waiting.clear()
    before = delivered(world)
    # A function took the line for the message and crashed. The queue shows the message again later.
    job = world.stored()
    assert world.lines.put(StoredLine(job.key, job.uid, "taken", Line(Holder(message, NOON))), None)
    world.clock.time = NOON + 5_000
    world.trigger()
    world.run_until(NOON + 2 * ATTEMPT_CLAIM_MS)
    assert delivered(world) == before
    world.queue.send([(message, 0)])
    world.run_until(world.clock.time + MINUTE)
    assert delivered(world) == [*before, 0, 5]


def take_line_just_before(world: World, due_at: int) -> None:
    """Let a trigger hold the line whose delivery function died before it claimed the run."""
    job = world.stored()
    message = message_of(job, (due_at - NOON) // 1_000)
    stored_line = StoredLine(job.key, job.uid, "taken", Line(Holder(message, world.clock.time)))
    assert world.lines.put(stored_line, None)


def test_a_held_trigger_keeps_its_place_until_the_resume_however_long_the_pause_is() -> None:
    world = scene("wait", 0, 1, 2)
    world.clock.time = NOON + 3_000
    world.pause()
    world.run_until(NOON + 5 * ABANDONED_MS)
    assert delivered(world) == [0]
    world.resume(mode="none")
    world.run_until(world.clock.time + 40 * MINUTE)
    assert delivered(world) == [0, 0, 1, 2]


def working(mode: str, *dues_s: int, **written: Any) -> World:
    """A consumer that works on the first trigger; the others have been received once."""
    world = World()
    messages = triggers(world, mode, *dues_s, **{**ASYNC, **written}, retry={"maxAttempts": 1})
    world.consumers.answering = alone(world, repeat(ACCEPTED))
    for message in messages:
        world.clock.time = max(world.clock.time, message.not_before)
        handle(world, message)
    return world


def test_a_run_that_its_consumer_works_on_is_not_over() -> None:
    world = working("skip", 0, 1)
    assert states(world) == {0: "running", 1: "skipped: overlap"}
    assert delivered(world) == [0]


@pytest.mark.parametrize("end", ["complete", "cancel", "fail", "silence"])
def test_every_way_to_end_a_run_that_a_consumer_works_on_hands_its_line_on(end: str) -> None:
    world = working("wait", 0, 1)
    run = runs_of(world)[0]
    reporter, run_id = world.callbacks(), f"{NOON}-0"
    if end == "complete":
        reporter.complete(key_of(), run_id, run.token)
    elif end == "cancel":
        reporter.cancel(key_of(), run_id, "somebody")
    elif end == "fail":
        reporter.fail(key_of(), run_id, run.token, reason="No.", is_final=True)
    ended_at = NOON + 2_000 if end != "silence" else NOON + 3 * MINUTE
    world.run_until(ended_at)
    assert delivered(world) == [0, 1]
    over = {"complete": "succeeded", "cancel": "cancelled", "fail": "failed", "silence": "failed"}
    assert states(world) == {0: over[end], 1: "running"}


def test_a_repeated_report_hands_on_the_line_if_the_function_of_the_first_one_crashed() -> None:
    world = working("wait", 0, 1)
    token = runs_of(world)[0].token
    meanwhile(world, "before lines.get", lambda: raising(Killed("before lines.get")))
    with pytest.raises(Killed):
        world.callbacks().complete(key_of(), f"{NOON}-0", token)
    world.run_until(NOON + 2_000)
    assert delivered(world) == [0]
    world.callbacks().complete(key_of(), f"{NOON}-0", token)
    world.run_until(NOON + 3_000)
    assert delivered(world) == [0, 1]


def raising(error: BaseException) -> None:
    raise error


def test_a_trigger_waits_for_a_run_that_its_consumer_works_on_however_long_that_takes() -> None:
    world = working("skip", 0, heartbeatTimeout="30m", maxRunTime="1d")
    world.queue.waiting.clear()
    for _ in range(20):
        world.clock.time += 29 * MINUTE
        world.callbacks().heartbeat(key_of(), f"{NOON}-0", runs_of(world)[0].token)
    assert handle(world, message_of(world.stored(), 1)).name == "skipped"


def test_a_trigger_does_not_wait_forever_for_a_run_whose_deadline_no_function_checks() -> None:
    world = working("skip", 0)
    world.queue.waiting.clear()
    world.clock.time = runs_of(world)[0].deadline_at + DEADLINE_GRACE_MS + ABANDONED_MS - 1
    assert handle(world, message_of(world.stored(), 1)).name == "skipped"
    world.clock.time += 1
    world.consumers.answering = lambda _: ACCEPTED
    assert handle(world, message_of(world.stored(), 2)).name == "running"


def test_a_retry_of_a_run_that_was_given_up_meanwhile_delays_no_other_trigger() -> None:
    world = scene("wait", 0)
    ((_, retry),) = waiting(world)
    (run,) = runs_of(world).values()
    # A copy of its first attempt crashed its function, after the retry had been sent.
    world.runs = MemoryRuns()
    assert world.runs.record(replace(run, state="failed", next_attempt_at=None, ended_at=NOON))
    assert world.lines.delete(slot_of(world))
    world.clock.time += MINUTE
    assert handle(world, retry).name == "repeated"
    assert world.lines.get(key_of()) is None


def test_a_copy_of_an_earlier_attempt_does_not_take_the_place_of_the_retry(world: World) -> None:
    first, second = triggers(world, "allow", 0, 1, **SLOW)
    world.consumers.answering = lambda _: FAILED
    world.clock.time = NOON + 1_000
    handle(world, second)
    world.patch(overlap="wait")
    handle(world, first)
    ((_, retry),) = [each for each in waiting(world) if each[1].trigger == second.trigger]
    world.queue.waiting = [each for each in world.queue.waiting if each[1] != retry]
    world.clock.time = retry.not_before
    assert handle(world, retry).name == "waiting"
    assert handle(world, second).name == "repeated"
    assert [each.attempt for each in slot_of(world).line.waiting] == [2]


def test_a_trigger_that_is_sent_before_the_line_is_written_is_sent_again() -> None:
    world = scene("wait", 0, 1, 2)
    take_back(world, NOON + 500, owes=2)
    early: list[str] = []

    def come_early() -> None:
        ((at, called),) = [each for each in world.queue.waiting if each[0] <= world.clock.time]
        assert isinstance(called, TriggerMessage)
        world.queue.waiting.remove((at, called))
        early.append(handle(world, called).name)

    def announce(call: str) -> None:
        line = world.lines.get(key_of())
        is_leaving = line is not None and line.line.holder is not None and line.line.holder.message.trigger
        if call == "before lines.put" and not early and is_leaving and is_leaving.due_at == NOON + 1_000:
            come_early()

    world.announce = announce
    world.run_until(NOON + ATTEMPT_CLAIM_MS + 2_000)
    assert early == ["waiting"]
    assert delivered(world) == [0, 0, 2]
