"""A DynamoDB that answers at once, below boto3 or in its place, so that the bench measures all other work.

And the environment of a function that runs in this process above it.
"""

import io
import json
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import boto3
from botocore import xform_name
from botocore.awsrequest import AWSResponse, HTTPHeaders
from botocore.exceptions import ClientError

_QUEUE: Final = "https://sqs.us-east-1.amazonaws.com/123456789012/"

#: The environment that template.yaml gives the function. The keys open nothing.
ENVIRONMENT: Final = {
    "AWS_ACCESS_KEY_ID": "bench",
    "AWS_SECRET_ACCESS_KEY": "bench",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9",  # no program listens there, so no request leaves this machine
    "JOBS_TABLE": "jobs",
    "TIMERS_TABLE": "timers",
    "PAYLOAD_BUCKET": "payloads",
    "DELIVERY_QUEUE_URL": f"{_QUEUE}delivery",
    "DEAD_LETTER_QUEUE_URL": f"{_QUEUE}dead",
    "SHARD_COUNT": "1",
    "ALLOW_INSECURE_TARGETS": "true",
    "POWERTOOLS_SERVICE_NAME": "bench",
    "STACK_NAME": "sweephand",
}

#: DynamoDB bills a read by so many bytes.
_UNIT_BYTES: Final = 4_096

_CLAUSE: Final = re.compile(r"\b(SET|REMOVE|ADD)\b")
_IF_NOT_EXISTS: Final = re.compile(r"if_not_exists\s*\((\S+?),\s*(\S+?)\)")


class Asked(NamedTuple):
    """A request of boto3: the service, the client's method, and its parameters."""

    service: str
    method: str
    parameters: Mapping[str, Any]


class InstantDynamoDB:
    """Stands in for DynamoDB, and for SQS where messages are sent, in the calls that functions make.

    Every write is granted. Runs are not kept: keeping them would only make work for the garbage collector.
    In boto3's place, it is the client. Beneath boto3, each answer takes `latency_ms`.
    """

    exceptions = SimpleNamespace(ConditionalCheckFailedException=ClientError)

    #: An event system without listeners' effects: registering does nothing.
    meta = SimpleNamespace(events=SimpleNamespace(register=lambda *_: None))

    def __init__(self, latency_ms: int = 0) -> None:
        self.latency_ms = latency_ms
        self._partitions: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
        self._asked: list[Asked] | None = None
        self._answers: dict[tuple[bytes, bytes], bytes] = {}
        self._repeats = False

    def record(self, task: Callable[[], object], *, repeats: bool = False) -> Sequence[Asked]:
        """Do a task, and return the requests that boto3 made for it.

        If it `repeats`, it gives the same answers to equal requests from now on, without a look into them.
        So it takes little time, and equally much from everybody. Another request is then an error.
        """
        asked: list[Asked] = []
        self._asked = asked
        task()
        self._asked, self._repeats = None, repeats
        return asked

    def note(self, params: Mapping[str, Any], model: Any, **_: Any) -> None:
        """Note a request, for boto3's event `provide-client-params`."""
        if self._asked is not None:
            self._asked.append(Asked(model.service_model.service_name, xform_name(model.name), dict(params)))

    def answer(self, request: Any, **_: Any) -> AWSResponse:
        """The answer to a request, for boto3's event `before-send`."""
        target, body = request.headers["X-Amz-Target"], request.body
        operation = target.decode().rpartition(".")[2]
        if self._repeats:
            said = self._answers[target, body]
        else:
            said = json.dumps(getattr(self, xform_name(operation))(**json.loads(body))).encode()
            if self._asked is not None:
                self._answers[target, body] = said
        if self.latency_ms:
            time.sleep(self.latency_ms / 1_000)
        return AWSResponse(request.url, 200, HTTPHeaders(), _Raw(said))

    def read_units(self, asked: Asked) -> float:
        """What DynamoDB bills for a read, by the sizes of the items that it looks at as they are now."""
        parameters = dict(asked.parameters)
        match asked.method:
            case "query":
                sizes = [sum(map(_bytes_of, self.query(**parameters)["Items"]))]
            case "get_item":
                sizes = [_bytes_of(self._stored(parameters["Key"]) or {})]
            case "batch_get_item":
                ((_, parameters),) = parameters["RequestItems"].items()
                sizes = [_bytes_of(self._stored(key) or {}) for key in parameters["Keys"]]
            case _:
                return 0
        units = sum(max(1, -(-size // _UNIT_BYTES)) for size in sizes)
        return units if parameters.get("ConsistentRead") else units / 2

    def get_item(self, **asked: Any) -> dict[str, Any]:
        """The item of a key, if it is kept."""
        item = self._stored(asked["Key"])
        return {} if item is None else {"Item": item}

    def batch_get_item(self, **asked: Any) -> dict[str, Any]:
        """The items of those keys that are kept, or the attributes of these that are asked for."""
        ((table, wanted),) = asked["RequestItems"].items()
        found = [item for key in wanted["Keys"] if (item := self._stored(key))]
        if "ProjectionExpression" in wanted:
            names = [
                wanted["ExpressionAttributeNames"][each.strip()]
                for each in wanted["ProjectionExpression"].split(",")
            ]
            found = [{name: item[name] for name in names if name in item} for item in found]
        return {"Responses": {table: found}, "UnprocessedKeys": {}}

    def query(self, **asked: Any) -> dict[str, Any]:
        """The items of a partition within the bounds of the key condition. A bound alone is the lower one."""
        partition, *bounds = (each["S"] for each in asked["ExpressionAttributeValues"].values())
        items = self._partitions[partition]
        match bounds:
            case [low, high]:
                keys = sorted(key for key in list(items) if low <= key <= high)
            case _:
                keys = sorted(key for key in list(items) if key > "".join(bounds))
        limit = asked.get("Limit", len(keys))
        answer: dict[str, Any] = {"Items": [items[key] for key in keys[:limit]]}
        if len(keys) > limit:
            answer["LastEvaluatedKey"] = {"pk": {"S": partition}, "sk": {"S": keys[limit - 1]}}
        return answer

    def put_item(self, **asked: Any) -> dict[str, Any]:
        """Write an item."""
        self._store(asked["Item"])
        return {}

    def transact_write_items(self, **asked: Any) -> dict[str, Any]:
        """Write items."""
        for each in asked["TransactItems"]:
            self._store(each["Put"]["Item"])
        return {}

    def batch_write_item(self, **asked: Any) -> dict[str, Any]:
        """Write items."""
        for requests in asked["RequestItems"].values():
            for each in requests:
                self._store(each["PutRequest"]["Item"])
        return {"UnprocessedItems": {}}

    def update_item(self, **asked: Any) -> dict[str, Any]:
        """Change an item by an update expression as pynamodb writes it."""
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

    def send_message_batch(self, **asked: Any) -> dict[str, Any]:
        """Accept every message."""
        entries = asked["Entries"]
        accepted = [{"Id": each["Id"], "MessageId": each["Id"], "MD5OfMessageBody": ""} for each in entries]
        return {"Successful": accepted, "Failed": []}

    def _stored(self, key: Mapping[str, Any]) -> dict[str, Any] | None:
        return self._partitions[key["pk"]["S"]].get(key["sk"]["S"])

    def _store(self, item: dict[str, Any]) -> None:
        if not item["pk"]["S"].startswith("runs#"):
            self._partitions[item["pk"]["S"]][item["sk"]["S"]] = item


def answer_beneath_boto3(dynamodb: InstantDynamoDB) -> None:
    """Have all clients that boto3 makes from now on send their requests to this DynamoDB.

    boto3 then does all its work except the network's.
    """
    boto3.setup_default_session()
    assert boto3.DEFAULT_SESSION is not None, "it has just been made"
    # The stubs say that a listener returns nothing. botocore takes the answer of this one.
    events: Any = boto3.DEFAULT_SESSION.events
    for service in ("dynamodb", "sqs"):
        events.register(f"before-send.{service}", dynamodb.answer)
        events.register(f"provide-client-params.{service}", dynamodb.note)


class _Raw(io.BytesIO):
    """A body as botocore reads it from urllib3."""

    def stream(self, *_: Any, **__: Any) -> list[bytes]:
        """All of it."""
        return [self.getvalue()]


def _bytes_of(item: Mapping[str, Any]) -> int:
    """The size of an item: names and texts in UTF-8, and two digits of a number in a byte."""
    size = 0
    for name, typed in item.items():
        ((kind, value),) = typed.items()
        size += len(name) + (len(value) // 2 + 2 if kind == "N" else len(str(value).encode()))
    return size


def _changes(expression: str) -> Iterator[tuple[str, str]]:
    """The changes of an update expression, each with its clause."""
    parts = _CLAUSE.split(expression)[1:]
    for clause, text in zip(parts[::2], parts[1::2], strict=True):
        for change in re.split(r",\s*(?![^(]*\))", text.strip()):
            yield clause, change.strip()
