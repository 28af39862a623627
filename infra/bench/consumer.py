"""A consumer on loopback that only notes when each request came: far quicker than what it measures."""

import asyncio
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Final, Self

_ANSWER: Final = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Arrival:
    """One delivery: which trigger of which job, when it was due and when it came, in epoch ms."""

    trigger_id: str
    namespace: str
    job: str
    sequence: int
    due_at: int
    arrived_at: int


class Consumer:
    """A server on a free port of 127.0.0.1. Enter it to start it; leaving it ends it."""

    def __init__(self) -> None:
        self._came: list[tuple[int, bytes]] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def url(self) -> str:
        """Where it listens."""
        assert self._server is not None, "it has been entered"
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/"

    def arrivals(self) -> Sequence[Arrival]:
        """What came so far, oldest first."""
        return [_arrival(arrived_at, head) for arrived_at, head in self._came[:]]

    async def _listen(self) -> asyncio.Server:
        loop = asyncio.get_running_loop()
        return await loop.create_server(lambda: _Connection(self._came), "127.0.0.1", 0, backlog=1024)

    async def _close(self) -> None:
        assert self._server is not None, "it has been entered"
        self._server.close()


class _Connection(asyncio.Protocol):
    """One connection, whose requests come one after the other, as its client waits for each answer."""

    def __init__(self, came: list[tuple[int, bytes]]) -> None:
        self._came = came
        self._transport: asyncio.WriteTransport | None = None
        self._read = b""
        self._began_at = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if not self._read:
            self._began_at = time.time_ns() // 1_000_000
        self._read += data
        head, end, body = self._read.partition(b"\r\n\r\n")
        if not end or len(body) < _length(head):
            return
        self._came.append((self._began_at, head))
        self._read = b""
        assert self._transport is not None
        self._transport.write(_ANSWER)


def _length(head: bytes) -> int:
    return int(_headers(head).get("content-length", "0"))


def _headers(head: bytes) -> dict[str, str]:
    lines = head.decode("latin-1").split("\r\n")[1:]
    pairs = (line.partition(":") for line in lines)
    return {name.strip().lower(): value.strip() for name, _, value in pairs}


def _arrival(arrived_at: int, head: bytes) -> Arrival:
    headers = _headers(head)
    return Arrival(
        trigger_id=headers["webhook-id"],
        namespace=headers["sweephand-namespace"],
        job=headers["sweephand-job"],
        sequence=int(headers["sweephand-sequence"]),
        due_at=round(datetime.fromisoformat(headers["sweephand-due"]).timestamp() * 1000),
        arrived_at=arrived_at,
    )
