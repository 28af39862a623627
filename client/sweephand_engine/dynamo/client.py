"""A boto3 client of DynamoDB in memory. It knows the requests that storage.table makes.

The client raises AssertionError for a request that AWS refuses as malformed. It also does so for a request
that the client does not know. Both are mistakes of our own.
"""

# ruff: noqa: N803 - the names of the arguments are boto3's

import threading
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Final, TypeAlias, TypeVar

from botocore.exceptions import ClientError

from sweephand.storage.connect import check_in_time
from sweephand_engine.dynamo.expressions import Attributes, Range, Words, condition, key_range, update
from sweephand_engine.dynamo.tables import (
    Tables,
    checked,
    copied,
    distinct,
    key_of,
    place_of,
    projected,
    size_of,
)
from sweephand_engine.wire import WHOLE, Handling

#: AWS's limits: the items of one call, and the bytes of one page.
GET_BATCH_MAX: Final = 100
WRITE_BATCH_MAX: Final = 25
PAGE_BYTES_MAX: Final = 1_048_576

_PLACEHOLDER_WORDS: Final = frozenset({"ExpressionAttributeNames", "ExpressionAttributeValues"})
_CONDITION_WORDS: Final = _PLACEHOLDER_WORDS | {"ConditionExpression", "ReturnValuesOnConditionCheckFailure"}

Answer: TypeAlias = dict[str, Any]

Entry = TypeVar("Entry")


class ConditionalCheckFailedException(ClientError):  # noqa: N818 - boto3 has this name
    """A condition did not hold.

    `response["Item"]` is the stored item, if there is one and the request asks.
    """


class TransactionCanceledException(ClientError):  # noqa: N818 - boto3 has this name
    """A transaction was not made. `response["CancellationReasons"]` has a reason for each of its items."""


class MemoryDynamoDB:
    """A client over tables that exist as soon as a request names them. Several threads may use it at once.

    Each request is one step: other threads see all of it or nothing. Several clients may share `tables` if a
    single thread uses them all.
    """

    exceptions = SimpleNamespace(
        ConditionalCheckFailedException=ConditionalCheckFailedException,
        TransactionCanceledException=TransactionCanceledException,
    )

    def __init__(self, tables: Tables | None = None, *, page_bytes: int = PAGE_BYTES_MAX) -> None:
        self.tables = tables or Tables()
        self._page_bytes = page_bytes
        self._lock = threading.Lock()

    def get_item(self, *, TableName: str, Key: Attributes, ConsistentRead: bool) -> Answer:
        """The item, if it exists."""

        def act(_: Handling) -> Answer:
            assert ConsistentRead, "every read must be strongly consistent"
            item = self.tables.get(TableName, place_of(Key))
            return {"Item": item} if item else {}

        return self._asked("GetItem", act)

    def put_item(self, *, TableName: str, Item: Attributes, **said: Any) -> Answer:
        """Write an item in place of the stored one, if the condition holds."""

        def act(_: Handling) -> Answer:
            returned = said.pop("ReturnValues", None)
            assert returned in (None, "ALL_OLD"), "storage.table asks for the item before the write"
            stored = self.tables.get(TableName, checked(Item))
            _meet("PutItem", Words.of(said), said, stored)
            self.tables.put(TableName, Item)
            return {"Attributes": stored} if returned and stored else {}

        return self._asked("PutItem", act)

    def update_item(
        self,
        *,
        TableName: str,
        Key: Attributes,
        UpdateExpression: str,
        ReturnValues: str = "NONE",
        **said: Any,
    ) -> Answer:
        """Change an item, if the condition holds. A missing item counts as one with only its key."""

        def act(_: Handling) -> Answer:
            assert ReturnValues in ("NONE", "ALL_NEW"), "storage.table asks for the item after the update"
            words = Words.of({**said, "UpdateExpression": UpdateExpression})
            stored = self.tables.get(TableName, place_of(Key))
            _meet("UpdateItem", words, said, stored)
            # The tables make the item anew for each reader.
            item = copied(Key) if stored is None else dict(stored)
            update(UpdateExpression)(words, item)
            assert checked(item) == place_of(Key), "ValidationException: an update must not change the key"
            self.tables.put(TableName, item)
            return {"Attributes": item} if ReturnValues == "ALL_NEW" else {}

        return self._asked("UpdateItem", act)

    def delete_item(self, *, TableName: str, Key: Attributes, **said: Any) -> Answer:
        """Remove the item, if it exists and the condition holds."""

        def act(_: Handling) -> Answer:
            _meet("DeleteItem", Words.of(said), said, self.tables.get(TableName, place_of(Key)))
            self.tables.remove(TableName, place_of(Key))
            return {}

        return self._asked("DeleteItem", act)

    def query(
        self,
        *,
        TableName: str,
        ConsistentRead: bool,
        ScanIndexForward: bool,
        KeyConditionExpression: str,
        Limit: int | None = None,
        ExclusiveStartKey: Attributes | None = None,
        **said: Any,
    ) -> Answer:
        """A page of the items in a range of one partition."""

        def act(handling: Handling) -> Answer:
            assert ConsistentRead, "every read must be strongly consistent"
            assert Limit is None or Limit > 0, "ValidationException: the limit must be at least 1"
            words = Words.of({**said, "KeyConditionExpression": KeyConditionExpression})
            asked = key_range(KeyConditionExpression, words)
            unknown = said.keys() - _PLACEHOLDER_WORDS - {"ProjectionExpression"}
            assert not unknown, f"unknown to this client: {sorted(unknown)}"
            keys = list(self.tables.keys(TableName, asked))
            if not ScanIndexForward:
                keys.reverse()
            if ExclusiveStartKey is not None:
                partition, start = place_of(ExclusiveStartKey)
                assert partition == asked.partition, (
                    "ValidationException: the start key is outside of the range"
                )
                assert start in asked, "ValidationException: the start key is outside of the range"
                keys = [key for key in keys if (key > start if ScanIndexForward else key < start)]
            before = _just_before(keys, asked, forward=ScanIndexForward) if handling.breaks_off else None
            if before is not None:
                return {"Items": [], "Count": 0, "LastEvaluatedKey": key_of((asked.partition, before))}
            answer = self._page(TableName, asked.partition, keys, Limit)
            shown = said.get("ProjectionExpression")
            if shown is not None:
                names = {each: words.name(each) for each in shown.split(",")}
                answer["Items"] = [projected(item, shown, names) for item in answer["Items"]]
            return answer

        return self._asked("Query", act)

    def batch_get_item(self, *, RequestItems: Mapping[str, Mapping[str, Any]]) -> Answer:
        """The existing items of the keys, in no fixed order. Keys that were not processed come back."""

        def act(handling: Handling) -> Answer:
            [(table, asked)] = RequestItems.items()
            form = ("ProjectionExpression", "ExpressionAttributeNames")
            unknown = asked.keys() - {"Keys", "ConsistentRead", *form}
            assert not unknown, f"unknown to this client: {sorted(unknown)}"
            places = distinct([place_of(key) for key in asked["Keys"]], GET_BATCH_MAX)
            done, left = _served(handling, places)
            read = self.tables.get if asked["ConsistentRead"] else self.tables.get_stale
            found = [item for place in reversed(done) if (item := read(table, place))]
            again = {table: {**asked, "Keys": [key_of(place) for place in left]}}
            return {
                "Responses": {
                    table: [projected(copied(item), *(asked.get(each) for each in form)) for item in found]
                },
                "UnprocessedKeys": again if left else {},
            }

        return self._asked("BatchGetItem", act)

    def batch_write_item(self, *, RequestItems: Mapping[str, Sequence[Mapping[str, Any]]]) -> Answer:
        """Write the items. Those that were not processed come back."""

        def act(handling: Handling) -> Answer:
            [(table, requests)] = RequestItems.items()
            assert all(each.keys() == {"PutRequest"} for each in requests), (
                "this client knows only puts in a batch"
            )
            distinct([checked(each["PutRequest"]["Item"]) for each in requests], WRITE_BATCH_MAX)
            done, left = _served(handling, requests)
            for each in done:
                self.tables.put(table, each["PutRequest"]["Item"])
            return {"UnprocessedItems": {table: left} if left else {}}

        return self._asked("BatchWriteItem", act)

    def transact_write_items(self, *, TransactItems: Sequence[Mapping[str, Any]]) -> Answer:
        """Write all items if every condition holds, and none otherwise."""

        def act(_: Handling) -> Answer:
            assert all(each.keys() == {"Put"} for each in TransactItems), (
                "this client knows only puts in a transaction"
            )
            puts = [dict(each["Put"]) for each in TransactItems]
            asked = [(each.pop("TableName"), each.pop("Item"), each) for each in puts]
            assert len({(table, checked(item)) for table, item, _ in asked}) == len(asked), (
                "ValidationException: a transaction may name each item once"
            )
            reasons = [self._reason_against(table, item, said) for table, item, said in asked]
            if any(each != {"Code": "None"} for each in reasons):
                answer: Any = {
                    "Error": {"Code": "TransactionCanceledException", "Message": "Transaction cancelled"},
                    "CancellationReasons": reasons,
                }
                raise TransactionCanceledException(answer, "TransactWriteItems")
            for table, item, _said in asked:
                self.tables.put(table, item)
            return {}

        return self._asked("TransactWriteItems", act)

    def _reason_against(self, table: str, item: Attributes, said: Mapping[str, Any]) -> Answer:
        """Why an item of a transaction cannot be written. The code is `None` if its condition holds."""
        try:
            _meet("TransactWriteItems", Words.of(said), said, self.tables.get(table, checked(item)))
        except ConditionalCheckFailedException as refused:
            answer: Any = refused.response
            return {**answer["Error"], **({"Item": answer["Item"]} if "Item" in answer else {})} | {
                "Code": "ConditionalCheckFailed"
            }
        return {"Code": "None"}

    def expire(self, now_s: int) -> None:
        """Remove the items whose time to live is over, as DynamoDB does in the background."""
        with self._lock:
            partitions = self.tables.partitions()
        for table, partition in partitions:
            # Requests may come in between: no partition takes long.
            with self._lock:
                self.tables.expire(table, partition, now_s)
                self.tables.commit()

    def _asked(self, operation: str, act: Callable[[Handling], Answer]) -> Answer:
        """The answer to a request. A subclass may let requests fail."""
        del operation
        check_in_time()
        return self._step(act, WHOLE)

    def _step(self, act: Callable[[Handling], Answer], handling: Handling) -> Answer:
        with self._lock:
            answer = act(handling)
            self.tables.commit()
        return answer

    def _page(self, table: str, partition: str, keys: Sequence[str], limit: int | None) -> Answer:
        """The items of the first keys, up to the limit of items or bytes of a page."""
        items: list[Attributes] = []
        size = 0
        is_short = self.tables.is_short(table, partition, keys[:limit], self._page_bytes)
        for key in keys:
            item = self.tables.get(table, (partition, key))
            assert item is not None, "the index names an item that does not exist"
            items.append(item)
            size += 0 if is_short else size_of(item)
            if len(items) == limit or size >= self._page_bytes:
                return {"Items": items, "Count": len(items), "LastEvaluatedKey": key_of((partition, key))}
        return {"Items": items, "Count": len(items)}


def _served(handling: Handling, entries: Sequence[Entry]) -> tuple[list[Entry], list[Entry]]:
    """The entries of a batch that are processed, and the others."""
    places = set(handling.served(len(entries)))
    done = [each for place, each in enumerate(entries) if place in places]
    return done, [each for place, each in enumerate(entries) if place not in places]


def _meet(operation: str, words: Words, said: Mapping[str, Any], stored: Attributes | None) -> None:
    """Raise ConditionalCheckFailedException if the stored item does not meet the request's condition."""
    assert said.keys() <= _CONDITION_WORDS, f"unknown to this client: {sorted(said)}"
    asked = said.get("ConditionExpression")
    if asked is None or condition(asked)(words, stored or {}):
        return
    answer: Any = {
        "Error": {"Code": "ConditionalCheckFailedException", "Message": "The conditional request failed"}
    }
    if stored and said.get("ReturnValuesOnConditionCheckFailure") == "ALL_OLD":
        answer["Item"] = stored
    raise ConditionalCheckFailedException(answer, operation)


def _just_before(keys: Sequence[str], asked: Range, *, forward: bool) -> str | None:
    """A key of the range before the first item, if there is one.

    A query that breaks off there has no items.
    """
    if not keys:
        return None
    start = max(keys[0][:-1], asked.low) if forward else keys[0] + "\0"
    return start if start and start != keys[0] and start in asked else None
