"""A consumer on the loopback whose test decides every byte of its answers, and the requests that it gets."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import cycle, islice
from time import monotonic
from types import TracebackType
from typing import Any, Self

from sweephand.base.instants import INSTANT_MAX
from sweephand.base.limits import CHAIN_LENGTH_MAX, REPEATS_MAX
from sweephand.model.attempt import Attempt
from sweephand.model.job import JobKey
from sweephand.model.run_id import Demand
from sweephand.model.trace import Origin
from sweephand.model.trigger import Trigger

#: How long a consumer misbehaves at most. If the code under test waits for it, the test then fails and does
#: not hang. A busy machine takes seconds for what an idle one does at once.
PATIENCE_S = 30

SECRET = "whsec_" + "c3dlZXBoYW5kIHNpZ25zIGl0cyBkZWxpdmVyaWVz"


@contextmanager
def in_time() -> Iterator[None]:
    """Assert that the code within does not wait until a consumer ends its misbehaviour."""
    began = monotonic()
    yield
    assert monotonic() - began < PATIENCE_S / 2


def attempt_of(
    spec: Mapping[str, Any],
    body: bytes = b'{"task":"db-backup"}',
    secrets: tuple[str, ...] = (SECRET,),
    key: JobKey = JobKey("team", "nightly"),  # noqa: B008 - a constant
) -> Attempt:
    """An attempt at a trigger due at 2026-11-21T12:00:00.250Z, made 50 ms later."""
    trigger = Trigger(key, "u" * 16, "r1", due_at=1_795_262_400_250, sequence=7, armed_at=0, index=3)
    return Attempt(trigger, 2, spec, body, secrets, sent_at=1_795_262_400_300)


#: The longest labels, also as JSON in ASCII.
LABELS = {f"{number:02d}" + "n" * 126: "\U0001f600" * 4 + "v" * 124 for number in range(20)}

#: The context of an attempt that links to the request which asked for it.
ORIGIN = Origin(f"00-{'1' * 32}-{'2' * 16}-01")
LINKED = {
    "traceparent": "00-77782806b12c71aac911bf4bac8df275-4e014b04b94907e1-01",
    "traceOrigin": ORIGIN.traceparent,
}


def longest_attempt(spec: Mapping[str, Any], body: bytes) -> Attempt:
    """An attempt whose names and labels take as many bytes as any can."""
    attempt = attempt_of(spec, body, key=JobKey("n" * 128, "j" * 128))
    trigger = attempt.trigger._replace(
        due_at=INSTANT_MAX,
        sequence=REPEATS_MAX,
        index=10**7,
        demand=Demand("backfill", "d" * 128, CHAIN_LENGTH_MAX),
    )
    return attempt._replace(
        trigger=trigger,
        number=10**6,
        run_token="shr_" + "t" * 64,
        ended_after=10**6,
        labels=LABELS,
        origin=ORIGIN,
    )


@dataclass(frozen=True)
class Request:
    """A request as the consumer received it. The names of headers are in lower case."""

    line: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Connection:
    """An accepted connection. A behaviour reads from it and writes to it."""

    sock: socket.socket
    number: int
    closing: threading.Event
    requests: list[Request]
    _buffer: bytearray = field(default_factory=bytearray)

    def request(self) -> Request | None:
        """The next whole request. None if the other end has closed the connection."""
        while b"\r\n\r\n" not in self._buffer:
            if not self._more():
                return None
        head, _, rest = bytes(self._buffer).partition(b"\r\n\r\n")
        line, *lines = head.decode("latin-1").split("\r\n")
        pairs = (each.partition(":") for each in lines)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        length = int(headers.get("content-length", "0"))
        self._buffer = bytearray(rest)
        while len(self._buffer) < length:
            if not self._more():
                return None
        request = Request(line, headers, bytes(self._buffer[:length]))
        del self._buffer[:length]
        self.requests.append(request)
        return request

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def answer(self, status: str = "200 OK", body: bytes = b"", *headers: str) -> None:
        """Send an answer with its length, so that the connection can be used again."""
        lines = (f"HTTP/1.1 {status}", f"content-length: {len(body)}", *headers)
        self.send("\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    def hang(self) -> None:
        """Neither read nor write until the test ends, or until PATIENCE_S is over."""
        self.closing.wait(PATIENCE_S)

    def trickle(self, data: bytes) -> None:
        """Send the bytes again and again, one every 10 ms, until the test ends or PATIENCE_S is over."""
        for byte in islice(cycle(data), round(PATIENCE_S / 0.01)):
            if self.closing.wait(0.01):
                return
            self.send(bytes([byte]))

    def reset(self) -> None:
        """Close the connection by a reset (RST), not in order (FIN)."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        self.sock.close()

    def _more(self) -> bool:
        data = self.sock.recv(65_536)
        self._buffer += data
        return bool(data)


def obliging(connection: Connection) -> None:
    """The behaviour that answers every request with 200 and `ok`."""
    while connection.request():
        connection.answer(body=b"ok")


def forgetful(connection: Connection) -> None:
    """Answer once, read the next request, and hang up on it."""
    connection.request()
    connection.answer()
    if connection.request():
        connection.reset()


class Consumer:
    """A server that runs a behaviour for each connection, in a thread of its own."""

    def __init__(
        self,
        behave: Callable[[Connection], None] = obliging,
        *,
        tls: ssl.SSLContext | None = None,
        receive_buffer: int | None = None,
    ) -> None:
        self.requests: list[Request] = []
        self.accepted = 0
        self._behave = behave
        self._tls = tls
        self._closing = threading.Event()
        self._threads: list[threading.Thread] = []
        self._sockets: list[socket.socket] = []
        self._listener = socket.socket()
        if receive_buffer is not None:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(64)
        self.port: int = self._listener.getsockname()[1]

    @property
    def url(self) -> str:
        scheme = "https" if self._tls else "http"
        return f"{scheme}://127.0.0.1:{self.port}/hook?from=test"

    def spec(self, **fields: Any) -> dict[str, Any]:
        """A target that delivers to this consumer."""
        return {"type": "http", "url": self.url, **fields}

    def __enter__(self) -> Self:
        self._begin(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        _shut_down(self._listener)
        accepting, *_ = self._threads
        # A connection may just have been accepted, and is known once this thread has ended.
        accepting.join(PATIENCE_S)
        for sock in self._sockets:
            _shut_down(sock)
        for thread in self._threads:
            thread.join(PATIENCE_S)
            assert not thread.is_alive(), "the behaviour still runs after its test"
        self._listener.close()

    def _begin(self, task: Callable[[], None]) -> None:
        thread = threading.Thread(target=task, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self.accepted += 1
            self._sockets.append(sock)
            number = self.accepted
            self._begin(lambda sock=sock, number=number: self._serve(sock, number))  # type: ignore[misc]

    def _serve(self, sock: socket.socket, number: int) -> None:
        # A test may make the other end break the connection, so an OSError is no failure here.
        with suppress(OSError), sock:
            if self._tls is not None:
                with self._tls.wrap_socket(sock, server_side=True) as secure:
                    self._sockets.append(secure)
                    if self._closing.is_set():
                        return
                    self._behave(Connection(secure, number, self._closing, self.requests))
            else:
                self._behave(Connection(sock, number, self._closing, self.requests))


def _shut_down(sock: socket.socket) -> None:
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)
