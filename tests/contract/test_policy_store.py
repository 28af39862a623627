"""What every PolicyStore promises (ports/)."""

from dataclasses import replace

import pytest
from tests.contract.builders import EVERY_CHARACTER, NOON, policy, winner
from tests.fakes.engines import Stores

from sweephand.model.change import Change, FieldChange
from sweephand.model.policy import Policy, PolicyKey, Rate
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


def test_one_of_several_threads_that_change_a_policy_succeeds(stores: Stores) -> None:
    assert stores.policies.put(policy(version=MINE), None)
    rivals = [policy(version=f"version00000010{each}", concurrent_max=each + 1) for each in range(8)]
    assert winner(lambda each: stores.policies.put(each, MINE), rivals) == stores.policies.get(policy().key)


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
