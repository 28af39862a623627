"""The events by which API Gateway calls the API function (payload 2.0), and a client that sends them."""

import json
import threading
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import unquote

import jsonschema
import simplejson
from tests.fakes.memory_access import MemoryKeys, MemorySecrets
from tests.fakes.world import World

from sweephand.access.authentication import Auth
from sweephand.base.concurrency import Concurrently, one_by_one
from sweephand.model.api_key import Caller, Key
from sweephand.runtime.compose_api import compose_api
from sweephand.targets.reach import EVERY_QUEUE, JobQueues, Reach
from sweephand.web import operations
from sweephand.web.http.app import build_handler

#: One request at a time, of all clients: Powertools keeps the present event on the class of its resolvers.
ONE_REQUEST: Final = threading.RLock()

EVENTS: Final = Path(__file__).parent.parent / "events"

ADMIN: Final = Caller("admin", "*", "admin")
NS_ADMIN: Final = Caller("nsadmin", "ns", "admin")
WRITER: Final = Caller("writer", "ns", "write")
READER: Final = Caller("reader", "ns", "read")
STRANGER: Final = Caller("stranger", "elsewhere", "admin")

#: The keys of these callers.
_CALLERS: Final = {
    each.key_id: Key(each.key_id, "0" * 64, each.namespace, each.role, 0)
    for each in (ADMIN, NS_ADMIN, WRITER, READER, STRANGER)
}

TARGET: Final = {"type": "http", "url": "https://consumer.example/hook"}
JOB: Final = {"schedule": "@every 1h", "target": TARGET}


def fixture(name: str) -> dict[str, Any]:
    """A recorded event of API Gateway, from tests/events."""
    event: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text())
    return event


def event_of(
    method: str,
    url: str,
    *,
    body: str | bytes | None = None,
    headers: Mapping[str, str] | None = None,
    caller: Caller | Mapping[str, Any] | None = ADMIN,
) -> dict[str, Any]:
    """The event of a request. `url` is the encoded one that a client sends; the gateway decodes its path."""
    event = deepcopy(fixture("api_request"))
    path, _, query = url.partition("?")
    event["rawPath"] = unquote(path)
    event["rawQueryString"] = query
    event["headers"] |= {name.lower(): value for name, value in (headers or {}).items()}
    event["requestContext"]["http"] |= {"method": method, "path": unquote(path)}
    event["requestContext"].pop("authorizer")
    if isinstance(caller, Mapping):
        event["requestContext"]["authorizer"] = caller
    elif caller is not None:
        event["requestContext"]["authorizer"] = {"lambda": caller.context}
    if isinstance(body, bytes):
        event |= {"body": b64encode(body).decode(), "isBase64Encoded": True}
    elif body is not None:
        event["body"] = body
    return event


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer of the API."""

    status: int
    headers: Mapping[str, str]
    text: str | None
    is_base64: bool = False

    @property
    def content(self) -> bytes:
        """The body as the gateway sends it on."""
        text = (self.text or "").encode()
        return b64decode(text) if self.is_base64 else text

    @property
    def json(self) -> Any:
        """The JSON body. Numbers that are not integers are Decimal."""
        assert self.text is not None, "the answer has no body"
        return simplejson.loads(self.text, use_decimal=True)

    @property
    def pointers(self) -> list[str]:
        """The JSON pointers of the refused fields."""
        return [each["pointer"] for each in self.json["errors"]]

    @property
    def etag(self) -> str:
        """The ETag of the answer."""
        return self.headers["etag"]


class Client:
    """Calls the API of a world in memory. It checks every answer against the OpenAPI document."""

    def __init__(
        self,
        world: World | None = None,
        *,
        allow_insecure_targets: bool = False,
        queues: JobQueues = EVERY_QUEUE,
        listed: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
        write_concurrently: Concurrently = one_by_one,
        auth: Auth = Auth(),  # noqa: B008 - a NamedTuple does not change
    ) -> None:
        self.world = world or World()
        self.keys = MemoryKeys(self.world.admin_changes, _CALLERS)
        self.secrets = MemorySecrets(self.world.admin_changes)
        self.services = compose_api(
            replace(self.world.stores(self.world.api_clock), keys=self.keys, secrets=self.secrets),
            self.world.options._replace(reach=Reach(allow_insecure_targets, queues, listed), auth=auth),
            shard_count=lambda: self.world.shards,
            concurrently=write_concurrently,
        )
        self.auth = auth
        self.handler: Callable[[Mapping[str, Any], Any], dict[str, Any]] = build_handler(self.services)

    def send(
        self,
        method: str,
        url: str,
        body: Any = None,
        *,
        text: str | bytes | None = None,
        headers: Mapping[str, str] | None = None,
        caller: Caller | Mapping[str, Any] | None = ADMIN,
    ) -> Answered:
        """The answer to a request whose body is `body` as JSON, or the unchanged `text`.

        `caller` is whom the authorizer function has found, or what another authorizer of the gateway says.
        """
        sent = text if body is None else json.dumps(body)
        typed = {"content-type": "application/json"} if sent is not None else {}
        event = event_of(method, url, body=sent, headers={**typed, **(headers or {})}, caller=caller)
        with ONE_REQUEST:
            answer = self.handler(event, None)
        json.dumps(answer)  # Lambda encodes the answer, too
        described(method, event["rawPath"], answer, self.auth)
        is_base64 = bool(answer.get("isBase64Encoded"))
        return Answered(answer["statusCode"], _lower(answer["headers"]), answer.get("body"), is_base64)

    def put(self, name: str = "job", job: Any = JOB, **options: Any) -> Answered:
        """PUT a job of namespace `ns`."""
        return self.send("PUT", f"/v1/namespaces/ns/jobs/{name}", job, **options)

    def get(self, name: str = "job", **options: Any) -> Answered:
        """GET a job of namespace `ns`."""
        return self.send("GET", f"/v1/namespaces/ns/jobs/{name}", **options)


def described(
    method: str,
    path: str,
    answer: Mapping[str, Any],
    auth: Auth = Auth(),  # noqa: B008 - a NamedTuple does not change
) -> None:
    """Assert that the OpenAPI document has this answer: its status, its content type and its schema.

    The document does not have EventBridge Scheduler's API, which AWS describes.
    """
    if path.startswith("/v1/scheduler/"):
        return
    whole = document(auth)
    operation = _operation(method, path)
    headers = _lower(answer["headers"])
    if operation is None:
        assert answer["statusCode"] in (404, 405), answer
        _validate({"$ref": "#/components/schemas/ProblemResponse"}, answer["body"])
        return
    responses = whole["paths"][operation][method.lower()]["responses"]
    assert str(answer["statusCode"]) in responses, f"{method} {path}: {answer['statusCode']} is not described"
    response = responses[str(answer["statusCode"])]
    if "$ref" in response:
        response = whole["components"]["responses"][response["$ref"].rpartition("/")[2]]
    if "content" not in response:
        assert not answer.get("body")
        return
    kind = headers["content-type"].partition(";")[0]
    content = response["content"]
    schema = content[kind if kind in content else f"{kind.partition('/')[0]}/*"]["schema"]
    if kind.endswith("json"):
        _validate(schema, answer["body"])


def document(auth: Auth = Auth()) -> dict[str, Any]:  # noqa: B008 - a NamedTuple does not change
    """The OpenAPI document of a mode. It changes with the registered target types."""
    return _parsed(operations.description(auth))


@lru_cache(maxsize=2)
def _parsed(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    return found


def _validate(schema: Mapping[str, Any], text: str) -> None:
    whole = {**schema, "components": document()["components"]}
    # Python is slow to read a long number, and a schema does not need all of its digits.
    value = json.loads(text, parse_int=lambda digits: int(digits[:100]))
    jsonschema.Draft202012Validator(whole).validate(value)


def _operation(method: str, path: str) -> str | None:
    """The path of the document that this request is one to, if its method is there too."""
    parts = path.split("/")
    for template, methods in document()["paths"].items():
        wanted = template.split("/")
        if len(wanted) == len(parts) and all(
            part if want.startswith("{") else want == part for want, part in zip(wanted, parts, strict=True)
        ):
            return template if method.lower() in methods else None
    return None


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
