"""A timer or job that cannot be read blocks no shard and is tried again, also if a newer version wrote it."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.contract.builders import policy
from tests.fakes.shards import lease_of, sent, written
from tests.fakes.world import NOON, World, job_of, key_of

from sweephand.base.errors import NewerError, StoreError
from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS
from sweephand.model.attempt import Answer
from sweephand.model.job import JobBrief, JobKey
from sweephand.model.policy import Policy, PolicyKey
from sweephand.model.timer import (
    Cursor,
    Lease,
    OccurrenceTimer,
    RetryTimer,
    UnreadTimer,
    instant_at,
    placed_timers,
    position_key,
)
from sweephand.wheel.expand import expand
from sweephand.wheel.span import PUT_OFF_MS


def test_a_damaged_timer_is_copied_ahead_and_keeps_no_other_waiting() -> None:
    world = World(shards=1)
    written(world, "before", NOON - 1)
    written(world, "after", NOON + 1)
    damaged = UnreadTimer(0, f"{position_key(NOON)}#ns/job#1-a#occurrence#", {}, "KeyError('series')")
    world.timers.put([damaged])
    with pytest.raises(ExceptionGroup) as caught:
        world.sweep()
    (error,) = caught.value.exceptions
    assert type(error) is StoreError
    assert "KeyError('series')" in str(error)
    assert sent(world) == ["before", "after"]
    copies = [each for each in world.timers.everything() if isinstance(each, UnreadTimer)]
    assert [each.due_at for each in copies] == [NOON, NOON + PUT_OFF_MS]
    assert lease_of(world).cursor.key > damaged.sort_key
    assert world.sweep().is_finished


def test_a_job_that_cannot_be_read_keeps_no_other_waiting_and_fires_when_it_can() -> None:
    world = World(shards=1)
    for number in range(7):
        written(world, f"job-{number}", NOON + number)
    briefs = world.jobs.briefs
    asked: list[int] = []

    def damaged(keys: Sequence[JobKey]) -> Mapping[JobKey, JobBrief]:
        asked.append(len(keys))
        if key_of("job-4") in keys:
            raise KeyError("series")
        return briefs(keys)

    world.jobs.briefs = damaged  # type: ignore[method-assign]
    with pytest.raises(ExceptionGroup):
        world.sweep()
    assert sorted(sent(world)) == [f"job-{number}" for number in range(7) if number != 4]
    # A read that may be stale, six more in search of the damaged job, and a strong one for the late timers.
    assert len(asked) <= 8
    world.jobs.briefs = briefs  # type: ignore[method-assign]
    world.clock.time += 3 * MINUTE_MS
    world.sweep()
    assert sent(world)[-1] == "job-4"
    occurrences = (each for each in world.timers.everything() if isinstance(each, OccurrenceTimer))
    assert [each.due_at for each in occurrences if each.put_off_to] == [NOON + 4 + PUT_OFF_MS]


MAILER = PolicyKey("ns", "mailer")


def world_with_a_policy() -> World:
    world = World(shards=1)
    world.namespaces.enlist("ns")
    world.flow_functions_max = 2
    assert world.policies.put(replace(policy(1), key=MAILER), None)
    return world


def damage_the_policy(world: World) -> Callable[[], None]:
    """Let the policy `mailer` be one that cannot be read. Returns what mends it."""
    get = world.policies.get

    def damaged(key: PolicyKey) -> Policy | None:
        if key == MAILER:
            raise TypeError("Rate.__new__() takes 3 positional arguments but 4 were given")
        return get(key)

    world.policies.get = damaged  # type: ignore[method-assign]
    return lambda: setattr(world.policies, "get", get)


def swept_until(world: World, end: int) -> list[BaseException]:
    """Let time pass, and return what the sweeps complained about."""
    faults: list[BaseException] = []
    while world.clock.time < end:
        try:
            world.run_until(min(end, world.clock.time + MINUTE_MS))
        except ExceptionGroup as group:
            faults += group.exceptions
        except TypeError as error:
            faults.append(error)
    return faults


def times_of(world: World, name: str) -> list[int]:
    """When the job was called, in minutes after noon."""
    at = zip(world.consumers.attempts, world.consumers.times, strict=True)
    return [(time - NOON) // MINUTE_MS for each, time in at if each.trigger.key.name == name]


def test_a_policy_that_cannot_be_read_keeps_no_other_job_waiting_and_its_jobs_fire_when_it_can() -> None:
    world = world_with_a_policy()
    for number in range(5):
        world.put(f"other-{number}", schedule="0 */20 * * * *")
    world.put("mailed", schedule="0 30 * * * *", catchup={"mode": "all"}, policy="mailer")
    mend = damage_the_policy(world)
    faults = swept_until(world, NOON + 65 * MINUTE_MS)
    assert all(times_of(world, f"other-{number}") == [20, 40, 60] for number in range(5))
    assert times_of(world, "mailed") == []
    assert {type(each) for each in faults} == {TypeError}
    mend()
    assert not swept_until(world, NOON + 95 * MINUTE_MS)
    put_back, punctual = times_of(world, "mailed")
    assert 65 <= put_back <= 80
    assert punctual == 90


def test_a_watch_tells_that_a_job_does_not_fire_because_its_policy_cannot_be_read() -> None:
    world = world_with_a_policy()
    told = {"type": "http", "url": "https://example.com/told"}
    world.put("mailed", schedule="0 30 * * * *", policy="mailer", alertAfter="5m", onAlert=told)
    damage_the_policy(world)
    swept_until(world, NOON + 40 * MINUTE_MS)
    assert [each.alert is not None for each in world.consumers.attempts] == [True]


def test_a_retry_whose_policy_cannot_be_read_keeps_no_other_job_waiting() -> None:
    world = world_with_a_policy()
    world.consumers.answering = lambda each: Answer(succeeded=each.number > 1)
    world.put("mailed", schedule="0 5,45 * * * *", retry={"initialDelay": "50m", "multiplier": 1})
    world.put("other", schedule="0 */20 * * * *", retry={"maxAttempts": 1})
    world.run_until(NOON + 6 * MINUTE_MS)
    [retry_at] = (each.due_at for each in world.timers.everything() if isinstance(each, RetryTimer))
    world.patch("mailed", policy="mailer")
    mend = damage_the_policy(world)
    # The retry and an occurrence of its job are in one page of the sweep.
    assert NOON + 42 * MINUTE_MS < retry_at < NOON + 46 * MINUTE_MS
    swept_until(world, NOON + 61 * MINUTE_MS)
    assert times_of(world, "other") == [20, 40, 60]
    assert times_of(world, "mailed") == [5]
    mend()
    swept_until(world, NOON + 80 * MINUTE_MS)
    numbers = Counter(each.number for each in world.consumers.attempts if each.trigger.key.name == "mailed")
    assert numbers == {1: 3, 2: 1}, "those of minutes 5, 45 and 65, and the retry of the first one"


SHARD = 0


def unread(due_at: int = NOON + 30_000, rest: str = "#ns/pack#1-a#pack#", **item: Any) -> UnreadTimer:
    return UnreadTimer(SHARD, position_key(due_at) + rest, {"v": {"N": "2"}, **item})


@pytest.mark.parametrize("instant", [NOON, NOON + 59_999, NOON + DAY_MS + 1, 0, 253_402_300_799_999])
def test_a_position_says_its_instant(instant: int) -> None:
    assert instant_at(position_key(instant) + "#ns/job#1-a#occurrence#") == instant


def test_a_timer_of_a_newer_version_is_copied_ahead_as_it_is_and_reported() -> None:
    timer = unread(data={"S": "x"})
    expansion = expand(placed_timers([timer], Cursor()), {}, Lease(SHARD, Cursor(), judged_at=NOON))
    (copy,) = expansion.copies
    assert isinstance(copy, UnreadTimer)
    assert (copy.item, copy.due_at) == (timer.item, timer.due_at + PUT_OFF_MS)
    assert (expansion.cursor, expansion.timers) == (Cursor(timer.sort_key), 1)
    (fault,) = expansion.faults
    assert isinstance(fault, NewerError)


def test_copies_of_two_timers_never_share_a_key_though_one_is_put_off_to_the_place_of_the_other() -> None:
    timers = [unread(NOON + number * PUT_OFF_MS) for number in range(3)]
    keys = set()
    for timer in timers:
        copy = timer
        for _ in range(5):
            copy = copy.put_off(PUT_OFF_MS)
            keys.add(copy.sort_key)
    assert len(keys | {timer.sort_key for timer in timers}) == 3 * 6
    assert timers[0].put_off(PUT_OFF_MS) == timers[0].put_off(PUT_OFF_MS)


def test_a_shard_with_a_timer_of_a_newer_version_goes_on_and_keeps_the_timer(world: World) -> None:
    shard = world.put(schedule="@every 10m").job.shard
    timer = unread()._replace(shard=shard)
    world.timers.put([timer])
    reported = 0
    while world.clock.time < NOON + HOUR_MS:
        world.clock.time += MINUTE_MS
        try:
            world.tick()
        except ExceptionGroup:
            reported += 1
        while batch := world.queue.take():
            world.deliver(batch)
    assert len(world.consumers.attempts) == 6
    assert reported >= 11
    copies = [each for each in world.timers.everything() if isinstance(each, UnreadTimer)]
    newest = max(copies, key=lambda each: each.sort_key)
    assert (newest.item, newest.due_at > world.clock.time) == (timer.item, True)


def test_a_copy_that_was_put_off_is_expanded_at_its_place_and_its_successor_has_its_own_key() -> None:
    job = job_of(schedule="@every 50s", now=NOON)
    first = job.series.next_after(NOON)
    assert first is not None
    original = OccurrenceTimer(SHARD, job.key, job.uid, job.rev, job.series, first, NOON)
    place = position_key(NOON + 5 * MINUTE_MS) + "#whatever-a-newer-version-calls-it"
    copy = original._replace(put_off_to=NOON + 5 * MINUTE_MS, stored_key=place)
    assert (copy.sort_key, copy.due_at) == (place, NOON + 5 * MINUTE_MS)
    expansion = expand(
        placed_timers([copy], Cursor()),
        {job.key: job},
        Lease(SHARD, Cursor(), judged_at=NOON + 5 * MINUTE_MS),
    )
    assert [each.trigger.due_at - NOON for each in expansion.messages] == [
        50_000,
        100_000,
        150_000,
        200_000,
        250_000,
        300_000,
        350_000,
    ]
    assert expansion.cursor == Cursor(place)
    (successor,) = expansion.successors
    assert (successor.stored_key, successor.put_off_to, successor.due_at) == (None, None, NOON + 400_000)
