"""How one DynamoDB table is asked: strong reads, refusals that show what is stored, nothing left out."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.expressions.update import Action, Update

from sweephand.base.errors import StoreError
from sweephand.storage.item import Item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

#: An item as the client gives and takes it: names to typed values.
RawItem: TypeAlias = Mapping[str, Any]

#: What names an item: partition key and sort key.
ItemKey: TypeAlias = tuple[str, str]

#: BatchGetItem's own limit.
GET_BATCH_MAX: Final = 100

#: BatchWriteItem's own limit.
WRITE_BATCH_MAX: Final = 25

#: What DynamoDB leaves unprocessed is asked for again after these waits, 3 s in all; then it is an error.
_WAITS_MS: Final = (25, 50, 100, 200, 400, 800, 1_425)

_Request = TypeVar("_Request")


class Expression(Protocol):
    """A condition: pynamodb's, or one like it."""

    def serialize(self, names: dict[str, str], values: dict[str, Any], /) -> str:
        """Its text; what its placeholders stand for is added to both, `{name: "#0"}` and `{":0": value}`."""
        ...


class Refusal(NamedTuple):
    """A conditional write that changed nothing, and the item in its way; None if there was none."""

    stored: RawItem | None

    @property
    def shown(self) -> RawItem:
        """That item, of a condition that only an item can fail."""
        if self.stored is None:
            raise StoreError("a condition failed, and the item that failed it was not shown")
        return self.stored


class QueryResult(NamedTuple):
    """Items of one partition in order, and whether more may follow them."""

    items: Sequence[RawItem]
    has_more: bool


class Table:
    """One table, asked through a client that other tables may share. Safe for use by many threads.

    Every method raises StoreError when DynamoDB did not do what was asked after the client's own
    retries. `wait_ms` waits before what was left unprocessed is asked for again.
    """

    def __init__(self, client: "DynamoDBClient", name: str, wait_ms: Callable[[int], None]) -> None:
        self._client = client
        self._name = name
        self._wait_ms = wait_ms

    def get(self, key: ItemKey) -> RawItem | None:
        """The item of that key, or None."""
        with self._asking("GetItem"):
            answer = self._client.get_item(TableName=self._name, Key=_raw(key), ConsistentRead=True)
        return answer.get("Item")

    def put(self, item: Item, condition: Expression | None = None) -> Refusal | None:
        """Write an item over what is there; None if it was written."""
        request = {"TableName": self._name, "Item": item.serialize(), **_expressions(condition)}
        try:
            with self._asking("PutItem"):
                self._client.put_item(**request)
        except self._client.exceptions.ConditionalCheckFailedException as error:
            return _refusal(error)
        return None

    def update(self, key: ItemKey, actions: Sequence[Action], condition: Expression) -> RawItem | Refusal:
        """Change an item; what it then is, or why not."""
        request = {"TableName": self._name, "Key": _raw(key), **_expressions(condition, actions)}
        try:
            with self._asking("UpdateItem"):
                answer = self._client.update_item(**request, ReturnValues="ALL_NEW")
        except self._client.exceptions.ConditionalCheckFailedException as error:
            return _refusal(error)
        return answer["Attributes"]

    def delete(self, key: ItemKey, condition: Expression | None = None) -> Refusal | None:
        """Remove an item; None if it is gone or was never there."""
        request = {"TableName": self._name, "Key": _raw(key), **_expressions(condition)}
        try:
            with self._asking("DeleteItem"):
                self._client.delete_item(**request)
        except self._client.exceptions.ConditionalCheckFailedException as error:
            return _refusal(error)
        return None

    def query(
        self, condition: Expression, limit: int | None = None, *, backwards: bool = False
    ) -> QueryResult:
        """The first items that a key condition names, `limit` at most; empty only if there are none.

        Without `limit`, as many as DynamoDB reads at once: 1 MB. To go on, ask for what lies beyond the
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
        while True:
            with self._asking("Query"):
                answer = self._client.query(**request)
            last = answer.get("LastEvaluatedKey")
            if answer["Items"] or not last:
                return QueryResult(answer["Items"], bool(last))
            request["ExclusiveStartKey"] = last

    def get_batch(self, keys: Sequence[ItemKey]) -> Sequence[RawItem]:
        """Those items of distinct keys that exist, in any order. A key that is left out has none."""
        found: list[RawItem] = []

        def ask(some: Sequence[Any]) -> Sequence[Any]:
            with self._asking("BatchGetItem"):
                answer = self._client.batch_get_item(
                    RequestItems={self._name: {"Keys": some, "ConsistentRead": True}}
                )
            found.extend(answer["Responses"].get(self._name, ()))
            unprocessed = answer["UnprocessedKeys"].get(self._name)
            return unprocessed["Keys"] if unprocessed else ()

        for start in range(0, len(keys), GET_BATCH_MAX):
            self._until_all([_raw(key) for key in keys[start : start + GET_BATCH_MAX]], ask)
        return found

    def put_batch(self, items: Sequence[Item]) -> None:
        """Write items of distinct keys, each over what is there."""

        def ask(some: Sequence[Any]) -> Sequence[Any]:
            with self._asking("BatchWriteItem"):
                answer = self._client.batch_write_item(RequestItems={self._name: some})
            return answer["UnprocessedItems"].get(self._name, ())

        requests = [{"PutRequest": {"Item": item.serialize()}} for item in items]
        for start in range(0, len(requests), WRITE_BATCH_MAX):
            self._until_all(requests[start : start + WRITE_BATCH_MAX], ask)

    def _until_all(
        self, requests: Sequence[_Request], ask: Callable[[Sequence[_Request]], Sequence[_Request]]
    ) -> None:
        left = ask(requests)
        for wait_ms in _WAITS_MS:
            if not left:
                return
            self._wait_ms(wait_ms)
            left = ask(left)
        if left:
            raise StoreError(f"{self._name}: {len(left)} of {len(requests)} requests stayed unprocessed")

    @contextmanager
    def _asking(self, operation: str) -> Iterator[None]:
        try:
            yield
        except self._client.exceptions.ConditionalCheckFailedException:
            raise
        except (BotoCoreError, ClientError) as error:
            raise StoreError(f"{operation} on table {self._name}: {error}") from error


def _raw(key: ItemKey) -> dict[str, Any]:
    partition, sort = key
    return {"pk": {"S": partition}, "sk": {"S": sort}}


def _expressions(
    condition: Expression | None, actions: Sequence[Action] = (), *, named: str = "ConditionExpression"
) -> dict[str, Any]:
    """The part of a request that says what to do and when, with its names and values."""
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
