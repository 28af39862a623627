"""The gateway of an engine: it authorizes an HTTP request, and passes it to the API as API Gateway does."""

import json
import threading
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import unquote

from sweephand.access.callers import authorize
from sweephand.base.errors import StoreError
from sweephand.ports.access import KeyStore
from sweephand.ports.clock import Clock, Ids
from sweephand.web.http.app import Handler
from sweephand.web.http.problems import problem_of

_PROBLEM: Final = {"content-type": "application/problem+json"}


@dataclass(frozen=True, slots=True)
class Response:
    """An answer to a request."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Gateway:
    """Passes requests to the API, one at a time: Powertools keeps the present event on its class."""

    def __init__(self, api: Handler, keys: KeyStore, clock: Clock, ids: Ids) -> None:
        self._api = api
        self._keys = keys
        self._clock = clock
        self._ids = ids
        self._lock = threading.Lock()

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
        """The API's answer. The names of headers are in lower case, and `target` is path and query."""
        path, _, query = target.partition("?")
        now = self._clock.now()
        try:
            caller = authorize(headers.get("authorization"), keys=self._keys, now=now)
        except StoreError as error:
            problem = problem_of(error, reads=True)
            return Response(problem["status"], _PROBLEM, json.dumps(problem).encode())
        context: dict[str, Any] = {
            "http": {
                "method": method,
                "path": unquote(path),
                "protocol": "HTTP/1.1",
                "sourceIp": "127.0.0.1",
                "userAgent": headers.get("user-agent", ""),
            },
            "requestId": self._ids.token(),
            "stage": "$default",
            "timeEpoch": now,
        }
        if caller is not None:
            context["authorizer"] = {"lambda": caller.context}
        event: dict[str, Any] = {
            "version": "2.0",
            "rawPath": unquote(path),
            "rawQueryString": query,
            "headers": dict(headers),
            "requestContext": context,
            "isBase64Encoded": False,
        }
        if body:
            event |= {"body": b64encode(body).decode(), "isBase64Encoded": True}
        context_of_lambda: Any = None
        with self._lock:
            answer = self._api(event, context_of_lambda)
        if caller is None and answer["statusCode"] == HTTPStatus.UNAUTHORIZED:
            return _refusal(has_key="authorization" in headers)
        text: str = answer.get("body") or ""
        content = b64decode(text) if answer.get("isBase64Encoded") else text.encode()
        return Response(answer["statusCode"], answer["headers"], content)


def _refusal(*, has_key: bool) -> Response:
    """What API Gateway answers before it asks the API. It never says what is wrong with a key."""
    status, said = (
        (HTTPStatus.FORBIDDEN, "Forbidden") if has_key else (HTTPStatus.UNAUTHORIZED, "Unauthorized")
    )
    return Response(status, {"content-type": "application/json"}, f'{{"message":"{said}"}}'.encode())
