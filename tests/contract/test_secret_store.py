"""What every SecretStore and NamedSecretStore promises (ports/)."""

from dataclasses import replace

import pytest
from tests.contract.builders import EVERY_CHARACTER, admin_change, secret, secrets, winner
from tests.fakes.engines import Stores

from sweephand.model.secret import SecretBrief, SecretKey
from sweephand.ports.access import NamedSecretStore, SecretStore


@pytest.fixture
def store(stores: Stores) -> SecretStore:
    return stores.secrets


def test_a_namespace_begins_without_secrets(store: SecretStore) -> None:
    assert store.get("default") is None


@pytest.mark.parametrize("namespace", ["default", EVERY_CHARACTER])
def test_secrets_read_back_as_they_were_written(store: SecretStore, namespace: str) -> None:
    written = secrets(namespace=namespace)
    assert store.put(written, None, admin_change())
    assert store.get(namespace) == written
    assert store.get(namespace + "x") is None


def test_the_first_secrets_of_a_namespace_are_written_once(store: SecretStore) -> None:
    assert store.create(secrets("version000000001"))
    assert not store.create(secrets("version000000002"))
    assert not store.put(secrets("version000000002"), None, admin_change())
    assert store.get("default") == secrets("version000000001")


def test_secrets_are_replaced_only_in_the_version_that_was_read(store: SecretStore) -> None:
    store.put(secrets("version000000001"), None, admin_change())
    assert store.put(secrets("version000000002"), "version000000001", admin_change())
    assert not store.put(secrets("version000000003"), "version000000001", admin_change())
    assert store.get("default") == secrets("version000000002")


def test_missing_secrets_are_not_replaced(store: SecretStore) -> None:
    assert not store.put(secrets("version000000002"), "version000000001", admin_change())
    assert store.get("default") is None


def test_a_write_that_is_repeated_succeeds_again(store: SecretStore) -> None:
    for _ in range(2):
        assert store.create(secrets("version000000001"))
    for _ in range(2):
        assert store.put(secrets("version000000001"), None, admin_change())
    for _ in range(2):
        assert store.put(secrets("version000000002"), "version000000001", admin_change())


def test_one_of_several_threads_that_make_the_first_secrets_succeeds(stores: Stores) -> None:
    store = stores.secrets
    rivals = [secrets(f"version00000000{number}") for number in range(8)]
    assert winner(store.create, rivals) == store.get("default")


def test_the_secrets_of_each_scheme_are_written_and_read_by_themselves(store: SecretStore) -> None:
    symmetric, asymmetric = secrets("version000000001"), secrets("version000000002")._replace(scheme="v1a")
    assert store.both("default") == {}
    assert store.put(asymmetric, None, admin_change())
    assert store.both("default") == {"v1a": asymmetric}
    assert store.get("default") is None
    assert store.create(symmetric)
    assert store.get("default") == symmetric
    assert store.get("default", "v1a") == asymmetric
    assert store.both("default") == {"v1": symmetric, "v1a": asymmetric}
    assert store.both("default2") == {}


def test_secrets_may_be_replaced_by_none(store: SecretStore) -> None:
    keys = secrets("version000000001")._replace(scheme="v1a")
    ended = keys._replace(version="version000000002", secrets=())
    store.put(keys, None, admin_change())
    assert store.put(ended, keys.version, admin_change())
    assert store.both("default") == {"v1a": ended}


@pytest.fixture
def named(stores: Stores) -> NamedSecretStore:
    return stores.named_secrets


def test_a_namespace_begins_without_named_secrets(named: NamedSecretStore) -> None:
    assert named.get_many("default", ["api-token"]) == {}
    assert named.page("default", "", 5).items == ()


@pytest.mark.parametrize("name", ["api-token", EVERY_CHARACTER])
def test_a_secret_reads_back_as_it_was_written(named: NamedSecretStore, name: str) -> None:
    written = secret(name, namespace=EVERY_CHARACTER)
    assert named.put(written, replacing=None, change=admin_change())
    assert named.get_many(EVERY_CHARACTER, [name, "other"]) == {name: written}


def test_several_secrets_are_read_at_once(named: NamedSecretStore) -> None:
    for name in ("a", "b", "c"):
        named.put(secret(name), replacing=None, change=admin_change())
    assert named.get_many("default", ["c", "a", "x"]) == {"a": secret("a"), "c": secret("c")}
    assert named.get_many("default", []) == {}


def test_a_namespace_reads_no_secret_of_another_one(named: NamedSecretStore) -> None:
    named.put(secret(namespace="default"), replacing=None, change=admin_change())
    for other in ("defaul", "default2", "default#", "other"):
        assert named.get_many(other, ["api-token"]) == {}
        assert named.page(other, "", 5).items == ()


def test_a_secret_is_replaced_only_in_the_version_that_was_read(named: NamedSecretStore) -> None:
    first, second, third = (secret(version=f"version00000000{number}") for number in (1, 2, 3))
    assert named.put(first, replacing=None, change=admin_change())
    assert not named.put(second, replacing=None, change=admin_change())
    assert named.put(second, replacing=first.version, change=admin_change())
    assert not named.put(third, replacing=first.version, change=admin_change())
    assert named.get_many("default", ["api-token"]) == {"api-token": second}


def test_a_missing_secret_is_not_replaced(named: NamedSecretStore) -> None:
    assert not named.put(secret(), replacing="version000000000", change=admin_change())
    assert named.get_many("default", ["api-token"]) == {}


def test_a_write_of_a_named_secret_that_is_repeated_succeeds_again(named: NamedSecretStore) -> None:
    changed = secret(version="version000000002")
    for written, replacing in ((secret(), None), (changed, secret().version)):
        for _ in range(2):
            assert named.put(written, replacing=replacing, change=admin_change())


def test_one_of_several_threads_that_create_a_secret_succeeds(stores: Stores) -> None:
    named = stores.named_secrets
    rivals = [secret(version=f"version00000000{number}") for number in range(8)]
    won = winner(lambda rival: named.put(rival, replacing=None, change=admin_change()), rivals)
    assert named.get_many("default", ["api-token"]) == {"api-token": won}


def test_a_deleted_secret_is_gone_and_a_missing_one_may_be_deleted(named: NamedSecretStore) -> None:
    named.put(secret("a"), replacing=None, change=admin_change())
    named.put(secret("b"), replacing=None, change=admin_change())
    for _ in range(2):
        named.delete(SecretKey("default", "a"), admin_change())
    assert named.get_many("default", ["a", "b"]) == {"b": secret("b")}
    assert named.put(replace(secret("a"), version="version000000009"), replacing=None, change=admin_change())


def test_secrets_are_listed_by_name_page_by_page_without_their_values(named: NamedSecretStore) -> None:
    names = [".x", "A", "_", "a", "b"]
    for name in reversed(names):
        named.put(secret(name), replacing=None, change=admin_change())
    seen: list[SecretBrief] = []
    after = ""
    while True:
        page = named.page("default", after, 2)
        seen += page.items
        if page.next is None:
            break
        after = page.next
    assert seen == [secret(name).brief for name in sorted(names)]
    assert "whsec" not in repr(seen)
