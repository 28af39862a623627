"""How connections to consumers are made, kept and given up: urllib3's, through the one door.

urllib3 keeps the pools and speaks HTTP; what is added is where a connection goes (egress.py), when it
ends (sockets.py), whether the request is still wanted once it stands, and what a kept connection that turns
out dead is called.
"""

import logging
import ssl
from collections import OrderedDict
from collections.abc import Callable
from http.client import RemoteDisconnected
from threading import Lock
from time import monotonic
from typing import Any, Final

from urllib3 import HTTPConnectionPool, HTTPResponse, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

from sweephand.delivery.egress import Egress
from sweephand.delivery.sockets import BoundedSocket
from sweephand.delivery.wanted import check
from sweephand.targets.url import Url

# Of an answer that it cannot parse, and of a pool that is full, urllib3 logs a warning with the whole URL
# and a traceback. The run says what came of the attempt; a consumer does not write our log, and a URL can
# hold a secret.
logging.getLogger("urllib3").setLevel(logging.ERROR)

#: A message batch is ten, and each is delivered in a thread of its own.
CONNECTIONS_PER_HOST_MAX: Final = 10

#: Hosts whose connections are kept; the one not asked for longest makes room.
HOSTS_MAX: Final = 64

#: A connection that was idle for longer is not used again: whatever stands between may have forgotten it.
IDLE_MAX_S: Final = 60


class StaleConnectionError(ConnectionError):
    """A kept connection was closed by its other end just before it was used again."""


class _Guarded(HTTPConnection):
    """A connection through the egress guard."""

    def __init__(self, host: str, port: int | None = None, *, egress: Egress, **options: Any) -> None:
        super().__init__(host, port, **options)
        self._egress = egress
        self._answered_at: float | None = None
        self._held: bytearray | None = None

    @property
    def is_connected(self) -> bool:
        """Whether it can be used (again)."""
        idle_s = monotonic() - (self._answered_at or monotonic())
        return idle_s <= IDLE_MAX_S and super().is_connected

    def _new_conn(self) -> BoundedSocket:
        self._answered_at = None
        timeout_s = self.timeout
        assert timeout_s is not None, "every request has a time-out"
        try:
            return self._egress.connect(self._dns_host, self.port, timeout_s)
        except TimeoutError as error:
            raise ConnectTimeoutError(self, "no connection in time") from error
        except OSError as error:
            # urllib3 lets a reset pass at this point, in case an answer can be read all the same.
            raise NewConnectionError(self, str(error)) from error

    def request(self, *args: Any, **options: Any) -> None:
        """Send the request, unless it is not wanted any more by the time there is a connection.

        Head and body leave together: a consumer that reads them at once answers sooner, and of ten threads
        each call to the system costs the others a turn.
        """
        if self.is_closed:
            self.connect()
        check()
        held = self._held = bytearray()
        try:
            super().request(*args, **options)
        finally:
            self._held = None
        super().send(held)

    def send(self, data: Any) -> None:
        """Send at once, or hold back while a request is being written."""
        if self._held is None:
            super().send(data)
        else:
            self._held += data

    def getresponse(self) -> HTTPResponse:  # type: ignore[override] # as urllib3 itself overrides it
        """The response's head; StaleConnectionError if the connection was kept and has come to its end."""
        try:
            response = super().getresponse()
        except (RemoteDisconnected, ConnectionError) as error:
            if self._answered_at is not None:
                raise StaleConnectionError(str(error)) from error
            raise
        self._answered_at = monotonic()
        return response


class _GuardedTls(_Guarded, HTTPSConnection):
    """The same over TLS: name and certificate are checked for the host, whatever the address."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Guarded


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _GuardedTls


class Pools:
    """The pools of connections, one for each scheme, host and port. Safe to use from many threads."""

    def __init__(self, egress: Egress, make_context: Callable[[], ssl.SSLContext]) -> None:
        self._egress = egress
        self._make_context = make_context
        self._context: ssl.SSLContext | None = None
        self._pools: OrderedDict[tuple[str, str, int], HTTPConnectionPool] = OrderedDict()
        self._lock = Lock()

    def pool(self, url: Url) -> HTTPConnectionPool:
        """The pool for that URL's host."""
        key = url.scheme, url.host, url.port
        with self._lock:
            pool = self._pools.get(key)
            if pool is None:
                pool = self._pools[key] = self._made(url)
                if len(self._pools) > HOSTS_MAX:
                    # It closes its idle connections when the last request lets go of it.
                    self._pools.popitem(last=False)
            self._pools.move_to_end(key)
        return pool

    def _made(self, url: Url) -> HTTPConnectionPool:
        size = CONNECTIONS_PER_HOST_MAX
        if url.scheme == "http":
            return _Pool(url.host, url.port, maxsize=size, egress=self._egress)
        if self._context is None:
            # Reading the system's authorities takes a moment, which the first `https` target pays for.
            self._context = self._make_context()
        return _TlsPool(url.host, url.port, maxsize=size, egress=self._egress, ssl_context=self._context)
