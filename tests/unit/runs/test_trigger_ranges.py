"""Ranges: a range whose triggers cannot be delivered now is held or dropped whole, and never split."""

import pytest
from tests.fakes.deliveries import handle
from tests.fakes.faults import failing
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import StoreError
from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Instant
from sweephand.base.timing import UNKNOWN_GRACE_MS
from sweephand.model.job import EARLIER_REVISIONS_MAX
from sweephand.model.timer import Cursor
from sweephand.model.trigger import RangeMessage, TriggerMessage


def resumed() -> tuple[World, RangeMessage]:
    """A job that was paused for a day and catches up with every second of it, in one message."""
    world = World()
    world.put(schedule="@every 1s", dueTime="0s")
    world.pause()
    world.queue.waiting.clear()
    world.clock.time += DAY_MS
    world.resume(mode="all")
    (span,) = [each for _, each in world.queue.waiting if isinstance(each, RangeMessage)]
    world.queue.waiting.clear()
    return world, span


def comes(world: World, span: RangeMessage, outcome: str) -> RangeMessage:
    """A span is handled so, and comes again whole."""
    assert handle(world, span).name == outcome
    ((at, again),) = world.queue.waiting
    assert isinstance(again, RangeMessage)
    assert again == span
    assert at > world.clock.time
    world.queue.waiting.clear()
    return again


def dropped(world: World, span: RangeMessage) -> None:
    world.clock.time += UNKNOWN_GRACE_MS
    assert handle(world, span).name == "dropped"
    assert not world.queue.waiting


def test_a_range_of_a_deleted_job_is_dropped_whole() -> None:
    world, span = resumed()
    world.delete()
    comes(world, span, "unknown")
    dropped(world, span)


def test_a_range_of_a_resume_that_was_never_committed_is_dropped_whole() -> None:
    world, span = resumed()
    span = span._replace(rev=f"{span.rev}x")
    comes(world, span, "unknown")
    dropped(world, span)


def test_a_range_of_a_paused_job_is_held_whole_and_split_after_the_pause() -> None:
    world, span = resumed()
    world.pause()
    world.clock.time += MINUTE_MS
    span = comes(world, span, "held")
    for number in range(EARLIER_REVISIONS_MAX + 1):
        world.patch(description=str(number))
    world.resume()
    world.queue.waiting.clear()
    assert handle(world, span).name == "split"
    assert len(world.queue.waiting) == 10
    while not isinstance(world.queue.waiting[0][1], TriggerMessage):
        world.deliver(world.queue.take(1))
        world.queue.waiting.sort(key=lambda each: isinstance(each[1], RangeMessage))
    world.deliver(world.queue.take(1))
    assert len(world.consumers.attempts) == 1


def test_a_range_of_a_backfill_is_split_though_its_job_is_paused() -> None:
    world, _ = resumed()
    world.pause()
    world.backfill(since=NOON, until=NOON + MINUTE_MS)
    ((_, span),) = world.queue.waiting
    world.queue.waiting.clear()
    assert isinstance(span, RangeMessage)
    assert handle(world, span).name == "split"


def test_a_backfill_of_a_job_that_was_deleted_is_dropped_whole() -> None:
    world, _ = resumed()
    world.backfill(since=NOON, until=NOON + MINUTE_MS)
    ((_, span),) = world.queue.waiting
    world.queue.waiting.clear()
    assert isinstance(span, RangeMessage)
    world.delete()
    comes(world, span, "unknown")
    dropped(world, span)


def hammered() -> tuple[World, RangeMessage]:
    """A job whose catching-up is in the queue in one message, and that has forgotten the resume by now."""
    world, span = resumed()
    for number in range(EARLIER_REVISIONS_MAX + 1):
        world.clock.time += SECOND_MS
        world.patch(description=str(number))
    assert span.rev not in [each.rev for each in world.stored().earlier]
    world.queue.waiting.clear()
    return world, span


def test_a_range_is_split_though_its_job_has_forgotten_the_revision_that_owes_it() -> None:
    world, span = hammered()
    world.clock.time += UNKNOWN_GRACE_MS
    assert handle(world, span).name == "split"
    assert [type(each) for _, each in world.queue.waiting] == [RangeMessage] * 10


def test_a_range_that_is_split_by_a_clock_ahead_leaves_its_triggers_to_the_update_that_follows() -> None:
    world, span = resumed()
    coming = span.series.next_after(world.clock.time)
    assert coming is not None
    near = span._replace(first=coming, until=world.clock.time + 5 * SECOND_MS)
    world.delivery_clock.ahead_ms = MINUTE_MS
    assert handle(world, near).name == "split"
    world.clock.time += SECOND_MS
    world.patch(description="The series is this revision's from its cut on.")
    parts = [
        each
        for _, each in world.queue.waiting
        if isinstance(each, TriggerMessage) and each.trigger.rev == span.rev
    ]
    world.delivery_clock.ahead_ms = 0
    world.clock.time += UNKNOWN_GRACE_MS
    outcomes = [handle(world, each).name for each in parts]
    assert outcomes == ["succeeded", "dropped", "dropped", "dropped", "dropped"]


def test_skipped_misfires_are_recorded_though_the_job_has_forgotten_their_revision() -> None:
    world, span = hammered()
    world.clock.time += UNKNOWN_GRACE_MS
    assert handle(world, span._replace(are_skipped=True)).name == "skipped"


def test_misfires_are_recorded_though_nothing_fell_due_in_the_revision_that_skips_them(world: World) -> None:
    world.put(schedule="@every 60s")
    for number in range(EARLIER_REVISIONS_MAX + 1):
        world.clock.time += MINUTE_MS
        world.patch(description=str(number))
    world.pause()
    world.clock.time += MINUTE_MS
    world.queue.waiting.clear()
    world.resume(mode="none")
    (skipped,) = [each for _, each in world.queue.waiting if isinstance(each, RangeMessage)]
    world.clock.time += SECOND_MS
    world.patch(description="before the record is written")
    world.queue.waiting.clear()
    assert handle(world, skipped).name == "skipped"
    (run,) = world.runs.page(key_of(), "skipped", "", 50).items
    assert (run.due_at, run.reason) == (skipped.first.due_at, "misfire")


def late_batch() -> tuple[World, RangeMessage, Instant]:
    """A batch over six days of a job that expires within days, and when its last trigger is due."""
    world = World()
    world.put(ttl="1h", retention="1h", retry={"maxAge": "1m"}, batch={"count": 6, "window": "6d"})
    world.clock.time += 5 * DAY_MS
    world.trigger()
    ((_, span),) = world.queue.waiting
    world.queue.waiting.clear()
    assert isinstance(span, RangeMessage)
    return world, span, world.clock.time + 5 * DAY_MS


def test_a_job_is_kept_until_the_last_trigger_of_a_batch_on_demand_has_had_its_time() -> None:
    world, span, last_at = late_batch()
    before = world.stored().expires_at
    assert before is not None
    assert before < last_at
    assert handle(world, span).name == "split"
    kept_until = world.stored().expires_at
    assert kept_until is not None
    assert kept_until >= last_at + MINUTE_MS + HOUR_MS
    world.clock.time = last_at + MINUTE_MS
    assert world.has_job()


def test_no_timer_of_a_batch_on_demand_is_written_if_its_job_cannot_be_kept() -> None:
    world, span, _ = late_batch()
    failing(world, "jobs.put")
    with pytest.raises(StoreError):
        handle(world, span)
    assert not world.queue.waiting
    assert not [
        each for shard in range(2) for each in world.timers.page(shard, Cursor(), NOON + DAY_MS * 20, 9)
    ]
