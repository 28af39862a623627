"""Batches that last: whether one took longer than its window, and when its end is told."""

import json
from contextlib import ExitStack

import pytest
from tests.fakes.notified import TOLD, told
from tests.fakes.policies import call, jobs_in_line, nobody_serves, world_with
from tests.fakes.time_off import expire
from tests.fakes.world import NOON, World, key_of, quiet
from tests.unit.runs.test_batch_progress import DUE, head_of

from sweephand.base.instants import DAY_MS, MINUTE_MS, SECOND_MS
from sweephand.flow.turn import TURN_MS
from sweephand.model.attempt import Answer
from sweephand.model.batch_mark import BatchName, BatchSize
from sweephand.model.batch_progress import BatchHead
from sweephand.model.run_id import Demand, DemandKind
from sweephand.runs import batch_progress
from sweephand.runs.batch_progress import counts_of


@pytest.mark.parametrize(
    ("window_ms", "grace_ms"),
    [
        (20 * SECOND_MS, 2 * SECOND_MS),
        (10 * MINUTE_MS, MINUTE_MS),
        (60 * MINUTE_MS, MINUTE_MS),
        (DAY_MS, MINUTE_MS),
        (1, 0),
    ],
)
def test_a_batch_overran_if_it_ended_after_its_window_and_a_grace(window_ms: int, grace_ms: int) -> None:
    name = BatchName(key_of(), "uid0000000000001", DUE, None)
    head = BatchHead(name, BatchSize(100, window_ms))
    assert not head.overran
    latest = DUE + window_ms + grace_ms
    assert not head._replace(ended_at=latest).overran
    assert head._replace(ended_at=latest + 1).overran


def test_a_batch_without_a_window_cannot_overrun() -> None:
    head = BatchHead(BatchName(key_of(), "uid0000000000001", DUE, None), BatchSize(100, 0))
    assert not head._replace(ended_at=DUE + DAY_MS).overran


@pytest.mark.parametrize("kind", ["manual", "backfill", "chained"])
def test_the_window_of_a_batch_on_demand_begins_when_it_is_due_or_when_it_has_begun_if_that_is_later(
    kind: DemandKind,
) -> None:
    name = BatchName(key_of(), "uid0000000000001", DUE, Demand(kind, "token00000000001"))
    ended = BatchHead(name, BatchSize(100, MINUTE_MS), ended_at=DUE + DAY_MS + MINUTE_MS)
    assert ended.overran
    assert not ended._replace(began_at=DUE + DAY_MS).overran
    assert ended._replace(began_at=DUE + DAY_MS - 7 * SECOND_MS).overran
    early = ended._replace(ended_at=DUE + MINUTE_MS)
    assert not early._replace(began_at=DUE - DAY_MS).overran


def test_a_batch_of_the_schedule_that_begins_late_has_less_time() -> None:
    name = BatchName(key_of(), "uid0000000000001", DUE, None)
    size, began_at = BatchSize(100, MINUTE_MS), DUE + DAY_MS
    assert BatchHead(name, size, ended_at=began_at + MINUTE_MS, began_at=began_at).overran


@pytest.mark.parametrize("is_late", [False, True])
def test_a_batch_that_a_backfill_has_begun_overran_only_if_it_took_longer_than_its_window(
    world: World, *, is_late: bool
) -> None:
    retry = {"initialDelay": "60s", "maxAttempts": 2}
    world.put(schedule="0 11 * * *", batch={"count": 4, "window": "20s"}, onComplete=TOLD, retry=retry)
    world.consumers.answering = lambda each: Answer(
        not is_late or each.trigger.index != 3 or each.number == 2, code=503
    )
    world.backfill(since=NOON - 5 * DAY_MS, until=NOON - 4 * DAY_MS)
    world.run_until(NOON + 5 * MINUTE_MS)
    assert [each["overran"] for each in told(world)] == [is_late]
    (head,) = world.batches.page(key_of(), "", 10).items
    assert (head.began_at, head.overran) == (NOON, is_late)


def test_the_end_of_a_batch_keeps_the_instant_at_which_it_began(world: World) -> None:
    world.put(dueTime="10s", batch={"count": 4, "window": "20s"})
    world.run_until(DUE + SECOND_MS)
    assert head_of(world).began_at == DUE
    world.run_until(DUE + MINUTE_MS)
    assert head_of(world).ended_at == DUE + 15 * SECOND_MS
    assert head_of(world).began_at == DUE


def test_a_batch_that_an_earlier_release_has_begun_ends_without_that_instant(world: World) -> None:
    world.put(dueTime="10s", batch={"count": 4, "window": "20s"})
    name = BatchName(key_of(), world.stored().uid, DUE)
    world.batches.advance(BatchHead(name, BatchSize(4, 20 * SECOND_MS), expires_at=DUE + DAY_MS))
    world.run_until(DUE + MINUTE_MS)
    assert head_of(world).ended_at is not None
    assert head_of(world).began_at is None


def test_a_batch_overran_if_a_retry_ends_long_after_its_window(world: World) -> None:
    world.put(
        dueTime="10s",
        batch={"count": 4, "window": "2s"},
        onComplete=TOLD,
        retry={"initialDelay": "10s", "maxAttempts": 2},
    )
    world.consumers.answering = lambda each: Answer(each.trigger.index != 1 or each.number == 2, code=503)
    world.run_until(DUE + MINUTE_MS)
    assert [(each["state"], each["overran"]) for each in told(world)] == [("succeeded", True)]


MINUTE = 60_000
DAY = 24 * 60 * MINUTE
LATE_DUE = NOON + 10 * MINUTE
COUNT = 6


def half_done() -> World:
    """A world in which half of a batch was delivered before something stopped the rest."""
    world = world_with(1)
    world.put(
        schedule=["2026-11-21T12:10:00Z", "2028-11-21T12:10:00Z"],
        batch={"count": COUNT},
        policy="mailer",
        onComplete={"type": "http", "url": "https://example.com/done"},
    )

    with ExitStack() as stack:

        def end_turn(call: str) -> None:
            if call == "after consumers.deliver" and len(world.consumers.ids) == COUNT // 2:
                world.announce = quiet
                stack.enter_context(nobody_serves(world))
                world.clock.time += TURN_MS

        world.announce = end_turn
        world.run_until(NOON + 20 * MINUTE)
    assert COUNT // 2 <= len(set(world.consumers.ids)) < COUNT
    assert jobs_in_line(world)
    return world


def pass_days(world: World, days: int) -> None:
    """Let days pass with an audit in every fifth. Stores remove what has ended, and nobody serves."""
    for _ in range(0, days, 5):
        world.clock.time += 5 * DAY
        expire(world)
        world.flow_queue.waiting.clear()
        world.audit_jobs()


def come_back(world: World) -> None:
    call(world)
    world.run_until(world.clock.time + 10 * MINUTE)


def ends(world: World) -> list[tuple[int, int]]:
    """The notifications of the end: how many runs had succeeded, of how many."""
    told = [json.loads(each.body) for each in world.consumers.attempts if each.ended_after is not None]
    return [(each["succeeded"], each["total"]) for each in told]


@pytest.mark.parametrize("days", [10, 50, 300])
def test_the_end_is_told_once_however_long_nobody_served_in_the_middle_of_the_batch(days: int) -> None:
    world = half_done()
    pass_days(world, days)
    come_back(world)
    assert ends(world) == [(COUNT, COUNT)]


def test_pages_that_were_full_long_before_the_end_count_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_progress, "PAGE_SIZE", 2)
    world = half_done()
    pass_days(world, 50)
    head = world.batches.find(key_of(), LATE_DUE, None)
    assert head is not None
    assert counts_of(world.batches, head).over >= COUNT // 2
    come_back(world)
    assert ends(world) == [(COUNT, COUNT)]


def test_progress_is_removed_a_year_after_the_records_of_the_runs() -> None:
    world = half_done()
    pass_days(world, 365 + 35)
    assert world.batches.find(key_of(), LATE_DUE, None) is None
