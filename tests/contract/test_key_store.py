"""What every KeyStore promises (ports.py)."""

import pytest
from tests.contract.builders import NOON, api_key
from tests.fakes.engines import Stores

from sweephand.access_ports import KeyStore
from sweephand.model.api_key import Key


@pytest.fixture
def keys(stores: Stores) -> KeyStore:
    return stores.keys


def test_a_key_that_was_never_made_is_not_found(keys: KeyStore) -> None:
    assert keys.get("key0000000000001") is None


@pytest.mark.parametrize(
    "written", [api_key(), api_key(namespace="*", role="admin", expires_at=None, description=None)]
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


def test_a_page_of_a_namespace_shows_its_keys_among_those_that_it_read(keys: KeyStore) -> None:
    for number in range(10):
        keys.put(api_key(f"key{number:013d}", namespace="mine" if number % 5 == 0 else "others"))
    first = keys.page("mine", "", 5)
    assert [key.id for key in first.items] == ["key0000000000000"]
    assert first.next == "key0000000000004"
    assert [key.id for key in keys.page("mine", first.next, 5).items] == ["key0000000000005"]


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
