"""DynamoDB and SQS beneath boto3: they answer by what is stored, and then repeat these answers at once."""

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import boto3
from botocore.awsrequest import AWSResponse, HTTPHeaders
from infra.bench.instant_dynamodb import Raw

#: A request of boto3: the service, the client's method, and its parameters.
Asked = tuple[str, str, Mapping[str, Any]]

_CLAUSE: Final = re.compile(r"\b(SET|REMOVE|ADD)\b")
_IF_NOT_EXISTS: Final = re.compile(r"if_not_exists\s*\((\S+?),\s*(\S+?)\)")


class RecordedAws:
    """Stands in for the network of both services, in the calls that a sweep makes.

    First it works out each answer from the items that were written, and grants every condition. After
    freeze() it repeats the answers: to equal requests, without a look into them. So it takes little time, and
    equally much from everybody. A request that it has not met is then an error. Each answer takes
    `latency_ms`.
    """

    def __init__(self) -> None:
        self.latency_ms = 0
        self._items: dict[str, dict[str, dict[str, Any]]] = {}
        self._answers: dict[tuple[bytes, bytes], bytes] | None = None
        self._is_frozen = False
        self._asked: list[Asked] | None = None

    def attach(self) -> None:
        """Answer all clients that boto3 makes from now on. boto3 then does all its work but the network's."""
        boto3.setup_default_session()
        assert boto3.DEFAULT_SESSION is not None, "it has just been made"
        events: Any = boto3.DEFAULT_SESSION.events
        for service in ("dynamodb", "sqs"):
            events.register(f"before-send.{service}", self._answer)
            events.register(f"provide-client-params.{service}", self._note)

    def record(self, task: Callable[[], object]) -> list[Asked]:
        """Do a task, keep the answers to its requests for later, and return the requests."""
        self._answers, self._asked = {}, []
        task()
        asked, self._asked, self._is_frozen = self._asked, None, True
        return asked

    def _note(self, params: Mapping[str, Any], model: Any, **_: Any) -> None:
        if self._asked is not None:
            method = re.sub(r"(?<!^)(?=[A-Z])", "_", model.name).lower()
            self._asked.append((model.service_model.service_name, method, dict(params)))

    def _answer(self, request: Any, **_: Any) -> AWSResponse:
        operation, body = request.headers["X-Amz-Target"], request.body
        if self._is_frozen:
            assert self._answers is not None, "record() has made it"
            said = self._answers[operation, body]
        else:
            name = operation.decode().rpartition(".")[2]
            said = json.dumps(_CALLS[name](self, json.loads(body))).encode()
            if self._answers is not None:
                self._answers[operation, body] = said
        if self.latency_ms:
            time.sleep(self.latency_ms / 1_000)
        return AWSResponse(request.url, 200, HTTPHeaders(), Raw(said))

    def _get(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        item = self._stored(asked["Key"])
        return {} if item is None else {"Item": item}

    def _put(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        self._store(asked["Item"])
        return {}

    def _get_batch(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        ((table, wanted),) = asked["RequestItems"].items()
        names = wanted.get("ExpressionAttributeNames", {})
        projection = [
            names[each.strip()] for each in wanted.get("ProjectionExpression", "").split(",") if each
        ]
        found = [item for key in wanted["Keys"] if (item := self._stored(key))]
        if projection:
            found = [{name: item[name] for name in projection if name in item} for item in found]
        return {"Responses": {table: found}, "UnprocessedKeys": {}}

    def _put_batch(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        """Write items, while the tables are filled. What a sweep writes is not kept."""
        if self._answers is None:
            ((_, requests),) = asked["RequestItems"].items()
            for each in requests:
                self._store(each["PutRequest"]["Item"])
        return {"UnprocessedItems": {}}

    def _update(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        names, values = asked["ExpressionAttributeNames"], asked["ExpressionAttributeValues"]
        item = dict(self._stored(asked["Key"]) or asked["Key"])
        for clause, change in _changes(asked["UpdateExpression"]):
            placeholder, _, rest = change.partition(" ")
            name = names[placeholder]
            if clause == "REMOVE":
                item.pop(name, None)
            elif clause == "ADD":
                number = int(item.get(name, {"N": "0"})["N"]) + int(values[rest.strip()]["N"])
                item[name] = {"N": str(number)}
            elif (otherwise := _IF_NOT_EXISTS.search(rest)) is not None:
                item.setdefault(name, values[otherwise[2]])
            else:
                item[name] = values[rest.removeprefix("=").strip()]
        self._store(item)
        return {"Attributes": item}

    def _query(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        partition, low, *high = (each["S"] for each in asked["ExpressionAttributeValues"].values())
        items = self._items.get(partition, {})
        keys = sorted(key for key in items if (low <= key <= high[0] if high else low < key))
        limit = asked.get("Limit", len(keys))
        answer: dict[str, Any] = {"Items": [items[key] for key in keys[:limit]]}
        if len(keys) > limit:
            answer["LastEvaluatedKey"] = {"pk": {"S": partition}, "sk": {"S": keys[limit - 1]}}
        return answer

    def _send_batch(self, asked: Mapping[str, Any]) -> dict[str, Any]:
        accepted = [
            {"Id": each["Id"], "MessageId": each["Id"], "MD5OfMessageBody": ""} for each in asked["Entries"]
        ]
        return {"Successful": accepted, "Failed": []}

    def _stored(self, key: Mapping[str, Any]) -> dict[str, Any] | None:
        return self._items.get(key["pk"]["S"], {}).get(key["sk"]["S"])

    def _store(self, item: dict[str, Any]) -> None:
        self._items.setdefault(item["pk"]["S"], {})[item["sk"]["S"]] = item


_CALLS: Final[Mapping[str, Callable[[RecordedAws, Mapping[str, Any]], dict[str, Any]]]] = {
    "GetItem": RecordedAws._get,  # noqa: SLF001 - of this module
    "PutItem": RecordedAws._put,  # noqa: SLF001
    "BatchGetItem": RecordedAws._get_batch,  # noqa: SLF001
    "BatchWriteItem": RecordedAws._put_batch,  # noqa: SLF001
    "UpdateItem": RecordedAws._update,  # noqa: SLF001
    "Query": RecordedAws._query,  # noqa: SLF001
    "SendMessageBatch": RecordedAws._send_batch,  # noqa: SLF001
}


def _changes(expression: str) -> Iterator[tuple[str, str]]:
    """The changes of an update expression as pynamodb writes it, each with its clause."""
    parts = _CLAUSE.split(expression)[1:]
    for clause, text in zip(parts[::2], parts[1::2], strict=True):
        for change in re.split(r",\s*(?![^(]*\))", text.strip()):
            yield clause, change.strip()
