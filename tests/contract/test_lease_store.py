"""What every LeaseStore promises (ports/)."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.contract.builders import NOON
from tests.fakes.engines import Stores

from sweephand.model.timer import Chunk, Cursor, Heartbeat, Lease, Place, WheelState
from sweephand.ports.wheel import LeaseStore
from sweephand.schedules import Occurrence

MINE, OTHERS = "owner00000000001", "owner00000000002"
UNTIL = NOON + 30_000
KEY = "2026-11-21T12:00#00.000#default/backup#1-aaaa#occurrence#"
CURSORS = [
    Cursor(KEY),
    Cursor(KEY, Occurrence(NOON + 1, 10**9)),
    Cursor(),
    Cursor(KEY, entry=KEY),
    Cursor(KEY, Occurrence(NOON + 1, 3), KEY),
    Cursor(KEY, chunk=Chunk(Place(KEY + "~"), NOON - 7)),
    Cursor(KEY, Occurrence(NOON + 1, 3), KEY, Chunk(Place(KEY + "~", KEY), NOON - 7)),
    Cursor(KEY, Occurrence(NOON + 1, 3, 999, 60_001)),
    Cursor(KEY, Occurrence(NOON + 1, 3, 999, 60_001), KEY, Chunk(Place(KEY + "~", KEY), NOON - 7)),
]


@pytest.fixture
def leases(stores: Stores) -> LeaseStore:
    stores.leases.raise_shards(2)
    return stores.leases


def lease_of(store: LeaseStore, shard: int) -> Lease:
    return store.state().leases[shard]


def claimed(store: LeaseStore, owner: str = MINE) -> Lease:
    lease = store.claim(lease_of(store, 0), owner, NOON, UNTIL)
    assert lease is not None
    return lease


def test_a_heartbeat_returns_the_one_before(stores: Stores) -> None:
    first, second = Heartbeat(NOON, NOON - 1, 600), Heartbeat(NOON + 1)
    assert stores.leases.beat(first) is None
    assert stores.leases.beat(second) == first
    assert stores.leases.beat(first) == second
    assert stores.leases.state().limit == 600


def test_before_anything_is_written_there_are_no_shards(stores: Stores) -> None:
    assert stores.leases.state() == WheelState((), 0, None)


def test_the_store_returns_the_latest_heartbeat_of_tick(stores: Stores) -> None:
    stores.leases.beat(Heartbeat(NOON))
    stores.leases.beat(Heartbeat(NOON + 1))
    assert stores.leases.state() == WheelState((), 0, NOON + 1)


def test_the_heartbeat_says_since_when_the_stack_is_switched_off(stores: Stores) -> None:
    stores.leases.beat(Heartbeat(NOON + 1, NOON))
    assert stores.leases.state() == WheelState((), 0, NOON + 1, NOON)
    stores.leases.beat(Heartbeat(NOON + 2))
    assert stores.leases.state() == WheelState((), 0, NOON + 2, None)


def test_every_shard_begins_with_a_lease_that_no_sweeper_holds(stores: Stores) -> None:
    assert stores.leases.raise_shards(12) == 12
    expected = tuple(Lease(shard, Cursor()) for shard in range(12))
    assert stores.leases.state() == WheelState(expected, 12, None)


def test_the_number_of_shards_never_falls(leases: LeaseStore) -> None:
    assert leases.raise_shards(1) == 2
    assert leases.raise_shards(2) == 2
    assert leases.raise_shards(4) == 4
    assert leases.raise_shards(0) == 4
    state = leases.state()
    assert (state.shards, len(state.leases)) == (4, 4)


def test_raising_the_number_of_shards_touches_no_lease_that_exists(leases: LeaseStore) -> None:
    held = claimed(leases)
    leases.raise_shards(5)
    assert lease_of(leases, 0) == held


def test_ticks_that_raise_the_number_of_shards_at_once_reach_the_highest_number(stores: Stores) -> None:
    with ThreadPoolExecutor(6) as pool:
        numbers = list(pool.map(stores.leases.raise_shards, [3, 6, 2, 5, 1, 4]))
    assert all(number >= asked for number, asked in zip(numbers, [3, 6, 2, 5, 1, 4], strict=True))
    state = stores.leases.state()
    assert (state.shards, [lease.shard for lease in state.leases]) == (6, [0, 1, 2, 3, 4, 5])


def test_a_free_shard_is_claimed_with_the_next_fence(leases: LeaseStore) -> None:
    lease = leases.claim(lease_of(leases, 0), MINE, NOON, UNTIL)
    assert lease == Lease(0, Cursor(), fence=1, owner=MINE, lease_until=UNTIL, judged_at=NOON, tries=1)
    assert lease_of(leases, 0) == lease
    assert lease_of(leases, 1) == Lease(1, Cursor())


def test_a_held_shard_is_not_claimed(leases: LeaseStore) -> None:
    held = claimed(leases)
    assert leases.claim(held, OTHERS, UNTIL - 1, UNTIL + 30_000) is None
    assert leases.claim(held, OTHERS, UNTIL, UNTIL + 30_000) is None
    assert lease_of(leases, 0) == held


def test_a_claim_of_a_shard_that_is_repeated_is_granted_again(leases: LeaseStore) -> None:
    held = claimed(leases)
    assert leases.claim(held, MINE, NOON + 1, UNTIL) == held
    assert lease_of(leases, 0) == held


def test_a_shard_whose_lease_has_ended_is_claimed_with_its_cursor(leases: LeaseStore) -> None:
    cursor = Cursor(KEY, Occurrence(NOON, 3))
    left = leases.commit(claimed(leases), cursor, UNTIL)
    assert left is not None
    lease = leases.claim(left, OTHERS, UNTIL + 1, UNTIL + 30_000)
    until = UNTIL + 30_000
    assert lease == Lease(0, cursor, fence=2, owner=OTHERS, lease_until=until, judged_at=NOON, tries=1)


def test_the_stored_lease_decides_a_claim_and_not_the_one_that_was_read(leases: LeaseStore) -> None:
    stale = lease_of(leases, 0)
    first = leases.claim(stale, MINE, NOON, UNTIL)
    assert first is not None
    leases.release(first, 5, NOON + 1)
    second = leases.claim(stale, OTHERS, NOON + 2, UNTIL)
    assert second == Lease(
        0, Cursor(), 2, OTHERS, UNTIL, found=5, swept_at=NOON + 1, judged_at=NOON + 2, tries=1
    )


def test_one_of_several_sweepers_that_claim_one_shard_gets_it(stores: Stores) -> None:
    leases = stores.leases
    leases.raise_shards(1)
    lease = lease_of(leases, 0)
    owners = [f"owner0000000001{number}" for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda owner: leases.claim(lease, owner, NOON, UNTIL), owners))
    won = [answer for answer in answers if answer is not None]
    assert [each.fence for each in won] == [1]
    assert lease_of(leases, 0) == won[0]


@pytest.mark.parametrize("cursor", CURSORS)
def test_a_commit_moves_the_cursor_and_renews_the_lease(leases: LeaseStore, cursor: Cursor) -> None:
    held = claimed(leases)
    within = leases.commit(held, Cursor("a", Occurrence(1, 1)), UNTIL)
    assert within is not None
    committed = leases.commit(within, cursor, UNTIL + 10_000)
    assert committed == Lease(0, cursor, 1, MINE, UNTIL + 10_000, judged_at=NOON)
    assert lease_of(leases, 0) == committed


def test_a_cursor_that_leaves_a_batch_loses_its_place_in_the_batch(leases: LeaseStore) -> None:
    held = claimed(leases)
    within = leases.commit(held, Cursor(KEY, Occurrence(NOON, 1, 5, 300)), UNTIL)
    assert within is not None
    for cursor in (Cursor(KEY, Occurrence(NOON + 7, 2)), Cursor(KEY + "~", Occurrence(NOON, 1)), Cursor(KEY)):
        assert leases.commit(within, cursor, UNTIL) == within._replace(cursor=cursor)
        assert lease_of(leases, 0).cursor == cursor


def test_a_cursor_that_leaves_a_pack_loses_its_place_in_the_pack(leases: LeaseStore) -> None:
    held = claimed(leases)
    within = leases.commit(held, Cursor(KEY, entry=KEY, chunk=Chunk(Place(KEY), NOON)), UNTIL)
    assert within is not None
    for cursor in (Cursor(KEY), Cursor(KEY + "~")):
        assert leases.commit(within, cursor, UNTIL) == within._replace(cursor=cursor)
        assert lease_of(leases, 0).cursor == cursor


def test_a_commit_stores_the_instant_of_judgement_or_leaves_it_as_it_is(leases: LeaseStore) -> None:
    held = claimed(leases)
    committed = leases.commit(held, Cursor(KEY), UNTIL, judged_at=NOON + 7)
    assert committed is not None
    assert committed.judged_at == NOON + 7
    renewed = leases.commit(committed, Cursor(KEY), UNTIL + 10_000)
    assert renewed is not None
    assert renewed.judged_at == NOON + 7
    assert lease_of(leases, 0) == renewed


def test_the_instant_of_judgement_outlives_a_crashed_sweeper_and_a_release_removes_it(
    leases: LeaseStore,
) -> None:
    died = leases.commit(claimed(leases), Cursor(KEY), UNTIL, judged_at=NOON + 7)
    assert died is not None
    taken = leases.claim(died, OTHERS, UNTIL + 1, UNTIL + 30_000)
    assert taken is not None
    assert taken.judged_at == NOON + 7
    leases.release(taken, 0, UNTIL + 2)
    assert lease_of(leases, 0).judged_at is None
    fresh = leases.claim(taken, MINE, UNTIL + 3, UNTIL + 30_000)
    assert fresh is not None
    assert fresh.judged_at == UNTIL + 3


def test_the_claims_of_a_shard_are_counted_until_its_cursor_moves(leases: LeaseStore) -> None:
    for number in range(1, 4):
        now = NOON + number * 40_000
        lease = leases.claim(lease_of(leases, 0), MINE, now, now + 30_000)
        assert lease is not None
        assert lease.tries == number
        lease = leases.commit(lease, lease.cursor, now + 31_000, judged_at=now)
        assert lease is not None
        assert lease.tries == number
    moved = leases.commit(lease_of(leases, 0), Cursor(KEY), NOON + 200_000)
    assert moved is not None
    assert moved.tries == 0
    assert lease_of(leases, 0) == moved


def test_a_release_stores_left_at_and_resets_the_count_of_claims(leases: LeaseStore) -> None:
    leases.release(claimed(leases), 0, NOON + 1, left_at=NOON - 7)
    released = lease_of(leases, 0)
    assert (released.tries, released.left_at) == (0, NOON - 7)
    leases.release(claimed(leases), 0, NOON + 2)
    assert lease_of(leases, 0).left_at is None


def test_a_release_stores_the_number_of_triggers_in_the_fullest_second(leases: LeaseStore) -> None:
    leases.release(claimed(leases), 900, NOON + 1, peak=700)
    released = lease_of(leases, 0)
    assert (released.found, released.peak) == (900, 700)
    held = claimed(leases)
    assert held.peak == 700
    committed = leases.commit(held, Cursor(KEY), UNTIL)
    assert committed is not None
    assert committed.peak == 700
    leases.release(committed, 3, NOON + 2)
    assert lease_of(leases, 0).peak == 0


def test_a_commit_that_is_repeated_succeeds_again(leases: LeaseStore) -> None:
    held = claimed(leases)
    assert leases.commit(held, Cursor(KEY), UNTIL) == leases.commit(held, Cursor(KEY), UNTIL)


def test_a_commit_after_another_sweeper_took_over_is_refused(leases: LeaseStore) -> None:
    held = claimed(leases)
    taken = leases.claim(held, OTHERS, UNTIL + 1, UNTIL + 30_000)
    assert leases.commit(held, Cursor(KEY), UNTIL + 60_000) is None
    assert lease_of(leases, 0) == taken


def test_a_commit_holds_although_the_lease_ended_if_no_sweeper_took_over(leases: LeaseStore) -> None:
    held = claimed(leases)
    committed = leases.commit(held, Cursor(KEY), UNTIL + 60_000)
    assert committed is not None
    assert leases.claim(committed, OTHERS, UNTIL + 1, UNTIL + 30_000) is None


def test_a_released_shard_is_free_and_stores_how_many_triggers_were_found(leases: LeaseStore) -> None:
    held = leases.commit(claimed(leases), Cursor(KEY), UNTIL)
    assert held is not None
    leases.release(held, 12, NOON + 5)
    released = lease_of(leases, 0)
    assert released.owner is None
    assert (released.cursor, released.fence) == (Cursor(KEY), 1)
    assert (released.found, released.swept_at) == (12, NOON + 5)
    assert leases.claim(released, OTHERS, NOON + 6, UNTIL) is not None


@pytest.mark.parametrize("cursor", [None, Cursor(KEY)])
def test_a_release_after_another_sweeper_took_over_does_nothing(
    leases: LeaseStore, cursor: Cursor | None
) -> None:
    held = claimed(leases)
    taken = leases.claim(held, OTHERS, UNTIL + 1, UNTIL + 30_000)
    assert leases.release(held, 12, UNTIL + 2, cursor=cursor) is None
    assert lease_of(leases, 0) == taken


@pytest.mark.parametrize("cursor", CURSORS)
def test_a_release_moves_the_cursor_with_the_same_write(leases: LeaseStore, cursor: Cursor) -> None:
    within = Cursor("a", Occurrence(1, 1), "b", Chunk(Place("c", "d"), NOON))
    held = leases.commit(claimed(leases), within, UNTIL, judged_at=NOON + 3)
    assert held is not None
    released = leases.release(held, 7, NOON + 5, cursor=cursor, left_at=NOON + 4, peak=6)
    left = Lease(0, cursor, fence=1, found=7, swept_at=NOON + 5, left_at=NOON + 4, peak=6)
    assert released == lease_of(leases, 0) == left


def test_a_release_without_a_cursor_leaves_the_cursor_where_it_is(leases: LeaseStore) -> None:
    within = Cursor(KEY, Occurrence(NOON + 1, 3), KEY, Chunk(Place(KEY + "~", KEY), NOON - 7))
    held = leases.commit(claimed(leases), within, UNTIL)
    assert held is not None
    released = leases.release(held, 7, NOON + 5)
    assert released is not None
    assert released.cursor == within
    assert lease_of(leases, 0) == released


def test_a_release_that_is_repeated_does_nothing_more(leases: LeaseStore) -> None:
    held = claimed(leases)
    released = leases.release(held, 12, NOON + 5, cursor=Cursor(KEY))
    assert released is not None
    assert leases.release(held, 12, NOON + 5, cursor=Cursor(KEY)) == released
    assert lease_of(leases, 0) == released
