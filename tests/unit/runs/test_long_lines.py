"""Lines with more waiting data than fits into an item of DynamoDB."""

import json
from itertools import count
from typing import Any

from tests.fakes.deliveries import FAILED, answers, handle
from tests.fakes.faults import working
from tests.fakes.lines import MINUTE, message_of, slot_of, states, triggers
from tests.fakes.world import NOON, World

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS
from sweephand.base.limits import DATA_INLINE_BYTES_MAX, WAIT_LIMIT_MAX
from sweephand.model.line import StoredLine
from sweephand.model.trigger import TriggerMessage
from sweephand.storage.lines import _item

#: DynamoDB: an item's names and values.
ITEM_BYTES_MAX = 400 * 1_024

#: Data that no JSON is longer than when it is written as text in JSON, twice.
QUOTES = json.dumps('"' * (DATA_INLINE_BYTES_MAX // 2 - 1))


def size_of(stored_line: StoredLine) -> int:
    raw = _item(stored_line).serialize()
    return sum(len(name) + len(str(value)) for name, typed in raw.items() for value in typed.values())


def crowded(world: World, asked: int, data: str | None, **written: Any) -> None:
    """A run that is not over, and so many triggers by hand that have arrived at its line."""
    (first,) = triggers(world, "wait", 0, retry={"initialDelay": "40s"}, **written)
    answers(world, FAILED)
    handle(world, first)
    world.queue.waiting.clear()
    for _ in range(asked):
        world.trigger(data=data)
    while batch := world.queue.take():
        assert all(each.error is None for each in world.deliver(batch))


def test_a_line_full_of_triggers_on_demand_fits_into_an_item(world: World) -> None:
    sizes: list[int] = []

    def measured(call: str) -> None:
        if call == "after lines.put":
            sizes.append(size_of(slot_of(world)))

    world.announce = measured
    crowded(world, 150, QUOTES)
    assert len(slot_of(world).line.waiting) > 20
    assert max(sizes) < ITEM_BYTES_MAX


def test_a_trigger_that_finds_no_room_in_the_line_is_delivered_all_the_same(world: World) -> None:
    crowded(world, 60, QUOTES)
    world.run_until(NOON + 180 * MINUTE)
    assert len(set(world.consumers.ids)) == 61
    assert set(states(world).values()) == {"succeeded"}


def test_a_trigger_of_the_schedule_finds_room_beside_triggers_on_demand(world: World) -> None:
    crowded(world, 60, QUOTES, waitLimit=WAIT_LIMIT_MAX)
    for due_s in range(1, 20):
        world.clock.time = NOON + due_s * 1_000
        assert handle(world, message_of(world.stored(), due_s)).name == "waiting"
    assert sum(each.trigger.demand is None for each in slot_of(world).line.waiting) == 19


def test_a_line_with_all_waiting_triggers_fits_into_an_item_beside_triggers_on_demand(world: World) -> None:
    crowded(world, 100, QUOTES, waitLimit=WAIT_LIMIT_MAX)
    line, job = slot_of(world).line, world.stored()
    numbers = count(1)
    while len(line.waiting) < WAIT_LIMIT_MAX:
        line = line.joined_by(message_of(job, next(numbers)))
    assert isinstance(line.waiting[-1], TriggerMessage)
    assert size_of(slot_of(world)._replace(line=line)) < ITEM_BYTES_MAX


def test_a_trigger_that_meets_others_at_a_slow_line_is_put_back_before_its_function_runs_out_of_time(
    world: World,
) -> None:
    """A line with much data is throttled: a function needs seconds for a write, and others are faster."""
    crowded(world, 0, None)
    world.trigger()
    batch = world.queue.take()

    def announce(call: str) -> None:
        if call == "before lines.put":
            world.clock.time += 5 * SECOND_MS
            stored_line = slot_of(world)
            other = stored_line._replace(version=world.ids.token())
            assert world.lines.put(other, stored_line.version)

    world.announce = announce
    began_at = world.clock.time
    [handled] = world.deliver(batch)
    assert isinstance(handled.error, StoreError)
    assert world.clock.time - began_at < 40 * SECOND_MS, "of the 90 s that the function has"
    working(world)
    world.clock.time += SECOND_MS
    assert [each.error for each in world.deliver(world.queue.take())] == [None]
    assert len(slot_of(world).line.waiting) == 1
