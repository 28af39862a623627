"""A consumer on loopback that checks every signature, keeps each delivery, and answers as it is told to.

The end-to-end tests let it fail, hang and redirect.
"""

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

from sweephand_engine.inbox import verifies


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one request, after `hang_s` seconds."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    hang_s: float = 0


@dataclass(frozen=True, slots=True)
class Delivery:
    """One request that came: when (epoch ms), its content, and whether its signature is valid."""

    arrived_at: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    is_signed: bool
    answer: Answer

    @property
    def trigger_id(self) -> str:
        """The id that all deliveries of one trigger share."""
        return self.headers.get("webhook-id", "")


class Receiver:
    """A server on a port of 127.0.0.1. Enter it to start it; leaving it ends it and what still hangs.

    `secrets` returns the signing secrets (`whsec_…`) of a namespace. The receiver asks for them at each
    request, since they can be rotated.
    """

    def __init__(self, secrets: Callable[[str], Iterable[str]] = lambda _: ()) -> None:
        self._secrets = secrets
        self._came = threading.Condition()
        self._deliveries: list[Delivery] = []
        self._answers: dict[str, deque[Answer]] = defaultdict(deque)
        self._ended = threading.Event()
        self._server = _server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def url(self, path: str) -> str:
        """The absolute URL of a path, which begins with a slash."""
        return f"http://127.0.0.1:{self._server.server_port}{path}"

    def answer(self, path: str, *answers: Answer) -> None:
        """Answer the next requests to this path so, one each. Later requests are answered 200 again."""
        with self._came:
            self._answers[path].extend(answers)

    def deliveries(self, path: str | None = None) -> Sequence[Delivery]:
        """The deliveries so far, oldest first: of one path, or of all."""
        with self._came:
            return [one for one in self._deliveries if path in (None, one.path)]

    def wait(self, path: str, count: int, within_s: float) -> Sequence[Delivery]:
        """The deliveries to the path, as soon as there are `count` of them.

        TimeoutError if that takes too long.
        """
        deadline = time.monotonic() + within_s
        with self._came:
            while len(came := [one for one in self._deliveries if one.path == path]) < count:
                if not self._came.wait(deadline - time.monotonic()):
                    raise TimeoutError(f"{path}: {len(came)} of {count} deliveries came within {within_s} s")
            return came

    def take(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes, arrived_at: int
    ) -> Answer:
        """Keep a request and return its answer. The server's threads call it."""
        secrets = self._secrets(headers.get("sweephand-namespace", ""))
        is_signed = any(verifies(secret, headers, body) for secret in secrets)
        with self._came:
            answers = self._answers[path]
            answer = answers.popleft() if answers else Answer()
            delivery = Delivery(arrived_at, method, path, headers, body, is_signed, answer)
            self._deliveries.append(delivery)
            self._came.notify_all()
        self._ended.wait(answer.hang_s)
        return answer


def _server(receiver: Receiver) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        # Connections stay open, as with real consumers.
        protocol_version = "HTTP/1.1"

        def _take(self) -> None:
            arrived_at = time.time_ns() // 1_000_000
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = receiver.take(self.command, self.path, headers, body, arrived_at)
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _take  # noqa: N815 - http.server's names

        def log_message(self, *_: object) -> None:
            """Nothing: the receiver's owner prints the deliveries."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        # A fan-out connects all at once. With the default of five, the kernel would refuse the rest.
        request_queue_size = 1024

        def handle_error(self, *_: object) -> None:
            """Nothing: some tests let a caller close its connection early."""

    return Server(("127.0.0.1", 0), Handler)
