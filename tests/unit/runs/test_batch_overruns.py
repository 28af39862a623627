"""Whether a batch took longer than its window, and from when that counts."""

import pytest
from tests.fakes.notified import TOLD, told
from tests.fakes.world import NOON, World, key_of
from tests.unit.runs.test_batch_progress import DUE, head_of

from sweephand.base.instants import DAY_MS, MINUTE_MS, SECOND_MS
from sweephand.model.attempt import Answer
from sweephand.model.batch_mark import BatchName, BatchSize
from sweephand.model.batch_progress import BatchHead
from sweephand.model.run_id import Demand, DemandKind


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
