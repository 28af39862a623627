"""What every NamedSecretStore promises (ports/)."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from tests.contract.builders import EVERY_CHARACTER, admin_change, secret
from tests.fakes.engines import Stores

from sweephand.model.secret import SecretBrief, SecretKey
from sweephand.ports.access import NamedSecretStore


@pytest.fixture
def store(stores: Stores) -> NamedSecretStore:
    return stores.named_secrets


def test_a_namespace_begins_without_secrets(store: NamedSecretStore) -> None:
    assert store.get_many("default", ["api-token"]) == {}
    assert store.page("default", "", 5).items == ()


@pytest.mark.parametrize("name", ["api-token", EVERY_CHARACTER])
def test_a_secret_reads_back_as_it_was_written(store: NamedSecretStore, name: str) -> None:
    written = secret(name, namespace=EVERY_CHARACTER)
    assert store.put(written, replacing=None, change=admin_change())
    assert store.get_many(EVERY_CHARACTER, [name, "other"]) == {name: written}


def test_several_secrets_are_read_at_once(store: NamedSecretStore) -> None:
    for name in ("a", "b", "c"):
        store.put(secret(name), replacing=None, change=admin_change())
    assert store.get_many("default", ["c", "a", "x"]) == {"a": secret("a"), "c": secret("c")}
    assert store.get_many("default", []) == {}


def test_a_namespace_reads_no_secret_of_another_one(store: NamedSecretStore) -> None:
    store.put(secret(namespace="default"), replacing=None, change=admin_change())
    for other in ("defaul", "default2", "default#", "other"):
        assert store.get_many(other, ["api-token"]) == {}
        assert store.page(other, "", 5).items == ()


def test_a_secret_is_replaced_only_in_the_version_that_was_read(store: NamedSecretStore) -> None:
    first, second, third = (secret(version=f"version00000000{number}") for number in (1, 2, 3))
    assert store.put(first, replacing=None, change=admin_change())
    assert not store.put(second, replacing=None, change=admin_change())
    assert store.put(second, replacing=first.version, change=admin_change())
    assert not store.put(third, replacing=first.version, change=admin_change())
    assert store.get_many("default", ["api-token"]) == {"api-token": second}


def test_a_missing_secret_is_not_replaced(store: NamedSecretStore) -> None:
    assert not store.put(secret(), replacing="version000000000", change=admin_change())
    assert store.get_many("default", ["api-token"]) == {}


def test_a_write_that_is_repeated_succeeds_again(store: NamedSecretStore) -> None:
    changed = secret(version="version000000002")
    for written, replacing in ((secret(), None), (changed, secret().version)):
        for _ in range(2):
            assert store.put(written, replacing=replacing, change=admin_change())


def test_one_of_several_threads_that_create_a_secret_succeeds(stores: Stores) -> None:
    store = stores.named_secrets
    rivals = [secret(version=f"version00000000{number}") for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda rival: store.put(rival, replacing=None, change=admin_change()), rivals))
    assert won.count(True) == 1
    assert store.get_many("default", ["api-token"]) == {"api-token": rivals[won.index(True)]}


def test_a_deleted_secret_is_gone_and_a_missing_one_may_be_deleted(store: NamedSecretStore) -> None:
    store.put(secret("a"), replacing=None, change=admin_change())
    store.put(secret("b"), replacing=None, change=admin_change())
    for _ in range(2):
        store.delete(SecretKey("default", "a"), admin_change())
    assert store.get_many("default", ["a", "b"]) == {"b": secret("b")}
    assert store.put(replace(secret("a"), version="version000000009"), replacing=None, change=admin_change())


def test_secrets_are_listed_by_name_page_by_page_without_their_values(store: NamedSecretStore) -> None:
    names = [".x", "A", "_", "a", "b"]
    for name in reversed(names):
        store.put(secret(name), replacing=None, change=admin_change())
    seen: list[SecretBrief] = []
    after = ""
    while True:
        page = store.page("default", after, 2)
        seen += page.items
        if page.next is None:
            break
        after = page.next
    assert seen == [secret(name).brief for name in sorted(names)]
    assert "whsec" not in repr(seen)
