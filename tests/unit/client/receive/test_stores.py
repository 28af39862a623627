"""One suite for each store of ids."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import boto3
import fakeredis
import pytest
from django.core.cache.backends.locmem import LocMemCache
from moto import mock_aws
from tests.fakes.engines import one_request_at_a_time

from sweephand_client.receive.stores import DynamoStore, MemoryStore, RedisStore, Store


class Time:
    """Seconds that a test lets pass, for the stores that take a clock."""

    def __init__(self) -> None:
        self.now = 1_767_603_600.5

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture(params=["memory", "redis", "redis of texts", "django", "dynamodb"])
def store(request: pytest.FixtureRequest, time: Time) -> Iterator[Any]:
    match request.param:
        case "memory":
            yield MemoryStore(time)
        case "redis":
            yield RedisStore(fakeredis.FakeRedis())
        case "redis of texts":
            yield RedisStore(fakeredis.FakeRedis(decode_responses=True))
        case "django":
            yield LocMemCache(request.node.name, {})
        case _:
            with mock_aws(), one_request_at_a_time():
                client = boto3.client("dynamodb", region_name="eu-west-1")
                client.create_table(
                    TableName="ids",
                    KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
                    AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
                    BillingMode="PAY_PER_REQUEST",
                )
                yield DynamoStore(client, "ids", time)


def test_only_the_first_of_two_adds_a_key(store: Store) -> None:
    assert store.get("a") is None
    assert store.add("a", "first", 60)
    assert not store.add("a", "second", 60)
    assert store.get("a") == "first"
    assert store.add("b", "other", 60)


def test_only_one_of_many_threads_adds_a_key(store: Store) -> None:
    with ThreadPoolExecutor(8) as threads:
        added = list(threads.map(lambda at: store.add("a", str(at), 60), range(8)))
    assert added.count(True) == 1
    assert store.get("a") == str(added.index(True))


def test_a_value_replaces_another(store: Store) -> None:
    store.set("a", "first", 60)
    store.set("a", "second", 60)
    assert store.get("a") == "second"
    assert not store.add("a", "third", 60)


def test_a_deleted_key_can_be_added(store: Store) -> None:
    store.add("a", "first", 60)
    store.delete("a")
    store.delete("never-there")
    assert store.get("a") is None
    assert store.add("a", "second", 60)


@pytest.mark.parametrize("write", ["add", "set"])
@pytest.mark.parametrize("store", ["memory", "dynamodb"], indirect=True)
def test_a_key_is_free_when_its_time_is_over(store: Store, time: Time, write: str) -> None:
    put: Callable[[str, str, int], Any] = getattr(store, write)
    put("a", "first", 60)
    time.now += 59
    assert not store.add("a", "second", 60)
    time.now += 2
    assert store.get("a") is None
    assert store.add("a", "second", 60)


def test_redis_forgets_by_itself() -> None:
    client = fakeredis.FakeRedis()
    RedisStore(client).add("a", "first", 60)
    assert client.ttl("a") == 60
    RedisStore(client).set("a", "second", 90)
    assert client.ttl("a") == 90


def test_the_memory_of_a_process_is_bounded(time: Time, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sweephand_client.receive.stores._ENTRIES_MAX", 3)
    store = MemoryStore(time)
    for key in "abcd":
        store.add(key, "x", 60)
    assert [store.get(key) for key in "abcd"] == [None, "x", "x", "x"]
