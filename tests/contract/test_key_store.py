"""What every KeyStore promises (ports.py)."""

import pytest
from tests.contract.builders import NOON, api_key
from tests.fakes.engines import Stores

from sweephand.access_ports import KeyStore
from sweephand.model.api_key import Key
from sweephand.model.page import Page


@pytest.fixture
def keys(stores: Stores) -> KeyStore:
    return stores.keys


def test_a_key_that_was_never_made_is_not_found(keys: KeyStore) -> None:
    assert keys.get("key0000000000001") is None


@pytest.mark.parametrize(
    "written",
    [
        api_key(),
        api_key(namespace="*", role="admin", expires_at=None, description=None),
        api_key(replaced_by="key0000000000002"),
        api_key(digest="", principal="arn:aws:iam::123456789012:role/billing"),
    ],
)
def test_a_key_reads_back_as_it_was_made(keys: KeyStore, written: Key) -> None:
    keys.put(written)
    assert keys.get(written.id) == written


def test_the_store_returns_an_expired_key(keys: KeyStore) -> None:
    keys.put(api_key(expires_at=1))
    assert keys.get(api_key().id) == api_key(expires_at=1)


def test_a_removed_key_is_not_found(keys: KeyStore) -> None:
    keys.put(api_key())
    assert keys.delete(api_key().id)
    assert keys.get(api_key().id) is None
    assert not keys.delete(api_key().id)


def test_the_removal_of_a_key_that_was_never_made_says_so(keys: KeyStore) -> None:
    assert not keys.delete("key0000000000001")


def test_pages_show_each_key_once_and_in_the_order_of_ids(keys: KeyStore) -> None:
    ids = [f"key{number:013d}" for number in range(23)]
    for key_id in ids[::-1]:
        keys.put(api_key(key_id))
    seen: list[str] = []
    after: str | None = ""
    while after is not None:
        page = keys.page(None, after, 5)
        assert len(page.items) <= 5
        seen.extend(key.id for key in page.items)
        after = page.next
    assert seen == ids


@pytest.mark.parametrize("limit", [1, 2, 3, 200])
def test_pages_of_a_namespace_do_not_show_whether_other_namespaces_have_keys(
    keys: KeyStore, limit: int
) -> None:
    for number in range(2, 20, 6):
        keys.put(api_key(f"key{number:013d}", namespace="mine"))
    alone = pages(keys, "mine", limit)
    for number in range(25):
        if number % 6 != 2:
            keys.put(api_key(f"key{number:013d}", namespace="others"))
    assert pages(keys, "mine", limit) == alone
    assert [len(page.items) for page in alone] == {1: [1, 1, 1], 2: [2, 1], 3: [3], 200: [3]}[limit]


def test_a_page_of_a_namespace_ends_where_the_store_has_examined_enough_keys(
    keys: KeyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("sweephand.storage.api_keys", "tests.fakes.memory_access"):
        monkeypatch.setattr(f"{module}.KEYS_EXAMINED_MAX", 4)
    for number in range(10):
        keys.put(api_key(f"key{number:013d}", namespace="mine" if number == 5 else "others"))
    found = [([key.id for key in page.items], page.next) for page in pages(keys, "mine", 2)]
    assert found == [
        ([], "key0000000000003"),
        (["key0000000000005"], "key0000000000007"),
        ([], None),
    ]


def pages(keys: KeyStore, namespace: str, limit: int) -> list[Page[Key]]:
    found = [keys.page(namespace, "", limit)]
    while (after := found[-1].next) is not None:
        found.append(keys.page(namespace, after, limit))
    return found


def test_a_page_of_a_store_without_keys_is_empty(keys: KeyStore) -> None:
    page = keys.page(None, "", 5)
    assert (page.items, page.next) == ((), None)


def rotated(key: Key) -> tuple[Key, Key]:
    """The key with its new end, and its successor."""
    successor = key._replace(id="key0000000000002", digest="1" * 64)
    return key._replace(expires_at=NOON + 1, replaced_by=successor.id), successor


@pytest.mark.parametrize("expires_at", [None, NOON + 1_001])
def test_a_rotation_writes_the_end_of_the_old_key_and_the_new_key(
    keys: KeyStore, expires_at: int | None
) -> None:
    old = api_key(expires_at=expires_at)
    keys.put(old)
    ended, successor = rotated(old)
    assert keys.rotate(old, ended, successor)
    assert (keys.get(old.id), keys.get(successor.id)) == (ended, successor)


@pytest.mark.parametrize(
    "stored",
    [
        None,
        api_key(digest="2" * 64),
        api_key(expires_at=None),
        api_key(expires_at=NOON + 1_002),
        api_key(replaced_by="key0000000000003"),
    ],
)
def test_a_rotation_of_another_key_than_the_stored_one_writes_nothing(
    keys: KeyStore, stored: Key | None
) -> None:
    if stored is not None:
        keys.put(stored)
    assert not keys.rotate(api_key(), *rotated(api_key()))
    assert keys.get(api_key().id) == stored
    assert keys.get("key0000000000002") is None


def test_a_rotation_that_has_been_made_already_says_so(keys: KeyStore) -> None:
    keys.put(api_key())
    assert keys.rotate(api_key(), *rotated(api_key()))
    assert keys.rotate(api_key(), *rotated(api_key()))
    assert len(keys.page(None, "", 5).items) == 2
