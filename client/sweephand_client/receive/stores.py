"""Where receivers keep the ids of what they have done, so that a duplicate is not done again.

A store has four methods of Django's caches. So `django.core.cache.cache` is one, if its processes share it.
"""

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any, Final, Protocol

#: How many ids the store in memory keeps: the newest ones.
_ENTRIES_MAX: Final = 100_000


class Store(Protocol):
    """Keeps texts for a time in seconds. Threads and processes call it at once."""

    def add(self, key: str, value: str, timeout: int, /) -> bool:
        """Keep the value unless the key has one. Returns whether it did. It is atomic."""

    def get(self, key: str, /) -> Any:
        """The value, or None."""

    def set(self, key: str, value: str, timeout: int, /) -> Any:
        """Keep the value in place of another one."""

    def delete(self, key: str, /) -> Any:
        """Forget the value, if there is one."""


class MemoryStore:
    """The ids of one process. `now` is in seconds. Threads may share it."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._lock = Lock()
        self._entries: OrderedDict[str, tuple[str, float]] = OrderedDict()

    def add(self, key: str, value: str, timeout: int) -> bool:
        """As Store.add()."""
        with self._lock:
            if self._present(key) is not None:
                return False
            self._keep(key, value, timeout)
            return True

    def get(self, key: str) -> str | None:
        """As Store.get()."""
        with self._lock:
            return self._present(key)

    def set(self, key: str, value: str, timeout: int) -> None:
        """As Store.set()."""
        with self._lock:
            self._keep(key, value, timeout)

    def delete(self, key: str) -> None:
        """As Store.delete()."""
        with self._lock:
            self._entries.pop(key, None)

    def _present(self, key: str) -> str | None:
        value, ends_at = self._entries.get(key, (None, 0.0))
        return value if ends_at > self._now() else None

    def _keep(self, key: str, value: str, timeout: int) -> None:
        self._entries.pop(key, None)
        self._entries[key] = (value, self._now() + timeout)
        if len(self._entries) > _ENTRIES_MAX:
            self._entries.popitem(last=False)


class RedisStore:
    """The ids in Redis or Valkey. `client` is a `redis.Redis`."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def add(self, key: str, value: str, timeout: int) -> bool:
        """As Store.add()."""
        return bool(self._client.set(key, value, nx=True, ex=timeout))

    def get(self, key: str) -> str | None:
        """As Store.get()."""
        found = self._client.get(key)
        return found.decode() if isinstance(found, bytes) else found

    def set(self, key: str, value: str, timeout: int) -> None:
        """As Store.set()."""
        self._client.set(key, value, ex=timeout)

    def delete(self, key: str) -> None:
        """As Store.delete()."""
        self._client.delete(key)


class DynamoStore:
    """The ids in a table of DynamoDB, whose partition key is the text `id`.

    `client` is boto3's client of DynamoDB. Let the table's TTL be the attribute `endsAt`, which is in
    seconds. An item whose time is over counts as gone before DynamoDB deletes it.
    """

    def __init__(self, client: Any, table: str, now: Callable[[], float] = time.time) -> None:
        self._client = client
        self._table = table
        self._now = now

    def add(self, key: str, value: str, timeout: int) -> bool:
        """As Store.add()."""
        try:
            self._client.put_item(
                **self._item(key, value, timeout),
                ConditionExpression="attribute_not_exists(id) OR endsAt <= :now",
                ExpressionAttributeValues={":now": {"N": str(int(self._now()))}},
            )
        except self._client.exceptions.ConditionalCheckFailedException:
            return False
        return True

    def get(self, key: str) -> str | None:
        """As Store.get()."""
        found = self._client.get_item(TableName=self._table, Key={"id": {"S": key}}, ConsistentRead=True)
        item = found.get("Item")
        if item is None or float(item["endsAt"]["N"]) <= self._now():
            return None
        return str(item["is"]["S"])

    def set(self, key: str, value: str, timeout: int) -> None:
        """As Store.set()."""
        self._client.put_item(**self._item(key, value, timeout))

    def delete(self, key: str) -> None:
        """As Store.delete()."""
        self._client.delete_item(TableName=self._table, Key={"id": {"S": key}})

    def _item(self, key: str, value: str, timeout: int) -> dict[str, Any]:
        ends_at = str(int(self._now()) + timeout)
        return {
            "TableName": self._table,
            "Item": {"id": {"S": key}, "is": {"S": value}, "endsAt": {"N": ends_at}},
        }
