"""What every PermitStore promises (ports/)."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.contract.builders import EVERY_CHARACTER, NOON
from tests.fakes.engines import Stores

from sweephand.model.policy import GROUP_SIZE, PermitHolder, PolicyKey, RateBucket
from sweephand.ports.flow import PermitStore

KEY = PolicyKey("default", "mailer")
ME, YOU = "owner00000000001", "owner00000000002"
RUN, OTHER_RUN = "run0000000000001", "run0000000000002"
UNTIL = NOON + 180_000


@pytest.fixture
def permits(stores: Stores) -> PermitStore:
    return stores.permits


def take(permits: PermitStore, owner: str, now: int = NOON, slot: int = 3) -> PermitHolder | None:
    return permits.take(KEY, permits.holder(KEY, slot), owner, now, now + 180_000)


def test_a_group_has_all_of_its_holders_taken_or_not(permits: PermitStore) -> None:
    assert permits.holders(KEY, 1) == [PermitHolder(GROUP_SIZE + each) for each in range(GROUP_SIZE)]
    assert take(permits, ME, slot=GROUP_SIZE + 1)
    assert permits.holders(KEY, 1)[1] == PermitHolder(GROUP_SIZE + 1, ME, UNTIL)
    assert permits.holders(KEY, 0) == [PermitHolder(each) for each in range(GROUP_SIZE)]
    assert permits.holders(PolicyKey("default", "mail"), 1)[1] == PermitHolder(GROUP_SIZE + 1)


def test_names_may_have_every_character(permits: PermitStore) -> None:
    key = PolicyKey(EVERY_CHARACTER, EVERY_CHARACTER)
    taken = permits.take(key, PermitHolder(9_999), ME, NOON, UNTIL)
    assert taken == permits.holder(key, 9_999) == PermitHolder(9_999, ME, UNTIL)


def test_a_holder_that_is_held_is_not_taken_until_its_time_has_ended(permits: PermitStore) -> None:
    assert take(permits, ME)
    assert take(permits, YOU) is None
    assert take(permits, YOU, UNTIL) is None
    assert permits.holder(KEY, 3).owner == ME
    assert take(permits, YOU, UNTIL + 1) == PermitHolder(3, YOU, UNTIL + 180_001)


def test_taking_that_is_repeated_succeeds_again(permits: PermitStore) -> None:
    assert take(permits, ME) == take(permits, ME) == PermitHolder(3, ME, UNTIL)


def test_one_of_several_workers_takes_a_holder(stores: Stores) -> None:
    rivals = [f"owner00000000{each:03}" for each in range(8)]
    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(lambda each: take(stores.permits, each), rivals))
    assert sum(each is not None for each in taken) == 1


def test_away_entries_stay_when_their_holder_is_released_and_taken_again(permits: PermitStore) -> None:
    assert take(permits, ME)
    assert permits.enter(KEY, 3, ME, {RUN: UNTIL + 5})
    assert permits.enter(KEY, 3, ME, {OTHER_RUN: NOON + 10}, releasing=True)
    assert permits.holder(KEY, 3) == PermitHolder(3, None, 0, {RUN: UNTIL + 5, OTHER_RUN: NOON + 10})
    taken = take(permits, YOU, NOON + 10)
    assert taken == PermitHolder(3, YOU, UNTIL + 10, {RUN: UNTIL + 5})
    assert permits.holder(KEY, 3) == taken


def test_taking_shows_away_entries_that_were_added_since_the_holder_was_read(permits: PermitStore) -> None:
    seen = permits.holder(KEY, 3)
    assert take(permits, ME)
    assert permits.enter(KEY, 3, ME, {RUN: UNTIL + 5}, releasing=True)
    assert permits.take(KEY, seen, YOU, NOON, UNTIL) == PermitHolder(3, YOU, UNTIL, {RUN: UNTIL + 5})


def test_only_the_owner_enters_away_entries(permits: PermitStore) -> None:
    assert not permits.enter(KEY, 3, ME, {RUN: UNTIL})
    assert not permits.enter(KEY, 3, ME, {RUN: UNTIL}, releasing=True)
    assert take(permits, ME)
    assert not permits.enter(KEY, 3, YOU, {RUN: UNTIL})
    assert not permits.enter(KEY, 3, YOU, {RUN: UNTIL}, releasing=True)
    assert permits.holder(KEY, 3) == PermitHolder(3, ME, UNTIL)


def test_only_the_owner_announces_that_permits_are_idle(permits: PermitStore) -> None:
    take(permits, "a")
    permits.announce(KEY, 3, "b", NOON + 2_000)
    assert not permits.holder(KEY, 3).is_idle(NOON)
    permits.announce(KEY, 3, "a", NOON + 2_000)
    assert permits.holder(KEY, 3).is_idle(NOON + 1_999)
    assert not permits.holder(KEY, 3).is_idle(NOON + 2_000)


def test_an_announcement_ends_with_its_owner(permits: PermitStore) -> None:
    until = NOON + 10_000_000
    take(permits, "a")
    permits.announce(KEY, 3, "a", until)
    permits.enter(KEY, 3, "a", {}, releasing=True)
    take(permits, "b")
    assert not permits.holder(KEY, 3).is_idle(NOON)
    permits.announce(KEY, 3, "b", until)
    after_crash = permits.holder(KEY, 3).until + 1
    take(permits, "c", after_crash)
    assert not permits.holder(KEY, 3).is_idle(after_crash)


def test_a_release_that_is_repeated_succeeds_again(permits: PermitStore) -> None:
    assert take(permits, ME)
    assert permits.enter(KEY, 3, ME, {RUN: UNTIL}, releasing=True)
    assert permits.enter(KEY, 3, ME, {RUN: UNTIL}, releasing=True)
    assert not permits.enter(KEY, 3, ME, {OTHER_RUN: UNTIL}, releasing=True)


def test_anybody_removes_an_away_entry_and_a_missing_one_is_a_success(permits: PermitStore) -> None:
    permits.remove(KEY, 3, [RUN])
    assert permits.holder(KEY, 3) == PermitHolder(3)
    assert take(permits, ME)
    assert permits.enter(KEY, 3, ME, {RUN: UNTIL, OTHER_RUN: UNTIL + 1})
    permits.remove(KEY, 3, [RUN])
    permits.remove(KEY, 3, [RUN])
    assert permits.holder(KEY, 3) == PermitHolder(3, ME, UNTIL, {OTHER_RUN: UNTIL + 1})


def test_tokens_are_taken_once(permits: PermitStore) -> None:
    seen = permits.bucket(KEY)
    assert seen == RateBucket()
    mine, yours = (RateBucket(NOON * 1_000 + 5, each, step_us=105_000) for each in (ME, YOU))
    assert permits.move_bucket(KEY, mine, seen)
    assert permits.move_bucket(KEY, mine, seen)
    assert not permits.move_bucket(KEY, yours, seen)
    assert permits.bucket(KEY) == mine
    assert permits.move_bucket(KEY, yours._replace(next_us=NOON * 1_000 + 9), mine)
    assert not permits.move_bucket(KEY, mine._replace(next_us=NOON * 1_000 + 7), mine)


def test_one_of_several_workers_takes_the_next_tokens(stores: Stores) -> None:
    seen = stores.permits.bucket(KEY)
    rivals = [RateBucket(NOON * 1_000, f"owner00000000{each:03}") for each in range(8)]
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda each: stores.permits.move_bucket(KEY, each, seen), rivals))
    assert won.count(True) == 1


def test_a_wake_mark_stands_until_it_ends_or_is_cleared(permits: PermitStore) -> None:
    permits.clear_mark(KEY)
    assert permits.mark(KEY, NOON, NOON + 100, ME)
    assert permits.bucket(KEY).is_marked(NOON + 99)
    assert not permits.mark(KEY, NOON + 99, NOON + 500, YOU)
    assert permits.mark(KEY, NOON + 100, NOON + 500, YOU)
    permits.clear_mark(KEY)
    assert not permits.bucket(KEY).is_marked(NOON + 100)
    assert permits.mark(KEY, NOON + 100, NOON + 200, ME)


def test_a_covered_time_is_only_ever_raised_and_disturbs_no_mark_and_no_token(permits: PermitStore) -> None:
    assert permits.mark(KEY, NOON, NOON + 100, ME)
    for until in (NOON + 50, NOON + 200, NOON + 100):
        permits.cover(KEY, until)
    assert permits.bucket(KEY) == RateBucket(0, None, NOON + 100, ME, NOON + 200)
    seen = permits.bucket(KEY)
    assert permits.move_bucket(KEY, RateBucket(7, ME), seen)
    permits.clear_mark(KEY)
    assert permits.bucket(KEY) == RateBucket(7, ME, 0, None, NOON + 200)


def test_a_mark_that_is_set_again_by_its_owner_stands(permits: PermitStore) -> None:
    assert permits.mark(KEY, NOON, NOON + 100, ME)
    assert permits.mark(KEY, NOON, NOON + 100, ME)
    assert not permits.mark(KEY, NOON, NOON + 100, YOU)


def test_a_mark_and_the_tokens_do_not_disturb_each_other(permits: PermitStore) -> None:
    assert permits.mark(KEY, NOON, NOON + 100, ME)
    seen = permits.bucket(KEY)
    assert permits.move_bucket(KEY, seen._replace(next_us=7, owner=ME), seen)
    assert permits.bucket(KEY) == RateBucket(7, ME, NOON + 100, ME)
    permits.clear_mark(KEY)
    assert permits.bucket(KEY) == RateBucket(7, ME)
