"""Making connections to consumers, keeping them for the next request, and closing them."""

import select
import ssl
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from time import monotonic, time
from typing import Final, NamedTuple

from sweephand.base.concurrency import DELIVERIES_AT_ONCE
from sweephand.delivery.http.egress import Egress
from sweephand.delivery.http.sockets import BoundedSocket, BoundedTlsSocket
from sweephand.targets.destinations import Destinations

#: All triggers that a function delivers at once may go to one host.
CONNECTIONS_PER_HOST_MAX: Final = DELIVERIES_AT_ONCE

#: How many hosts idle connections are kept for, and how many in all. The host that was used least recently
#: makes room. A function of Lambda has 1,024 file descriptors (AWS's quota).
HOSTS_MAX: Final = 64
IDLE_CONNECTIONS_MAX: Final = 640

#: After this time, a load balancer or firewall on the way may have dropped the connection.
IDLE_MAX_S: Final = 60

#: Consumers keep an idle connection for longer than this.
IDLE_SURELY_OPEN_S: Final = 1


class NoConnectionError(Exception):
    """No connection could be made to any of the consumer's addresses."""


class Peer(NamedTuple):
    """The other end of a connection: a port of a host, at an address that all of the lists allow."""

    scheme: str
    host: str
    port: int
    lists: tuple[Destinations, ...] = ()


class Connection:
    """One connection to a consumer. One thread at a time may use it."""

    def __init__(self, peer: Peer, sock: BoundedSocket | BoundedTlsSocket) -> None:
        self.peer = peer
        self.sock = sock
        self.was_idle = False
        self._idle_from = monotonic(), time()
        self._arrivals = select.poll()
        self._arrivals.register(sock, select.POLLIN)

    def mark_idle(self) -> None:
        """Note that the connection is idle from now on."""
        self.was_idle = True
        self._idle_from = monotonic(), time()

    def is_usable(self, idle_max_s: int) -> bool:
        """Whether an idle connection can be used again.

        It can, unless it was idle for too long, or the consumer has closed it or sent data that no request
        asked for.
        """
        # Lambda freezes a process between two invocations, and reports differ on whether the monotonic clock
        # stops then. The wall clock can be set. So either clock alone can make a connection too old.
        monotonic_from, wall_from = self._idle_from
        idle_s = max(monotonic() - monotonic_from, time() - wall_from)
        return idle_s <= idle_max_s and not (self._arrivals.poll(0) and self.sock.has_unread_data())

    def close(self) -> None:
        """Close the connection."""
        self.sock.close()


class Connections:
    """Connections through the egress guard. Safe to use from many threads.

    They are kept by peer. So a connection that one namespace's lists allowed serves no namespace with others.
    """

    def __init__(self, egress: Egress, make_context: Callable[[], ssl.SSLContext]) -> None:
        self._egress = egress
        self._make_context = make_context
        self._context: ssl.SSLContext | None = None
        self._kept: OrderedDict[Peer, list[Connection]] = OrderedDict()
        self._lock = Lock()

    def connect(self, peer: Peer, timeout_s: float, namespace: str) -> Connection:
        """A new connection for a target of that namespace.

        For `https` it uses TLS, and checks the certificate and its name.

        Raises EgressError if there is no permitted address, and NoConnectionError if no address accepts a
        connection. Raises TimeoutError when the time is up, and ssl.SSLError or OSError if TLS fails.
        """
        ends = monotonic() + timeout_s
        try:
            sock: BoundedSocket | BoundedTlsSocket = self._egress.connect(
                peer.host, peer.port, timeout_s, peer.lists, namespace=namespace
            )
        except TimeoutError:
            raise
        except OSError as error:
            raise NoConnectionError(str(error)) from error
        if peer.scheme == "https":
            try:
                # The handshake may take the time that is left.
                sock.settimeout(max(ends - monotonic(), 0.001))
                secure = self._tls().wrap_socket(sock, server_hostname=peer.host.rstrip("."))
                assert isinstance(secure, BoundedTlsSocket), "as tls_context has it"
                sock = secure
            except BaseException:
                sock.close()
                raise
        return Connection(peer, sock)

    def take_idle(self, peer: Peer, *, is_surely_open: bool = False) -> Connection | None:
        """An idle connection to that peer that can be used again; None if there is none.

        If it must be `is_surely_open`, it was used a moment ago. Another one may be closed at its other end,
        and a function that was frozen may not know that yet.
        """
        idle_max_s = IDLE_SURELY_OPEN_S if is_surely_open else IDLE_MAX_S
        while True:
            with self._lock:
                idle = self._kept.get(peer)
                if not idle:
                    return None
                connection = idle.pop()
            if connection.is_usable(idle_max_s):
                return connection
            connection.close()

    def put_idle(self, connection: Connection) -> None:
        """Keep a connection over which nothing was sent, or whose last answer was read completely."""
        connection.mark_idle()
        given_up: list[Connection] = []
        with self._lock:
            idle = self._kept.setdefault(connection.peer, [])
            idle.append(connection)
            self._kept.move_to_end(connection.peer)
            if len(idle) > CONNECTIONS_PER_HOST_MAX:
                given_up.append(idle.pop(0))
            idle_connections = sum(map(len, self._kept.values()))
            if len(self._kept) > HOSTS_MAX or idle_connections > IDLE_CONNECTIONS_MAX:
                given_up += self._kept.popitem(last=False)[1]
        for each in given_up:
            each.close()

    def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            # Reading the system's certificate authorities takes time, so only the first `https` target causes
            # it.
            self._context = self._make_context()
        return self._context
