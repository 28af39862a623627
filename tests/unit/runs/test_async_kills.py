"""Asynchronous runs end once, and a report in time counts, although functions crash at any call."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import combinations_with_replacement

import pytest
from tests.fakes.acceptance import Worker, cancel, due_async, running
from tests.fakes.deliveries import run_of
from tests.fakes.faults import failing, kill_everywhere, working
from tests.fakes.interleave import every_interleaving
from tests.fakes.world import NOON, World

from sweephand.base.errors import ConflictError, GoneError, NotFoundError, StoreError
from sweephand.model.attempt import Answer
from sweephand.model.trigger import DeadlineMessage

MINUTE = 60_000

Act = Callable[[World], None]

WORKERS: dict[int, Worker] = {}


def work(world: World) -> Worker:
    return WORKERS[id(world)]


def accepted(world: World) -> None:
    """A run that its consumer works on; the first attempt's deadline is the only message."""
    WORKERS[id(world)] = running(world, heartbeatTimeout="1m", retry={"initialDelay": "0s"})


def about_to_be_accepted(world: World) -> None:
    """A trigger that is due, whose consumer will accept it."""
    worker, message = due_async(world, heartbeatTimeout="1m", retry={"initialDelay": "0s"})
    WORKERS[id(world)] = worker
    world.queue.send([(message, 0)])


def silent(world: World) -> None:
    """A run whose consumer has been silent for too long."""
    accepted(world)
    ((_, deadline),) = world.queue.waiting
    assert isinstance(deadline, DeadlineMessage)
    world.clock.time = deadline.not_before
    world.queue.waiting = [(world.clock.time, deadline)]


def deliver(world: World) -> None:
    if batch := world.queue.take(1):
        world.deliver(batch)


def beat(world: World) -> None:
    with suppress(GoneError, IndexError):
        work(world).heartbeat(work(world).tokens[0])


def complete(world: World) -> None:
    with suppress(GoneError, ConflictError, IndexError):
        work(world).complete(work(world).tokens[0])


def fail(world: World) -> None:
    with suppress(GoneError, ConflictError, IndexError):
        work(world).fail(work(world).tokens[0])


def stop(world: World) -> None:
    with suppress(ConflictError, NotFoundError):
        cancel(world)


def prepared(prepare: Act) -> World:
    world = World()
    prepare(world)
    return world


def check_end(world: World) -> None:
    """Assert that the run ends once. A later attempt of it succeeds at once."""
    world.consumers.answering = lambda _: Answer(succeeded=True, code=200)
    # The function that held a message is gone. The queue shows the message again.
    world.clock.time += 6 * MINUTE
    world.queue.reappear()
    world.run_until(world.clock.time + 60 * MINUTE)
    run = run_of(world)
    assert run.is_over, run.state
    assert run.state in ("succeeded", "cancelled")
    assert not world.queue.waiting
    assert len(set(world.consumers.ids)) == 1
    numbers = [attempt.number for attempt in world.consumers.attempts]
    assert numbers == sorted(numbers)
    assert all(numbers.count(number) <= 2 for number in numbers), "an attempt was made again and again"
    assert max(numbers) <= 3


@pytest.mark.parametrize(
    ("prepare", "act"),
    [
        (about_to_be_accepted, deliver),
        (silent, deliver),
        (accepted, beat),
        (accepted, complete),
        (accepted, fail),
        (accepted, stop),
    ],
    ids=["delivery", "look", "heartbeat", "complete", "fail", "cancel"],
)
def test_a_run_comes_to_its_end_wherever_a_function_is_killed(prepare: Act, act: Act) -> None:
    kill_everywhere(prepare, act, check_end)


def test_a_reported_failure_is_settled_again_wherever_the_first_settlement_is_killed() -> None:
    def prepare(world: World) -> None:
        accepted(world)
        world.queue.waiting.clear()
        fail(world)

    kill_everywhere(prepare, deliver, check_end)


REPORTS: dict[str, Act] = {"heartbeat": beat, "complete": complete, "fail": fail, "cancel": stop}
ACTS: dict[str, Act] = {"look": deliver, **REPORTS}


@pytest.mark.parametrize(("one", "other"), list(combinations_with_replacement(ACTS.values(), 2)))
def test_any_two_actions_on_a_run_at_its_deadline_leave_one_end_in_every_order(one: Act, other: Act) -> None:
    def prepare() -> World:
        world = prepared(silent)
        world.queue.copy()
        return world

    assert every_interleaving(prepare, one, other, check_end) > 3


@pytest.mark.parametrize("other", REPORTS.values(), ids=REPORTS)
def test_a_report_at_any_moment_of_a_delivery_leaves_one_end(other: Act) -> None:
    def check(world: World) -> None:
        was_completed = run_of(world).state == "succeeded"
        check_end(world)
        if was_completed:
            assert run_of(world).attempts == 1

    assert every_interleaving(lambda: prepared(about_to_be_accepted), deliver, other, check) > 5


def test_a_run_that_was_completed_in_time_is_never_delivered_again() -> None:
    def check(world: World) -> None:
        is_completed = run_of(world).state == "succeeded"
        attempts = len(world.consumers.attempts)
        check_end(world)
        if is_completed:
            assert len(world.consumers.attempts) == attempts

    assert every_interleaving(lambda: prepared(silent), deliver, complete, check) > 3


def test_two_deliveries_of_one_trigger_are_accepted_once_in_every_order() -> None:
    def prepare() -> World:
        world = prepared(about_to_be_accepted)
        world.queue.copy()
        return world

    def check(world: World) -> None:
        assert len(work(world).tokens) == 1
        check_end(world)

    assert every_interleaving(prepare, deliver, deliver, check) > 5


def deadline_messages(world: World) -> list[DeadlineMessage]:
    """The deadline messages that are under way."""
    return [message for _, message in world.queue.waiting if isinstance(message, DeadlineMessage)]


def test_deadlines_do_not_multiply_however_often_their_messages_are_received() -> None:
    world = prepared(accepted)
    for _ in range(5):
        world.queue.copy()
        world.run_until(world.clock.time + 2 * MINUTE)
        beat(world)
    assert len(deadline_messages(world)) <= 1
    assert world.clock.time < NOON + 60 * MINUTE


def test_deadline_messages_do_not_multiply_when_the_answers_of_the_queue_are_lost() -> None:
    world = prepared(accepted)
    for _ in range(12):
        failing(world, "queue.send", times=1, after=True)
        end = world.clock.time + MINUTE // 2
        # The world raises what a message failed with; its copy waits for a second.
        with suppress(StoreError):
            world.run_until(end, ticking=False)
        world.run_until(end, ticking=False)
        beat(world)
        assert 1 <= len(deadline_messages(world)) <= 3
    working(world)
    last_beat_at = world.clock.time
    world.run_until(last_beat_at + MINUTE + 10_000, ticking=False)
    assert len(work(world).tokens) == 2, "the consumer's silence is found within ten seconds"


def test_a_next_check_of_a_deadline_that_was_sent_twice_becomes_one_again() -> None:
    world = prepared(accepted)
    ((_, first),) = world.queue.waiting
    assert isinstance(first, DeadlineMessage)
    world.clock.time += 30_000
    beat(world)
    world.clock.time = first.not_before
    world.queue.waiting = [(first.not_before, first)] * 3
    for _ in range(3):
        deliver(world)
    (following,) = deadline_messages(world)
    assert run_of(world).next_check_at == following.not_before


def test_a_deadline_check_whose_function_is_killed_comes_again_or_has_a_successor() -> None:
    def prepare(world: World) -> None:
        accepted(world)
        ((_, first),) = world.queue.waiting
        assert isinstance(first, DeadlineMessage)
        world.clock.time += 30_000
        beat(world)
        world.clock.time = first.not_before
        world.queue.waiting = [(first.not_before, first)]

    def check(world: World) -> None:
        last_beat_at = NOON + 40_000
        # The queue shows the message again before the second look is due.
        world.clock.time += 10_000
        world.queue.reappear()
        world.run_until(last_beat_at + MINUTE + 10_000, ticking=False)
        assert len(work(world).tokens) == 2, "the consumer's silence is found within ten seconds"
        assert len(deadline_messages(world)) == 1

    kill_everywhere(prepare, deliver, check)


def test_a_deadline_of_a_run_that_an_older_version_recorded_is_checked() -> None:
    world = prepared(accepted)
    ((_, first),) = world.queue.waiting
    assert isinstance(first, DeadlineMessage)
    run = run_of(world)
    assert world.runs.move(replace(run, next_check_at=None, version="older"), run)
    world.clock.time += 30_000
    beat(world)
    world.run_until(first.not_before, ticking=False)
    (following,) = deadline_messages(world)
    assert run_of(world).next_check_at == following.not_before
