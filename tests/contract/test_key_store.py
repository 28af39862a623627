"""What every KeyStore promises (ports/)."""

import pytest
from tests.contract.builders import NOON, admin_change, api_key, principal_key
from tests.fakes.engines import Stores

from sweephand.model.api_key import Key, MadeKey
from sweephand.model.page import Page
from sweephand.ports.access import KeyStore

ROLE = "arn:aws:iam::123456789012:role/billing"


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
        api_key(created_by="jwt:ann", first_id="key0000000000009", requests_per_minute=60),
    ],
)
def test_a_key_reads_back_as_it_was_made(keys: KeyStore, written: Key) -> None:
    keys.put(written, admin_change())
    assert keys.get(written.id) == written


def test_the_store_returns_an_expired_key(keys: KeyStore) -> None:
    keys.put(api_key(expires_at=1), admin_change())
    assert keys.get(api_key().id) == api_key(expires_at=1)


def test_a_removed_key_is_not_found(keys: KeyStore) -> None:
    keys.put(api_key(), admin_change())
    assert keys.delete(api_key().id)
    assert keys.get(api_key().id) is None
    assert not keys.delete(api_key().id)


def test_the_removal_of_a_key_that_was_never_made_says_so(keys: KeyStore) -> None:
    assert not keys.delete("key0000000000001")


def test_pages_show_each_key_once_and_in_the_order_of_ids(keys: KeyStore) -> None:
    ids = [f"key{number:013d}" for number in range(23)]
    for key_id in ids[::-1]:
        keys.put(api_key(key_id), admin_change())
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
        keys.put(api_key(f"key{number:013d}", namespace="mine"), admin_change())
    alone = pages(keys, "mine", limit)
    for number in range(25):
        if number % 6 != 2:
            keys.put(api_key(f"key{number:013d}", namespace="others"), admin_change())
    assert pages(keys, "mine", limit) == alone
    assert [len(page.items) for page in alone] == {1: [1, 1, 1], 2: [2, 1], 3: [3], 200: [3]}[limit]


def test_a_page_of_a_namespace_ends_where_the_store_has_examined_enough_keys(
    keys: KeyStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("sweephand.storage.api_keys", "tests.fakes.memory_access"):
        monkeypatch.setattr(f"{module}.KEYS_EXAMINED_MAX", 4)
    for number in range(10):
        keys.put(api_key(f"key{number:013d}", namespace="mine" if number == 5 else "others"), admin_change())
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
    keys.put(old, admin_change())
    ended, successor = rotated(old)
    assert keys.rotate(old, ended, successor, None, [admin_change()])
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
        keys.put(stored, admin_change())
    assert not keys.rotate(api_key(), *rotated(api_key()), None, [admin_change()])
    assert keys.get(api_key().id) == stored
    assert keys.get("key0000000000002") is None


def test_a_rotation_that_has_been_made_already_says_so(keys: KeyStore) -> None:
    keys.put(api_key(), admin_change())
    assert keys.rotate(api_key(), *rotated(api_key()), None, [admin_change()])
    assert keys.rotate(api_key(), *rotated(api_key()), None, [admin_change()])
    assert len(keys.page(None, "", 5).items) == 2


MAKER = api_key("key0000000000007", role="admin")


def made_ids(keys: KeyStore, family: str) -> list[str]:
    return [each.key_id for each in keys.made_by(family, 25)]


def test_a_key_is_made_by_a_key_that_is_stored_and_its_family_knows_of_it(keys: KeyStore) -> None:
    maker = MAKER._replace(first_id="key0000000000006")
    keys.put(maker, admin_change())
    made = api_key(expires_at=NOON + 5)
    assert keys.make(made, maker, admin_change())
    assert (keys.get(made.id), keys.get(maker.id)) == (made, maker)
    assert keys.made_by("key0000000000006", 25) == [MadeKey(made.id, made.id, NOON + 5)]
    assert keys.made_by(maker.id, 25) == []


@pytest.mark.parametrize(
    "stored",
    [
        None,
        MAKER._replace(digest="1" * 64),
        MAKER._replace(expires_at=NOON),
        MAKER._replace(expires_at=None),
        MAKER._replace(replaced_by="key0000000000008"),
        MAKER._replace(created_at=NOON + 1),
        MAKER._replace(role="read"),
        MAKER._replace(namespace="other"),
    ],
)
def test_a_key_is_not_made_by_another_key_than_the_stored_one(keys: KeyStore, stored: Key | None) -> None:
    if stored is not None:
        keys.put(stored, admin_change())
    assert not keys.make(api_key(), MAKER, admin_change(version="version000000002"))
    assert (keys.get(api_key().id), keys.get(MAKER.id)) == (None, stored)
    assert made_ids(keys, MAKER.family) == []


def test_a_key_that_was_rotated_makes_keys_until_its_end(keys: KeyStore) -> None:
    maker = MAKER._replace(replaced_by="key0000000000008")
    keys.put(maker, admin_change())
    assert keys.make(api_key(), maker, admin_change())


def test_a_key_of_a_principal_may_replace_itself(keys: KeyStore) -> None:
    before, after = principal_key(ROLE, "*", "admin", NOON + 9), principal_key(ROLE, "*", "write", NOON + 1)
    keys.put(before, admin_change())
    assert keys.make(after, before, admin_change())
    assert not keys.make(before, before, admin_change())
    assert keys.get(before.id) == after


def test_a_rotation_needs_the_stored_maker_and_both_families_know_the_successor(keys: KeyStore) -> None:
    old = api_key()
    ended, successor = rotated(old)
    keys.put(old, admin_change())
    assert not keys.rotate(old, ended, successor, MAKER, [admin_change()])
    assert keys.get(old.id) == old
    keys.put(MAKER, admin_change())
    assert keys.rotate(old, ended, successor, MAKER, [admin_change()])
    assert keys.get(MAKER.id) == MAKER
    assert made_ids(keys, old.family) == made_ids(keys, MAKER.family) == [successor.id]


def test_a_key_rotates_itself(keys: KeyStore) -> None:
    ended, successor = rotated(MAKER)
    keys.put(MAKER, admin_change())
    assert keys.rotate(MAKER, ended, successor, MAKER, [admin_change()])
    assert (keys.get(MAKER.id), keys.get(successor.id)) == (ended, successor)
    assert made_ids(keys, MAKER.family) == [successor.id]


@pytest.mark.parametrize("expires_at", [None, NOON + 5])
def test_a_key_is_ended_as_it_is_stored_and_as_often_as_asked(keys: KeyStore, expires_at: int | None) -> None:
    key = api_key(expires_at=expires_at)
    keys.put(key, admin_change())
    ended = key._replace(expires_at=NOON)
    assert not keys.end(key._replace(digest="1" * 64), ended, admin_change())
    assert keys.get(key.id) == key
    for before in (key, ended):
        assert keys.end(before, ended, admin_change())
        assert keys.get(key.id) == ended


def test_a_missing_key_is_not_ended(keys: KeyStore) -> None:
    assert not keys.end(api_key(), api_key(expires_at=NOON), admin_change())
    assert keys.get(api_key().id) is None


def test_what_a_family_made_is_kept_until_it_is_forgotten(keys: KeyStore) -> None:
    for number in range(5):
        keys.add_made("family1", MadeKey(f"made{number}", "family2", None))
        keys.add_made("family1", MadeKey(f"made{number}", f"family{number}", NOON))
    keys.add_made("family2", MadeKey("made0", "family2", None))
    assert keys.made_by("family1", 2) == [MadeKey(f"made{each}", f"family{each}", NOON) for each in range(2)]
    for _ in range(2):
        keys.forget_made("family1", "made0")
    assert made_ids(keys, "family1") == ["made1", "made2", "made3", "made4"]
    assert made_ids(keys, "family2") == ["made0"]


def test_whatever_is_written_of_a_key_is_in_the_trail_and_nothing_else(stores: Stores) -> None:
    keys, changes = stores.keys, [admin_change(version=f"version00000000{number}") for number in range(9)]
    ended, successor = rotated(api_key())
    keys.put(api_key(), changes[0])
    keys.make(api_key("key0000000000003"), MAKER, changes[1])
    keys.rotate(api_key(), ended, successor, MAKER, changes[2:4])
    keys.rotate(api_key(), ended, successor, None, changes[4:6])
    keys.end(api_key(), ended, changes[6])
    keys.end(successor, successor._replace(expires_at=NOON), changes[7])
    keys.delete(successor.id, changes[8])
    keys.delete("key0000000000003", admin_change(version="version000000010"))
    keys.delete(ended.id)
    recorded = stores.admin_changes.page(None, "", 25).items
    assert recorded == tuple(changes[number] for number in (8, 7, 5, 4, 0))
