"""Hands a request to an application in this thread: WSGI (PEP 3333), ASGI 3.0, or a plain callable."""

import inspect
import io
import sys
from asyncio import Event
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias
from urllib.parse import unquote, urlsplit

from sweephand_engine.testing.loops import Loops

#: The number of arguments that each kind of application takes.
_WSGI: Final = 2
_ASGI: Final = 3

_SILENT: Final = "The application ended without an answer."

_PORTS: Final = {"http": 80, "https": 443}


class Request(NamedTuple):
    """A request by HTTP. The names of its headers are in lower case."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes


class Reply(NamedTuple):
    """An answer by HTTP. A handler may write the names of its headers in any case."""

    status: int = 204
    headers: Mapping[str, str] = {}
    body: bytes = b""


#: Answers a request. The second argument is what a plain callable gets.
Application: TypeAlias = Callable[[Request, Any], Reply]


def application(handler: Any, loops: Loops) -> Application:
    """How requests reach a handler. The number of its arguments says what it is.

    Raises TypeError for a handler of no known kind.
    """
    try:
        parameters = inspect.signature(handler).parameters.values()
    except (TypeError, ValueError):
        raise TypeError(
            f"{handler!r} is no consumer: give a WSGI or ASGI application, or a callable of one argument."
        ) from None
    count = sum(
        each.default is each.empty and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
        for each in parameters
    )
    if count == _ASGI:
        return lambda request, _: loops.run(_from_asgi(handler, request))
    if count == _WSGI:
        return lambda request, _: _from_wsgi(handler, request)
    if count > _ASGI:
        raise TypeError(f"{handler!r} takes {count} arguments: give a callable that takes a Delivery.")
    return partial(_from_callable, handler, loops)


def _from_callable(handler: Callable[[Any], Any], loops: Loops, _: Request, delivery: object) -> Reply:
    """The answer of a callable: None is 204, a number is a status, and a tuple has the fields of a Reply."""
    said = handler(delivery)
    if inspect.iscoroutine(said):
        said = loops.run(said)
    match said:
        case None:
            return Reply()
        case int():
            return Reply(said)
        case tuple():
            reply = Reply(*said)
            return reply._replace(headers={name.lower(): text for name, text in reply.headers.items()})
        case _:
            raise TypeError(f"A consumer answers None, a status or a Reply, not {said!r}.")


def _from_wsgi(handler: Callable[..., Any], request: Request) -> Reply:
    parts = urlsplit(request.url)
    environ = {
        "REQUEST_METHOD": request.method,
        "SCRIPT_NAME": "",
        # WSGI has the bytes of a path as Latin-1.
        "PATH_INFO": unquote(parts.path or "/", "latin-1"),
        "QUERY_STRING": parts.query,
        "SERVER_NAME": parts.hostname,
        "SERVER_PORT": str(parts.port or _PORTS[parts.scheme]),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": parts.netloc,
        "CONTENT_LENGTH": str(len(request.body)),
        "CONTENT_TYPE": request.headers.get("content-type", ""),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": parts.scheme,
        "wsgi.input": io.BytesIO(request.body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": False,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
    }
    environ |= {f"HTTP_{name.upper().replace('-', '_')}": text for name, text in request.headers.items()}
    heads: list[tuple[str, list[tuple[str, str]]]] = []
    written = io.BytesIO()

    def start_response(
        status: str, headers: list[tuple[str, str]], _: object = None
    ) -> Callable[[bytes], object]:
        heads.append((status, headers))
        return written.write

    chunks = handler(environ, start_response)
    try:
        for chunk in chunks:
            written.write(chunk)
    finally:
        if hasattr(chunks, "close"):
            chunks.close()
    if not heads:
        raise RuntimeError(_SILENT)
    status, headers = heads[-1]
    return Reply(int(status.split()[0]), {name.lower(): text for name, text in headers}, written.getvalue())


async def _from_asgi(handler: Callable[..., Any], request: Request) -> Reply:
    parts = urlsplit(request.url)
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": parts.scheme,
        "path": unquote(parts.path or "/"),
        "raw_path": (parts.path or "/").encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": [
            (b"host", parts.netloc.encode()),
            (b"content-length", str(len(request.body)).encode()),
            *((name.encode(), text.encode("latin-1")) for name, text in request.headers.items()),
        ],
        "client": ("127.0.0.1", 0),
        "server": (parts.hostname, parts.port or _PORTS[parts.scheme]),
        "state": {},
    }
    bodies = [request.body]
    is_answered = Event()
    heads: list[Mapping[str, Any]] = []
    written = io.BytesIO()

    async def receive() -> Mapping[str, Any]:
        if bodies:
            return {"type": "http.request", "body": bodies.pop(), "more_body": False}
        await is_answered.wait()
        return {"type": "http.disconnect"}

    async def send(message: Mapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            heads.append(message)
        elif message["type"] == "http.response.body":
            written.write(message.get("body", b""))
            if not message.get("more_body", False):
                is_answered.set()

    await handler(scope, receive, send)
    if not heads:
        raise RuntimeError(_SILENT)
    headers = heads[0].get("headers", ())
    return Reply(
        heads[0]["status"],
        {name.decode("latin-1").lower(): text.decode("latin-1") for name, text in headers},
        written.getvalue(),
    )
