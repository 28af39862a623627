"""The priority of a job travels in every message of its triggers, so that each can take its lane."""

from collections.abc import Callable

import pytest
from tests.fakes.deliveries import FAILED
from tests.fakes.world import NOON, World

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.model.attempt import Answer
from sweephand.model.policy import PRIORITIES
from sweephand.model.trigger import (
    BundleMessage,
    DeadlineMessage,
    RangeMessage,
    TriggerMessage,
    lane_of_message,
)
from sweephand.model.wire import decode, encode
from sweephand.runs.flagged_list import RunFilter


def priorities(world: World) -> list[str]:
    return [
        lane_of_message(message)
        for _, message in world.queue.waiting
        if isinstance(message, TriggerMessage | RangeMessage | BundleMessage | DeadlineMessage)
    ]


def armed_at_once(world: World) -> None:
    world.put(dueTime="10s", priority="high")


def armed_as_a_range(world: World) -> None:
    world.put(schedule="@every 1s", priority="high", batch={"count": 20, "window": "0s"}, repeats=100)


def swept(world: World) -> None:
    world.put(dueTime="6m", priority="high")
    world.clock.time += 5 * MINUTE_MS
    world.sweep()


def by_hand(world: World) -> None:
    world.put(dueTime="24h", priority="high")
    world.trigger()


def backfilled(world: World) -> None:
    world.put(schedule="* * * * *", priority="high")
    world.queue.waiting.clear()
    world.backfill(since=NOON - 8 * MINUTE_MS, until=NOON)


def retried(world: World) -> None:
    world.consumers.answering = lambda _: FAILED
    world.put(dueTime="1s", priority="high")
    world.run_until(NOON + 2 * SECOND_MS)


def redriven(world: World) -> None:
    world.consumers.answering = lambda _: FAILED
    world.put(dueTime="1s", priority="high", retry={"maxAttempts": 1}, labels={"team": "ops"})
    world.run_until(NOON + 2 * SECOND_MS)
    assert not world.queue.waiting
    world.redrive(f"{NOON + SECOND_MS}-0")
    world.api().bulk_runs.redrive(RunFilter("ns", labels={"team": "ops"}), "")
    assert len(world.queue.waiting) == 2


def chained(world: World) -> None:
    world.put("after", priority="high")
    world.put("first", dueTime="1s", onComplete={"type": "job", "name": "after"})
    world.clock.time += 2 * SECOND_MS
    for _ in range(2):
        # First the trigger is delivered, and then the end of its run is notified.
        world.deliver(world.queue.take())


def accepted(world: World) -> None:
    world.consumers.answering = lambda _: Answer(succeeded=True, code=202)
    world.put(dueTime="1s", priority="high", completion="async")
    world.run_until(NOON + 2 * SECOND_MS)
    assert any(isinstance(message, DeadlineMessage) for _, message in world.queue.waiting)


@pytest.mark.parametrize(
    "sent",
    [armed_at_once, armed_as_a_range, swept, by_hand, backfilled, retried, redriven, chained, accepted],
)
def test_every_message_of_a_job_carries_its_priority(sent: Callable[[World], None]) -> None:
    world = World(shards=1)
    sent(world)
    assert priorities(world)
    assert set(priorities(world)) == {"high"}
    for _, message in world.queue.waiting:
        assert decode(encode(message)) == message


def test_the_parts_of_a_range_keep_its_priority() -> None:
    world = World(shards=1)
    backfilled(world)
    for handled in world.deliver(world.queue.take()):
        assert handled.outcome.name == "split"
    assert priorities(world) == ["high"] * 8


def test_a_bundle_has_one_priority() -> None:
    world = World(shards=1)
    world.bundle_span_ms = 2 * SECOND_MS
    for number, priority in enumerate(("low", "high", "low", "high", "normal", "normal")):
        world.put(f"job-{number}", dueTime="6m", priority=priority)
    world.clock.time += 5 * MINUTE_MS
    world.sweep()
    bundles = [message for _, message in world.queue.waiting if isinstance(message, BundleMessage)]
    found = {frozenset(each.lane for each in bundle.triggers) for bundle in bundles}
    assert found == {frozenset({each}) for each in PRIORITIES}
    for bundle in bundles:
        assert decode(encode(bundle)) == bundle


def test_a_message_of_the_usual_priority_is_written_as_before() -> None:
    world = World(shards=1)
    world.put(dueTime="10s")
    ((_, message),) = world.queue.waiting
    assert "lane" not in encode(message)
