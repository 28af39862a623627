"""How permits lie in holders (model/policy.py)."""

from dataclasses import replace

import pytest
from tests.contract.builders import NOON, policy

from sweephand.model.policy import GROUP_SIZE, PermitHolder, Rate, holder_size_of, partitions_of


@pytest.mark.parametrize("permits", [1, 2, 3, 4, 5, 12, 25, 39, 40, 41, 200, 1_000, 9_999, 10_000])
def test_the_shares_of_all_holders_are_the_permits(permits: int) -> None:
    made = policy(permits)
    assert sum(made.share(slot) for slot in range(made.holders)) == permits
    assert all(1 <= made.share(slot) <= made.holder_size for slot in range(made.holders))
    assert made.share(made.holders) == 0


@pytest.mark.parametrize(("created_with", "raised_to"), [(1, 10), (4, 3), (100, 7), (7, 10_000)])
def test_a_changed_limit_is_shared_by_holders_of_the_old_size(created_with: int, raised_to: int) -> None:
    made = replace(policy(created_with), concurrent_max=raised_to)
    assert sum(made.share(slot) for slot in range(made.groups * GROUP_SIZE)) == raised_to


@pytest.mark.parametrize(
    ("permits", "size"), [(1, 1), (4, 1), (5, 2), (12, 3), (40, 10), (41, 10), (10_000, 10)]
)
def test_a_crash_stops_a_quarter_of_a_small_policy_and_ten_permits_of_a_large_one(
    permits: int, size: int
) -> None:
    assert holder_size_of(permits) == size


@pytest.mark.parametrize(("permits", "partitions"), [(1, 4), (4, 8), (40, 8), (200, 40), (10_000, 256)])
def test_there_are_more_partitions_than_workers_up_to_a_bound(permits: int, partitions: int) -> None:
    assert partitions_of(permits, holder_size_of(permits)) == partitions


@pytest.mark.parametrize(
    ("limit", "per_ms", "partitions"),
    [(1, 86_400_000, 4), (10, 1_000, 20), (600, 60_000, 20), (100, 1_000, 200), (10_000, 1_000, 256)],
)
def test_a_slow_rate_has_few_partitions(limit: int, per_ms: int, partitions: int) -> None:
    permits = policy(None).permits
    assert partitions_of(permits, holder_size_of(permits), Rate(limit, per_ms)) == partitions


def test_a_rate_beside_a_limit_adds_no_partitions() -> None:
    assert partitions_of(4, holder_size_of(4), Rate(10_000, 1_000)) == 8


def test_a_deleted_policy_has_no_free_permit() -> None:
    deleted = policy(40, deleted_at=NOON)
    assert PermitHolder(0).free(deleted, NOON) == 0
    assert not PermitHolder(0).is_takeable(deleted, NOON)


def test_away_entries_use_permits_until_they_end() -> None:
    made = policy(8)
    holder = PermitHolder(0, away={"run": NOON + 10})
    assert holder.free(made, NOON + 9) == 1
    assert holder.free(made, NOON + 10) == 2
    assert holder.free(made, NOON, own=frozenset({"run"})) == 2
    both = holder._replace(away={"run": NOON + 10, "other": NOON + 10})
    assert not both.is_takeable(made, NOON + 9)
    assert both.is_takeable(made, NOON + 10)


def test_more_away_entries_than_a_lowered_limit_leave_no_permit() -> None:
    lowered = replace(policy(40), concurrent_max=1)
    holder = PermitHolder(0, away={str(each): NOON + 10 for each in range(10)})
    assert holder.free(lowered, NOON) == 0


def test_a_held_holder_is_takeable_only_after_its_time() -> None:
    holder = PermitHolder(0, "owner00000000001", NOON)
    assert not holder.is_takeable(policy(8), NOON)
    assert holder.is_takeable(policy(8), NOON + 1)
