"""Triggers of a paused job in the line of a policy: what their rounds cost, and what ends meanwhile."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from tests.fakes.faults import Killed, working
from tests.fakes.world import NOON, World, key_of
from tests.unit.runs.flow.test_under_policies import KEY, MINUTE, OK, holders, run_of, waiting, world_with

from sweephand.base.instants import DAY_MS, HOUR_MS, SECOND_MS, Instant
from sweephand.base.timing import ATTEMPT_CLAIM_MS, QUEUE_DELAY_MAX_MS
from sweephand.model.attempt import Answer
from sweephand.model.run_id import Counts
from sweephand.runs.batch_progress import counts_of
from sweephand.runs.gates import held_until, is_daily

FAILED = Answer(succeeded=False, code=503)
DUE = NOON + 10 * MINUTE


@contextmanager
def counted(world: World) -> Iterator[Counter[str]]:
    """The calls of stores and queues while it is open."""
    calls = Counter[str]()

    def announce(call: str) -> None:
        calls.update([call.removeprefix("before ")] if call.startswith("before ") else [])

    world.announce = announce
    yield calls
    working(world)


def line_of_paused_job(count: int, **written: Any) -> World:
    """The triggers of a batch stand in the line, and their job has been paused just before they are due."""
    world = world_with(4)
    world.put(dueTime="10m", policy="mailer", batch={"count": count}, **written)
    world.run_until(DUE - MINUTE)
    world.pause()
    assert len(waiting(world)) == count
    return world


def wake_at(world: World, instant: Instant) -> None:
    """A worker looks after the line at that instant."""
    world.clock.time = instant
    world.line_up().wake(KEY, instant)


def failed_in_line(count: int) -> World:
    """The retries of the failed runs of a batch stand in the line, and their job is paused."""
    world = world_with(4)
    world.consumers.answering = lambda _: FAILED
    world.put(dueTime="10m", policy="mailer", batch={"count": count}, retry={"initialDelay": "10m"})
    world.run_until(DUE + 5 * MINUTE)
    for each in holders(world):
        assert world.permits.take(KEY, each, "somebody", world.clock.time, DUE + 12 * MINUTE)
    world.run_until(DUE + 11 * MINUTE)
    world.pause()
    wake_at(world, DUE + 12 * MINUTE)
    world.consumers.answering = lambda _: OK
    assert [each.attempt for each in waiting(world)] == [2] * count
    return world


def counts_in(world: World) -> Counts:
    head = world.batches.find(key_of(), DUE, None)
    assert head is not None
    return counts_of(world.batches, head)


def test_a_round_of_a_paused_line_reads_no_run_and_moves_a_hundred_triggers_by_one_write() -> None:
    world = line_of_paused_job(300)
    with counted(world) as calls:
        world.run_until(DUE + 5 * MINUTE)
    # The rounds begin a second after the pause, then after 2 s, 4 s and so on up to 256 s.
    rounds = 10
    assert calls["runs.of"] == calls["runs.move"] == 0
    assert calls["policy_lines.put"] <= 3 * rounds
    assert calls["policy_lines.delete"] <= 3 * rounds
    assert calls["queue.send"] == 0
    assert len(waiting(world)) == 300
    world.resume()
    world.run_until(DUE + 30 * MINUTE)
    assert len(set(world.consumers.ids)) == len(world.consumers.ids) == 300
    assert not waiting(world)


def test_each_run_is_read_once_in_a_day_of_a_pause() -> None:
    world = line_of_paused_job(3)
    world.run_until(DUE + HOUR_MS)
    for _ in range(3):
        with counted(world) as calls:
            world.run_until(world.clock.time + DAY_MS, ticking=False)
        assert calls["runs.of"] == 3


def test_a_retry_that_is_cancelled_while_it_is_held_is_not_delivered_after_the_resume() -> None:
    world = failed_in_line(2)
    world.run_until(DUE + HOUR_MS)
    world.callbacks().cancel(key_of(), f"{DUE}-0", "somebody")
    assert counts_in(world) == Counts(cancelled=1)
    world.run_until(DUE + 2 * HOUR_MS)
    world.resume()
    world.run_until(DUE + 3 * HOUR_MS)
    assert sorted(each.trigger.index for each in world.consumers.attempts) == [0, 1, 1]
    assert counts_in(world) == Counts(succeeded=1, cancelled=1)
    assert not waiting(world)
    assert not world.queue.waiting


def test_a_retry_that_is_cancelled_is_not_delivered_though_the_pause_outlasts_its_record() -> None:
    world = failed_in_line(1)
    world.callbacks().cancel(key_of(), f"{DUE}-0", "somebody")
    world.run_until(DUE + HOUR_MS, ticking=False)
    assert len(waiting(world)) == 1
    world.run_until(DUE + DAY_MS + HOUR_MS, ticking=False)
    assert not waiting(world)
    world.runs._runs.clear()
    world.resume()
    world.run_until(world.clock.time + HOUR_MS)
    assert len(world.consumers.attempts) == 1


def test_the_record_of_a_retry_stays_as_long_as_it_is_held() -> None:
    world = failed_in_line(1)
    run = run_of(world)
    assert world.runs.move(replace(run, expires_at=DUE + 3 * DAY_MS, version="version000000002"), run)
    world.run_until(DUE + DAY_MS + HOUR_MS, ticking=False)
    assert (run_of(world).expires_at or 0) > DUE + 14 * DAY_MS


def test_a_run_that_a_crashed_worker_has_ended_is_marked_in_its_batch_while_its_job_is_paused() -> None:
    world = world_with(4)
    world.put(dueTime="10m", policy="mailer", batch={"count": 1}, history="full")

    def announce(call: str) -> None:
        if call == "before batches.mark":
            raise Killed(call)

    world.announce = announce
    with pytest.raises(Killed):
        world.run_until(DUE + MINUTE)
    working(world)
    world.pause()
    wake_at(world, world.clock.time + ATTEMPT_CLAIM_MS)
    world.run_until(world.clock.time + MINUTE)
    assert counts_in(world) == Counts(succeeded=1)
    assert not waiting(world)


@pytest.mark.parametrize("late_max_ms", [0, SECOND_MS, 2 * QUEUE_DELAY_MAX_MS, 3 * DAY_MS])
def test_each_day_of_a_pause_has_a_daily_round_however_late_the_rounds_begin(late_max_ms: int) -> None:
    random = Random(late_max_ms)  # noqa: S311 - a seed, not a secret
    since, days, first_after = NOON - SECOND_MS, list[int](), list[int]()
    now = since + random.randint(0, late_max_ms)
    while now < NOON + 40 * DAY_MS:
        day = (now - NOON) // DAY_MS
        if day > 0 and day not in first_after:
            first_after.append(day)
        if is_daily(since, now, NOON):
            days.append(day)
        since = held_until(now, NOON)
        assert 0 < since - now <= QUEUE_DELAY_MAX_MS
        now = since + random.randint(0, late_max_ms)
    assert days == first_after
    assert len(days) > 10
