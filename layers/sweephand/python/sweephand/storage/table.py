"""Requests to one DynamoDB table: strong reads, refusals with the stored item, and complete batches."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.attributes import UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action, Update

from sweephand.base.concurrency import Concurrently, one_by_one, parts
from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.storage.item import Item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

#: An item as the client gives and takes it: names to typed values.
RawItem: TypeAlias = Mapping[str, Any]

#: The key of an item: partition key and sort key.
ItemKey: TypeAlias = tuple[str, str]

#: The limit of BatchGetItem.
GET_BATCH_MAX: Final = 100

#: The limit of BatchWriteItem.
WRITE_BATCH_MAX: Final = 25

#: Unprocessed requests of a batch are repeated after these waits, 3 s in all. Then they are an error.
_WAITS_MS: Final = (25, 50, 100, 200, 400, 800, 1_425)

#: Why DynamoDB refuses a transaction that is well formed. `None` stands for an item that refused nothing.
_REFUSED: Final = frozenset({"ConditionalCheckFailed", "TransactionConflict", "None"})

_Request = TypeVar("_Request")


class Expression(Protocol):
    """A condition: one of pynamodb's, or one with the same method."""

    def serialize(self, names: dict[str, str], values: dict[str, Any], /) -> str:
        """The text of the condition.

        Its placeholders are added to `names` and `values`, as `{name: "#0"}` and `{":0": value}`.
        """
        ...


class Refusal(NamedTuple):
    """A conditional write that changed nothing.

    `stored` is the item that refused it; None if there is none.
    """

    stored: RawItem | None

    @property
    def existing(self) -> RawItem:
        """The stored item, for a condition that only an existing item can fail."""
        if self.stored is None:
            raise StoreError("a condition failed, and DynamoDB did not return the item that failed it")
        return self.stored


class QueryResult(NamedTuple):
    """Items of one partition in order, and whether more may follow."""

    items: Sequence[RawItem]
    has_more: bool


class Table:
    """One table. Tables may share a client. Safe to use from many threads.

    Every method raises StoreError when DynamoDB did not do what was asked after the client's own retries.
    `wait_ms` waits before unprocessed requests are repeated. `concurrently` makes independent reads.
    """

    def __init__(
        self,
        client: "DynamoDBClient",
        name: str,
        wait_ms: Callable[[int], None],
        concurrently: Concurrently = one_by_one,
    ) -> None:
        self._client = client
        self._name = name
        self._wait_ms = wait_ms
        self.concurrently = concurrently

    def get(self, key: ItemKey) -> RawItem | None:
        """The item of that key, or None."""
        with self._store_errors("GetItem"):
            answer = self._client.get_item(TableName=self._name, Key=_raw(key), ConsistentRead=True)
        return answer.get("Item")

    def put(self, item: Item, condition: Expression | None = None) -> Refusal | None:
        """Write an item, over the stored one if there is one. None if it was written."""
        request = {"TableName": self._name, "Item": item.serialize(), **_expressions(condition)}
        try:
            with self._store_errors("PutItem"):
                self._client.put_item(**request)
        except self._client.exceptions.ConditionalCheckFailedException as error:
            return _refusal(error)
        return None

    def swap(self, item: Item) -> RawItem | None:
        """Write an item. Returns the stored one that it replaces; None if there was none.

        If an answer is lost, the SDK writes again, and the item replaces itself.
        """
        with self._store_errors("PutItem"):
            answer = self._client.put_item(
                TableName=self._name, Item=item.serialize(), ReturnValues="ALL_OLD"
            )
        return answer.get("Attributes")

    def keep(self, key: ItemKey, until: Instant) -> bool:
        """Have an item end at that instant if it exists and would end earlier; return whether it was written.

        An item without an end stays without one, and one that was removed does not come back. 1 WRU for each
        KB of the item, written or not.
        """
        until_s = -(-until // SECOND_MS)
        answer = self.update(key, [Item.expires_at.set(until_s)], Item.expires_at < until_s)
        return not isinstance(answer, Refusal)

    def put_together(self, puts: Sequence[tuple[Item, Expression | None]]) -> bool:
        """Write all of these items or none, each over the stored one if there is one. Returns whether it did.

        It does not if a condition fails, or if another request writes one of these items at the same time.
        """
        requests: list[Any] = [
            {"Put": {"TableName": self._name, "Item": item.serialize(), **_expressions(condition)}}
            for item, condition in puts
        ]
        try:
            with self._store_errors("TransactWriteItems"):
                self._client.transact_write_items(TransactItems=requests)
        except self._client.exceptions.TransactionCanceledException as error:
            codes = {reason.get("Code") for reason in error.response.get("CancellationReasons", ())}
            if codes and codes <= _REFUSED:
                return False
            raise StoreError(f"TransactWriteItems on table {self._name}: {error}") from error
        return True

    def add(self, key: ItemKey, counts: Mapping[str, int], expires_at: int) -> None:
        """Add to some counts of an item, and have it end at that second. It is made if there is none.

        The expression is written here and not by pynamodb, which takes ten times as long (decision 006).
        """
        added = ", ".join(f"#{number} :{number}" for number in range(len(counts)))
        names = {f"#{number}": name for number, name in enumerate(counts)}
        values = {f":{number}": {"N": str(count)} for number, count in enumerate(counts.values())}
        with self._store_errors("UpdateItem"):
            self._client.update_item(
                TableName=self._name,
                Key=_raw(key),
                UpdateExpression=f"SET #e = :e ADD {added}",
                ExpressionAttributeNames=names | {"#e": "expires_at"},
                ExpressionAttributeValues=values | {":e": {"N": str(expires_at)}},
            )

    def update(self, key: ItemKey, actions: Sequence[Action], condition: Expression) -> RawItem | Refusal:
        """Change an item. Returns the item as changed, or the refusal."""
        request = {"TableName": self._name, "Key": _raw(key), **_expressions(condition, actions)}
        try:
            with self._store_errors("UpdateItem"):
                answer = self._client.update_item(**request, ReturnValues="ALL_NEW")
        except self._client.exceptions.ConditionalCheckFailedException as error:
            return _refusal(error)
        return answer["Attributes"]

    def delete(self, key: ItemKey, condition: Expression | None = None) -> Refusal | None:
        """Remove an item. None if it is gone or was never there."""
        request = {"TableName": self._name, "Key": _raw(key), **_expressions(condition)}
        try:
            with self._store_errors("DeleteItem"):
                self._client.delete_item(**request)
        except self._client.exceptions.ConditionalCheckFailedException as error:
            return _refusal(error)
        return None

    def query(
        self,
        condition: Expression,
        limit: int | None = None,
        *,
        backwards: bool = False,
        attributes: Sequence[str] = (),
    ) -> QueryResult:
        """The first items that a key condition selects, at most `limit`. Empty only if there are none.

        Only these attributes of them if any are named. DynamoDB bills whole items all the same.

        Without `limit`, as many as DynamoDB reads at once: 1 MB. To continue, ask for the items after the
        last one.
        """
        request = {
            "TableName": self._name,
            "ConsistentRead": True,
            "ScanIndexForward": not backwards,
            **_expressions(condition, named="KeyConditionExpression"),
        }
        if limit is not None:
            request["Limit"] = limit
        if attributes:
            # The names of the condition are #0 and so on.
            names = {f"#p{number}": name for number, name in enumerate(attributes)}
            request["ProjectionExpression"] = ",".join(names)
            request["ExpressionAttributeNames"] = {**request["ExpressionAttributeNames"], **names}
        while True:
            with self._store_errors("Query"):
                answer = self._client.query(**request)
            last = answer.get("LastEvaluatedKey")
            if answer["Items"] or not last:
                return QueryResult(answer["Items"], bool(last))
            request["ExclusiveStartKey"] = last

    def get_batch(
        self, keys: Sequence[ItemKey], *, may_be_stale: bool = False, attributes: Sequence[str] = ()
    ) -> Sequence[RawItem]:
        """Those items that exist, in any order; only these attributes of them if any are named.

        The keys must be distinct. A key without an item is left out. With `may_be_stale`, DynamoDB may answer
        from a copy that lacks the latest writes ("eventually consistent"). AWS documents no bound on its age.
        DynamoDB bills whole items, whatever attributes are asked for.
        """
        found: list[RawItem] = []
        names = {f"#{number}": name for number, name in enumerate(attributes)}
        form: dict[str, Any] = {"ConsistentRead": not may_be_stale}
        if names:
            form |= {"ProjectionExpression": ",".join(names), "ExpressionAttributeNames": names}

        def ask(some: Sequence[Any]) -> Sequence[Any]:
            with self._store_errors("BatchGetItem"):
                asked: Any = {"Keys": some, **form}
                answer = self._client.batch_get_item(RequestItems={self._name: asked})
            found.extend(answer["Responses"].get(self._name, ()))
            unprocessed = answer["UnprocessedKeys"].get(self._name)
            return unprocessed["Keys"] if unprocessed else ()

        requests = [[_raw(key) for key in some] for some in parts(keys, GET_BATCH_MAX)]
        self.concurrently([partial(self._repeat_unprocessed, each, ask) for each in requests])
        return found

    def put_batch(self, items: Sequence[Item]) -> None:
        """Write items with distinct keys, each over the stored one if there is one."""

        def ask(some: Sequence[Any]) -> Sequence[Any]:
            with self._store_errors("BatchWriteItem"):
                answer = self._client.batch_write_item(RequestItems={self._name: some})
            return answer["UnprocessedItems"].get(self._name, ())

        requests = [{"PutRequest": {"Item": item.serialize()}} for item in items]
        for start in range(0, len(requests), WRITE_BATCH_MAX):
            self._repeat_unprocessed(requests[start : start + WRITE_BATCH_MAX], ask)

    def _repeat_unprocessed(
        self, requests: Sequence[_Request], ask: Callable[[Sequence[_Request]], Sequence[_Request]]
    ) -> None:
        left = ask(requests)
        for wait_ms in _WAITS_MS:
            if not left:
                return
            self._wait_ms(wait_ms)
            left = ask(left)
        if left:
            raise StoreError(f"{self._name}: {len(left)} of {len(requests)} requests were not processed")

    @contextmanager
    def _store_errors(self, operation: str) -> Iterator[None]:
        try:
            yield
        except (
            self._client.exceptions.ConditionalCheckFailedException,
            self._client.exceptions.TransactionCanceledException,
        ):
            raise
        except (BotoCoreError, ClientError) as error:
            raise StoreError(f"{operation} on table {self._name}: {error}") from error


def _raw(key: ItemKey) -> dict[str, Any]:
    partition, sort = key
    return {"pk": {"S": partition}, "sk": {"S": sort}}


def _expressions(
    condition: Expression | None, actions: Sequence[Action] = (), *, named: str = "ConditionExpression"
) -> dict[str, Any]:
    """The part of a request that holds the condition and the actions, with their names and values."""
    names: dict[str, str] = {}
    values: dict[str, Any] = {}
    request: dict[str, Any] = {}
    if actions:
        request["UpdateExpression"] = Update(*actions).serialize(names, values)
    if condition is not None:
        request[named] = condition.serialize(names, values)
        if named == "ConditionExpression":
            request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    if names:
        request["ExpressionAttributeNames"] = {placeholder: name for name, placeholder in names.items()}
    if values:
        request["ExpressionAttributeValues"] = values
    return request


def _refusal(error: ClientError) -> Refusal:
    stored: RawItem | None = error.response.get("Item")  # type: ignore[assignment]
    return Refusal(stored or None)


class VersionedItem(Item):
    """An item with a version, which changes with every write."""

    version = UnicodeAttribute()


def put_version(
    table: Table,
    item: Item,
    version: str,
    replacing: str | None,
    records: Sequence[tuple[Item, Expression | None]] = (),
    *,
    also: Condition | None = None,
) -> bool:
    """Write an item of that `version` if the stored one is `replacing` (None: if there is none).

    It also succeeds if this very write is stored already, because the SDK repeats a write whose answer got
    lost. With `records` (admin_changes.py), it writes them and the item in one transaction.
    """
    absent, unchanged = VersionedItem.pk.does_not_exist(), VersionedItem.version == replacing
    condition = absent if replacing is None else unchanged
    if also is not None:
        condition &= also
    if records:
        if table.put_together([(item, condition), *records]):
            return True
        stored = table.get((item.attribute_values["pk"], item.attribute_values["sk"]))
    else:
        refusal = table.put(item, condition)
        if refusal is None:
            return True
        stored = refusal.stored
    if stored is None:
        return False
    found: str = VersionedItem.read(stored).version
    return found == version
