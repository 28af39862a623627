"""What every KeyStore promises (ports.py)."""

import pytest
from tests.contract.builders import api_key
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
