"""The valve: triggers beyond the limit of their namespace or of the stack wait for their slots."""

from collections import Counter
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from random import Random
from typing import NoReturn

import pytest
from tests.contract.builders import trigger_message
from tests.fakes.deliveries import FAILED, due, handle, waiting
from tests.fakes.doubles import HandClock
from tests.fakes.faults import calls_of, failing
from tests.fakes.flow_memory import MemoryAllowances
from tests.fakes.windows import put_once, world_with_windows
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import StoreError
from sweephand.base.instants import HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.model.attempt import Answer
from sweephand.model.job import JobKey
from sweephand.model.trigger import Passage, Trigger, TriggerMessage
from sweephand.model.wire import decode, encode
from sweephand.runs.valve import Limited, Valve

OK = Answer(succeeded=True, code=204)


def limited(*, stack: int = 0, namespace: int = 0) -> World:
    world = World()
    world.triggers_per_minute_max = stack
    if namespace:
        world.namespace_limit = lambda _: namespace
    return world


def many(world: World, count: int) -> None:
    for number in range(count):
        world.put(f"job-{number:03d}", dueTime="5s")


def by_minute(world: World) -> list[int]:
    """How many requests have left in each minute after noon."""
    minutes = [(each.sent_at - NOON) // MINUTE_MS for each in world.consumers.attempts]
    return [minutes.count(each) for each in range(max(minutes, default=-1) + 1)]


@pytest.mark.parametrize("limits", [{"stack": 10}, {"namespace": 10}, {"stack": 10, "namespace": 500}])
def test_triggers_beyond_the_limit_leave_in_the_minutes_that_follow(limits: dict[str, int]) -> None:
    world = limited(**limits)
    many(world, 35)
    world.run_until(NOON + 10 * MINUTE_MS)
    assert by_minute(world) == [10, 10, 10, 5]


def test_triggers_that_wait_leave_in_due_order_and_evenly_spaced() -> None:
    world = limited(stack=6)
    for number in range(18):
        world.put(f"job-{number:03d}", dueTime=f"{number + 1}s")
    world.run_until(NOON + 10 * MINUTE_MS)
    attempts = world.consumers.attempts
    assert [each.trigger.key.name for each in attempts] == [f"job-{number:03d}" for number in range(18)]
    assert [each.sent_at - NOON for each in attempts[6:]] == [60_000 + 10_000 * each for each in range(12)]


def test_a_minute_may_use_its_whole_allowance_at_once() -> None:
    world = limited(stack=20)
    many(world, 20)
    world.run_until(NOON + 6_000)
    assert by_minute(world) == [20]


def test_a_retry_does_not_count() -> None:
    world = limited(stack=1)
    world.consumers.answering = lambda attempt: FAILED if attempt.number < 3 else OK
    world.put("job", dueTime="5s", retry={"initialDelay": "1s", "multiplier": 1})
    world.run_until(NOON + 30_000)
    assert len(world.consumers.attempts) == 3


def test_a_trigger_that_waits_for_hours_is_looked_at_every_15_minutes_and_counts_once() -> None:
    world = limited(stack=1)
    many(world, 120)
    world.run_until(NOON + 3 * HOUR_MS)
    assert by_minute(world) == [1] * 120


def test_a_raised_limit_applies_within_15_minutes_to_those_that_wait() -> None:
    world = limited(stack=1)
    many(world, 120)
    world.run_until(NOON + 10 * MINUTE_MS - 1)
    assert len(world.consumers.attempts) == 10
    world.triggers_per_minute_max = 100
    world.run_until(NOON + 27 * MINUTE_MS)
    assert len(world.consumers.attempts) == 120
    assert max(by_minute(world)) <= 100


def test_a_limit_that_is_taken_away_lets_all_go() -> None:
    world = limited(stack=1)
    many(world, 120)
    world.run_until(NOON + 10 * MINUTE_MS - 1)
    world.triggers_per_minute_max = 0
    world.run_until(NOON + 26 * MINUTE_MS)
    assert len(world.consumers.attempts) == 120


def test_a_namespace_over_its_limit_uses_nothing_of_the_stack_while_it_waits() -> None:
    world = limited(stack=20)
    world.namespace_limit = lambda namespace: 5 if namespace == "ns" else 0
    many(world, 60)
    world.run_until(NOON + 6_000)
    assert by_minute(world) == [5]
    # Of the stack's twenty, fifteen are left for others in this minute.
    allowance = world.allowances.take("", NOON + 6_000, 20, 1)
    assert allowance.first_us == NOON * 1_000 + 5 * 3_000_000


def test_a_paused_job_uses_nothing_of_the_allowance() -> None:
    world = limited(stack=2)
    many(world, 5)
    for number in range(3):
        world.pause(f"job-{number:03d}")
    world.run_until(NOON + 6_000)
    assert by_minute(world) == [2]


def test_the_outcome_says_for_which_limit_a_trigger_waits() -> None:
    for limits, outcome in (({"stack": 1}, "stack_limited"), ({"namespace": 1}, "namespace_limited")):
        world = limited(**limits)
        message = due(world)
        world.allowances.take("" if "stack" in limits else "ns", world.clock.time, 1, 1)
        assert handle(world, message).name == outcome
        ((_, sent),) = waiting(world)
        level = outcome.removesuffix("_limited")
        assert sent.passage == Passage(level, NOON + MINUTE_MS, 1)  # type: ignore[arg-type]
        assert sent.is_owed, "it may wait for longer than its job keeps the revision"


def test_without_limits_the_valve_reads_and_writes_nothing() -> None:
    world = limited()
    message = due(world)
    calls = calls_of(world, lambda: handle(world, message))
    assert not any("allowances" in each for each in calls)


def test_one_write_admits_many_triggers_under_a_high_limit() -> None:
    world = limited(stack=60_000)
    many(world, 30)
    calls = calls_of(world, lambda: world.run_until(NOON + 6_000))
    assert len(world.consumers.attempts) == 30
    # A world starts a new function for each batch that it receives.
    assert sum(each == "before allowances.take" for each in calls) <= 3


def test_a_trigger_comes_again_if_no_slot_could_be_taken() -> None:
    world = limited(stack=1)
    message = due(world)
    failing(world, "allowances.take", times=1)
    with pytest.raises(StoreError):
        handle(world, message)
    assert handle(world, message).name == "succeeded"


def test_the_passage_travels_in_the_message() -> None:
    message = due(limited())
    for passage in (None, Passage("passed"), Passage("namespace", NOON, 7), Passage("stack", NOON, 1, 3)):
        assert decode(encode(message._replace(passage=passage))) == message._replace(passage=passage)
    assert "valve" not in encode(message)


class NoAllowances(MemoryAllowances):
    """Allowances of which nobody may take a slot."""

    def take(self, *_: object, **__: object) -> NoReturn:
        raise StoreError("the test allows no write")


def valve(store: MemoryAllowances, clock: HandClock, limit: int = 0, default: int = 6_000) -> Valve:
    return Valve(
        allowances=store,
        clock=clock,
        stack_limit=0,
        namespace_limit=lambda _: limit,
        namespace_default=default,
    )


def admitted(processes: Sequence[Valve], count: int, namespace: str = "ns") -> list[TriggerMessage]:
    """What becomes of so many new triggers that the processes meet in turn."""
    found = []
    for number in range(count):
        message = trigger_message(key=JobKey(namespace, f"job-{number}"))
        admission = processes[number % len(processes)].admit(message)
        if not isinstance(admission, Limited):
            found.append(admission)
    return found


def test_a_namespace_without_a_limit_costs_nothing_while_a_process_delivers_little_of_it() -> None:
    clock = HandClock()
    process = valve(NoAllowances(), clock)
    for _ in range(3):
        assert len(admitted([process], 10)) == 10
        assert len(admitted([process], 10, "other")) == 10
        clock.time += MINUTE_MS
    with pytest.raises(StoreError):
        admitted([process], 11)


def test_a_namespace_without_a_limit_is_held_to_the_default_and_one_with_a_limit_to_its_own() -> None:
    clock, store = HandClock(), MemoryAllowances()
    processes = [valve(store, clock) for _ in range(4)]
    for _ in range(3):
        assert len(admitted(processes, 9_000)) == 6_000 + 4 * 10
        clock.time += 2 * MINUTE_MS
    higher = valve(MemoryAllowances(), clock, limit=8_000)
    assert len(admitted([higher], 9_000)) == 8_000


def test_a_trigger_that_waits_for_the_default_keeps_its_slot() -> None:
    clock, store = HandClock(), MemoryAllowances()
    process = valve(store, clock, default=1)
    assert len(admitted([process], 2)) == 2
    waiting = process.admit(trigger_message(key=JobKey("ns", "late")))
    assert isinstance(waiting, Limited)
    clock.time = waiting.slot_at
    assert not isinstance(valve(store, clock, default=1).admit(waiting.message), Limited)


def left_by_minute(limits: tuple[int, int], rate: int, seed: int) -> list[int]:
    """How many of `rate` triggers a second leave in each of six minutes, while functions know both limits.

    Each function learns of the second limit at a time of its own, in the minute that begins 30 s after noon.
    """
    clock, allowances, random = HandClock(NOON), MemoryAllowances(), Random(seed)  # noqa: S311 - no secret
    learns_at = [NOON + 30_000 + random.randrange(MINUTE_MS) for _ in range(8)]

    def known(number: int) -> Callable[[str], int]:
        return lambda _: limits[clock.time >= learns_at[number]]

    valves = [
        Valve(allowances=allowances, clock=clock, stack_limit=0, namespace_limit=known(number))
        for number in range(len(learns_at))
    ]
    left, waiting = Counter[int](), list[tuple[int, int, TriggerMessage]]()
    for second in range(360):
        clock.time = NOON + second * SECOND_MS
        for number in range(rate):
            trigger = Trigger(key_of(), "uid", "1-r", clock.time, 1, NOON, index=number)
            heappush(waiting, (clock.time, second * rate + number, TriggerMessage(trigger, clock.time)))
        while waiting and waiting[0][0] <= clock.time:
            _, number, message = heappop(waiting)
            found = random.choice(valves).admit(message)
            if isinstance(found, Limited):
                heappush(waiting, (found.message.not_before, number, found.message))
            else:
                left[(clock.time - NOON) // MINUTE_MS] += 1
    return [left[minute] for minute in range(6)]


@pytest.mark.parametrize("limits", [(600, 60), (600, 10), (100, 50), (60, 120), (6_000, 60), (60, 6_000)])
def test_a_changed_limit_never_releases_more_than_the_larger_of_both(
    limits: tuple[int, int],
) -> None:
    """One order of the functions for each change. The simulator tries others (test_special_seeds.py)."""
    left = left_by_minute(limits, 30, seed=1)
    assert max(left) <= max(limits)
    # From the third minute on, all functions know the new limit, and it is used.
    assert max(left[2:]) <= limits[1]
    assert min(left[3:]) >= min(limits[1], 30 * 60) * 0.9


def test_slots_that_one_function_took_before_the_limit_changed_do_not_count_after_it() -> None:
    clock, allowances = HandClock(NOON), MemoryAllowances()
    old, new = (
        Valve(allowances=allowances, clock=clock, stack_limit=limit, namespace_limit=lambda _: 0)
        for limit in (2, 4)
    )
    message = TriggerMessage(Trigger(key_of(), "uid", "1-r", NOON, 1, NOON), NOON)
    waits = [each for each in (old.admit(message) for _ in range(6)) if isinstance(each, Limited)]
    assert [each.slot_at - NOON for each in waits] == [60_000, 90_000, 120_000, 150_000]
    for _ in range(8):
        new.admit(message)
    clock.time = NOON + MINUTE_MS
    # The other function has begun an epoch in which these slots are free again.
    again = [old.admit(each.message) for each in waits[:2]]
    assert all(isinstance(each, Limited) for each in again)


def test_after_a_pause_no_more_leave_in_a_minute_than_the_limit() -> None:
    world = limited(stack=10)
    many(world, 200)
    world.run_until(NOON + 90_000)
    for number in range(200):
        world.pause(f"job-{number:03d}")
    world.run_until(NOON + 40 * MINUTE_MS)
    for number in range(200):
        world.resume(f"job-{number:03d}", mode="none")
    world.run_until(NOON + 80 * MINUTE_MS)
    assert (sum(by_minute(world)), max(by_minute(world))) == (200, 10)


def test_after_a_window_no_more_leave_in_a_minute_than_the_limit() -> None:
    world = world_with_windows()
    world.triggers_per_minute_max = 10
    put_once(world, 2 * MINUTE_MS, 20 * MINUTE_MS)
    many(world, 60)
    world.run_until(NOON + 40 * MINUTE_MS)
    assert (sum(by_minute(world)), max(by_minute(world))) == (60, 10)
