"""How far a batch is: its estimated end, and which batches there are before one of their runs is over."""

from tests.fakes.world import NOON, World, key_of

from sweephand.base.instants import DAY_MS, INSTANT_MAX, MINUTE_MS, Instant
from sweephand.model.batch_mark import BatchName, BatchSize
from sweephand.model.batch_progress import BatchHead, PageName, ProgressPage
from sweephand.model.run_id import RunName
from sweephand.runs.batch_reads import BatchReader, BatchView

LAST_DAY = INSTANT_MAX - DAY_MS


def reader(world: World) -> BatchReader:
    return world.app(world.api_clock).services.batches


def shown(world: World, due_at: Instant, now: Instant) -> BatchView:
    return reader(world).get(key_of(), RunName(due_at, 0), now)


def one_is_over(world: World, size: BatchSize, due_at: Instant, began_at: Instant | None = None) -> None:
    """The first run of a batch has succeeded."""
    name = BatchName(key_of(), world.stored().uid, due_at)
    world.batches.advance(BatchHead(name, size, expires_at=INSTANT_MAX, began_at=began_at))
    empty = ProgressPage(PageName(name, 0, 0))
    world.batches.mark(empty.with_marks([(0, "succeeded")], INSTANT_MAX), empty)


def test_an_end_that_no_answer_can_show_is_not_estimated() -> None:
    world = World()
    world.put(dueTime="0s", batch={"count": 10_000_000})
    one_is_over(world, BatchSize(10_000_000, 0), NOON)
    assert shown(world, NOON, NOON + DAY_MS).estimated_end_at is None
    size = BatchSize(2, 4 * DAY_MS)
    one_is_over(world, size, LAST_DAY)
    assert shown(world, LAST_DAY, LAST_DAY + 1).estimated_end_at is None


def test_the_end_of_a_batch_is_estimated_by_its_pace_since_it_began() -> None:
    world = World()
    world.put(dueTime="0s", batch={"count": 4})
    one_is_over(world, BatchSize(4, 0), NOON, began_at=NOON + DAY_MS)
    now = NOON + DAY_MS + MINUTE_MS
    assert shown(world, NOON, now).estimated_end_at == now + 3 * MINUTE_MS


def test_a_batch_whose_last_trigger_is_due_after_the_last_instant_has_no_estimated_end() -> None:
    world = World(LAST_DAY)
    world.put(dueTime="1h", batch={"count": 2, "window": "4d"})
    due_at = world.stored().series.next_after(LAST_DAY)
    assert due_at is not None
    assert shown(world, due_at.due_at, LAST_DAY).estimated_end_at is None
