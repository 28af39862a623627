"""Serves the applications of docs/receivers.md on loopback, each by a server that its users have."""

import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from socketserver import ThreadingMixIn
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import uvicorn
import werkzeug.serving
from tests.fakes import django_project
from tests.fakes.receivers_page import names_of

#: The frameworks that are served by HTTP.
SERVED: Final = ("FastAPI", "Flask", "Django")


@dataclass(frozen=True)
class Application:
    """A served application: where it receives, and the names of its module."""

    url: str
    names: dict[str, Any]

    @property
    def target(self) -> dict[str, str]:
        """The target of a job that the application receives."""
        return {"type": "http", "url": self.url}


@contextmanager
def served(framework: str, namespace: str) -> Iterator[Application]:
    """The application of a framework, which receives the deliveries of a namespace within the context."""
    names = names_of(framework, namespace)
    match framework:
        case "FastAPI":
            serving = _by_uvicorn(names["app"])
        case "Flask":
            serving = _by_wsgi(werkzeug.serving.make_server("127.0.0.1", 0, names["app"], threaded=True))
        case _:
            project = django_project.application(names["urlpatterns"])
            serving = _by_wsgi(make_server("127.0.0.1", 0, project, _Threads, _Silent))
    with serving as port:
        yield Application(f"http://127.0.0.1:{port}/sweephand", names)


class _Threads(ThreadingMixIn, WSGIServer):
    """As Django's own server, which has a thread for each connection."""

    daemon_threads = True


class _Silent(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """Nothing: a test reads the runs."""


@contextmanager
def _by_wsgi(server: Any) -> Iterator[int]:
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


@contextmanager
def _by_uvicorn(app: Any) -> Iterator[int]:
    server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
    with closing(socket.create_server(("127.0.0.1", 0))) as listening:
        # Requests that come before the server has begun wait in the socket.
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join()
