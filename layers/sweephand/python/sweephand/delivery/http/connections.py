"""How connections to consumers are made, kept, and given up."""

import select
import ssl
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from time import monotonic, time
from typing import Final

from sweephand.delivery.http.egress import Egress
from sweephand.delivery.http.sockets import BoundedSocket, BoundedTlsSocket
from sweephand.targets.url import Url

#: A message batch is ten, and each is delivered in a thread of its own.
CONNECTIONS_PER_HOST_MAX: Final = 10

#: Hosts whose connections are kept; the one not asked for longest makes room.
HOSTS_MAX: Final = 64

#: A connection that was idle for longer is not used again: whatever stands between may have forgotten it.
IDLE_MAX_S: Final = 60


class NoConnectionError(Exception):
    """Nobody answers at the consumer's addresses."""


class Connection:
    """One connection to a consumer, for one thread at a time."""

    def __init__(self, sock: BoundedSocket | BoundedTlsSocket) -> None:
        self.sock = sock
        self.was_kept = False
        self._idle_from = monotonic(), time()
        self._arrivals = select.poll()
        self._arrivals.register(sock, select.POLLIN)

    def rest(self) -> None:
        """Note that it is idle from now on."""
        self.was_kept = True
        self._idle_from = monotonic(), time()

    @property
    def is_usable(self) -> bool:
        """Whether it can be used again: not idle for too long, and nothing came unasked, its end for one."""
        # Lambda freezes a process between two calls, and reports differ on whether that stops the one clock;
        # the other can be set. A connection that is older by either has been forgotten by somebody.
        by_the_one, by_the_other = self._idle_from
        idle_s = max(monotonic() - by_the_one, time() - by_the_other)
        return idle_s <= IDLE_MAX_S and not (self._arrivals.poll(0) and self.sock.has_come())

    def close(self) -> None:
        """End it."""
        self.sock.close()


class Connections:
    """Connections through the egress guard, kept for scheme, host and port. Safe to use from many threads."""

    def __init__(self, egress: Egress, make_context: Callable[[], ssl.SSLContext]) -> None:
        self._egress = egress
        self._make_context = make_context
        self._context: ssl.SSLContext | None = None
        self._kept: OrderedDict[tuple[str, str, int], list[Connection]] = OrderedDict()
        self._lock = Lock()

    def made(self, url: Url, timeout_s: float) -> Connection:
        """A new connection, over TLS for `https`: name and certificate are checked for the host.

        Raises EgressError if there is no address that may be connected to, NoConnectionError if nobody
        answers there, TimeoutError when the time is up, and ssl.SSLError or OSError if TLS fails.
        """
        ends = monotonic() + timeout_s
        try:
            sock: BoundedSocket | BoundedTlsSocket = self._egress.connect(url.host, url.port, timeout_s)
        except TimeoutError:
            raise
        except OSError as error:
            raise NoConnectionError(str(error)) from error
        if url.scheme == "https":
            try:
                # The handshake's time-out is what is left.
                sock.settimeout(max(ends - monotonic(), 0.001))
                secure = self._tls().wrap_socket(sock, server_hostname=url.host.rstrip("."))
                assert isinstance(secure, BoundedTlsSocket), "as tls_context has it"
                sock = secure
            except BaseException:
                sock.close()
                raise
        return Connection(sock)

    def kept(self, url: Url) -> Connection | None:
        """A connection that was kept for that host and can be used again, if there is one."""
        while True:
            with self._lock:
                idle = self._kept.get(_place(url))
                if not idle:
                    return None
                connection = idle.pop()
            if connection.is_usable:
                return connection
            connection.close()

    def keep(self, url: Url, connection: Connection) -> None:
        """Keep a connection whose last answer has been read to its end, or over which nothing was sent."""
        connection.rest()
        place = _place(url)
        given_up: list[Connection] = []
        with self._lock:
            idle = self._kept.setdefault(place, [])
            idle.append(connection)
            self._kept.move_to_end(place)
            if len(idle) > CONNECTIONS_PER_HOST_MAX:
                given_up.append(idle.pop(0))
            if len(self._kept) > HOSTS_MAX:
                given_up += self._kept.popitem(last=False)[1]
        for each in given_up:
            each.close()

    def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            # Reading the system's authorities takes a moment, which the first `https` target pays for.
            self._context = self._make_context()
        return self._context


def _place(url: Url) -> tuple[str, str, int]:
    return url.scheme, url.host, url.port
