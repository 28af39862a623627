"""The API of a world in memory behind a small HTTP server on loopback, as the gateway is before the real one.

A test can let the server answer by itself, or drop a connection, before or instead of the API.
"""

import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from tests.fakes.http_events import ADMIN, ONE_REQUEST, READER, WRITER, Client

from sweephand.base.instants import SECOND_MS
from sweephand.model.api_key import Caller

#: The callers by the keys that prove them.
CALLERS: Final[Mapping[str, Caller]] = {"sh_admin": ADMIN, "sh_writer": WRITER, "sh_reader": READER}


#: Every method that the gateway lets through. Others are refused with 501 by the server itself.
METHODS: Final = ("GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY")


@dataclass(frozen=True, slots=True)
class Fault:
    """What the server does with one request: an answer of its own, or none at all.

    `reaches_api`: the API gets the request before, and its answer is lost. Without a `status` the connection
    is closed without an answer.
    """

    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    reaches_api: bool = False


@dataclass
class Server:
    """The server of one API. `requests` are the method, path and headers of each request, in order."""

    api: Client
    url: str = ""
    faults: list[Fault] = field(default_factory=list)
    requests: list[tuple[str, str, Mapping[str, str]]] = field(default_factory=list)

    def calls(self) -> list[str]:
        """The method and the path of each request, without its query."""
        return [f"{method} {path.partition('?')[0]}" for method, path, _ in self.requests]


@contextmanager
def serving(api: Client) -> Iterator[Server]:
    """A server for the API as long as the context lasts."""
    server = Server(api)
    listener = _Listener(("127.0.0.1", 0), _handler(server))
    server.url = f"http://127.0.0.1:{listener.server_address[1]}"
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        thread.join()
        listener.server_close()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def handle_error(self, *address: Any) -> None:
        """A browser closes a connection when its page goes away. Every other error is shown."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(*address)


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # headers and body in one packet: else the client delays its acknowledgement by 40 ms

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0))) or None
            headers = {name.lower(): value for name, value in self.headers.items()}
            with ONE_REQUEST:
                server.requests.append((self.command, self.path, headers))
                fault = server.faults.pop(0) if server.faults else None
                answer = None
                if fault is None or fault.reaches_api:
                    answer = _ask(server.api, self.command, self.path, headers, body)
                if fault is not None:
                    answer = None if fault.status is None else (fault.status, fault.headers, fault.body)
            if answer is None:
                self.close_connection = True
                return
            status, sent, text = answer
            self.send_response(status)
            for name, value in sent.items():
                self.send_header(name, value)
            if status != HTTPStatus.NO_CONTENT:
                self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def date_time_string(self, timestamp: float | None = None) -> str:
            """The time of the world, as a stack answers with its own."""
            return super().date_time_string(timestamp or server.api.world.clock.time / SECOND_MS)

        def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - http.server names it
            pass

    for method in METHODS:
        setattr(Handler, f"do_{method}", Handler._answer)
    return Handler


def _ask(
    api: Client, method: str, path: str, headers: Mapping[str, str], body: bytes | None
) -> tuple[int, Mapping[str, str], bytes]:
    token = headers.get("authorization", "").removeprefix("Bearer ")
    if token and token not in CALLERS:
        return HTTPStatus.UNAUTHORIZED, {"content-type": "application/json"}, b'{"message":"Unauthorized"}'
    answer = api.send(method, path, text=body, headers=headers, caller=CALLERS.get(token))
    return answer.status, answer.headers, answer.content
