"""Timers that a newer version wrote are copied ahead unchanged until that version runs again."""

from typing import Any

import pytest
from tests.fakes.world import NOON, World, job_of

from sweephand.base.errors import NewerError
from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS
from sweephand.model.timer import (
    Cursor,
    Lease,
    OccurrenceTimer,
    UnreadTimer,
    instant_at,
    placed_timers,
    position_key,
)
from sweephand.wheel.expand import expand
from sweephand.wheel.span import PUT_OFF_MS

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
