"""What every SecretStore promises (ports/)."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.contract.builders import EVERY_CHARACTER, admin_change, secrets
from tests.fakes.engines import Stores

from sweephand.ports.access import SecretStore


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
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(store.create, rivals))
    assert won.count(True) == 1
    assert store.get("default") == rivals[won.index(True)]


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
