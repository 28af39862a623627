"""A consumer on loopback that records when each request came, and how long it was open.

It is far faster than what it measures.

python -m infra.bench.consumer          # in a process of its own (elsewhere()): prints its URL
"""

import asyncio
import re
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final, Self

_ANSWER: Final = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
_REFUSAL: Final = b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n"
_LENGTH: Final = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)

#: RSA with 2048 bits is the kind of key that many consumers have.
_CERTIFY: Final = (
    "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=bench -addext subjectAltName=IP:127.0.0.1"
)


@dataclass(frozen=True, slots=True)
class Arrival:
    """One delivery. It names the job and the trigger, and says when it was due and when it came, in epoch ms.

    A trigger of a batch has its index, and `due_at` is that of its occurrence.
    """

    job: str
    sequence: int
    due_at: int
    arrived_at: int
    index: int = 0
    attempt: int = 1


@dataclass(slots=True)
class Request:
    """A request that has come as a whole, with when it began and was answered, in epoch ns.

    Without an answer `until_ns` is None. A connection that is lost ends its request too. `size` is the number
    of its bytes, head and body.
    """

    from_ns: int
    until_ns: int | None = None
    head: bytes = b""
    size: int = 0

    def arrival(self) -> Arrival:
        """The delivery that it is."""
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        return Arrival(
            job=headers["sweephand-job"],
            sequence=int(headers["sweephand-sequence"]),
            due_at=round(datetime.fromisoformat(headers["sweephand-due"]).timestamp() * 1000),
            arrived_at=self.from_ns // 1_000_000,
            index=int(headers.get("sweephand-batch-index", 0)),
            attempt=int(headers.get("sweephand-attempt", 1)),
        )


class Consumer:
    """A server on a free port of 127.0.0.1. Entering the context starts it, and leaving ends it.

    It answers after `answer_s` seconds. While `refusing` is set, it answers 503 and records nothing. It fails
    the first `failures` attempts of each trigger. With the file of a certificate and its key, it accepts only
    TLS.
    """

    def __init__(self, answer_s: float = 0, certificate: Path | None = None, failures: int = 0) -> None:
        self._answer_s = answer_s
        self._failures = failures
        self._tls: ssl.SSLContext | None = None
        if certificate is not None:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(certificate)
        self.refusing = threading.Event()
        self._came: list[Request] = []
        self._transports: set[asyncio.WriteTransport] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        listening = self._loop.create_server(
            lambda: _Connection(self._came, self._answer_s, self.refusing, self._failures, self._transports),
            "127.0.0.1",
            0,
            backlog=1024,
            ssl=self._tls,
        )
        self._server = asyncio.run_coroutine_threadsafe(listening, self._loop).result()
        scheme, port = "http" if self._tls is None else "https", self._server.sockets[0].getsockname()[1]
        self.url = f"{scheme}://127.0.0.1:{port}/"
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _close(self) -> None:
        self._server.close()
        for each in self._transports.copy():
            each.abort()
        await asyncio.sleep(0)  # so that the connections learn of it

    def requests(self) -> Sequence[Request]:
        """The requests so far, oldest first."""
        return self._came[:]

    def arrivals(self) -> Sequence[Arrival]:
        """The deliveries so far, oldest first."""
        return [each.arrival() for each in self.requests()]


class _Connection(asyncio.Protocol):
    """One connection. Its requests come one after the other, since its client waits for each answer."""

    def __init__(
        self,
        came: list[Request],
        answer_s: float,
        refusing: threading.Event,
        failures: int = 0,
        transports: set[asyncio.WriteTransport] | None = None,
    ) -> None:
        self._came = came
        self._refusing = refusing
        self._answer_s = answer_s
        self._failures = failures
        self._transports = set() if transports is None else transports
        self._transport: asyncio.WriteTransport | None = None
        self._read = b""
        self._began_ns = 0
        self._open: Request | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport
        self._transports.add(transport)

    def data_received(self, data: bytes) -> None:
        if not self._read:
            self._began_ns = time.time_ns()
        self._read += data
        head, end, body = self._read.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if not end or (length is not None and len(body) < int(length[1])):
            return
        self._open = Request(self._began_ns, head=head, size=len(self._read))
        self._read = b""
        if self._refusing.is_set():
            self._answer(_REFUSAL)
            return
        self._came.append(self._open)
        is_failure = self._failures > 0 and self._open.arrival().attempt <= self._failures
        answer = _REFUSAL if is_failure else _ANSWER
        if self._answer_s:
            asyncio.get_running_loop().call_later(self._answer_s, self._answer, answer)
        else:
            self._answer(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        if self._transport is not None:
            self._transports.discard(self._transport)
        self._end()

    def _answer(self, answer: bytes) -> None:
        assert self._transport is not None
        # The client may send its next request as soon as it has the answer. So this one ends before.
        self._end()
        self._transport.write(answer)

    def _end(self) -> None:
        if self._open is not None:
            self._open.until_ns = time.time_ns()
            self._open = None


def write_certificate(folder: Path) -> Path:
    """Write a self-signed certificate for 127.0.0.1 and its key, for a day, and return their file."""
    file = folder / "consumer.pem"
    # Into one file, openssl writes first the key and then the certificate.
    subprocess.run([*_CERTIFY.split(), "-keyout", file, "-out", file], check=True, capture_output=True)
    return file


@contextmanager
def elsewhere(certificate: Path | None = None) -> Iterator[str]:
    """The URL of a consumer in a process of its own, so that its work is not measured as the caller's."""
    command = [sys.executable, "-m", __name__, *([] if certificate is None else [str(certificate)])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None, "it was asked for"
        assert process.stdout is not None, "it was asked for"
        try:
            yield process.stdout.readline().strip()
        finally:
            process.stdin.close()  # this ends the process


def _main() -> None:
    with Consumer(certificate=Path(sys.argv[1]) if sys.argv[1:] else None) as consumer:
        print(consumer.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    _main()
