"""What every PolicyStore promises (ports/)."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from tests.contract.builders import EVERY_CHARACTER, NOON, policy
from tests.fakes.engines import Stores

from sweephand.model.change import Change, FieldChange
from sweephand.model.policy import Breaker, Policy, PolicyKey, Rate
from sweephand.ports.flow import PolicyStore

MINE, OTHERS = "version000000001", "version000000002"


@pytest.fixture
def policies(stores: Stores) -> PolicyStore:
    return stores.policies


@pytest.mark.parametrize(
    "written",
    [
        policy(),
        policy(concurrent_max=None, rate=Rate(10, 1_000)),
        policy(rate=Rate(1, 86_400_000), deleted_at=NOON + 5),
        policy(paused_at=NOON + 5),
        policy(paused_at=NOON + 5, pause_reason=EVERY_CHARACTER),
        policy(breaker=Breaker(10, 60_000)),
        policy(breaker=Breaker(1, 5_000), failed=2, failing_since=NOON + 1),
        policy(breaker=Breaker(1, 5_000), broken_at=NOON + 1, probe=OTHERS, probe_at=NOON + 2),
        policy(key=PolicyKey(EVERY_CHARACTER, EVERY_CHARACTER)),
        policy(change=Change(NOON, "key0000000000001", "created", MINE)),
        policy(
            change=Change(
                NOON,
                "key0000000000001",
                "replaced",
                MINE,
                fields=(
                    FieldChange("maxConcurrent", (5, None)),
                    FieldChange("rate", (None, {"limit": 1, "per": "1s"})),
                ),
            )
        ),
    ],
)
def test_a_policy_reads_back_as_it_was_written(policies: PolicyStore, written: Policy) -> None:
    assert policies.put(written, None)
    assert policies.get(written.key) == written


def test_a_policy_is_replaced_only_in_the_version_that_was_read(policies: PolicyStore) -> None:
    first, second = policy(version=MINE), policy(version=OTHERS, concurrent_max=7)
    assert policies.get(first.key) is None
    assert policies.put(first, None)
    assert not policies.put(second, None)
    assert not policies.put(second, "version000000009")
    assert policies.get(first.key) == first
    assert policies.put(second, MINE)
    assert policies.get(first.key) == second


def test_a_write_that_is_repeated_succeeds_again(policies: PolicyStore) -> None:
    assert policies.put(policy(version=MINE), None)
    assert policies.put(policy(version=MINE), None)
    assert policies.put(policy(version=OTHERS), MINE)
    assert policies.put(policy(version=OTHERS), MINE)


def with_breaker(policies: PolicyStore, **changed: Any) -> PolicyKey:
    written = policy(breaker=Breaker(10, 60_000), **changed)
    assert policies.put(written, None)
    return written.key


def test_failures_are_counted_since_the_first_one_and_forgotten(policies: PolicyStore) -> None:
    key = with_breaker(policies)
    counted = [policies.count_failure(key, NOON + at) for at in (5, 7)]
    assert [each and (each.failed, each.failing_since) for each in counted] == [(1, NOON + 5), (2, NOON + 5)]
    assert policies.get(key) == counted[-1]
    policies.forget_failures(key)
    policies.forget_failures(key)
    assert policies.get(key) == policy(breaker=Breaker(10, 60_000))


def test_no_failure_is_counted_without_a_closed_breaker(policies: PolicyStore) -> None:
    assert policies.count_failure(PolicyKey("default", "never"), NOON) is None
    policies.forget_failures(PolicyKey("default", "never"))
    assert policies.get(PolicyKey("default", "never")) is None
    assert policies.put(policy(), None)
    assert policies.count_failure(policy().key, NOON) is None
    assert not policies.open_breaker(policy().key, "probe", NOON, NOON)
    assert policies.get(policy().key) == policy()


def test_a_breaker_is_opened_once_and_the_count_begins_anew(policies: PolicyStore) -> None:
    key = with_breaker(policies)
    policies.count_failure(key, NOON)
    assert policies.open_breaker(key, "first", NOON + 9, NOON + 1)
    assert policies.open_breaker(key, "first", NOON + 9, NOON + 1), "the SDK repeats a write"
    assert not policies.open_breaker(key, "second", NOON + 10, NOON + 2)
    assert policies.count_failure(key, NOON) is None
    opened = policy(breaker=Breaker(10, 60_000), broken_at=NOON + 1, probe="first", probe_at=NOON + 9)
    assert policies.get(key) == opened


def test_a_probe_follows_the_one_that_is_stored_until_the_breaker_is_closed(policies: PolicyStore) -> None:
    key = with_breaker(policies, broken_at=NOON, probe="first", probe_at=NOON + 9)
    assert not policies.next_probe(key, "third", NOON + 30, replacing="second")
    assert policies.next_probe(key, "second", NOON + 20, replacing="first")
    assert policies.next_probe(key, "second", NOON + 20, replacing="first"), "the SDK repeats a write"
    stored = policies.get(key)
    assert stored is not None
    assert (stored.probe, stored.probe_at, stored.broken_at) == ("second", NOON + 20, NOON)
    for _ in range(2):
        policies.close_breaker(key)
        assert policies.get(key) == policy(breaker=Breaker(10, 60_000))
    assert not policies.next_probe(key, "third", NOON + 30, replacing="second")


def test_a_breaker_is_written_without_another_version(policies: PolicyStore) -> None:
    key = with_breaker(policies)
    policies.count_failure(key, NOON)
    assert policies.put(policy(version=OTHERS), MINE)


def test_one_of_several_threads_that_change_a_policy_succeeds(stores: Stores) -> None:
    assert stores.policies.put(policy(version=MINE), None)
    rivals = [policy(version=f"version00000010{each}", concurrent_max=each + 1) for each in range(8)]
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda each: stores.policies.put(each, MINE), rivals))
    assert won.count(True) == 1
    assert stores.policies.get(policy().key) == rivals[won.index(True)]


def test_a_namespace_is_listed_by_name_without_deleted_policies(policies: PolicyStore) -> None:
    for name in ("d", "a", "c", "b"):
        assert policies.put(replace(policy(), key=PolicyKey("default", name)), None)
    deleted = replace(policy(version=OTHERS), key=PolicyKey("default", "b"), deleted_at=NOON)
    assert policies.put(deleted, MINE)
    assert policies.put(replace(policy(), key=PolicyKey("other", "e")), None)
    names, after = [], ""
    for _ in range(4):
        page = policies.page("default", after, 2)
        names += [each.key.name for each in page.items]
        if page.next is None:
            break
        after = page.next
    assert names == ["a", "c", "d"]
    assert page.next is None


def test_a_list_with_deleted_policies_has_all_of_a_namespace(policies: PolicyStore) -> None:
    for name, deleted_at in (("b", None), ("c", NOON), ("a", NOON)):
        written = replace(policy(), key=PolicyKey("default", name), deleted_at=deleted_at)
        assert policies.put(written, None)
    first = policies.page("default", "", 2, with_deleted=True)
    assert [each.key.name for each in first.items] == ["a", "b"]
    assert first.next is not None
    rest = policies.page("default", first.next, 2, with_deleted=True)
    assert ([each.key.name for each in rest.items], rest.next) == (["c"], None)
