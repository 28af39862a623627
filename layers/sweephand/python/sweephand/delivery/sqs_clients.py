"""Which SQS client talks to a queue: one of the queue's own region, made when first asked for."""

import ssl
from concurrent.futures import CancelledError
from threading import Lock
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
from sweephand.delivery.http.sockets import has_application_data
from sweephand.delivery.preflight import check

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_sqs import SQSClient

#: The slowest answer of a healthy SQS is far below; with the retries of an attempt that costs two tries,
#: a queue out of reach is given up after half a minute, within the delivery function's time.
CONNECT_TIMEOUT_S = 3
READ_TIMEOUT_S = 10
TRIES_MAX = 2

#: One message takes at most so long: each try connects, shakes hands for TLS and reads, and the SDK waits up
#: to a second between two tries. The rest is for looking up the name.
SEND_S_MAX = 35

#: As many as threads send at once (queue.py, and ten deliveries).
CONNECTIONS_MAX = 20


class UnsentError(CancelledError):
    """Nothing was sent: `__cause__` is what wanted.check raised.

    botocore lets a CancelledError through. Any other error here would look like one of the connection, and
    the SDK would try again.
    """


def _ask() -> None:
    """UnsentError if the request of this thread is not wanted any more, or nobody knows."""
    try:
        check()
    except Exception as error:
        raise UnsentError from error


class _Asking:
    """What both kinds of connection do before each request: connect, and then ask whether it is wanted.

    Looking up a name and connecting can take seconds, and the SDK tries again by itself.
    """

    @property
    def is_connected(self) -> bool:
        """As of any connection; what TLS says for itself after connecting is no end of it."""
        base: Any = super()
        sock = vars(self).get("sock")
        return bool(base.is_connected) or (isinstance(sock, ssl.SSLSocket) and not has_application_data(sock))

    def request(self, *args: Any, **kwargs: Any) -> None:
        """As of any connection; UnsentError if nothing was sent."""
        connection: Any = self
        if connection.sock is None:
            connection.connect()
        _ask()
        base: Any = super()
        base.request(*args, **kwargs)


class _Keeping:
    """What both pools do before each request: see to a connection that stands, and then ask.

    A connection that asks by itself is closed if the answer is no. One that waits in the pool is kept: a job
    that is written every second would otherwise never be done with connecting. Another thread may take that
    connection, so the one that is used asks again.
    """

    def urlopen(self, *args: Any, **kwargs: Any) -> Any:
        """As of any pool; UnsentError if nothing was sent."""
        pool: Any = self
        if pool.proxy is None:  # urllib3 alone knows how to reach a server through one
            connection = pool._get_conn()  # noqa: SLF001 - urllib3 has no other name for it
            try:
                if connection.sock is None:
                    connection.connect()
            finally:
                pool._put_conn(connection)  # noqa: SLF001 - nor for this
        _ask()
        base: Any = super()
        return base.urlopen(*args, **kwargs)


class _HttpConnection(_Asking, AWSHTTPConnection):  # type: ignore[misc] # as of its bases among themselves
    """A plain connection, to a local engine."""


class _HttpsConnection(_Asking, AWSHTTPSConnection):  # type: ignore[misc] # the same
    """A connection over TLS."""


class _HttpConnections(_Keeping, AWSHTTPConnectionPool):
    ConnectionCls = _HttpConnection


class _HttpsConnections(_Keeping, AWSHTTPSConnectionPool):
    ConnectionCls = _HttpsConnection


def sqs_client(region: str | None) -> "SQSClient":
    """A client for the queues of a region (None: the environment's)."""
    config = Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=READ_TIMEOUT_S,
        retries={"mode": "standard", "total_max_attempts": TRIES_MAX},
        max_pool_connections=CONNECTIONS_MAX,
        user_agent=f"Sweephand/{__version__}",  # as in storage.connect: boto3's own takes a fifth of its time
    )
    client = boto3.client("sqs", region_name=region, config=config)
    # botocore has no hook between connecting and sending, nor an argument that names its connections. The
    # tests of slow connections fail if these names ever change.
    session: Any = client._endpoint.http_session  # type: ignore[attr-defined] # noqa: SLF001
    session._pool_classes_by_scheme.update(http=_HttpConnections, https=_HttpsConnections)  # noqa: SLF001
    return client


class SqsClients:
    """The clients by region. Safe to use from many threads; so is each client (boto3's promise)."""

    def __init__(self, make: "Callable[[str | None], SQSClient]" = sqs_client) -> None:
        self._make = make
        self._clients: dict[str | None, SQSClient] = {}
        self._lock = Lock()

    def client(self, region: str | None) -> "SQSClient":
        """The client of a region; None is the environment's."""
        with self._lock:  # making a client is not safe in two threads at once
            if region not in self._clients:
                self._clients[region] = self._make(region)
            return self._clients[region]
