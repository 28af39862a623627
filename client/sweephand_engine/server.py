"""The HTTP server of `sweephand dev` on loopback: the API with its console, and the inbox."""

import json
import secrets
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any, Final

from sweephand_engine.foreign_pages import refusal
from sweephand_engine.gateway import Gateway, Response
from sweephand_engine.inbox import HEAD, NOTHING, Arrival, Inbox

#: The largest body that API Gateway takes ("Quotas for HTTP APIs").
BODY_BYTES_MAX: Final = 10 * 1_024 * 1_024

#: How long GET /inbox/next waits for a delivery, in seconds. curl and browsers wait that long by default.
WAIT_S: Final = 60

#: Requests with other methods are refused by the server itself.
_METHODS: Final = ("GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "OPTIONS", "QUERY")

_TEXT: Final = {"content-type": "text/plain; charset=utf-8"}
_INBOX: Final = "/inbox"
_OPEN: Final = "/open/"


@dataclass
class Site:
    """What the server shows.

    `key` signs a browser in that opens the page of `opened_at`, once. That page's address is a secret.
    `secrets_of` returns the signing secrets of a namespace.
    """

    gateway: Gateway
    inbox: Inbox
    key: str
    secrets_of: Callable[[str], Iterable[str]]
    token: str = field(default_factory=secrets.token_urlsafe)

    @property
    def opened_at(self) -> str:
        """The path of the page that opens the console signed in."""
        return f"{_OPEN}{self.token}"

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
        """The answer to a request. The names of its headers are in lower case."""
        why = refusal(headers)
        if why is not None:
            return Response(HTTPStatus.FORBIDDEN, _TEXT, why.encode())
        path = target.partition("?")[0]
        if path == _INBOX or path.startswith(f"{_INBOX}/"):
            return self._inbox(method, target, headers, body)
        if method == "GET" and path == "/":
            return Response(HTTPStatus.FOUND, {"location": "/console"}, b"")
        if method == "GET" and path == self.opened_at:
            self.token = secrets.token_urlsafe()
            return _signed_in(self.key)
        return self.gateway.answer(method, target, headers, body)

    def _inbox(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
        """GET of the inbox itself lists what came, and GET of `next` waits. All else is a delivery."""
        if method == "GET" and target == _INBOX:
            return _page(self.inbox.arrivals())
        if method == "GET" and target == f"{_INBOX}/next":
            return _page(self.inbox.next(WAIT_S))
        self.inbox.take(target, headers, body, self.secrets_of)
        return Response(HTTPStatus.OK, _TEXT, b"")


def _page(arrivals: list[Arrival]) -> Response:
    lines = [HEAD, *(each.line() for each in arrivals)] if arrivals else [NOTHING]
    return Response(HTTPStatus.OK, _TEXT, "".join(f"{each}\n" for each in lines).encode())


def _signed_in(key: str) -> Response:
    """A page that gives the key to the console of this tab, and opens the console."""
    script = f'sessionStorage.setItem("sweephand-key", {json.dumps(key)}); location.replace("/console");'
    page = f"<!doctype html><title>Sweephand</title><script>{script}</script>"
    headers = {"content-type": "text/html; charset=utf-8", "cache-control": "no-store"}
    return Response(HTTPStatus.OK, headers, page.encode())


class Server(ThreadingTCPServer):
    """The server of a site. It has a thread for each connection. Port 0 stands for any free port.

    Raises OSError if the port cannot be used. Connections are answered when `site` is set.
    """

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False
    # A fan-out connects all at once. With the default of five, the kernel would refuse the rest.
    request_queue_size = 1_024

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.site: Site

    @property
    def url(self) -> str:
        """The address of the server."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print the error, unless the other end has closed the connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet
    disable_nagle_algorithm = True

    def answer(self) -> None:
        """Answer the request with what the site shows."""
        with suppress(_RefusedError):
            body = self._read_body()
            headers = {name.lower(): ", ".join(self.headers.get_all(name, ())) for name in self.headers}
            self._send(self.server.site.answer(self.command, self.path, headers, body))

    def _read_body(self) -> bytes:
        length = self.headers.get("content-length", "0")
        if "transfer-encoding" in self.headers or not length.isdecimal():
            self._refuse(HTTPStatus.LENGTH_REQUIRED, "Send the length of the body: content-length.\n")
        if int(length) > BODY_BYTES_MAX:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"Send at most {BODY_BYTES_MAX} bytes.\n")
        return self.rfile.read(int(length))

    def _refuse(self, status: HTTPStatus, text: str) -> None:
        """Answer without reading the body. The connection ends with that."""
        self.close_connection = True
        self._send(Response(status, {**_TEXT, "connection": "close"}, text.encode()))
        raise _RefusedError

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if response.status != HTTPStatus.NO_CONTENT:
            self.send_header("content-length", str(len(response.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - http.server names it
        """Nothing: the inbox shows the deliveries."""


class _RefusedError(Exception):
    """The request was answered before its body was read."""


for _method in _METHODS:
    setattr(_Handler, f"do_{_method}", _Handler.answer)
