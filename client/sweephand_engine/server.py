"""An HTTP server on loopback."""

import sys
from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any, Final, Protocol

from sweephand_engine.gateway import Response

#: The largest body that API Gateway takes ("Quotas for HTTP APIs").
BODY_BYTES_MAX: Final = 10 * 1_024 * 1_024

#: Requests with other methods are refused by the server itself.
_METHODS: Final = ("GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "OPTIONS", "QUERY")

TEXT: Final = {"content-type": "text/plain; charset=utf-8"}


class Site(Protocol):
    """What a server shows."""

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response:
        """The answer to a request. The names of its headers are in lower case."""
        ...


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
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise ConnectionError("The other end has closed the connection within the body.")
        return body

    def _refuse(self, status: HTTPStatus, text: str) -> None:
        """Answer without reading the body. The connection ends with that."""
        self.close_connection = True
        self._send(Response(status, {**TEXT, "connection": "close"}, text.encode()))
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
