"""Clients of AWS that check, once they are connected, whether their request may still be sent.

Those of SQS have the rights of the stack. What assumes a role is in adapter.py, since functions without
targets of AWS do not need that.
"""

import ssl
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

import boto3
from botocore.awsrequest import (
    AWSHTTPConnection,
    AWSHTTPConnectionPool,
    AWSHTTPSConnection,
    AWSHTTPSConnectionPool,
)
from botocore.config import Config

from sweephand import __version__
from sweephand.base.concurrency import DELIVERIES_AT_ONCE, always
from sweephand.delivery.http.sockets import has_application_data

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient


#: A healthy service of AWS answers much faster. With two tries, one that cannot be reached fails after half a
#: minute, within the delivery function's time limit.
CONNECT_TIMEOUT_S = 3
READ_TIMEOUT_S = 10
TRIES_MAX = 2

#: How long one message takes at most. Each try connects, makes the TLS handshake and reads. Between two tries
#: the SDK waits up to a second. The rest is for resolving the name.
SEND_S_MAX = 35

#: As many as threads send at once: the deliveries, and the eight that send to the delivery queue.
CONNECTIONS_MAX = DELIVERIES_AT_ONCE + 8


#: Asked in the thread that sends the request, before a byte of the request leaves.
may_send: ContextVar[Callable[[], bool]] = ContextVar("may_send", default=always)

#: When the answer to this thread's request has to be there, on the monotonic clock in seconds.
_ends: ContextVar[float] = ContextVar("ends", default=float("inf"))


@contextmanager
def answered_by(ends: float) -> Iterator[None]:
    """Requests of this thread get their answers by that time of the monotonic clock, or fail."""
    token = _ends.set(ends)
    try:
        yield
    finally:
        _ends.reset(token)


class UnsentError(CancelledError):
    """Nothing was sent: the request may not be sent any more, or `__cause__` says why that is unknown.

    botocore passes a CancelledError on. It would take any other error for one of the connection, and try
    again.
    """


def _check() -> None:
    """Raises UnsentError if this thread's request may no longer be sent, or if that is unknown."""
    try:
        is_permitted = may_send.get()()
    except Exception as error:
        raise UnsentError from error
    if not is_permitted:
        raise UnsentError


class _CheckingConnection:
    """A connection that connects before each request, and then checks that the request may still be sent.

    Resolving a name and connecting can take seconds, and the SDK tries again by itself.
    """

    @property
    def is_connected(self) -> bool:
        """As for any connection. Messages of TLS itself do not count as its end."""
        base: Any = super()
        sock = vars(self).get("sock")
        return bool(base.is_connected) or (isinstance(sock, ssl.SSLSocket) and not has_application_data(sock))

    def request(self, *args: Any, **kwargs: Any) -> None:
        """As for any connection. UnsentError if nothing was sent."""
        connection: Any = self
        if connection.sock is None:
            connection.connect()
        _check()
        base: Any = super()
        base.request(*args, **kwargs)

    def getresponse(self) -> Any:
        """As for any connection, but it waits no longer than `answered_by` says."""
        connection: Any = self
        # A time-out of zero would mean "do not block".
        connection.timeout = min(connection.timeout, max(_ends.get() - monotonic(), 0.001))
        base: Any = super()
        return base.getresponse()


class _CheckingPool:
    """A pool that connects before each request, and then checks that the request may still be sent.

    A connection that checks by itself is closed if the request may not be sent. A connection that is back in
    the pool stays open: otherwise a job that is written every second would connect again for every attempt.
    Another thread may take that connection meanwhile, so the connection that is used checks again.
    """

    def urlopen(self, *args: Any, **kwargs: Any) -> Any:
        """As for any pool. UnsentError if nothing was sent."""
        pool: Any = self
        if pool.proxy is None:  # through a proxy, only urllib3 can connect
            connection = pool._get_conn()  # noqa: SLF001 - urllib3 has no public name for it
            try:
                if connection.sock is None:
                    connection.connect()
            finally:
                pool._put_conn(connection)  # noqa: SLF001 - the same
        _check()
        base: Any = super()
        return base.urlopen(*args, **kwargs)


# request() passes on whatever it is given, and the bases of AWSHTTPConnection differ among themselves.
class _HttpConnection(_CheckingConnection, AWSHTTPConnection):  # type: ignore[misc]
    """A plain connection, to a local engine."""


class _HttpsConnection(_CheckingConnection, AWSHTTPSConnection):  # type: ignore[misc] # the same
    """A connection over TLS."""


class _HttpConnections(_CheckingPool, AWSHTTPConnectionPool):
    ConnectionCls = _HttpConnection


class _HttpsConnections(_CheckingPool, AWSHTTPSConnectionPool):
    ConnectionCls = _HttpsConnection


def checked_client(
    service: str,
    region: str | None,
    *,
    session: boto3.Session | None = None,
    read_timeout_s: float = READ_TIMEOUT_S,
    tries_max: int = TRIES_MAX,
) -> Any:
    """A client of a service in a region; None is the region of the environment.

    It has the rights of the environment, or those of the session.
    """
    config = Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=read_timeout_s,
        retries={"mode": "standard", "total_max_attempts": tries_max},
        max_pool_connections=CONNECTIONS_MAX,
        user_agent=f"Sweephand/{__version__}",  # as in storage.connect: boto3's own takes a fifth of its time
    )
    make: Any = boto3.client if session is None else session.client
    client = make(service, region_name=region, config=config)
    # botocore has no hook between connecting and sending, and no argument that names its connections. The
    # tests of slow connections fail if these names ever change.
    pools = client._endpoint.http_session._pool_classes_by_scheme  # noqa: SLF001
    pools.update(http=_HttpConnections, https=_HttpsConnections)
    return client


def sqs_client(region: str | None) -> "SQSClient":
    """A client for the queues of a region. None is the region of the environment."""
    client: SQSClient = checked_client("sqs", region)
    return client


class SqsClients:
    """The clients by region. Safe to use from many threads, and so is each client (boto3's promise)."""

    def __init__(self, make: "Callable[[str | None], SQSClient]" = sqs_client) -> None:
        self._make = make
        self._clients: dict[str | None, SQSClient] = {}
        self._lock = Lock()

    def client(self, region: str | None) -> "SQSClient":
        """The client of a region. None is the region of the environment."""
        with self._lock:  # making a client is not safe in two threads at once
            if region not in self._clients:
                self._clients[region] = self._make(region)
            return self._clients[region]
