"""Records that are to be kept for a moment only, and what still has to be known of their runs."""

from typing import Any

from tests.fakes.deliveries import FAILED, answers, due, handle, run_of
from tests.fakes.lines import MINUTE, delivered, triggers
from tests.fakes.world import NOON, World, key_of

from sweephand.instants import DAY_MS, HOUR_MS, Instant
from sweephand.ports import Answer, Attempt

RUN = f"{NOON + 10_000}-0"
BRIEFLY: dict[str, Any] = {"historyRetention": "1s"}
PATIENT: dict[str, Any] = {"retry": {"initialDelay": "4d", "maxDelay": "4d", "maxAge": "20d"}}


def forgetful(world: World, until: Instant) -> None:
    """Let time pass, minute by minute, in a world whose table removes what is past its time to live."""
    while world.clock.time < until:
        world.run_until(min(world.clock.time + MINUTE, until))
        runs = world.runs._runs
        for place in [place for place, run in runs.items() if (run.expires_at or 0) <= world.clock.time]:
            del runs[place]


def test_a_run_that_was_cancelled_is_not_delivered_though_its_record_was_to_be_kept_for_a_second() -> None:
    world = World()
    message = due(world, **BRIEFLY, **PATIENT)
    answers(world, FAILED)
    assert handle(world, message).outcome == "retrying"
    world.reporter().cancel(key_of(), RUN, "k1")
    forgetful(world, NOON + 5 * DAY_MS)
    assert delivered(world) == [10]


def test_a_run_that_is_to_be_tried_again_can_be_cancelled_until_then() -> None:
    world = World()
    message = due(world, **BRIEFLY, **PATIENT)
    answers(world, FAILED)
    handle(world, message)
    forgetful(world, NOON + 2 * DAY_MS)
    assert run_of(world).state == "retrying"
    assert world.reporter().cancel(key_of(), RUN, "k1").state == "cancelled"
    forgetful(world, NOON + 5 * DAY_MS)
    assert delivered(world) == [10]


def test_what_waits_is_delivered_once_though_its_record_was_to_be_kept_for_a_second() -> None:
    world = World()
    first, *others = triggers(world, "wait", 0, 1, 2, **BRIEFLY, retry={"initialDelay": "40s"})
    answers(world, FAILED)
    for message in (first, *others):
        world.clock.time = message.not_before
        handle(world, message)
    forgetful(world, NOON + 2 * HOUR_MS)
    assert delivered(world) == [0, 0, 1, 2]


def test_an_end_is_told_though_its_record_was_to_be_kept_for_a_second() -> None:
    world = World()
    told = {"type": "http", "url": "https://consumer.example/told"}
    message = due(world, **BRIEFLY, onComplete=told, retry={"maxAttempts": 1})

    def answer(attempt: Attempt) -> Answer:
        is_up = world.clock.time > NOON + 3 * HOUR_MS and attempt.ended_after is not None
        return Answer(succeeded=True, code=200) if is_up else FAILED

    world.consumers.answering = answer
    handle(world, message)
    forgetful(world, NOON + DAY_MS)
    assert world.consumers.times[-1] > NOON + 3 * HOUR_MS
